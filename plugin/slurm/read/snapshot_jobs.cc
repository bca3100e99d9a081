// SPDX-License-Identifier: GPL-2.0-or-later
// Reads one job in a look.
#include <algorithm>
#include <cstring>
#include <optional>
#include <tuple>
#include <utility>

#include "plugin/slurm/read/blocks.h"
#include "plugin/slurm/read/job_view.h"
#include "plugin/slurm/read/kept_request.h"
#include "plugin/slurm/read/snapshot_look.h"
#include "plugin/slurm/release/differences.h"
#include "plugin/slurm/release/lists.h"

namespace rubato {
namespace {

std::string text(const char* words) { return words != nullptr ? words : ""; }

int startable_tasks(const job_record_t& job) {
  const job_array_struct_t* array = job.array_recs;
  if (array == nullptr || job.array_task_id != NO_VAL) return 1;
  std::uint32_t tasks = array->task_cnt;
  if (array->max_run_tasks != 0)
    tasks = std::min(tasks,
                     array->max_run_tasks - std::min(array->max_run_tasks, array->tot_run_tasks));
  constexpr std::uint32_t kTasksOfARound = 64;  // the next round starts the rest
  return static_cast<int>(std::clamp<std::uint32_t>(tasks, 1, kTasksOfARound));
}

Job common(const job_record_t& job, const part_record_t& part, const Config& config,
           JobHints& hints) {
  Job out;
  out.key = {job.job_id, job.details->submit_time};
  hints.note(job, out.key);
  out.uid = job.user_id;
  out.restarts = job.restart_cnt;
  out.array_id = job.array_job_id;
  out.label = label_of(job);
  out.name = text(job.name);
  out.user = text(job.user_name);  // mostly empty: no look-up in a directory under the locks
  out.account = text(job.account);
  out.qos = job.qos_ptr != nullptr ? text(job.qos_ptr->name) : "";
  out.partition = text(part.name);
  out.batch = job.batch_flag != 0;
  // To start one of a federation means a request to its sibling clusters, under slurmctld's locks.
  out.het = job.het_job_id != 0 || job.fed_details != nullptr || release::names_several_qos(job);
  out.tier = part.priority_tier;
  out.time_limit = time_limit_of(job, part);
  const char* unmanaged = why_unmanaged(job, part, config);
  out.managed = unmanaged == nullptr;
  if (!out.managed && !is_running(job)) out.block_text = unmanaged;
  return out;
}

// Slurm keeps the factor multiplied with its weight (get_priority_internal() of
// src/plugins/priority/multifactor/priority_multifactor.c). It is 0 under other priority plugins,
// and for running jobs after a restart of slurmctld.
std::optional<double> fair_share_of(const job_record_t& job) {
  const auto weight = static_cast<double>(slurm_conf.priority_weight_fs);
  if (job.prio_factors == nullptr || weight == 0 || job.direct_set_prio != 0) return std::nullopt;
  if (text(slurm_conf.priority_type) != "priority/multifactor") return std::nullopt;
  if (!is_pending(job) && job.prio_factors->priority_fs == 0) return std::nullopt;
  return std::clamp(job.prio_factors->priority_fs / weight, 0.0, 1.0);
}

// A job with hints may consent to a restart (rubato resize), for which it needs nodes. The hints
// are read after the look.
bool may_restart(const Job& job, const job_record_t& record) {
  return job.managed && job.batch && record.comment != nullptr &&
         std::strstr(record.comment, "rubato:") != nullptr;
}

}  // namespace

void SnapshotPass::running(job_record_t& job) {
  CachedJob* cached = reader_.cache_.find(job);
  const bool fresh = cached == nullptr;
  if (full_ || (!fresh && reader_.cache_.refresh(*cached))) cached = nullptr;
  if (cached == nullptr) {
    cached = &reader_.cache_.renew(job);
    cached->job = common(job, *job.part_ptr, config_, reader_.hints_);
    cached->job.state = JobState::kRunning;
    cached->job.start = job.start_time;
    cached->job.eligible = std::max<Seconds>(job.details->begin_time, cached->job.key.submit);
    cached->job.allocation = allocation_of(job, reader_.index_);
    cached->job.batch_node = batch_node_of(job, cached->job.allocation, reader_.index_);
    cached->job.request = asked_of(job, *job.part_ptr);
  }
  reader_.cache_.see(*cached);
  take_allocation(cached->job.allocation, reader_.snapshot_.nodes);
  // end_time changes with scontrol update TimeLimit= and with suspension.
  const bool bounded = cached->job.time_limit < kForever && !IS_JOB_SUSPENDED((&job));
  JobLine line;
  line.job = &cached->job;
  line.priority = job.priority;
  line.priority_set = job.direct_set_prio != 0;
  line.niced = job.details->nice != NICE_OFFSET;
  line.fair_share = fair_share_of(job);
  line.end_limit = bounded ? job.end_time : kForever;
  line.exempt_until = exempt_until(job);
  line.without_step = may_restart(cached->job, job) && !runs_step(job);
  if (fresh || may_restart(cached->job, job)) line.sets = could_run(job);
  reader_.lines_.push_back(std::move(line));
}

// Slurm's own preemption ends no job before this time. It depends on the QOS of job and partition
// alone, so that the lock is taken once for each pair.
Seconds SnapshotPass::exempt_until(job_record_t& job) {
  const auto [at, fresh] = exempt_times_.try_emplace({job.qos_ptr, job.part_ptr->qos_ptr}, 0);
  if (fresh) {
    assoc_mgr_lock_t locks = {};
    locks.qos = READ_LOCK;
    const AssocLocks held(locks);
    at->second = acct_policy_get_preemptable_time(&job) - job.start_time;
  }
  return at->second > 0 ? add_seconds(job.start_time, at->second) : 0;
}

// A queue entry for a job that is not in Slurm's queue.
static SlurmQueueEntry outside_queue(job_record_t& job) {
  return {.job = &job,
          .part = job.part_ptr,
          .reservation = nullptr,
          .priority = job.priority,
          .array_task_id = job.array_task_id,
          .use_prefer = false,
          .known = nullptr,
          .may_borrow = false};
}

// Computed once, when the job is first seen running; the history of the run needs it.
NodeClasses::Sets SnapshotPass::could_run(job_record_t& job) {
  const SlurmQueueEntry entry = outside_queue(job);
  return reader_.classes_.sets_of(reader_.classes_.class_of(entry), entry);
}

void SnapshotPass::note_victim(const job_record_t& job) {
  const job_record_t* record = &job;
  const bool holds =
      IS_JOB_RUNNING(record) || IS_JOB_SUSPENDED(record) || IS_JOB_COMPLETING(record);
  if (holds) last_victim_ = std::max(last_victim_, job.preempt_time);
}

// preempt_in_progress does not last: build_job_queue() clears it (job_scheduler.c:609).
// preempt_start_time stays (node_scheduler.c:2563). slurmctld ends no more jobs until KillWait and
// MessageTimeout have passed; victims with a GraceTime hold their nodes for longer.
bool SnapshotPass::preempting(const job_record_t& job) const {
  const time_t began = job.details->preempt_start_time;
  if (began == 0 || began < job.details->submit_time) return false;
  const time_t patience = slurm_conf.kill_wait + slurm_conf.msg_timeout;
  return time(nullptr) < began + patience || last_victim_ >= began;
}

// The QOS (preempt/qos), the partition (preempt/partition_prio) or a reservation with MaxStartDelay
// determines which jobs this one may preempt. Inside its own QOS (PreemptMode=WITHIN) the priority
// does too (preempt_qos.c, preempt_p_preemptable).
SnapshotPass::Victims SnapshotPass::victims_of(const SlurmQueueEntry& entry) {
  job_record_t job = *entry.job;
  job.part_ptr = entry.part;
  job.priority = UINT32_MAX;
  Victims victims;
  const std::uint32_t within =
      slurm_conf.preempt_mode | (job.qos_ptr != nullptr ? job.qos_ptr->preempt_mode : 0U);
  const OwnedList candidates(slurm_find_preemptable_jobs(&job));
  if (candidates.get() == nullptr) return victims;
  ListWalk<job_record_t> all(candidates.get());
  while (const auto* victim = all.next()) {
    if ((within & PREEMPT_MODE_WITHIN) != 0 && victim->qos_ptr == job.qos_ptr) {
      victims.above = std::min(victims.above, victim->priority);
    } else {
      victims.always = true;
    }
  }
  return victims;
}

bool SnapshotPass::may_preempt(const SlurmQueueEntry& entry) {
  job_record_t& job = *entry.job;
  const bool lends = job_uses_max_start_delay_resv(&job);
  if (!preemption_ && !lends) return false;
  const slurmctld_resv_t* reservation = lends ? job.resv_ptr : nullptr;
  const auto key =
      std::tuple(job.qos_id, static_cast<const part_record_t*>(entry.part), reservation);
  auto at = preempts_.find(key);
  if (at == preempts_.end()) at = preempts_.emplace(key, victims_of(entry)).first;
  return at->second.always || job.priority > at->second.above;
}

Job SnapshotPass::read_pending(const SlurmQueueEntry& entry) {
  const job_record_t& job = *entry.job;
  Job out = common(job, *entry.part, config_, reader_.hints_);
  out.reservation =
      entry.reservation != nullptr ? text(entry.reservation->name) : text(job.resv_name);
  out.request = asked_of(job, *entry.part);
  out.tasks = startable_tasks(job);
  out.size_bound = text(why_size_is_bound(job));
  if (!config_.off(Mechanism::kTimeMin)) out.time_min = time_min_of(job);
  if (!config_.off(Mechanism::kReserveFrom)) {
    out.reserve_from = rules_.from(job);
    out.reserve_priority = rules_.priority(job);
  }
  return out;
}

// The node class of `entry`, from the cache of its job if it is there.
NodeClassIndex SnapshotPass::class_of(const SlurmQueueEntry& entry, CachedJob& cached) {
  NodeClassIndex* known = &cached.class_id;
  if (entry.reservation != nullptr)
    for (MagneticAccess& access : cached.magnetic)
      if (access.reservation == entry.reservation) known = &access.class_id;
  const bool other = entry.reservation != nullptr && known == &cached.class_id;
  // Whether a job may borrow nodes changes with other jobs.
  const bool borrows = (entry.job->warn_flags & KILL_JOB_RESV) != 0;
  if (other || borrows) return reader_.classes_.class_of(entry);
  if (!known->valid()) *known = reader_.classes_.class_of(entry);
  return *known;
}

// The cached data of the job of `entry`, and its node class.
SnapshotPass::Base SnapshotPass::base_of(const SlurmQueueEntry& entry, bool queued) {
  const job_record_t& job = *entry.job;
  JobCache& cache = reader_.cache_;
  CachedJob* cached = entry.known;
  const bool own_reservation = entry.reservation != nullptr && !is_magnetic(entry);
  if (cached == nullptr && (!is_single(job) || own_reservation)) {
    reader_.fresh_.push_back(read_pending(entry));
    return {.job = &reader_.fresh_.back(),
            .cached = nullptr,
            .class_id = queued ? reader_.classes_.class_of(entry) : NodeClassIndex()};
  }
  if (cached == nullptr) cached = cache.find(job);
  // Once in a look, whatever the number of its entries.
  if (cached != nullptr && ((full_ && !cache.seen(*cached)) || cache.refresh(*cached)))
    cached = nullptr;
  if (cached == nullptr) {
    cached = &cache.renew(job);
    cached->job = read_pending(entry);
    if (entry.reservation != nullptr) cached->job.reservation.clear();
  }
  cache.see(*cached);
  if (entry.reservation == nullptr)
    cached->rank = queued ? static_cast<int>(reader_.lines_.size()) : -1;
  return {.job = &cached->job,
          .cached = cached,
          .class_id = queued ? class_of(entry, *cached) : NodeClassIndex()};
}

// Stock backfill's plan of a job. While a backfill cycle runs, its last complete plan applies.
const StockPlan* SnapshotPass::stock_plan(const job_record_t& job) {
  auto& plans = reader_.stock_plans_;
  if (!backfilling_) {
    if (job.start_time == 0 || job.sched_nodes == nullptr) {
      plans.erase(job.job_id);
      return nullptr;
    }
    StockPlan& plan = plans[job.job_id];
    plan.start = job.start_time;
    if (plan.names != job.sched_nodes) {
      plan.names = job.sched_nodes;
      plan.current = false;
    }
  }
  const auto at = plans.find(job.job_id);
  if (at == plans.end()) return nullptr;
  StockPlan& plan = at->second;
  if (!plan.current) {
    bitstr_t* nodes = nullptr;
    plan.nodes.clear();
    if (release::nodes_of(plan.names.data(), &nodes) == SLURM_SUCCESS)
      plan.nodes = reader_.index_.set_of(nodes);
    FREE_NULL_BITMAP(nodes);
    plan.current = true;
  }
  return &plan;
}

// While a job of a reservation with MaxStartDelay waits, schedule() lets no job borrow nodes
// (job_scheduler.c, wait_on_resv). Stock backfill starts those that end before the planned start of
// the waiting job.
bool SnapshotPass::may_borrow(const SlurmQueueEntry& entry) const {
  if ((entry.job->warn_flags & KILL_JOB_RESV) == 0) return false;
  return add_seconds(time(nullptr), time_limit_of(*entry.job, *entry.part)) <= lender_start_;
}

void SnapshotPass::pending(SlurmQueueEntry entry) {
  job_record_t& job = *entry.job;
  if (job.resv_ptr != nullptr && job.resv_ptr->max_start_delay != 0)
    lender_start_ = std::min<Seconds>(lender_start_, job.start_time);
  entry.may_borrow = may_borrow(entry);
  const auto [base, cached, class_id] = base_of(entry, true);
  JobLine line;
  line.job = base;
  line.rank = static_cast<int>(reader_.lines_.size());
  line.priority = entry.priority;
  line.priority_set = job.direct_set_prio != 0;
  line.niced = job.details->nice != NICE_OFFSET;
  line.fair_share = fair_share_of(job);
  line.eligible = job.details->begin_time != 0 ? job.details->begin_time : base->key.submit;
  line.preempting = preempting(job);
  line.may_preempt = may_preempt(entry);
  line.sets = reader_.classes_.sets_of(class_id, entry);
  const BlockTests tests{.reservation_closed = line.sets.reservation_closed,
                         .may_write = may_write_,
                         .licences = cached == nullptr || cached->licensed,
                         .array = entry.known == nullptr,
                         .rooms = &reader_.rooms_,
                         .known = cached != nullptr ? &cached->limit : nullptr};
  BlockFound block = find_block(job, *entry.part, tests);
  line.block = block.kind;
  if (block.kind != Block::kNone) line.block_text = std::move(block.words);
  if (cached != nullptr && entry.reservation != nullptr)
    line.magnetic = text(entry.reservation->name);
  const auto& asked = reader_.asked_;
  if (!base->managed || std::ranges::binary_search(asked, job.job_id)) line.stock = stock_plan(job);
  reader_.lines_.push_back(std::move(line));
}

// Pending jobs outside the queue: held, dependent, too early, or at an array's limit. Rubato
// decides nothing for them, but `rubato explain` shows them.
void SnapshotPass::waiting(job_record_t& job) {
  const SlurmQueueEntry entry = outside_queue(job);
  const Job* base = base_of(entry, false).job;
  JobLine line;
  line.job = base;
  line.rank = static_cast<int>(reader_.lines_.size());
  line.priority = job.priority;
  line.priority_set = job.direct_set_prio != 0;
  line.niced = job.details->nice != NICE_OFFSET;
  line.fair_share = fair_share_of(job);
  line.eligible = std::max<Seconds>(job.details->begin_time, base->key.submit);
  const bool completing = IS_JOB_COMPLETING((&job));
  line.block = completing ? Block::kOther : block_of_reason(job);
  if (line.block == Block::kNone) line.block = Block::kOther;
  line.block_text = completing ? "its last run is completing" : words_of_reason(job);
  reader_.lines_.push_back(std::move(line));
}

}  // namespace rubato
