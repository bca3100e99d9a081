// SPDX-License-Identifier: GPL-2.0-or-later
// The values of hints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace rubato {

/// Maximum number of GPUs in a hint.
inline constexpr int kMaxGpus = 100000;
/// Maximum number of ranges of sizes of a job whose sizes are multiples of a unit.
inline constexpr std::ptrdiff_t kMaxSizes = 1024;
/// Maximum count of samples, steps or model parameters.
inline constexpr std::int64_t kMaxWork = 1'000'000'000'000'000'000;
/// Maximum batch and maximum dimension of a model.
inline constexpr std::int64_t kMaxBatch = 1'000'000'000;
/// Maximum lead time of a checkpoint signal, seconds: that of sbatch --signal.
inline constexpr int kMaxLead = 65535;

/// Numbers of GPUs a job can run at.
class GpuSizes {
 public:
  using Range = std::pair<int, int>;  ///< from, to, both included

  GpuSizes() = default;
  /// In any order; ranges that overlap are joined. Each from 1 to kMaxGpus, from <= to.
  explicit GpuSizes(std::vector<Range> ranges);

  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] bool contains(int gpus) const;
  /// For the functions below, the set must not be empty.
  [[nodiscard]] int smallest() const { return ranges_.front().first; }
  [[nodiscard]] int largest() const { return ranges_.back().second; }
  /// Whether there is only one size.
  [[nodiscard]] bool single() const { return !empty() && smallest() == largest(); }
  /// The size nearest to `gpus`, the smaller of two equally near. The set must not be empty.
  [[nodiscard]] int nearest(int gpus) const;
  /// The sizes that are multiples of `unit` (at least 1).
  [[nodiscard]] GpuSizes multiples(std::int64_t unit) const;
  /// Sorted, without overlap. 1,2,3 and 1-3 are the same sizes, but not equal. If sizes must be
  /// multiples of a unit, a range stands for the multiples in it, and a listed size must be one.
  [[nodiscard]] const std::vector<Range>& ranges() const { return ranges_; }

  bool operator==(const GpuSizes&) const = default;

 private:
  std::vector<Range> ranges_;
};

/// Acceptable GPU types: groups in order of preference; types in a group are equal and sorted.
using GpuTypes = std::vector<std::vector<std::string>>;

/// Global batch in samples per iteration; a fixed batch has min == max.
struct Batch {
  std::int64_t min = 1;
  std::int64_t max = 1;

  [[nodiscard]] bool fixed() const { return min == max; }
  bool operator==(const Batch&) const = default;
};

enum class WorkUnit { kSamples, kSteps, kTargetLoss };

/// Total work of a job. The member that `unit` does not name is 0.
struct Work {
  WorkUnit unit = WorkUnit::kSamples;
  std::int64_t count = 0;  ///< samples or steps
  double target_loss = 0;

  bool operator==(const Work&) const = default;
};

/// Shape of a transformer; 0: unknown. `params` is always known.
struct ModelShape {
  std::int64_t params = 0;  ///< parameters
  std::int64_t hidden = 0;
  std::int64_t layers = 0;
  std::int64_t seq = 0;  ///< tokens per sequence
  std::int64_t heads = 0;

  [[nodiscard]] bool whole() const { return hidden > 0 && layers > 0 && seq > 0 && heads > 0; }
  bool operator==(const ModelShape&) const = default;
};

/// Execution plans, in output order.
enum class PlanKind { kDp, kZero, kZeroOffload, kTp, kPp, kGa, kGc };

/// `automatic`: any that fit the model; else those of `kinds`, at least one.
struct Plans {
  bool automatic = false;
  std::set<PlanKind> kinds;

  bool operator==(const Plans&) const = default;
};

/// The signal before a restart, as in sbatch --signal. Signal 0 is `none`: never interrupted.
struct Checkpoint {
  int signal = 0;
  int lead = 60;             ///< seconds between the signal and the restart
  bool batch_only = false;   ///< B: only to the batch shell
  bool reservation = false;  ///< R: as in sbatch --signal

  [[nodiscard]] bool consents() const { return signal != 0; }
  bool operator==(const Checkpoint&) const = default;
};

enum class Resize { kNone, kRestart, kLive };
enum class Device { kGpu, kCpu, kAny };

}  // namespace rubato
