// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/pending_job.h"

#include "plugin/common/slurm_log.h"
#include "plugin/slurm/read/job_view.h"
#include "plugin/slurm/read/kept_request.h"
#include "plugin/slurm/release/differences.h"
#include "plugin/slurm/release/lists.h"
#include "plugin/slurm/release/slurm_headers.h"
#include "plugin/slurm/write/gpu_type.h"
#include "plugin/slurm/write/job_env.h"

namespace rubato {

namespace {

bool may_use(const job_record_t& job, part_record_t* part) {
  if (job.part_ptr_list == nullptr) return job.part_ptr == part;
  bool found = false;
  ListWalk<void> i(job.part_ptr_list);
  while (const void* one = i.next()) found = found || one == part;
  return found;
}

// Returns false if the reservation is gone.
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
  std::optional<AssocLocks> held(locks);
  const slurmdb_assoc_rec_t* assoc = job.assoc_ptr;
  const bool valid =
      assoc == nullptr || job.limit_set.qos != 0 ||
      (job.qos_id < g_qos_count && assoc->usage != nullptr && assoc->usage->valid_qos != nullptr &&
       bit_test(assoc->usage->valid_qos, job.qos_id) != 0);
  held.reset();
  if (!valid) job_fail_qos(&job, "rubato", false);
  return valid;
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

// A job with --time-min is tested with that limit. Once it has nodes, it gets the longest limit
// that the plan and Slurm's reservations leave it (sched/backfill, _reset_job_time_limit).
class ShortestLimit {
 public:
  ShortestLimit(job_record_t& job, const PendingJob::TimeLimit& limit)
      : job_(job), saved_(job.time_limit) {
    const bool deadline = job.deadline != 0 && job.deadline != NO_VAL;
    if (!limit.may_shorten || job.time_min == 0 || job.time_min == NO_VAL || deadline) return;
    const Seconds asked = time_limit_of(job, *job.part_ptr);
    if (asked <= static_cast<Seconds>(job.time_min) * 60) return;
    const Seconds longest = limit.planned > 0 ? limit.planned : asked;
    longest_ = longest < kForever ? static_cast<uint32_t>(longest / 60) : INFINITE;
    job.time_limit = job.time_min;
    changed_ = true;
  }
  ~ShortestLimit() {
    if (changed_) job_.time_limit = saved_;
  }
  ShortestLimit(const ShortestLimit&) = delete;
  ShortestLimit& operator=(const ShortestLimit&) = delete;
  // The job has nodes.
  void keep() {
    if (!changed_) return;
    changed_ = false;
    const uint32_t limit = std::max(job_.time_min, longest_);
    acct_policy_alter_job(&job_, limit);
    job_.time_limit = limit;
    constexpr time_t kYear = 365L * 24 * 60 * 60;  // as slurmctld: job_end_time_reset()
    job_.end_time = job_.start_time + (limit == INFINITE ? kYear : static_cast<time_t>(limit) * 60);
    job_time_adj_resv(&job_);
    if (job_.time_limit != saved_) {
      slurm_log(LogLevel::kInfo, "rubato: job %u: time limit changed from %u to %u min",
                job_.job_id, saved_, job_.time_limit);
    }
  }

