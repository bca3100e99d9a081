// SPDX-License-Identifier: GPL-2.0-or-later
// The input of one round: the cluster, its jobs, and the memory of earlier rounds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/units.h"
#include "lib/core/job.h"
#include "lib/core/node.h"
#include "lib/core/progress_history.h"

namespace rubato {

/// Why a job has a reservation.
enum class ReserveReason {
  kFirst,       ///< first job of the order that cannot start
  kWaited,      ///< waited longer than ReserveAfter
  kStarvation,  ///< its StarvationBound is due
};

/// Nodes, GPUs, cores and memory that are kept for one job from a start time on. The start follows
/// from time limits only, never from forecasts.
struct Reservation {
  JobKey job;
  std::string partition;
  Seconds start = 0;
  Seconds made = 0;  ///< when it was first made; it is kept from then on
  ReserveReason reason = ReserveReason::kFirst;
  std::string gpu_type;           ///< "" for a job without GPUs
  std::vector<NodeShare> shares;  ///< sorted by node
  /// The earliest start that was promised; 0: none yet. Only kWaited and kStarvation promise one.
  Seconds promised = 0;
  std::string delayed_by;  ///< why `start` is later than `promised`; "" where it is not
  bool backfill = false;   ///< stock backfill found nodes and start

  bool operator==(const Reservation&) const = default;
};

/// State of a pending job from round to round.
struct JobMemory {
  JobKey job;
  Seconds first_seen = 0;
  int passed = 0;            ///< starts of lower jobs on nodes it could use while it waited
  Seconds passed_since = 0;  ///< first such start; 0: none
  Seconds last_try = 0;      ///< when slurmctld last refused the start the plan wanted; 0: never
  int refusals = 0;          ///< how often in a row
  std::string refusal;       ///< Slurm's words
  /// Fingerprint of the refused request; refusals end when the request changes.
  std::string refused_request;
  /// Cores free on the nodes it could use in the last round; when they grow, the back-off ends.
  int refused_free = 0;
  int asked = 0;  ///< of `refusals`: the round had found no room, and Slurm was asked to preempt
  Seconds promised = 0;  ///< start that its last reservation promised; 0: none

  bool operator==(const JobMemory&) const = default;
};

/// The last report of a running job.
struct Progress {
  JobKey job;
  int restarts = 0;            ///< of the run that reported
  Seconds time = 0;            ///< when it reported
  std::int64_t samples = 0;    ///< processed since the first start of the job
  double throughput = 0;       ///< processed samples/s
  std::int64_t batch = 0;      ///< global batch, samples
  int gpus = 0;                ///< held when it reported; 0: not known
  std::optional<double> loss;  ///< as the job measures it
  /// Gradient noise scale, samples: the mean of its reports with more weight for the last ones.
  std::optional<double> noise{};
  double efficiency = 1;  ///< statistical efficiency of its samples now (goodput.h)
  double discounted = 0;  ///< of `samples`: what they lack to efficient samples
  double steps = 0;       ///< iterations done; counted only for work in steps

  /// Efficient samples done: those that the work of the job counts.
  [[nodiscard]] double done() const { return static_cast<double>(samples) - discounted; }
  /// Efficient samples/s.
  [[nodiscard]] double goodput() const { return throughput * efficiency; }

  bool operator==(const Progress&) const = default;
};

/// The attained service of a managed job, in GPU-seconds. Each is weighted with the speed of its
/// type relative to the fastest type.
struct Service {
  JobKey job;
  double attained = 0;
  double since_promotion = 0;  ///< attained since the job was last promoted
  Seconds executed = 0;        ///< time it ran since then
  Seconds waiting_since = 0;   ///< since it became eligible, ran or was promoted
  Seconds updated = 0;
  double held = 0;  ///< GPUs at `updated`, in GPUs of the fastest type; 0: it did not run
  int level = 0;    ///< of the multi-level queue; 0 goes first
  /// Its remaining time is known, so that it is in both lists of the Borda count.
  bool predictable = false;
  int level_unpredictable = 0;  ///< its level without a known remaining time
  /// The work that its hints state counts (lib/policy/algorithms/stated_work.h).
  bool believed = true;
  bool counted = false;  ///< its need is part of the load of a GPU type (Load)

