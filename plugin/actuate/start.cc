// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/actuate/start.h"

#include "plugin/slurm/read/gpu_type.h"
#include "plugin/slurm/read/job_view.h"
#include "plugin/slurm/stock/slurm_headers.h"
#include "plugin/slurm/write/job_env.h"
#include "plugin/slurm/write/job_rewrite.h"

namespace rubato {

namespace {

StartOutcome not_now(const char* words) {
  return {.result = StartResult::kNotNow, .words = words, .nodes = {}, .label = {}};
}

bool may_use(const job_record_t& job, part_record_t* part) {
  if (job.part_ptr_list == nullptr) return job.part_ptr == part;
  bool found = false;
  ListIterator i = list_iterator_create(job.part_ptr_list);
  while (const void* one = list_next(i)) found = found || one == part;
  list_iterator_destroy(i);
  return found;
}

// Enters the queue record's partition, features and reservation into the job, as schedule() does.
bool enter_record(job_record_t& job, part_record_t* part, const std::string& reservation) {
  job.details->features_use = job.details->features;
  job.details->feature_list_use = job.details->feature_list;
  job.part_ptr = part;
  if (reservation.empty()) return true;
  slurmctld_resv_t* resv = find_resv_name(const_cast<char*>(reservation.c_str()));
  if (resv == nullptr) return false;
  job_queue_rec_t record{};
  record.job_ptr = &job;
  record.part_ptr = part;
  if (job.resv_list != nullptr) {
    record.resv_ptr = resv;
    job_queue_rec_resv_list(&record);
  } else if (job.resv_name == nullptr) {
    record.resv_ptr = resv;
    job_queue_rec_magnetic_resv(&record);
  }
  return true;
}

bool qos_is_valid(job_record_t& job) {
  if (job.qos_id == 0 || (accounting_enforce & ACCOUNTING_ENFORCE_QOS) == 0) return true;
  assoc_mgr_lock_t locks = {};
  locks.assoc = READ_LOCK;
  locks.qos = READ_LOCK;
  assoc_mgr_lock(&locks);
  const slurmdb_assoc_rec_t* assoc = job.assoc_ptr;
  const bool valid =
      assoc == nullptr || job.limit_set.qos != 0 ||
      (job.qos_id < g_qos_count && assoc->usage != nullptr && assoc->usage->valid_qos != nullptr &&
       bit_test(assoc->usage->valid_qos, job.qos_id) != 0);
  assoc_mgr_unlock(&locks);
  if (!valid) job_fail_qos(&job, "rubato", false);
  return valid;
}

// Why slurmctld would not look at the job now; null if it would. The order is that of _schedule().
const char* hindrance(job_record_t*& job, part_record_t* part) {
  if (job->preempt_in_progress) return "preemption for it is under way";
  if (job->het_job_id != 0) return "part of a heterogeneous job";
  if ((part->state_up & PARTITION_SCHED) == 0) return "its partition does not schedule";
  if (!job_array_start_test(job)) return "array task limit";
  if (job_limits_check(&job, false) != WAIT_NO_REASON) return "limits of its partition";
  if (!job_independent(job)) return "dependency or begin time";
  if (!qos_is_valid(*job)) return "invalid QOS";
  if (job->deadline != 0 && job->deadline != NO_VAL &&
      !deadline_ok(job, const_cast<char*>("rubato")))
    return "deadline";
  if (!acct_policy_job_runnable_state(job) && !acct_policy_job_runnable_pre_select(job, false))
    return "association or QOS limit";
  if (license_job_test(job, time(nullptr), true) != SLURM_SUCCESS) {
    job->state_reason = WAIT_LICENSES;
    xfree(job->state_desc);
    return "licences";
  }
  if (assoc_mgr_validate_assoc_id(acct_db_conn, job->assoc_id, accounting_enforce) != SLURM_SUCCESS)
    return "invalid account";
  return nullptr;
}

// A job with a deadline may not run past it (job_scheduler.c _schedule).
class DeadlineLimit {
 public:
  explicit DeadlineLimit(job_record_t& job) : job_(job), saved_(job.time_limit) {
    if (job.deadline == 0 || job.deadline == NO_VAL) return;
    auto minutes = static_cast<uint32_t>((job.deadline - time(nullptr)) / 60);
    for (const uint32_t limit :
         {job.time_limit, job.part_ptr->default_time, job.part_ptr->max_time})
      if (limit != NO_VAL && limit != INFINITE) {
        minutes = std::min(minutes, limit);
        break;
      }
    job.time_limit = minutes;
    changed_ = true;
  }
  ~DeadlineLimit() {
    if (changed_) job_.time_limit = saved_;
  }
  DeadlineLimit(const DeadlineLimit&) = delete;
  DeadlineLimit& operator=(const DeadlineLimit&) = delete;
  void keep() { changed_ = false; }

