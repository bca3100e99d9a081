// SPDX-License-Identifier: GPL-2.0-or-later
// What one measured rate says about another: the covariance of the throughput model.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rubato {

/// Whose profile: `account` is "" where all accounts share it.
struct ProfileName {
  std::string account;
  std::string job_type;

  // clang-tidy 14 takes the implied comparison with 0 for a null pointer.
  auto operator<=>(const ProfileName&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// Where a profile runs, and how.
struct JobConfiguration {
  std::string gpu_type;
  int gpus = 1;
  int nodes = 0;           ///< 0: as few as the GPUs need
  std::int64_t batch = 0;  ///< global batch in samples; 0: the usual one (KernelPoints)
  std::string plan{};      ///< execution plan, "" as submitted

  // NOLINTNEXTLINE(modernize-use-nullptr)
  auto operator<=>(const JobConfiguration&) const = default;
};

/// How widely rates spread, as standard deviations of their natural logarithm. The values are
/// beliefs held before anything was measured, not fits: a type's speed for one job type is within a
/// factor of two of its speed for most others, and doubling the GPUs gives 1.5 to 2 times the rate.
/// `fit_hyperparameters` makes others of them where a site has measured enough.
struct ThroughputPrior {
  double level = 20.0;             ///< of a job type on the whole: anything
  double type_affinity = 0.5;      ///< of a job type on a GPU type, around that type's speed
  double type_speed = 0.7;         ///< of a GPU type's speed, around the configured one
  double scaling = 0.15;           ///< of a job type's scaling exponent, around the common one
  double common_scaling = 0.1;     ///< of the common exponent, around `exponent`
  double type_scaling = 0.05;      ///< of a GPU type's exponent, around the common one
  double affinity_scaling = 0.05;  ///< of the exponent of a job type on a GPU type
  double type_size = 0.03;         ///< of a GPU type at one number of GPUs, for all job types
  double common_batch = 0.15;      ///< of the exponent of the batch a GPU, around `batch_exponent`
  double batch = 0.15;             ///< of a job type's exponent of the batch
  double type_batch = 0.1;         ///< of a GPU type's
  double affinity_batch = 0.1;     ///< of a job type's on a GPU type
  double batch_curve = 0.05;       ///< of a job type, around the power law of the batch
  double affinity_curve = 0.05;    ///< of a job type on a GPU type, around it
  double common_node_spread = 0.15;  ///< of the exponent of more nodes than needed
  double node_spread = 0.15;         ///< of a job type's
  double plan = 0.3;                 ///< of an execution plan of a job type
  double size = 0.08;                ///< of a job type on a GPU type at one number of GPUs
  double observation = 0.06;         ///< of a cell, around all that
  double report = 0.15;              ///< of one report
  double report_floor = 0.03;        ///< of the mean of endlessly many reports

  double exponent = 0.85;           ///< rate grows as GPUs to this power at one batch a GPU,
  double batch_exponent = 0.15;     ///< as the batch a GPU to this one,
  double node_spread_exponent = 0;  ///< and as (nodes / nodes needed) to this one

  bool operator==(const ThroughputPrior&) const = default;

  /// Without batch, nodes and plans, and without what sizes share: what a job type is on a GPU type
  /// and how it scales, alone.
  [[nodiscard]] static ThroughputPrior plain();
};

/// A member of ThroughputPrior that can be learnt, by name.
struct PriorTerm {
  const char* name;
  double ThroughputPrior::*value;
};
/// The standard deviations in the order of the struct, `level` left out.
[[nodiscard]] const std::vector<PriorTerm>& prior_terms();

/// A place in the numbers that the covariance is made of.
struct KernelPoint {
  int profile = 0;  ///< equal: the same profile
  int type = 0;     ///< equal: the same GPU type
  int plan = 0;     ///< equal: the same plan
  int gpus = 1;
  double size = 0;   ///< ln GPUs
  double batch = 0;  ///< ln (batch / GPUs), less the mean of the profile; 0: not known
  double nodes = 0;  ///< ln (nodes / nodes needed)
};

/// Turns places into points. What it was not made with is unlike all that it was.
class KernelPoints {
 public:
  /// Of the cells of a fit: (profile, place).
  explicit KernelPoints(
      const std::vector<std::pair<ProfileName, JobConfiguration>>& observations = {},
      const std::vector<double>& weights = {});

  [[nodiscard]] KernelPoint at(const ProfileName& profile,
                               const JobConfiguration& configuration) const;
  /// With unknown names that differ from those of `other`, which `at` gave for `beside`.
  [[nodiscard]] KernelPoint at(const ProfileName& profile, const JobConfiguration& configuration,
                               const KernelPoint& other, const JobConfiguration& beside) const;
  [[nodiscard]] bool knows(const ProfileName& profile) const { return profiles_.contains(profile); }
  /// Of most reports at that number of GPUs. Where none told: the one that all sizes had, if there
  /// were several; else as much a GPU as at the next smaller size. 0 where no report told any.
  [[nodiscard]] std::int64_t usual_batch(const ProfileName& profile, int gpus) const;
  [[nodiscard]] const std::string& usual_plan(const ProfileName& profile) const;

 private:
  struct Profile {
    int id = 0;
    double mean_batch = 0;                ///< of ln (batch / GPUs)
    std::map<int, std::int64_t> batches;  ///< of most reports, by GPUs
    std::string usual_plan;

    [[nodiscard]] std::int64_t usual_batch(int gpus) const;
  };
  struct Type {
    int id = 0;
    double densest = 0;  ///< most GPUs a node seen; 0: not known
  };
  std::map<ProfileName, Profile> profiles_;
  std::map<std::string, Type> types_;
  std::map<std::string, int> plans_;
};

/// Prior mean of ln rate, less ln of the type's speed.
[[nodiscard]] double prior_log_throughput(const ThroughputPrior& prior, const KernelPoint& at);

constexpr std::size_t kKernelTerms = 19;
using KernelTerms = std::array<double, kKernelTerms>;
/// What each term of prior_terms() is multiplied with, squared, in the covariance of two points; at
/// the end that of `level`. Report noise is not included.
[[nodiscard]] KernelTerms kernel_factors(const KernelPoint& a, const KernelPoint& b);
/// The squares of the terms, in that order.
[[nodiscard]] KernelTerms kernel_weights(const ThroughputPrior& prior);
/// Covariance of ln rate at two points.
[[nodiscard]] double kernel(const KernelTerms& weights, const KernelPoint& a, const KernelPoint& b);
/// Variance of the mean of `reports` reports.
[[nodiscard]] double noise(const ThroughputPrior& prior, double reports);

}  // namespace rubato
