// SPDX-License-Identifier: GPL-2.0-or-later
// Time of a training step by parameter servers, workers, cores and GPUs.
#pragma once

#include <array>
#include <cstddef>
#include <eigen3/Eigen/Core>
#include <span>
#include <vector>

#include "lib/model/numeric/core_efficiency.h"

namespace rubato {

/// The resources of a job: CPU nodes, and one GPU type (each has its own model).
struct StepShape {
  int servers = 0;  ///< parameter servers; 0: workers exchange gradients directly
  int workers = 1;
  int gpus = 0;             ///< of all workers; 0: workers on CPUs
  double worker_cores = 0;  ///< of one worker; 0: unknown
  double server_cores = 0;  ///< of one server; 0: unknown
  double batch = 1;         ///< global batch, samples

  bool operator==(const StepShape&) const = default;
};

struct StepSample {
  StepShape shape;
  double seconds = 0;  ///< per step
};

/// Coefficients of the model, in the order of a design row.
inline constexpr int kStepTerms = 7;
/// Number of different configurations from which on each coefficient has its own equation.
inline constexpr int kFullFit = kStepTerms;

enum class StepFit {
  kNone,     ///< no sample: no forecast
  kReduced,  ///< fewer than kFullFit configurations: the prior decides the rest
  kFull,
};

/// Description of a fit.
struct StepFitReport {
  StepFit kind = StepFit::kNone;
  int configurations = 0;  ///< number of different ones
  int samples = 0;         ///< number of samples used
  int dropped = 0;         ///< samples that are not finite, not above 0, or implausibly large
  /// Samples of one configuration differ by more than a factor of 2, or the fit misses half of the
  /// configurations by more than a third. Forecasts are then unreliable.
  bool contradictory = false;
  double noise = 0;  ///< of one configuration, as a standard deviation of ln seconds
};

/// A forecast. ln(seconds) has mean ln `seconds` and standard deviation `stddev`.
struct StepForecast {
  double seconds = 0;
  double stddev = 0;
  bool known = false;         ///< there was at least one sample; else the other members are 0
  bool extrapolated = false;  ///< uses a kind of worker (CPU, GPU) or exchange without samples
};

/// T = e_w (th0 m + th1) + th2 w/p + th3 e_p w/p + th4 w + th5 p + th6 g, all th >= 0, m = batch/w.
/// e_w and e_p are the slowdowns by few cores (core_efficiency.h) of a worker on CPUs and of a
/// server (Zhao et al., AITurbo, HPDC 2021). Without servers, w/p becomes (w-1)/w, the share of
/// gradients that a ring exchange moves, and there is no server update. A worker on CPUs is slower
/// than one on a GPU by a factor, fitted if both were measured.
///
/// Least squares of relative errors (nnls.h); the prior makes computation most of a step. If
/// samples differ in cores, the curves of cores are searched around it (bounded_fit.h). Immutable
/// and thread-safe. Order and repetition of samples affect only the noise.
class StepTimeModel {
 public:
  explicit StepTimeModel(std::vector<StepSample> samples = {});

  /// Accepts any shape: negative counts are clipped. Finite and above 0 if known.
  [[nodiscard]] StepForecast predict(const StepShape& shape) const;
  /// Indices of the `most` most informative `candidates`, best first. Each is the one with the
  /// least certain forecast given those before it.
  [[nodiscard]] std::vector<std::size_t> most_informative_step(
      std::span<const StepShape> candidates, std::size_t most) const;

  [[nodiscard]] const StepFitReport& report() const { return report_; }
  [[nodiscard]] const std::array<double, kStepTerms>& coefficients() const { return throughput_; }
  [[nodiscard]] const CoreCurve& worker_curve() const { return curves_.worker; }
  [[nodiscard]] const CoreCurve& server_curve() const { return curves_.server; }
  /// Time of a worker on CPUs, with all cores it can use, relative to one on a GPU. 1 if only one
  /// kind was measured.
  [[nodiscard]] double cpu_factor() const { return curves_.cpu_factor; }

  /// The non-linear parameters.
  struct Curves {
    CoreCurve worker;
    CoreCurve server;
    double cpu_factor = 1;
  };

 private:
  using Row = Eigen::Matrix<double, kStepTerms, 1>;

  void count_kinds(const std::vector<StepSample>& configurations);
  void search_curves(const std::vector<StepSample>& configurations);
  void solve(const std::vector<StepSample>& configurations);
  void judge(const std::vector<StepSample>& configurations);
  [[nodiscard]] double seconds_at(const StepShape& shape) const;

  Curves curves_;
  std::array<double, kStepTerms> throughput_{};
  Eigen::Matrix<double, kStepTerms, kStepTerms> information_;  ///< of relative errors, with the
                                                               ///< prior
  StepFitReport report_;
  bool saw_cpu_ = false;
  bool saw_gpu_ = false;
  bool saw_servers_ = false;
  bool saw_exchange_ = false;  ///< without servers, with more than one worker
};

}  // namespace rubato
