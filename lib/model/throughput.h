// SPDX-License-Identifier: GPL-2.0-or-later
// Throughput learnt from what jobs measured: a Gaussian process in log space over job types, GPU
// types and numbers of GPUs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "lib/model/type_speeds.h"

namespace rubato {

/// Whose profile: `account` is "" where all accounts share it.
struct ProfileName {
  std::string account;
  std::string job_type;

  // clang-tidy 14 takes the implied comparison with 0 for a null pointer.
  auto operator<=>(const ProfileName&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// What the jobs of a profile measured on one GPU type at one size.
struct RateCell {
  ProfileName profile;
  std::string gpu_type;
  int gpus = 1;
  double rate = 0;           ///< mean, samples/s
  std::int64_t samples = 0;  ///< reports it is the mean of
};

/// How widely rates spread, as standard deviations of their natural logarithm. The values are
/// beliefs held before anything was measured, not fits: a type's speed for one job type is within a
/// factor of two of its speed for most others, and doubling the GPUs gives 1.5 to 2 times the rate.
struct ThroughputPrior {
  double level = 20.0;          ///< of a job type on the whole: anything
  double type_affinity = 0.5;   ///< of a job type on a GPU type, around that type's speed
  double type_speed = 0.7;      ///< of a GPU type's speed, around the configured one
  double scaling = 0.15;        ///< of a job type's scaling exponent, around the common one
  double common_scaling = 0.1;  ///< of the common exponent, around `exponent`
  double exponent = 0.85;       ///< rate grows as GPUs to this power
  double cell = 0.1;            ///< of a cell, around the power law
  double report = 0.15;         ///< of one report
  double report_floor = 0.03;   ///< of the mean of endlessly many reports
};

/// A forecast. ln(rate) is normal with mean `log_rate` and standard deviation `spread`.
struct Forecast {
  double log_rate = 0;
  double spread = 0;
  std::int64_t samples = 0;    ///< reports of exactly this cell
  bool known_profile = false;  ///< something was measured of this profile; else only ratios between
                               ///< forecasts mean anything

  [[nodiscard]] double rate() const;
};

/// An immutable fit. Measurements of one job type inform the others through the speed of the GPU
/// types and the common scaling, so that wrong configured speeds are unlearnt.
///
/// ln rate(p, t, k) = level(p) + speed(t) + affinity(p, t) + (common + scaling(p)) ln k + cell(p,
/// t, k)
///
/// each term a zero-mean normal of ThroughputPrior around the configured ln speed(t) and
/// `exponent`; Rasmussen & Williams, Gaussian Processes for Machine Learning, 2006, section 2.2.
class ThroughputModel {
 public:
  /// Most cells a fit uses; of more, those with most reports.
  static constexpr std::size_t kMostCells = 1024;

  /// Nothing measured: configured speeds alone.
  explicit ThroughputModel(TypeSpeeds speeds, ThroughputPrior prior = {});
  /// Cells whose rate, GPUs or samples are not above 0 and finite are left out; cells of the same
  /// place are joined. The order of `cells` does not matter. O(n^3) of n cells: not for a thread
  /// that must not wait.
  ThroughputModel(TypeSpeeds speeds, std::vector<RateCell> cells, ThroughputPrior prior = {});
  ~ThroughputModel();
  ThroughputModel(const ThroughputModel&) = delete;
  ThroughputModel& operator=(const ThroughputModel&) = delete;

  /// Of any profile, type and size (at least 1): what was never seen comes from the prior. The
  /// first time O(n^2), then kept. Safe from several threads.
  [[nodiscard]] Forecast predict(const ProfileName& profile, const std::string& gpu_type,
                                 int gpus) const;

  /// Natural logarithm of the rate at `a` over that at `b` for one profile, and its spread: smaller
  /// than the two forecasts' together, since what both share does not count.
  struct Place {
    std::string gpu_type;
    int gpus = 1;
  };
  [[nodiscard]] Forecast ratio(const ProfileName& profile, const Place& a, const Place& b) const;

  /// Cells used, sorted by profile, type, GPUs.
  [[nodiscard]] const std::vector<RateCell>& cells() const { return cells_; }

 private:
  struct Fit;

  [[nodiscard]] double prior_mean(const std::string& gpu_type, int gpus) const;
  [[nodiscard]] double kernel(const RateCell& a, const RateCell& b) const;
  [[nodiscard]] Forecast compute(const RateCell& at) const;
  void fit();

  TypeSpeeds speeds_;
  ThroughputPrior prior_;
  std::vector<RateCell> cells_;
  std::unique_ptr<const Fit> fit_;
  mutable std::mutex mutex_;
  mutable std::map<std::tuple<ProfileName, std::string, int>, Forecast> kept_;
};

}  // namespace rubato
