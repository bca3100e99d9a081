// SPDX-License-Identifier: GPL-2.0-or-later
// What a round decides.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lib/base/units.h"
#include "lib/core/snapshot.h"

namespace rubato {

/// The decision about a pending job.
enum class Verdict {
  kStart,    ///< a managed job starts on the nodes named
  kAttempt,  ///< slurmctld tries to start it: an unmanaged job, or one that may preempt
  kReserve,  ///< waits for its reservation
  kWait,     ///< waits without a reservation
  kBlocked,  ///< Slurm does not let it start (limit, licence, ...)
  kStock,    ///< left to stock Slurm (het jobs)
};

/// How fast a GPU of a type is for a job, against its GPUs of other types.
struct GpuSpeed {
  std::string type;
  double speed = 0;  ///< above 0

  bool operator==(const GpuSpeed&) const = default;
};

/// One start. Starts are tried in the order of the plan, and checked again under the lock.
struct Start {
  JobKey job;
  std::string partition;
  std::string reservation;  ///< Job::reservation
  bool managed = false;
  std::string gpu_type;  ///< chosen type; "" without GPUs or for unmanaged jobs
  /// Total GPUs of the start; 0: as requested. At another size the request is
  /// rewritten to at_size(job, gpus, gpu_type) (lib/core/resize_request.h).
  int gpus = 0;
  /// Starts without the requested GPUs (device=any): at_size(job, 0, ""). `gpus` is 0.
  bool on_cpus = false;
  std::string plan = {};          ///< execution plan for the job; "": as submitted
  std::int64_t batch = 0;         ///< global batch for the job, samples; 0: as submitted
  std::vector<NodeShare> shares;  ///< placement; empty: Slurm chooses it
  /// If Slurm refuses these nodes, it may choose other nodes of `node_set` that are not reserved.
  bool elsewhere = true;
  Seconds time_limit = 0;          ///< a shorter limit for a job with --time-min; 0: as requested
  std::vector<JobKey> after = {};  ///< running jobs whose changes free its nodes; sorted
  RestartReason restart_reason = RestartReason::kNone;  ///< why it starts again
  int resizes = 0;  ///< changes of its size since its first start, with this one
  /// A start on several GPU types (mix-types): those of `shares`, by name.
  std::vector<GpuSpeed> speeds = {};

  bool operator==(const Start&) const = default;
};

/// How a running job changes.
enum class ChangeAction {
  kShrink,   ///< gives whole nodes back while it runs
  kGrow,     ///< gets GPUs beside those it has while it runs
  kRestart,  ///< is requeued and starts again with another configuration or on other nodes
  kStop,     ///< is requeued and waits
  kNotify,   ///< keeps its GPUs and is told another batch, or another plan too
};

/// A change of a running job that consented to it: by the hint checkpoint, or to one while it runs
/// by resize=live. Carried out only in mode elastic.
struct Change {
  JobKey job;
  std::string partition;
  ChangeAction action = ChangeAction::kRestart;
  std::string gpu_type;           ///< afterwards; "" for kStop
  int gpus = 0;                   ///< afterwards, in total; 0 for kStop
  std::string plan = {};          ///< execution plan afterwards; "": as submitted
  std::int64_t batch = 0;         ///< global batch afterwards, samples; 0: as submitted
  std::vector<NodeShare> shares;  ///< afterwards, sorted by node; empty for kStop
  std::vector<JobKey> after;      ///< jobs whose changes free the nodes of `shares`; sorted
  double seconds_left = 0;        ///< forecast until its end, as it runs now
  double seconds_then = 0;        ///< after the change, its cost included; 0 for kStop
  double cost = 0;                ///< of it: seconds without progress