  bool operator==(const Service&) const = default;
};

/// Arrivals of jobs for the GPUs of one type, at the sizes that jobs request. All figures decay
/// together, so that their ratios are means of recent time (lib/policy/algorithms/load.h).
struct TypeLoad {
  std::string gpu_type;
  Seconds updated = 0;
  double seconds = 0;           ///< observed time
  double jobs = 0;              ///< arrived jobs
  double gpus = 0;              ///< requested by these jobs
  double told_gpus = 0;         ///< of jobs with a forecast of their run time
  double told_gpu_seconds = 0;  ///< forecast for these jobs

  bool operator==(const TypeLoad&) const = default;
};

/// A user whose job ran past the work that its hints state. For a day that user's jobs are expected
/// to run to their time limits.
struct UserOverrun {
  std::uint32_t uid = 0;
  Seconds last = 0;  ///< when that was last seen
  JobId job = 0;     ///< the job

  bool operator==(const UserOverrun&) const = default;
};

/// What a GPU of a type is worth in a round. Only ratios mean anything; 0: no job lacks any.
struct TypePrice {
  std::string gpu_type;
  double price = 0;

  bool operator==(const TypePrice&) const = default;
};

/// How far a change of size is.
enum class ResizeStep {
  kSaving,    ///< the job was told to save its state, and runs on
  kRequeued,  ///< it is pending; its place is kept until `due`; only in a restart
  kDone,      ///< it runs with the other size
  kFailed,    ///< given up; `words` says why
};

/// Another size or place for a running job that somebody asked for (`rubato resize`), or that the
/// round decided in mode elastic. It is kept for some minutes after its end, so that whoever asked
/// can read what became of it.
struct AskedResize {
  JobKey job;             ///< when it was asked for; a requeue changes the submit time
  std::uint32_t uid = 0;  ///< who asked
  bool by_round = false;  ///< the round decided it; nobody asked, and `uid` is 0
  bool live = false;      ///< it gets or gives back GPUs and runs on; else it is restarted
  bool starts = false;    ///< it waits, and gets a place that changes of others free
  ResizeStep step = ResizeStep::kSaving;
  int from = 0;          ///< GPUs that it had
  int gpus = 0;          ///< GPUs that it is to have; 0: it stops, and waits as any other job
  std::string gpu_type;  ///< of its place
  // Of a change while it runs, told with it:
  std::string plan = {};   ///< execution plan for the size; "": as before
  std::int64_t batch = 0;  ///< global batch for the size, samples; 0: as before
  int runs = 0;            ///< restarts of the job (Job::restarts) when it was asked for
  Seconds asked = 0;
  Seconds since = 0;              ///< when `step` began
  Seconds due = 0;                ///< when `step` ends at the latest
  Seconds requeued = 0;           ///< 0: not yet
  std::vector<NodeShare> shares;  ///< its place after a restart, kept from the signal on; sorted
                                  ///< by node
  bool elsewhere = false;         ///< requeued: it held none of the nodes of `shares`
  std::vector<JobKey> after;      ///< jobs whose changes free `shares`; sorted
  std::string words;
  std::int64_t notice = 0;  ///< number of the last notice that told the job; 0: none
  Seconds answered = 0;     ///< when the job said that it is ready; 0: it did not
  bool rehearsal = false;   ///< a restart at the same size that somebody asked for
  // The last report before it was asked for. By it the cost is measured (change_costs.h).
  Seconds reported = 0;      ///< 0: none
  std::int64_t samples = 0;  ///< done then
  double throughput = 0;     ///< samples/s then
  bool measured = false;     ///< a report after the change showed its cost
  double cost = 0;           ///< then: seconds without progress
  double gain = 0;  ///< forecast when it began: seconds by which the job ends earlier, its cost
                    ///< included; 0: none was forecast

