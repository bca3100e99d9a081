// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/read/job_cache.h"

#include <algorithm>

#include "lib/base/hash.h"

namespace rubato {

namespace {

constexpr Seconds kKeep = 5;
constexpr std::size_t kMinRefreshes = 64;

}  // namespace

// Records are large, and a look reads thousands of them, most not in the CPU caches. Reading
// neighbouring fields together costs one cache miss.
JobMark mark_of(const job_record_t& job) {
  const job_details_t& details = *job.details;
  JobMark mark{
      .pointers = {&details, job.part_ptr, job.part_ptr_list, job.job_resrcs, job.gres_list_req,
                   details.features, details.exc_node_bitmap, details.req_node_bitmap, job.qos_ptr,
                   job.account, job.mcs_label, job.resv_ptr},
      .numbers = {job.job_state, job.time_limit, details.min_nodes, details.max_nodes,
                  details.min_cpus, details.pn_min_cpus, details.pn_min_memory, details.num_tasks,
                  details.whole_node, job.time_min}};
  if (job.job_resrcs != nullptr) {  // set by a shrink
    mark.numbers[10] = job.node_cnt;
    mark.numbers[11] = job.total_cpus;
  }
  if (job.comment != nullptr)
    mark.numbers[15] = Hasher().add(std::string_view(job.comment)).value();
  if (const job_array_struct_t* array = job.array_recs; array != nullptr) {
    mark.numbers[12] = array->task_cnt;
    mark.numbers[13] = array->max_run_tasks;
    mark.numbers[14] = array->tot_run_tasks;
  }
  return mark;
}

bool is_single(const job_record_t& job) {
  return job.part_ptr_list == nullptr && job.resv_list == nullptr && job.het_job_id == 0 &&
         job.details->prefer == nullptr && (job.warn_flags & KILL_JOB_RESV) == 0;
}

bool is_plain(const job_record_t& job) { return job.array_recs == nullptr && is_single(job); }

void JobCache::begin(Seconds now) {
  ++look_;
  now_ = now;
  refreshes_ = std::max(kMinRefreshes, jobs_.size() / 8);
}

bool JobCache::refresh(const CachedJob& cached) {
  const Seconds age = now_ - cached.read;
  if (refreshes_ == 0 || seen(cached) || (age >= 0 && age < kKeep)) return false;
  --refreshes_;
  return true;
}

void JobCache::end() {
  std::erase_if(jobs_, [this](const auto& one) { return one.second.seen != look_; });
}

void JobCache::forget_classes() {
  for (auto& [id, cached] : jobs_) {
    cached.class_id = {};
    cached.magnetic_state = 0;
  }
}

CachedJob* JobCache::find(const job_record_t& job) {
  const auto at = jobs_.find(job.job_id);
  if (at == jobs_.end() || at->second.submit != job.details->submit_time ||
      at->second.mark != mark_of(job))
    return nullptr;
  return &at->second;
}

CachedJob& JobCache::renew(const job_record_t& job) {
  CachedJob& cached = jobs_[job.job_id];
  cached = {};
  cached.submit = job.details->submit_time;
  cached.mark = mark_of(job);
  cached.seen = look_;
  cached.read = now_;
  cached.plain = is_plain(job);
  cached.licensed = job.license_list != nullptr;
  return cached;
}

}  // namespace rubato