 private:
  job_record_t& job_;
  uint32_t saved_;
  uint32_t longest_ = 0;
  bool changed_ = false;
};

SelectOutcome refusal(int code) {
  const bool busy =
      code == ESLURM_NODES_BUSY || code == ESLURM_NODE_NOT_AVAIL || code == ESLURM_RESERVATION_BUSY;
  const bool over_limit = code == ESLURM_ACCOUNTING_POLICY;
  return {.result = over_limit ? SelectResult::kLimit
                    : busy     ? SelectResult::kBusy
                               : SelectResult::kRefused,
          .error = slurm_strerror(code)};
}

// Nodes with the features of --prefer go first (job_scheduler.c, _job_queue_append).
int ask_slurm(job_record_t* job, bool fail) {
  if (fail) return ESLURM_NODES_BUSY;
  job->last_sched_eval = time(nullptr);
  job_details_t& details = *job->details;
  if (details.prefer == nullptr) return release::select_nodes_now(job);
  details.features_use = details.prefer;
  details.feature_list_use = details.prefer_list;
  if (release::select_nodes_now(job) == SLURM_SUCCESS) return SLURM_SUCCESS;
  details.features_use = details.features;
  details.feature_list_use = details.feature_list;
  return release::select_nodes_now(job);
}

}  // namespace

std::optional<PendingJob> PendingJob::find(const JobKey& key) {
  job_record_t* job = find_job_record(key.id);
  if (job == nullptr || job->details == nullptr || job->details->submit_time != key.submit ||
      !IS_JOB_PENDING(job))
    return std::nullopt;
  return PendingJob(job);
}

const char* PendingJob::why_not_ready() const {
  if (IS_JOB_COMPLETING(job_)) return "its last run is completing";
  if (owes_request(*job_)) return "its request is being restored";
  return job_->priority == 0 ? "held" : nullptr;
}

QueueEntryResult PendingJob::enter(const std::string& partition, const std::string& reservation) {
  part_record_t* part = find_part_record(const_cast<char*>(partition.c_str()));
  if (part == nullptr || !may_use(*job_, part)) return QueueEntryResult::kNoPartition;
  partition_schedules_ = (part->state_up & PARTITION_SCHED) != 0;
  return enter_record(*job_, part, reservation) ? QueueEntryResult::kEntered
                                                : QueueEntryResult::kNoReservation;
}

const char* PendingJob::why_not_now() {
  if (job_->preempt_in_progress) return "preemption for it is under way";
  if (job_->het_job_id != 0) return "part of a heterogeneous job";
  if (!partition_schedules_) return "its partition does not schedule";
  if (!job_array_start_test(job_)) return "array task limit";
  if (job_limits_check(&job_, false) != WAIT_NO_REASON) return "limits of its partition";
  if (!job_independent(job_)) return "dependency or begin time";
  if (!qos_is_valid(*job_)) return "invalid QOS";
  if (job_->deadline != 0 && job_->deadline != NO_VAL &&
      !deadline_ok(job_, const_cast<char*>("rubato")))
    return "deadline";
  if (release::reason_is_limit(*job_) && !acct_policy_job_runnable_pre_select(job_, false))
    return "association or QOS limit";
  if (license_job_test(job_, time(nullptr), true) != SLURM_SUCCESS) {
    job_->state_reason = WAIT_LICENSES;
    xfree(job_->state_desc);
    return "licences";
  }
  if (assoc_mgr_validate_assoc_id(acct_db_conn, job_->assoc_id, accounting_enforce) !=
      SLURM_SUCCESS)
    return "invalid account";
  return nullptr;
}

// These are the limits of the current request: Slurm tested them before a rewrite.
bool PendingJob::within_limits() const { return acct_policy_job_runnable_pre_select(job_, false); }

Result<std::unique_ptr<RewrittenRequest>> PendingJob::rewrite(const Job& asked, const Job& planned,
                                                              bool put_back) {
  return RewrittenRequest::make(*job_, *job_->part_ptr, asked, planned, put_back);
}

SelectOutcome PendingJob::select(const std::string& gpu_type, const TimeLimit& limit, bool fail) {
  if (fed_mgr_job_lock(job_) != SLURM_SUCCESS)
    return {.result = SelectResult::kFederation, .error = {}};
  BoundGpuType type(*job_, gpu_type);
  DeadlineLimit deadline(*job_);
  ShortestLimit shortest(*job_, limit);
  const int code = ask_slurm(job_, fail);
  if (code != SLURM_SUCCESS) {
    fed_mgr_job_unlock(job_);
    return refusal(code);
  }
  type.keep();
  deadline.keep();
  shortest.keep();
  return {.result = SelectResult::kStarted, .error = {}};
}

void PendingJob::set_env(const Job& job, const ChosenRun& run) { set_job_env(*job_, job, run); }

void PendingJob::launch() {
  last_job_update = time(nullptr);
  fed_mgr_job_start(job_, job_->start_time);
  if (job_->batch_flag == 0)
    srun_allocate(job_);
  else if (!IS_JOB_CONFIGURING(job_))
    launch_job(job_);
  rebuild_job_part_list(job_);
}

void PendingJob::leave() noexcept { job_resv_clear_magnetic_flag(job_); }

std::string PendingJob::nodes() const { return job_->nodes != nullptr ? job_->nodes : ""; }

std::string PendingJob::label() const { return label_of(*job_); }

}  // namespace rubato
