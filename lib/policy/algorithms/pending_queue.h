// SPDX-License-Identifier: GPL-2.0-or-later
// What the stages of one round share.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "lib/model/models.h"
#include "lib/policy/algorithms/capacity.h"
#include "lib/policy/algorithms/demand.h"
#include "lib/policy/algorithms/need.h"

namespace rubato {

/// A way to start a job: on GPUs of one type, perhaps at another size than it asks for.
struct StartConfiguration {
  TypeId type = kNoGpu;
  int gpus = 0;  ///< in total; 0: as requested
  Job job;       ///< as it would be requested (at_size())
  Demand demand{Request{}};
  double throughput = 0;  ///< samples/s expected
  double cost = 0;  ///< seconds that it takes all who wait: its run, and the delay of those behind
};

/// The GPU types that one job may take, where that differs from "any, the fastest first".
struct TypeChoice {
  std::vector<TypeId> order;        ///< as they are tried
  std::vector<double> speed;        ///< by TypeId: where in `order`, equal ones by what fits better
  std::vector<Forecast> forecasts;  ///< by TypeId, at the size of the request; empty: none
  TypeId matched = kNoGpu;          ///< where it would best run beside all others
  bool bound = false;               ///< its hint names types: it must never get another
  std::vector<StartConfiguration>
      configurations;            ///< as they are tried; empty: the requested size on `order`
  bool waits_for_match = false;  ///< `order` has only `matched`, though it accepts others
  double load = 0;               ///< of `matched`: work that arrives, as a share of its GPUs
  double delayed = 0;            ///< jobs that a second of all GPUs of `matched` delays
};

/// An entry of the queue: a pending job in one partition and reservation.
struct PendingEntry {
  const Job* job = nullptr;
  int order = 0;  ///< place in the order of this round, from 0
  Demand demand{Request{}};
  const NodeSet* nodes = nullptr;     ///< where it may start now; never null, valid indices
  const NodeSet* later = nullptr;     ///< where it could start at some time; likewise
  const TypeChoice* types = nullptr;  ///< null: any type, the fastest first
  int gpus = 0;          ///< another size than requested, which `job` has then (at_size()); 0: none
  bool on_cpus = false;  ///< `job` is planned without GPUs

  /// When it ends if it starts at `start` and runs to its time limit.
  [[nodiscard]] Seconds end(Seconds start) const { return add_seconds(start, job->time_limit); }
};

/// The inputs of a round, and what the first stages made of them.
struct RoundContext {
  const Snapshot& snapshot;
  const Config& config;
  Seconds now = 0;
  std::vector<PendingEntry> queue;    ///< pending jobs in order
  std::vector<const NodeSet*> sets;   ///< by index into Snapshot::node_sets; empty if not valid
  std::vector<int> by_key;            ///< orders, sorted by job key; entries of one job by order
  std::vector<double> speeds;         ///< by TypeId
  std::vector<TypeId> fastest;        ///< types by speed, fastest first; then by name
  std::vector<Service> service = {};  ///< of managed jobs with GPUs, sorted by key
  std::vector<JobNeed> needs = {};    ///< of pending managed jobs with GPUs, sorted by key
  const Models* models = nullptr;     ///< null: nothing is chosen but nodes
  std::deque<Job> sized = {};         ///< jobs of `queue` that are planned at another size

  /// The node set of an index; an empty one if there is none of it.
  [[nodiscard]] const NodeSet* set(int index) const;
  /// The entries of one job, as orders.
  [[nodiscard]] std::span<const int> entries_of(const JobKey& job) const;
  /// How long the job has been able to run, 0 if that is not known.
  [[nodiscard]] Seconds waited(const Job& job) const;
};

/// Fills all but `speeds` and `fastest`. Node sets that are not there or name nodes that are not
/// there count as empty.
[[nodiscard]] RoundContext make_context(const Snapshot& snapshot, const Config& config, Seconds now,
                                        std::vector<Service> service = {},
                                        std::vector<JobNeed> needs = {});

}  // namespace rubato
