// SPDX-License-Identifier: GPL-2.0-or-later
// The best global batch at a number of GPUs, within the user's range and GPU memory; and from
// it how an elastic job scales.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "lib/model/data_parallel/batch_tables.h"

namespace rubato {

/// What a user allows and a GPU holds.
struct BatchRange {
  std::int64_t least = 1;      ///< global batch, samples, at least 1
  std::int64_t most = 1;       ///< at least `least`; equal: fixed
  std::int64_t max_local = 0;  ///< samples that fit a GPU in one pass; 0: not limited
  std::int64_t min_local = 1;  ///< no pass has fewer samples a GPU, at least 1
  /// Passes of gradient accumulation to try, where memory asks for no more than that.
  int max_passes = 1;
  bool one_pass = false;  ///< no gradient accumulation, even where memory asks for it
};

struct BatchChoice {
  std::int64_t batch = 0;  ///< global
  std::int64_t local = 0;  ///< of the fullest GPU in a pass: batch / (gpus * passes), rounded up
  int passes = 1;          ///< an iteration: more than 1 is gradient accumulation
  double seconds = 0;      ///< an iteration
  double value = 0;        ///< the objective: samples/s, times their worth

  bool operator==(const BatchChoice&) const = default;
};

/// Seconds of an iteration with this many passes; not finite or not above 0: impossible.
using IterationSeconds = std::function<double(double local_batch, int passes)>;
/// Share of the samples of a global batch that counts, 0..1. A larger batch must not count for less
/// than a smaller one: batch * worth never falls.
using BatchWorth = std::function<double(double batch)>;

/// Numbers of local batches, and of passes, up to which all are tried. Of more a geometric grid of
/// so many; among local batches then all between the neighbours of the best.
inline constexpr std::int64_t kTriedBatches = 64;

/// The batch with the most batch * worth(batch) / seconds; without `worth` all samples count. Of
/// equals the smallest batch, then the fewest passes. Every GPU has a sample in every pass; a batch
/// that does not divide evenly takes as long as its fullest GPU. None where nothing is possible.
[[nodiscard]] std::optional<BatchChoice> best_batch(const BatchRange& range, int gpus,
                                                    const IterationSeconds& seconds,
                                                    const BatchWorth& worth = {});

/// The job scalability analyser (Saxena et al., Effective Elastic Scaling of Deep Learning
/// Workloads, MASCOTS 2020): an iteration takes its passes on one device and one all-reduce of the
/// gradients on all.
class JobScalability {
 public:
  /// `gradient_bytes`: bytes of the all-reduce. Sizes from 1 to `max_gpus`.
  JobScalability(const BatchTable& table, const CommunicationTable& communication,
                 double gradient_bytes, const BatchRange& range, int max_gpus);

  /// The best batch at `gpus` GPUs; none if it cannot run, or beyond `max_gpus`.
  [[nodiscard]] std::optional<BatchChoice> at(int gpus) const;
  /// Samples/s at the best batch of these GPUs over those at the best batch of the fewest GPUs that
  /// it can run on: both at their best, so that sizes compare. 0 where it cannot run.
  [[nodiscard]] double scaling(int gpus) const;
  /// The most `scaling` of at most so many GPUs, and how many give it: more would be of no use.
  struct Effective {
    double scaling = 0;
    int gpus = 0;
  };
  [[nodiscard]] Effective effective(int gpus) const;
  /// Fewest GPUs it can run on; 0: none.
  [[nodiscard]] int fewest() const { return fewest_; }

 private:
  std::vector<std::optional<BatchChoice>> best_;  ///< of 1, 2, ... GPUs
  std::vector<Effective> effective_;
  int fewest_ = 0;
};

}  // namespace rubato