  bool operator==(const Change&) const = default;
};

/// Why a running job keeps its GPUs although another configuration was compared with them.
enum class StayReason {
  kFastest,    ///< no other configuration that it could have ends it earlier
  kUncertain,  ///< the forecasts are too uncertain to call the other one faster
  kCost,       ///< what it gains does not pay for the cost of the change
  kPrice,      ///< what it gains is worth less than the GPUs cost at the prices of the round
  kNoGpus,     ///< fewer GPUs of the type are free or held by jobs that may change
  kOthers,     ///< jobs of the market hold the GPUs, or get them
  kNoNodes,    ///< the market gave it the other one, but no nodes carry that as well
  kExempt,     ///< it runs too short a time to be interrupted
  kCap,        ///< a cap of rubato.conf is used up
  kHeld,       ///< somebody asked that it keeps its size (`rubato hold-size`)
  kUnreached,  ///< its checkpoint signal would reach no process
};

/// A running job that consented to changes (hint checkpoint) and keeps its GPUs. Mode elastic only.
struct Stay {
  JobKey job;
  std::string partition;
  StayReason reason = StayReason::kFastest;
  std::string gpu_type;      ///< the best other configuration; "" for kFastest, kExempt, kCap
  int gpus = 0;              ///< of it, in total; 0 for kFastest
  double seconds_left = 0;   ///< forecast until its end, as it runs now
  double seconds_there = 0;  ///< in the other one, the cost of the change included; 0 for kFastest
  double cost = 0;           ///< of it: seconds without progress
  int available = 0;         ///< for kNoGpus: GPUs of the type that the market has
  std::string rule;   ///< for kExempt and kCap: option of slurm.conf or rubato.conf that decides
  Seconds until = 0;  ///< for kExempt, kCap and kHeld: when that ends; 0: it does not

  bool operator==(const Stay&) const = default;
};

/// The fact of an explanation that names the execution plan chosen for a start.
inline constexpr const char* kPlanGiven = "plan_given";

/// What became of one size of a job whose hints leave the size open.
struct SizeOutcome {
  int gpus = 0;
  std::string gpu_type;  ///< where it costs least
  /// taken, no-room, costs-more, work-unknown, uncertain, time-limit, too-slow, guarantee,
  /// unmeasured, load, shape or growth-cap.
  std::string outcome;
  double throughput = 0;  ///< forecast, samples/s; 0: not known
  Seconds cost = 0;       ///< its run and the delay of the jobs behind it; 0: not worked out

  bool operator==(const SizeOutcome&) const = default;
};

/// Why the round decided about a job as it did, for commands to print.
struct Explanation {
  JobKey job;
  std::string label;
  std::string partition;
  Verdict verdict = Verdict::kWait;
  int order = 0;       ///< queue position in this round, from 0
  std::string reason;  ///< one sentence
  std::string gpu_type;
  std::vector<std::string> nodes;  ///< where it starts or is reserved
  Seconds start_earliest = 0;      ///< expected start as an interval; 0: not known
  Seconds start_latest = 0;
  /// The figures behind the decision, as name and value, in a fixed order.
  std::vector<std::pair<std::string, std::string>> facts;
  std::string word;  ///< the reason in one word for squeue; "": Slurm's own reason stays
  std::vector<SizeOutcome> sizes;  ///< ascending; empty where the size is not open

  bool operator==(const Explanation&) const = default;
};

/// The result of one round.
struct Plan {
  std::uint64_t round = 0;
  Seconds made = 0;
  std::string snapshot_fingerprint;  ///< 16 hex digits of the snapshot's JSON
  std::string models_fingerprint;    ///< of models-fit.json; "" where nothing was learnt
  std::vector<Start> starts;
  std::vector<Change> changes;            ///< of running jobs, sorted by key; mode elastic only
  std::vector<Stay> stays;                ///< running jobs, sorted by key; mode elastic only
  std::vector<TypePrice> prices;          ///< by name of the GPU type; mode elastic only
  std::vector<Reservation> reservations;  ///< sorted by start, then key
  std::vector<Explanation> explanations;  ///< one per pending job, in order
  Memory memory;                          ///< for the next round

  bool operator==(const Plan&) const = default;
};

[[nodiscard]] const char* to_string(ChangeAction);
[[nodiscard]] std::optional<ChangeAction> change_action_from(const std::string&);
[[nodiscard]] const char* to_string(StayReason);
[[nodiscard]] std::optional<StayReason> stay_reason_from(const std::string&);
[[nodiscard]] const char* to_string(Verdict);
[[nodiscard]] std::optional<Verdict> verdict_from(const std::string&);

}  // namespace rubato
