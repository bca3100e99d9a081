// SPDX-License-Identifier: GPL-2.0-or-later
// GPUs per job: the dynamic program of Saxena et al., Effective Elastic Scaling of Deep Learning
// Workloads (MASCOTS 2020), which maximises the sum of the jobs' scaling values.
#pragma once

#include <span>
#include <utility>
#include <vector>

namespace rubato::sim {

/// A size that a job can have, and its value.
struct SizeValue {
  int gpus = 0;      ///< at least 1
  double value = 0;  ///< above 0
};

/// Rows are jobs, added one by one; each job added gets one of its sizes.
class ElasticProgram {
 public:
  explicit ElasticProgram(int gpus);

  /// Adds a job. False: the jobs no longer all fit, and nothing changes. O(GPUs x sizes).
  [[nodiscard]] bool add(std::span<const SizeValue> sizes);
  /// GPUs of each job, in the order added. Of equal sums, the one with the fewest GPUs wins; of
  /// equal sizes of a job, the first.
  [[nodiscard]] std::vector<int> sizes() const;
  /// The sum of values of these sizes.
  [[nodiscard]] double value() const;
  [[nodiscard]] std::size_t jobs() const { return choices_.size(); }

 private:
  [[nodiscard]] std::size_t best() const;

  std::vector<double> values_;             ///< best sum with exactly this many GPUs; below 0: none
  std::vector<std::vector<int>> choices_;  ///< one row per job: its GPUs in that sum
};

}  // namespace rubato::sim