 private:
  job_record_t& job_;
  uint32_t saved_;
  bool changed_ = false;
};

class ScopedStart {
 public:
  ScopedStart(Pair& pair, const StartScope& scope) : pair_(pair) { pair_.enter_start(&scope); }
  ~ScopedStart() { pair_.enter_start(nullptr); }
  ScopedStart(const ScopedStart&) = delete;
  ScopedStart& operator=(const ScopedStart&) = delete;

 private:
  Pair& pair_;
};

// Test-only switches; no configuration, no switch.
bool injected(Pair& pair, Fault fault) {
  const auto config = pair.config();
  return config != nullptr && config->injected(fault);
}

bool off(Pair& pair, Mechanism mechanism) {
  const auto config = pair.config();
  return config != nullptr && config->off(mechanism);
}

int ask_slurm(job_record_t* job, const Start& start, const StartConstraints& constraints,
              Pair& pair) {
  if (constraints.planned != nullptr && injected(pair, Fault::kStartFails)) return ESLURM_NODES_BUSY;
  const StartScope scope{
      .managed = start.managed, .only = constraints.only, .never = constraints.never};
  const ScopedStart scoped(pair, scope);
  job->last_sched_eval = time(nullptr);
  return select_nodes(job, false, nullptr, nullptr, false, SLURMDB_JOB_FLAG_SCHED);
}

void launch(job_record_t* job) {
  last_job_update = time(nullptr);
  fed_mgr_job_start(job, job->start_time);
  if (job->batch_flag == 0)
    srun_allocate(job);
  else if (!IS_JOB_CONFIGURING(job))
    launch_job(job);
  rebuild_job_part_list(job);
}

StartOutcome ask(job_record_t* job, const Start& start, const StartConstraints& constraints,
                 Pair& pair) {
  std::unique_ptr<RewrittenRequest> rewritten;
  if (constraints.planned != nullptr && !off(pair, Mechanism::kRewrite)) {
    auto made = RewrittenRequest::make(*job, *job->part_ptr, *constraints.asked,
                                       *constraints.planned, !off(pair, Mechanism::kPutBack));
    if (!made)
      return {.result = StartResult::kRefused,
              .words = "another size: " + made.error().text,
              .nodes = {},
              .label = {}};
    rewritten = std::move(*made);
    // Slurm tested the limits for the size requested; this one is new to it.
    if (!acct_policy_job_runnable_pre_select(job, false))
      return not_now("association or QOS limit at the planned size");
  }
  if (fed_mgr_job_lock(job) != SLURM_SUCCESS) return not_now("federation lock");
  BoundGpuType type(*job, constraints.gpu_type);
  DeadlineLimit limit(*job);
  const int rc = ask_slurm(job, start, constraints, pair);
  if (rc != SLURM_SUCCESS) {
    fed_mgr_job_unlock(job);
    const bool busy =
        rc == ESLURM_NODES_BUSY || rc == ESLURM_NODE_NOT_AVAIL || rc == ESLURM_RESERVATION_BUSY;

    const bool over_limit = rc == ESLURM_ACCOUNTING_POLICY;
    return {.result = over_limit ? StartResult::kLimit
                      : busy     ? StartResult::kBusy
                                 : StartResult::kRefused,
            .words = slurm_strerror(rc),
            .nodes = {},
            .label = {}};
  }
  type.keep();
  limit.keep();
  if (constraints.job != nullptr) set_job_env(*job, *constraints.job, {start.plan, start.batch});
  if (rewritten != nullptr) rewritten->keep();
  launch(job);
  return {.result = StartResult::kStarted,
          .words = {},
          .nodes = job->nodes != nullptr ? job->nodes : "",
          .label = label_of(*job)};
}

}  // namespace

StartOutcome try_start(const Start& start, const StartConstraints& constraints, Pair& pair) {
  job_record_t* job = find_job_record(start.job.id);
  if (job == nullptr || job->details == nullptr || job->details->submit_time != start.job.submit ||
      !IS_JOB_PENDING(job))
    return {};
  if (IS_JOB_COMPLETING(job)) return not_now("its last run is completing");
  if (owes_request(*job)) return not_now("its request is being restored");
  if (job->priority == 0) return not_now("held");
  part_record_t* part = find_part_record(const_cast<char*>(start.partition.c_str()));
  if (part == nullptr || !may_use(*job, part)) return {};
  if (!enter_record(*job, part, start.reservation)) return not_now("its reservation is gone");

  StartOutcome outcome;
  if (const char* why = hindrance(job, part))
    outcome = not_now(why);
  else
    outcome = ask(job, start, constraints, pair);
  // `job` is the task that started, or still the job asked for.
  job_resv_clear_magnetic_flag(job);
  return outcome;
}

}  // namespace rubato