  [[nodiscard]] bool over() const {
    return step == ResizeStep::kDone || step == ResizeStep::kFailed;
  }
  bool operator==(const AskedResize&) const = default;
};

/// Why a job runs again.
enum class RestartReason {
  kNone,       ///< it never ran before
  kRequeue,    ///< Slurm, its owner or an admin requeued it
  kResize,     ///< somebody asked for another size (`rubato resize`)
  kRound,      ///< the round decided it in mode elastic
  kRehearsal,  ///< somebody tried its checkpoint (`rubato rehearse`)
};

/// The sizes that a job had over its restarts, and what it was told of how to run
/// (lib/policy/algorithms/size_history.h).
struct SizeHistory {
  JobKey job;
  int gpus = 0;     ///< held when it was last seen to run
  int resizes = 0;  ///< how often that number changed since its first start
  RestartReason reason = RestartReason::kNone;  ///< of the last restart by Rubato
  int restarts = 0;                             ///< Job::restarts after that one
  std::string plan = {};                        ///< execution plan that it was told last; "": none
  std::int64_t batch = 0;  ///< global batch that it was told last, samples; 0: none
  Seconds told = 0;        ///< when; 0: never

  bool operator==(const SizeHistory&) const = default;
};

/// A running job that keeps its size because somebody asked for that (`rubato hold-size`).
struct SizeHold {
  JobKey job;
  std::uint32_t uid = 0;  ///< who asked
  Seconds since = 0;
  Seconds until = 0;  ///< 0: until it is released

  bool operator==(const SizeHold&) const = default;
};

/// A time at which managed jobs with GPUs arrived.
struct ArrivalTime {
  Seconds time = 0;

  bool operator==(const ArrivalTime&) const = default;
};

/// Restarts within one hour of the clock.
struct RestartHour {
  Seconds last = 0;  ///< time of the last of them
  int count = 0;

  bool operator==(const RestartHour&) const = default;
};

/// Restarts of a job that Rubato asked for (lib/policy/algorithms/restarts.h).
struct JobRestarts {
  JobKey job;
  int count = 0;                   ///< in all
  Seconds planned = 0;             ///< when the last was planned that may still come; 0: none
  int restarts = 0;                ///< Job::restarts then
  std::vector<RestartHour> hours;  ///< of the last day, ascending

  bool operator==(const JobRestarts&) const = default;
};

/// The same of all jobs of a user.
struct UserRestarts {
  std::uint32_t uid = 0;
  std::vector<RestartHour> hours;  ///< of the last day, ascending

  bool operator==(const UserRestarts&) const = default;
};

/// Mean measured costs of changes of a profile's jobs (lib/policy/algorithms/change_costs.h).
struct ProfileCosts {
  std::string account;  ///< "" if all accounts share the profile
  std::string job_type;
  Seconds updated = 0;
  double restart = 0;  ///< seconds
  int restarts = 0;    ///< measured ones
  double resize = 0;   ///< seconds, of changes while the job runs
  int resizes = 0;     ///< measured ones

  bool operator==(const ProfileCosts&) const = default;
};

/// A job that got GPUs so that its reports show how fast its profile is there
/// (lib/policy/trade_exploration.h).
struct Exploration {
  JobKey job;
  std::string account;  ///< "" if all accounts share the profile
  std::string job_type;
  std::string gpu_type;
  int gpus = 0;
  Seconds time = 0;        ///< of the round that decided it
  double gpu_seconds = 0;  ///< what that takes beyond its cheapest GPUs, in mean GPUs

