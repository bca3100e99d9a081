// SPDX-License-Identifier: GPL-2.0-or-later
// The configurations that a job could have next, with the time that it would still take in each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/policy/algorithms/capacity.h"
#include "lib/policy/algorithms/change_bounds.h"
#include "lib/policy/algorithms/forecasts.h"
#include "lib/policy/algorithms/job_history.h"
#include "lib/policy/algorithms/pending_queue.h"
#include "lib/policy/algorithms/round_input.h"

namespace rubato {

/// A forecast is unsure enough for a trial from this standard deviation on.
inline constexpr double kTrialStddev = .05;

/// One configuration that a job could have next.
struct NextConfiguration {
  TypeId type = kNoGpu;
  int gpus = 0;        ///< in total
  double seconds = 0;  ///< until its end, without the cost of the change; above 0
  std::string plan{};  ///< as submitted: ""
  std::int64_t batch = 0;
  double stddev = 0;  ///< of the forecast of ln(seconds)
  bool live = false;  ///< of a running job: it gets there while it runs; else by a restart
  /// A live row of more GPUs that would be left out, were its forecast surer. It is worth nothing
  /// in the market; the job may try it on GPUs that are left (trade_trials.h).
  bool trial = false;

  bool operator==(const NextConfiguration&) const = default;
};

/// The configurations of one job.
struct ConfigurationTable {
  const Job* job = nullptr;
  const PendingEntry* entry = nullptr;  ///< of a waiting job; null: it runs
  std::vector<NextConfiguration> rows;  ///< by GPU type, then size; at least one
  int held = -1;                        ///< the row that it has now; -1: none
  double fastest = 0;                   ///< least `seconds` of all rows
  bool told = false;                    ///< its work is stated, or known by ended jobs
  double seconds_on_cpus = 0;           ///< until its end; of a job that runs without GPUs, else 0
  double promised = 0;                  ///< goodput that its QOS guarantees (guarantee.h); 0: none
  /// Why a running job may not change now. It has its present row alone then, and cannot stop.
  std::optional<ChangeBound> bound{};
  /// Of the rows that GrowthCap leaves out, the fastest; 0 GPUs: none.
  NextConfiguration capped{};
};

/// Seconds until the end of a running job if nothing changes.
[[nodiscard]] double seconds_now(const ConfigurationTable& table);

/// GPU-seconds of the cheapest row that is no trial, in units of a mean GPU. `relative`: price by
/// TypeId.
[[nodiscard]] double least_area(const ConfigurationTable& table,
                                const std::vector<double>& relative);

/// Leaves out a row that GrowthCap does not allow.
void note_capped(ConfigurationTable& table, const NextConfiguration& row);

/// Sizes at which a job may be tried on nodes with `per_node` GPUs, ascending: all up to a node,
/// then whole nodes, of those that its hints allow; its own size always. A job without a choice has
/// its own size alone.
[[nodiscard]] std::vector<int> sizes_on(const Job& job, int per_node, int most);

/// Whether the hints of a job let it be restarted at another size or place, and its checkpoint
/// signal reaches it.
[[nodiscard]] bool consents_to_restart(const Job& job);

/// Whether a running job may be changed: it is managed, its hints let it be restarted or change its
/// size while it runs, its start is over, and it is no array task, interactive or heterogeneous
/// job.
[[nodiscard]] bool may_change(const Job& job);

/// Seconds without progress that a change of a running job costs: while it runs, or by a restart.
[[nodiscard]] double change_cost(const Job& job, bool live);

/// A table for each job that the market decides about: running jobs that may_change() and do not
/// (is_changing()), with GPUs of one type on nodes that are up, and waiting managed jobs that ask
/// for GPUs, with one entry, no reservation and no refusal to wait for; of an array the next task.
/// Left out are jobs that can run nowhere. Running jobs first, then those of the queue in Slurm's
/// order.
///
/// A running job without GPUs that asked for some (device=any) and consented to restarts has the
/// rows on GPUs alone, and holds none: it runs on where it is.
///
/// A waiting job of whose throughput nothing is known has one row for each GPU type it accepts, as
/// requested. On the fastest of them it takes what need.h expects, else its time limit; on others
/// longer by the ratio of the mean speeds.
///
/// A job that does not tell its work, or whose statement does not count (stated_work.h), is taken
/// to need what ended jobs of its type did (ended_work.h); without those as much again as it did,
/// be it running or waiting, before its first start what need.h expects. A waiting job that tells
/// its work, and whose user's job ran past its own (overrun.h), is taken to run to its time limit.
/// The row that a job holds is never left out; others are if the job might pass its time limit (by
/// two standard deviations of the forecast; before the start of a job that may change once it runs,
/// by one), is slower than its QOS promises (guarantee.h), or gains too little by their size
/// (kMinElasticity). A size that a job can have while it runs, on more or fewer nodes of its type,
/// is a row of its own (`live`), before that of a restart; a job that did not consent to restarts
/// has no other rows, and cannot stop. A running job that may not change now (change_bounds.h) has
/// its present row alone.
[[nodiscard]] std::vector<ConfigurationTable> configuration_tables(const RoundInput& input,
                                                                   const Forecasts& forecasts,
                                                                   const PendingQueue& queue,
                                                                   const JobHistory& history,
                                                                   const Capacity& capacity);

}  // namespace rubato
