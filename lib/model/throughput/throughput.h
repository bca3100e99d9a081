// SPDX-License-Identifier: GPL-2.0-or-later
// Throughput learnt from job reports: a Gaussian process in log space over job types, GPU types,
// numbers of GPUs, batches, nodes and plans.
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

/// Mean throughput of a profile's jobs at one configuration.
struct ThroughputObservation {
  ProfileName profile;
  std::string gpu_type;
  int gpus = 1;
  double throughput = 0;     ///< mean, samples/s; 0: it does not fit there
  std::int64_t samples = 0;  ///< number of reports in the mean
  int nodes = 0;             ///< as in JobConfiguration
  std::int64_t batch = 0;
  std::string plan{};
  double weight = 0;     ///< in reports, reduced by age and outliers; 0: `samples`
  int jobs = 0;          ///< jobs that measured it; 0: not known, as of imported ones
  int profile_jobs = 0;  ///< jobs that measured the profile at any configuration; 0: not known

  [[nodiscard]] JobConfiguration configuration() const {
    return {gpu_type, gpus, nodes, batch, plan};
  }
  bool operator==(const ThroughputObservation&) const = default;
};

/// Orders observations by profile, GPU type, GPUs, nodes, batch, plan.
[[nodiscard]] bool before(const ThroughputObservation& a, const ThroughputObservation& b);
/// Whether two observations are of the same profile and configuration.
[[nodiscard]] bool same_configuration(const ThroughputObservation& a,
                                      const ThroughputObservation& b);

/// Throughput at a configuration by a curve fitted to a profile.
struct CurvePoint {
  ProfileName profile;
  JobConfiguration configuration;
  double log_throughput = 0;  ///< ln samples/s
  double stddev = 0;          ///< standard deviation; kMinCurveStddev at least

  bool operator==(const CurvePoint&) const = default;
};
constexpr double kMinCurveStddev = 0.05;

/// A forecast. ln(throughput) is normal with mean `log_throughput` and standard deviation `stddev`.
struct Forecast {
  double log_throughput = 0;
  double stddev = 0;
  std::int64_t samples = 0;    ///< reports of exactly this type and size
  bool known_profile = false;  ///< false: the profile has no measurement, so only ratios between
                               ///< forecasts mean anything
  bool feasible = true;        ///< false: a measurement shows that it does not fit there
  int jobs = 0;          ///< jobs that measured exactly this type and size; 0: none, or not known
  int profile_jobs = 0;  ///< jobs that measured the profile; 0: none, or not known
  double exact = 0;      ///< samples/s if known exactly, with `stddev` 0; else 0
  /// Statistical efficiency of the samples (goodput.h); 1 without a range of batches or noise.
  double efficiency = 1;

  /// Processed samples/s; 0 where it does not fit.
  [[nodiscard]] double throughput() const;
  /// Efficient samples/s, the unit of work that is left (work_left()); 0 where it does not fit.
  [[nodiscard]] double goodput() const { return throughput() * efficiency; }
};

/// An immutable fit. Measurements of one job type inform the others through the speed of the GPU
/// types, the common scaling and what a larger batch brings, so that wrong configured speeds are
/// corrected. A job type measured on one GPU type is predicted on another by the ratio of their
/// speeds, with less uncertainty the more similar other job types behave there.
///
/// ln throughput(p, t, k, b) = level(p) + speed(t) + affinity(p, t) + exponent(p, t) ln k +
/// batch(p, t) ln b + curve(p, t, ln b) + size(p, t, k) + observation(p, t, k, b, nodes, plan)
///
/// each term, and the parts of the exponents that are common, of p, of t and of both, a zero-mean
/// normal of ThroughputPrior around the configured ln speed(t) and `exponent`; Rasmussen &
/// Williams, Gaussian Processes for Machine Learning, 2006, section 2.2. Beyond the sizes that were
/// measured of a profile, forecasts stay near proportion even if observations contradict it.
class ThroughputModel {
 public:
  /// Maximum number of observations in a fit: more are merged (merge_observations.h). Same for
  /// points of curves.
  static constexpr std::size_t kMaxObservations = 1024;
  using Configuration = JobConfiguration;

