// SPDX-License-Identifier: GPL-2.0-or-later
// Stage 4: the GPUs of each type in this round, who holds them, and what arrives for them.
#pragma once

#include <utility>
#include <vector>

#include "lib/core/snapshot.h"
#include "lib/model/models.h"
#include "lib/policy/algorithms/capacity.h"
#include "lib/policy/algorithms/load.h"
#include "lib/policy/algorithms/pending_queue.h"
#include "lib/policy/algorithms/round_input.h"

namespace rubato {

/// By TypeId: usable GPUs, those who hold them until they are expected to end, and the load that
/// earlier rounds saw. Nobody waits in them yet.
[[nodiscard]] std::vector<PoolState> pools_of(const RoundInput& input, const Capacity& capacity);

/// Where a job stands among those that wait for one type.
struct QueuePosition {
  TypeId type = kNoGpu;  ///< kNoGpu: nowhere
  int before = 0;        ///< jobs ahead of it in the order
  double gpus = 0;       ///< it asks for
  double gpu_seconds = 0;
  double gpu_seconds_before = 0;  ///< of the jobs ahead of it
};

/// The GPUs of each type with all that wait for them: what it costs to run a job there.
class TypeQueues {
 public:
  explicit TypeQueues(std::vector<PoolState> pools)
      : pools_(std::move(pools)), waiting_(pools_.size()) {}

  /// The next in the order that waits for `type`.
  QueuePosition enqueue(TypeId type, double gpus, double seconds);

  [[nodiscard]] const PoolState& pool(TypeId type) const { return pools_[type]; }
  /// Jobs that would start a second later for each second in which the job held all GPUs of a type:
  /// those behind it, and those that will come. `seconds`: it would run there.
  [[nodiscard]] double delayed(const QueuePosition& job, TypeId type, int gpus,
                               double seconds) const;
  /// What it costs the job and those behind it, in seconds, that it runs so long on so many GPUs of
  /// a type: its own run time, and the delay of the others by its share of the pool.
  [[nodiscard]] double cost(const QueuePosition& job, TypeId type, int gpus, double seconds) const;
  /// What it costs those who will come.
  [[nodiscard]] double cost_to_come(const QueuePosition& job, TypeId type, int gpus,
                                    double seconds) const;
  /// Seconds until so many GPUs of a type come to the job: until they are free, and those ahead of
  /// it have had the whole pool.
  [[nodiscard]] double wait(const QueuePosition& job, TypeId type, int gpus) const;
  /// The probability that somebody else waits while it does (chance_of_wait()).
  [[nodiscard]] double chance(const QueuePosition& job, TypeId type, int gpus,
                              double seconds) const;

  /// Jobs that wait for a type and come after it.
  [[nodiscard]] int behind(const QueuePosition& job, TypeId type) const;

 private:
  [[nodiscard]] double share(TypeId type, int gpus) const;
  [[nodiscard]] WaitingJobs others(const QueuePosition& job, TypeId type) const;

  std::vector<PoolState> pools_;      ///< by TypeId
  std::vector<WaitingJobs> waiting_;  ///< by TypeId
};

/// Load and service with the arrivals of one round counted.
struct CountedArrivals {
  std::vector<TypeLoad> loads;   ///< sorted by GPU type
  std::vector<Service> service;  ///< Service::counted is set for jobs counted with their need
};

/// Counts the jobs that are new in this round, and those whose need is known for the first time,
/// into Memory::loads. A job with a known need counts on the type it runs on, requests or was
/// matched to; any other job counts on all types, in proportion to their GPUs.
[[nodiscard]] CountedArrivals count_arrivals(const RoundInput& input, const PendingQueue& queue,
                                             const Capacity& capacity,
                                             std::vector<Service> service);

}  // namespace rubato
