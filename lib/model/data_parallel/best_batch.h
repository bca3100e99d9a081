// SPDX-License-Identifier: GPL-2.0-or-later
// The best global batch for a number of GPUs, within the user's range and GPU memory, and the
// resulting scaling of an elastic job.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lib/model/data_parallel/batch_tables.h"

namespace rubato {

/// Up to this many local batches, and passes, all are tried. Above, a geometric grid of this many
/// is tried; for local batches, then all values between the neighbours of the best.
inline constexpr std::int64_t kTriedBatches = 64;

/// Limits from the user and from GPU memory.
struct BatchRange {
  std::int64_t least = 1;      ///< global batch, samples, at least 1
  std::int64_t most = 1;       ///< at least `least`; equal: fixed
  std::int64_t max_local = 0;  ///< samples that fit a GPU in one pass; 0: unlimited
  std::int64_t min_local = 1;  ///< minimum samples per GPU and pass, at least 1
  /// Maximum number of gradient accumulation passes to try, unless memory requires more.
  int max_passes = 1;
  bool one_pass = false;               ///< no gradient accumulation, even if memory requires it
  std::int64_t tried = kTriedBatches;  ///< at once, at least 4
};

struct BatchChoice {
  std::int64_t batch = 0;  ///< global
  std::int64_t local = 0;  ///< of the fullest GPU in a pass: batch / (gpus * passes), rounded up
  int passes = 1;          ///< per iteration; more than 1 is gradient accumulation
  double seconds = 0;      ///< per iteration
  double value = 0;        ///< the objective: samples/s times their worth

  bool operator==(const BatchChoice&) const = default;
};

/// Seconds of an iteration with this many passes; not finite or not above 0: impossible.
using IterationSeconds = std::function<double(double local_batch, int passes)>;
/// Share of the samples of a global batch that counts, 0..1. batch * worth must never decrease with
/// the batch.
using BatchWorth = std::function<double(double batch)>;

/// The batch that maximises batch * worth(batch) / seconds; without `worth` all samples count. Of
/// equals, the smallest batch, then the fewest passes. Every GPU has a sample in every pass; an
/// uneven batch takes as long as its fullest GPU. nullopt if nothing is possible.
[[nodiscard]] std::optional<BatchChoice> best_batch(const BatchRange& range, int gpus,
                                                    const IterationSeconds& seconds,
                                                    const BatchWorth& worth = {});

/// The job scalability analyser (Saxena et al., Effective Elastic Scaling of Deep Learning
/// Workloads, MASCOTS 2020). An iteration takes its passes on one device plus one all-reduce of the
/// gradients over all devices.
class JobScalability {
 public:
  /// `gradient_bytes`: bytes of the all-reduce. Sizes from 1 to `max_gpus`.
  JobScalability(const BatchTable& table, const CommunicationTable& communication,
                 double gradient_bytes, const BatchRange& range, int max_gpus);

  /// The best batch on `gpus` GPUs; nullopt if it cannot run, or beyond `max_gpus`.
  [[nodiscard]] std::optional<BatchChoice> at(int gpus) const;
  /// Samples/s on these GPUs relative to the fewest possible GPUs, each at its best batch. 0 if the
  /// job cannot run.
  [[nodiscard]] double scaling(int gpus) const;
  /// The maximum `scaling` on at most this many GPUs, and the GPUs that give it: more would not
  /// help.
  struct Effective {
    double scaling = 0;
    int gpus = 0;
  };
  [[nodiscard]] Effective effective(int gpus) const;
  /// The fewest GPUs it can run on; 0: none.
  [[nodiscard]] int fewest() const { return fewest_; }

 private:
  std::vector<std::optional<BatchChoice>> best_;  ///< for 1, 2, ... GPUs
  std::vector<Effective> effective_;
  int fewest_ = 0;
};

}  // namespace rubato