  /// Without observations: configured speeds only.
  explicit ThroughputModel(TypeSpeeds speeds, ThroughputPrior prior = {});
  /// Drops observations whose GPUs or samples are not above 0, or whose throughput is negative or
  /// not finite. Merges those of the same configuration; a throughput above 0 overrides "does not
  /// fit". The order of `observations` does not matter. `curves` count as measurements with their
  /// standard deviation. O(n^3) for n observations: too slow for a thread that must not wait.
  ThroughputModel(TypeSpeeds speeds, std::vector<ThroughputObservation> observations,
                  ThroughputPrior prior = {}, std::vector<CurvePoint> curves = {});
  ~ThroughputModel();
  ThroughputModel(const ThroughputModel&) = delete;
  ThroughputModel& operator=(const ThroughputModel&) = delete;

  /// Forecast for any profile, type and size (at least 1), at the profile's most frequent plan and
  /// usual batch, on as few nodes as needed. Without observations it is the prior's. O(n^2) at
  /// first, then cached. Thread-safe.
  [[nodiscard]] Forecast predict(const ProfileName& profile, const std::string& gpu_type,
                                 int gpus) const;
  /// At a fully specified configuration.
  [[nodiscard]] Forecast predict(const ProfileName& profile,
                                 const JobConfiguration& configuration) const;

  /// Natural logarithm of the throughput at `a` over that at `b` for one profile, with its standard
  /// deviation. That is below the sum of both, since shared uncertainty cancels. An empty plan
  /// means the usual one. Cached as in predict().
  [[nodiscard]] Forecast ratio(const ProfileName& profile, const Configuration& a,
                               const Configuration& b) const;

  /// Posterior covariance of ln throughput at configurations of one profile, row by row.
  [[nodiscard]] std::vector<std::vector<double>> covariance(
      const ProfileName& profile, std::span<const JobConfiguration> configurations) const;

  /// Leave-one-out forecast of each of observations(), noise of its reports included; Rasmussen &
  /// Williams, equations 5.10 to 5.12. None for configurations that do not fit.
  [[nodiscard]] std::vector<std::optional<Forecast>> leave_one_out() const;

  /// Fills the cache with the forecasts that `other` has cached.
  void warm(const ThroughputModel& other) const;

  /// The observations used, sorted by `before`.
  [[nodiscard]] const std::vector<ThroughputObservation>& observations() const {
    return observations_;
  }
  /// The batch that predict() takes if it is given none; 0: not known.
  [[nodiscard]] std::int64_t usual_batch(const ProfileName& profile, int gpus) const {
    return points_.usual_batch(profile, gpus);
  }
  /// The plan that predict() takes if it is given none.
  [[nodiscard]] const std::string& usual_plan(const ProfileName& profile) const {
    return points_.usual_plan(profile);
  }
  /// The points of curves used, sorted by profile and configuration.
  [[nodiscard]] const std::vector<CurvePoint>& curves() const { return curves_; }
  /// Number of observations that are part of another one, and of those left out, because there
  /// were more than kMaxObservations.
  [[nodiscard]] std::size_t merged() const { return merged_; }
  [[nodiscard]] std::size_t dropped() const { return dropped_; }
  [[nodiscard]] const ThroughputPrior& prior() const { return prior_; }
  [[nodiscard]] const TypeSpeeds& speeds() const { return speeds_; }

 private:
  struct Fit;
  struct Cache;

  [[nodiscard]] std::vector<ThroughputObservation> used_of(
      std::vector<ThroughputObservation> observations);
  [[nodiscard]] double prior_mean(const std::string& gpu_type, const KernelPoint& at) const;
  /// The correction of ln throughput at `at` that keeps an extrapolation plausible.
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
  std::size_t merged_ = 0;
  std::size_t dropped_ = 0;
  std::vector<ThroughputObservation> observations_;
  std::vector<CurvePoint> curves_;
  KernelPoints points_;
  std::unique_ptr<const Fit> fit_;
  std::unique_ptr<Cache> cache_;
};

}  // namespace rubato
