// SPDX-License-Identifier: GPL-2.0-or-later
// Time of a training step over shapes of parameter servers, workers, cores and GPUs.
#pragma once

#include <array>
#include <cstddef>
#include <eigen3/Eigen/Core>
#include <span>
#include <vector>

#include "lib/model/numeric/core_efficiency.h"

namespace rubato {

/// What a job runs on. One type of GPU (a model is fitted for each), and CPU nodes.
struct StepShape {
  int servers = 0;  ///< parameter servers; 0: workers exchange gradients among each other
  int workers = 1;
  int gpus = 0;             ///< of all workers; 0: workers on CPUs
  double worker_cores = 0;  ///< of one worker; 0: not known
  double server_cores = 0;  ///< of one server; 0: not known
  double batch = 1;         ///< global batch, samples

  bool operator==(const StepShape&) const = default;
};

struct StepSample {
  StepShape shape;
  double seconds = 0;  ///< per step
};

/// Coefficients of the model, in the order of a design row.
inline constexpr int kStepTerms = 7;
/// Configurations that differ, from which on each coefficient has an equation of its own.
inline constexpr int kFullFit = kStepTerms;

enum class StepFit {
  kNone,     ///< no sample: nothing is known
  kReduced,  ///< fewer than kFullFit configurations: the rest comes from the prior
  kFull,
};

/// How the fit came about.
struct StepFitReport {
  StepFit kind = StepFit::kNone;
  int configurations = 0;  ///< that differ
  int samples = 0;         ///< used
  int dropped = 0;         ///< not finite, not above 0, or implausibly large
  /// Samples of one configuration differ by more than a factor of 2, or the fit misses half of the
  /// configurations by more than a third: forecasts are not to be trusted.
  bool contradictory = false;
  double noise = 0;  ///< of one configuration, as a standard deviation of ln seconds
};

/// A forecast. ln(seconds) has mean ln `seconds` and standard deviation `stddev`.
struct StepForecast {
  double seconds = 0;
  double stddev = 0;
  bool known = false;         ///< there was a sample to begin with; else the other members are 0
  bool extrapolated = false;  ///< a kind of worker (CPU, GPU) or exchange that no sample had
};

/// T = e_w (th0 m + th1) + th2 w/p + th3 e_p w/p + th4 w + th5 p + th6 g, all th >= 0, m = batch/w,
/// e_w and e_p the slowdown by few cores (core_efficiency.h) of a worker on CPUs and of a server
/// (Zhao et al., AITurbo, HPDC 2021). Without servers w/p becomes (w-1)/w, the share of the
/// gradients that a ring exchange moves, and nothing is updated on a server. A worker on CPUs is
/// slower than one on a GPU by a factor that is fitted too, where both were measured.
///
/// Least squares of relative errors (nnls.h) with a prior that says that most of a step is
/// computation; the curves of cores are searched around it (bounded_fit.h) where samples differ in
/// cores. An immutable fit, safe from several threads; order and repetition of samples change
/// nothing but the noise.
class StepTimeModel {
 public:
  explicit StepTimeModel(std::vector<StepSample> samples = {});

  /// Any shape: negative counts are taken for the nearest sensible ones. Finite and above 0 if
  /// known.
  [[nodiscard]] StepForecast predict(const StepShape& shape) const;
  /// The `most` most informative of `candidates`, best first, as indices: each time the one
  /// whose forecast is least sure given those before it.
  [[nodiscard]] std::vector<std::size_t> most_informative_step(
      std::span<const StepShape> candidates, std::size_t most) const;

  [[nodiscard]] const StepFitReport& report() const { return report_; }
  [[nodiscard]] const std::array<double, kStepTerms>& coefficients() const { return throughput_; }
  [[nodiscard]] const CoreCurve& worker_curve() const { return curves_.worker; }
  [[nodiscard]] const CoreCurve& server_curve() const { return curves_.server; }
  /// How much longer a worker on CPUs with all cores it can use takes than one on a GPU; 1 where
  /// only one kind was measured.
  [[nodiscard]] double cpu_factor() const { return curves_.cpu_factor; }

  /// What is not linear in the coefficients.
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
  Eigen::Matrix<double, kStepTerms, kStepTerms> information_;  ///< of relative errors, with prior
  StepFitReport report_;
  bool saw_cpu_ = false;
  bool saw_gpu_ = false;
  bool saw_servers_ = false;
  bool saw_exchange_ = false;  ///< without servers, more than one worker
};

}  // namespace rubato
