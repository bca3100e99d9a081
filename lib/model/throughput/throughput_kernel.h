// SPDX-License-Identifier: GPL-2.0-or-later
// The covariance of the throughput model: how one measured throughput informs another.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rubato {

/// The owner of a profile: `account` is "" if all accounts share it.
struct ProfileName {
  std::string account;
  std::string job_type;

  // clang-tidy 14 reads the implied comparison with 0 as a null pointer.
  auto operator<=>(const ProfileName&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// A profile's configuration.
struct JobConfiguration {
  std::string gpu_type;
  int gpus = 1;
  int nodes = 0;           ///< 0: the minimum for the GPUs
  std::int64_t batch = 0;  ///< global batch in samples; 0: the usual one (KernelPoints)
  std::string plan{};      ///< execution plan, "" as submitted

  // NOLINTNEXTLINE(modernize-use-nullptr)
  auto operator<=>(const JobConfiguration&) const = default;
};

/// Standard deviations of the natural logarithm of throughputs. The values are priors, not fits. A
/// type's speed for one job type is within a factor of two of its speed for most others. Doubling
/// the GPUs gives 1.5 to 2 times the throughput. `fit_hyperparameters` replaces them when a site
/// has enough measurements.
struct ThroughputPrior {
  double level = 20.0;               ///< of a job type overall: any value
  double type_affinity = 0.5;        ///< of a job type on a GPU type, around that type's speed
  double type_speed = 0.7;           ///< of a GPU type's speed, around the configured one
  double scaling = 0.15;             ///< of a job type's scaling exponent, around the common one
  double common_scaling = 0.1;       ///< of the common exponent, around `exponent`
  double type_scaling = 0.05;        ///< of a GPU type's exponent, around the common one
  double affinity_scaling = 0.05;    ///< of the exponent of a job type on a GPU type
  double type_size = 0.03;           ///< of a GPU type at one number of GPUs, for all job types
  double common_batch = 0.15;        ///< of the exponent of the batch per GPU, around
                                     ///< `batch_exponent`
  double batch = 0.15;               ///< of a job type's batch exponent
  double type_batch = 0.1;           ///< of a GPU type's batch exponent
  double affinity_batch = 0.1;       ///< of the batch exponent of a job type on a GPU type
  double batch_curve = 0.05;         ///< of a job type, around the batch power law
  double affinity_curve = 0.05;      ///< of a job type on a GPU type, around the batch power law
  double common_node_spread = 0.15;  ///< of the exponent of extra nodes
  double node_spread = 0.15;         ///< of a job type's exponent of extra nodes
  double plan = 0.3;                 ///< of an execution plan of a job type
  double size = 0.08;                ///< of a job type on a GPU type at one number of GPUs
  double observation = 0.06;         ///< of an observation, around the sum of all terms
  double report = 0.15;              ///< of one report
  double report_floor = 0.03;        ///< of the mean of infinitely many reports

  double exponent = 0.85;           ///< throughput grows as GPUs to this power at a fixed batch per
                                    ///< GPU,
  double batch_exponent = 0.15;     ///< as the batch per GPU to this power,
  double node_spread_exponent = 0;  ///< and as (nodes / nodes needed) to this power

  bool operator==(const ThroughputPrior&) const = default;

  /// Without batch, nodes, plans and terms shared by sizes: only a job type's level on a GPU type
  /// and its scaling.
  [[nodiscard]] static ThroughputPrior plain();
};

/// A member of ThroughputPrior that can be fitted, by name.
struct PriorTerm {
  const char* name;
  double ThroughputPrior::*value;
};
/// The standard deviations in struct order, without `level`.
[[nodiscard]] const std::vector<PriorTerm>& prior_terms();

/// A configuration as numbers for the covariance.
struct KernelPoint {
  int profile = 0;  ///< equal: the same profile
  int type = 0;     ///< equal: the same GPU type
  int plan = 0;     ///< equal: the same plan
  int gpus = 1;
  double size = 0;   ///< ln GPUs
  double batch = 0;  ///< ln (batch / GPUs) minus the profile's mean; 0: unknown
  double nodes = 0;  ///< ln (nodes / nodes needed)
};

/// Converts configurations to points. New names are different from all known ones.
class KernelPoints {
 public:
  /// From the (profile, configuration) pairs of a fit.
  explicit KernelPoints(
      const std::vector<std::pair<ProfileName, JobConfiguration>>& observations = {},
      const std::vector<double>& weights = {});

  [[nodiscard]] KernelPoint at(const ProfileName& profile,
                               const JobConfiguration& configuration) const;
  /// Unknown names also differ from those of `other`, which `at` returned for `beside`.
  [[nodiscard]] KernelPoint at(const ProfileName& profile, const JobConfiguration& configuration,
                               const KernelPoint& other, const JobConfiguration& beside) const;
  [[nodiscard]] bool knows(const ProfileName& profile) const { return profiles_.contains(profile); }
  /// The batch of most reports at that number of GPUs. Without reports there: the one common to all
  /// sizes, if there are several; else the batch per GPU of the next smaller size. 0 if no report
  /// has a batch.
  [[nodiscard]] std::int64_t usual_batch(const ProfileName& profile, int gpus) const;
  [[nodiscard]] const std::string& usual_plan(const ProfileName& profile) const;

 private:
  struct Profile {
    int id = 0;
    double mean_batch = 0;                ///< mean of ln (batch / GPUs)
    std::map<int, std::int64_t> batches;  ///< of most reports, by GPUs
    std::string usual_plan;

    [[nodiscard]] std::int64_t usual_batch(int gpus) const;
  };
  struct Type {
    int id = 0;
    double densest = 0;  ///< maximum measured GPUs per node; 0: unknown
  };
  std::map<ProfileName, Profile> profiles_;
  std::map<std::string, Type> types_;
  std::map<std::string, int> plans_;
};

/// Prior mean of ln throughput minus ln of the type's speed.
[[nodiscard]] double prior_log_throughput(const ThroughputPrior& prior, const KernelPoint& at);

constexpr std::size_t kKernelTerms = 19;
using KernelTerms = std::array<double, kKernelTerms>;
/// The factors of the squared terms of prior_terms() in the covariance of two points; the last one
/// is that of `level`. Without report noise.
[[nodiscard]] KernelTerms kernel_factors(const KernelPoint& a, const KernelPoint& b);
/// The squared terms, in the same order.
[[nodiscard]] KernelTerms kernel_weights(const ThroughputPrior& prior);
/// Covariance of ln throughput at two points.
[[nodiscard]] double kernel(const KernelTerms& weights, const KernelPoint& a, const KernelPoint& b);
/// Variance of the mean of `reports` reports.
[[nodiscard]] double noise(const ThroughputPrior& prior, double reports);

}  // namespace rubato
