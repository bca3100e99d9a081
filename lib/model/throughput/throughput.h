// SPDX-License-Identifier: GPL-2.0-or-later
// Throughput learnt from what jobs measured: a Gaussian process in log space over job types, GPU
// types, numbers of GPUs, batches, nodes and plans.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/model/throughput/throughput_kernel.h"
#include "lib/model/throughput/type_speeds.h"

namespace rubato {

/// What the jobs of a profile measured at one place.
struct ThroughputObservation {
  ProfileName profile;
  std::string gpu_type;
  int gpus = 1;
  double throughput = 0;     ///< mean, samples/s; 0: it does not fit there
  std::int64_t samples = 0;  ///< reports it is the mean of
  int nodes = 0;             ///< as JobConfiguration
  std::int64_t batch = 0;
  std::string plan{};
  double weight =
      0;  ///< reports it counts as, after forgetting and doubts; 0: as many as `samples`

  [[nodiscard]] JobConfiguration configuration() const {
    return {gpu_type, gpus, nodes, batch, plan};
  }
  bool operator==(const ThroughputObservation&) const = default;
};

/// By profile, GPU type, GPUs, nodes, batch, plan: the order in which lists of cells are kept.
[[nodiscard]] bool before(const ThroughputObservation& a, const ThroughputObservation& b);
/// Of one profile at one place.
[[nodiscard]] bool same_configuration(const ThroughputObservation& a,
                                      const ThroughputObservation& b);

/// What a curve that was fitted to a profile expects at a place.
struct CurvePoint {
  ProfileName profile;
  JobConfiguration configuration;
  double log_throughput = 0;  ///< ln samples/s
  double stddev = 0;  ///< standard deviation of it; below `kMinCurveStddev` it counts as that

  bool operator==(const CurvePoint&) const = default;
};
constexpr double kMinCurveStddev = 0.05;

/// A forecast. ln(rate) is normal with mean `log_throughput` and standard deviation `stddev`.
struct Forecast {
  double log_throughput = 0;
  double stddev = 0;
  std::int64_t samples = 0;    ///< reports of exactly this type and size
  bool known_profile = false;  ///< something was measured of this profile; else only ratios between
                               ///< forecasts mean anything
  bool feasible = true;        ///< false: it was measured not to fit there

  /// Samples/s; 0 where it does not fit.
  [[nodiscard]] double throughput() const;
};

/// An immutable fit. Measurements of one job type inform the others through the speed of the GPU
/// types, the common scaling and what a larger batch brings, so that wrong configured speeds are
/// unlearnt, and a job type that was measured on one GPU type is expected on another by the ratio
/// of their speeds, the surer the more alike other job types are there.
///
/// ln throughput(p, t, k, b) = level(p) + speed(t) + affinity(p, t) + exponent(p, t) ln k +
/// batch(p, t) ln b + curve(p, t, ln b) + size(p, t, k) + observation(p, t, k, b, nodes, plan)
///
/// each term, and the parts of the exponents that are common, of p, of t and of both, a zero-mean
/// normal of ThroughputPrior around the configured ln speed(t) and `exponent`; Rasmussen &
/// Williams, Gaussian Processes for Machine Learning, 2006, section 2.2. Beyond the sizes that were
/// measured of a profile forecasts keep near proportion, whatever contradictory cells say.
class ThroughputModel {
 public:
  /// Most cells a fit uses; of more, those with most reports. Of points of curves as many again.
  static constexpr std::size_t kMaxObservations = 1024;
  using Configuration = JobConfiguration;

  /// Nothing measured: configured speeds alone.
  explicit ThroughputModel(TypeSpeeds speeds, ThroughputPrior prior = {});
  /// Cells whose GPUs or samples are not above 0, or whose rate is not finite or below 0, are left
  /// out; cells of the same place are joined, a rate above 0 saying more than that it did not fit.
  /// The order of `observations` does not matter. `curves` count as measurements as sure as their
  /// spread. O(n^3) of n cells: not for a thread that must not wait.
  ThroughputModel(TypeSpeeds speeds, std::vector<ThroughputObservation> observations,
                  ThroughputPrior prior = {}, std::vector<CurvePoint> curves = {});
  ~ThroughputModel();
  ThroughputModel(const ThroughputModel&) = delete;
  ThroughputModel& operator=(const ThroughputModel&) = delete;

  /// Of any profile, type and size (at least 1), at the plan that most reports of the profile had
  /// and its usual batch, on as few nodes as needed: what was never seen is the prior's. The first
  /// time O(n^2), then kept. Safe from several threads.
  [[nodiscard]] Forecast predict(const ProfileName& profile, const std::string& gpu_type,
                                 int gpus) const;
  /// At a place of which all is told.
  [[nodiscard]] Forecast predict(const ProfileName& profile,
                                 const JobConfiguration& configuration) const;

  /// Natural logarithm of the rate at `a` over that at `b` for one profile, and its spread: smaller
  /// than the two forecasts' together, since what both share does not count. Of places without a
  /// plan the usual one is meant. Kept as predict() keeps.
  [[nodiscard]] Forecast ratio(const ProfileName& profile, const Configuration& a,
                               const Configuration& b) const;

  /// Covariance of ln rate at places of one profile, after what was measured: row by row.
  [[nodiscard]] std::vector<std::vector<double>> covariance(
      const ProfileName& profile, std::span<const JobConfiguration> configurations) const;

  /// What the fit would forecast of each of observations() if that had not been measured, noise of
  /// its reports included; Rasmussen & Williams, equations 5.10 to 5.12. Cells that did not fit:
  /// none.
  [[nodiscard]] std::vector<std::optional<Forecast>> leave_one_out() const;

  /// Makes the forecasts that `other` was asked for, all at once.
  void warm(const ThroughputModel& other) const;

  /// Cells used, sorted by `before`.
  [[nodiscard]] const std::vector<ThroughputObservation>& observations() const {
    return observations_;
  }
  /// Points of curves used, sorted by profile and place.
  [[nodiscard]] const std::vector<CurvePoint>& curves() const { return curves_; }
  [[nodiscard]] const ThroughputPrior& prior() const { return prior_; }
  [[nodiscard]] const TypeSpeeds& speeds() const { return speeds_; }

 private:
  struct Fit;
  struct Cache;

  [[nodiscard]] double prior_mean(const std::string& gpu_type, const KernelPoint& at) const;
  /// By how much ln rate at `at` is to come back, so that it is no wild extrapolation.
  [[nodiscard]] double beyond(const std::string& gpu_type, const KernelPoint& at) const;
  [[nodiscard]] JobConfiguration usual(const ProfileName& profile,
                                       JobConfiguration configuration) const;
  [[nodiscard]] Forecast kept(const ProfileName& profile, const std::string& gpu_type, int gpus,
                              const JobConfiguration* configuration) const;
  [[nodiscard]] Forecast compute(const ProfileName& profile,
                                 const JobConfiguration& configuration) const;
  [[nodiscard]] Forecast compute_ratio(const ProfileName& profile, const Configuration& a,
                                       const Configuration& b) const;
  void see(Forecast& forecast, const ProfileName& profile,
           const JobConfiguration& configuration) const;
  [[nodiscard]] bool curve_of(const ProfileName& profile) const;
  void fit();

  TypeSpeeds speeds_;
  ThroughputPrior prior_;
  KernelTerms weights_;
  std::vector<ThroughputObservation> observations_;
  std::vector<CurvePoint> curves_;
  KernelPoints points_;
  std::unique_ptr<const Fit> fit_;
  std::unique_ptr<Cache> cache_;
};

}  // namespace rubato