  bool operator==(const Exploration&) const = default;
};

/// The memory of earlier rounds. It is written to the state file and read when slurmctld starts.
struct Memory {
  std::uint64_t round = 0;
  std::vector<JobMemory> jobs;            ///< sorted by key
  std::vector<Reservation> reservations;  ///< sorted by key, then partition
  std::vector<Service> service;           ///< sorted by key; see lib/policy/algorithms/service.h
  std::vector<Progress> progress;         ///< sorted by key; of jobs that are in the snapshot
  std::vector<ProgressHistory>
      progress_histories;  ///< sorted by key; see lib/model/progress/predictability.h
  std::vector<TypePredictability> types;      ///< sorted by account and job type, each once
  std::vector<ProfileNoise> noises;           ///< sorted by account and job type, each once
  std::vector<ProfileWork> works;             ///< sorted by account and job type, each once
  std::vector<ProfileCosts> change_costs;     ///< sorted by account and job type, each once
  std::vector<TypeLoad> loads;                ///< sorted by GPU type, each once
  std::vector<UserOverrun> overruns;          ///< sorted by uid, each once
  std::vector<AccountStatements> statements;  ///< sorted by account, each once
  std::vector<ArrivalTime> arrivals;          ///< the last ones, ascending, each once
  std::vector<TypePrice> prices;  ///< moving mean over rounds, relative to the mean of all types
  std::vector<Exploration> explorations;    ///< of the last day; sorted by time, then job
  std::vector<AskedResize> asked_resizes;   ///< sorted by key
  std::vector<SizeHistory> size_histories;  ///< sorted by key; of jobs that may change
  std::vector<SizeHold> size_holds;         ///< sorted by key
  std::vector<JobRestarts> restarts;        ///< sorted by key; empty without a cap on restarts
  std::vector<UserRestarts> user_restarts;  ///< sorted by uid, each once

  bool operator==(const Memory&) const = default;
};

/// A partition, with what queue order and gate need.
struct Partition {
  std::string name;
  int tier = 1;
  bool managed = false;
  NodeSetIndex node_set;

  bool operator==(const Partition&) const = default;
};

/// What PrivateData of slurm.conf hides from ordinary users. Words that do not concern the files
/// of Rubato (reservations, events, cloud) are left out.
struct PrivateData {
  bool jobs = false;
  bool nodes = false;
  bool partitions = false;
  bool users = false;
  bool accounts = false;
  bool usage = false;

  [[nodiscard]] bool any() const { return *this != PrivateData{}; }
  bool operator==(const PrivateData&) const = default;
};

/// Sorted nodes, shared by the jobs that may use the same nodes.
using NodeSet = std::vector<NodeIndex>;

/// A reservation of Slurm. Jobs without access do not run on its nodes meanwhile.
struct ReservationWindow {
  std::string name;
  Seconds start = 0;
  Seconds end = 0;
  NodeSetIndex node_set;

  bool operator==(const ReservationWindow&) const = default;
};

struct Snapshot {
  std::string cluster;  ///< ClusterName
  std::string slurm_version;
  Seconds taken = 0;
  PrivateData private_data;
  std::vector<Node> nodes;  ///< in slurmctld's order
  std::vector<NodeSet> node_sets;
  std::vector<Partition> partitions;  ///< sorted by name
  std::vector<Job> jobs;              ///< pending by rank, then running by key
  Memory memory;
  std::vector<ReservationWindow> windows;  ///< sorted by name

  bool operator==(const Snapshot&) const = default;
};

/// The last report of a job; null if there is none.
[[nodiscard]] const Progress* progress_of(const Memory& memory, const JobKey& job);
/// The attained service of a job; null if there is none. A list must be sorted by key.
[[nodiscard]] const Service* service_of(const std::vector<Service>& service, const JobKey& job);
[[nodiscard]] const Service* service_of(const Memory& memory, const JobKey& job);
/// The forecasts of a job; null if it never reported.
[[nodiscard]] const ProgressHistory* progress_history_of(const Memory& memory, const JobKey& job);
/// The forecast quality of a profile; null if there is none.
[[nodiscard]] const TypePredictability* type_predictability_of(const Memory& memory,
                                                               const std::string& account,
                                                               const std::string& job_type);
/// The state of a pending job from earlier rounds; null if there is none.
[[nodiscard]] const JobMemory* memory_of(const Memory& memory, const JobKey& job);

[[nodiscard]] const char* to_string(ReserveReason);
[[nodiscard]] const char* to_string(ResizeStep);
[[nodiscard]] const char* to_string(RestartReason);
[[nodiscard]] std::optional<ResizeStep> resize_step_from(const std::string&);
[[nodiscard]] std::optional<RestartReason> restart_reason_from(const std::string&);
[[nodiscard]] std::optional<ReserveReason> reserve_reason_from(const std::string&);

}  // namespace rubato
