// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/read/queue.h"

#include <algorithm>
#include <utility>

#include "lib/base/hash.h"
#include "plugin/slurm/release/differences.h"
#include "plugin/slurm/release/lists.h"

namespace rubato {

namespace {

void drain(list_t* queue, std::vector<SlurmQueueEntry>& entries) {
  const OwnedList owned(queue);
  entries.reserve(entries.size() + static_cast<std::size_t>(list_count(queue)));
  while (auto* record = static_cast<job_queue_rec_t*>(list_pop(queue))) {
    entries.push_back({.job = record->job_ptr,
                       .part = record->part_ptr,
                       .reservation = record->resv_ptr,
                       .priority = record->priority,
                       .array_task_id = record->array_task_id,
                       .use_prefer = record->use_prefer,
                       .known = nullptr,
                       .may_borrow = false});
    xfree(record);
  }
}

// The two entries of a job with --prefer are equal in Slurm's order.
void put_preferred_first(std::vector<SlurmQueueEntry>& entries) {
  for (std::size_t i = 1; i < entries.size(); ++i) {
    SlurmQueueEntry& before = entries[i - 1];
    SlurmQueueEntry& entry = entries[i];
    const bool same = before.job == entry.job && before.part == entry.part &&
                      before.reservation == entry.reservation;
    if (same && entry.use_prefer && !before.use_prefer) std::swap(before, entry);
  }
}

std::vector<SlurmQueueEntry> drain_sorted(list_t* queue) {
  sort_job_queue(queue);
  std::vector<SlurmQueueEntry> entries;
  drain(queue, entries);
  put_preferred_first(entries);
  return entries;
}

void append(list_t* queue, job_record_t* job, part_record_t* part, std::uint32_t priority) {
  auto* record = static_cast<job_queue_rec_t*>(xmalloc(sizeof(job_queue_rec_t)));
  record->array_task_id = job->array_task_id;
  record->job_id = job->job_id;
  record->job_ptr = job;
  record->part_ptr = part;
  record->priority = priority;
  list_append(queue, record);
}

bool runnable(const job_record_t& job, time_t now) {
  const job_record_t* record = &job;
  if (!IS_JOB_PENDING(record) || IS_JOB_COMPLETING(record) || job.priority == 0) return false;
  const job_details_t* details = job.details;
  if (details == nullptr || details->begin_time > now) return false;
  return details->depend_list == nullptr || list_count(details->depend_list) == 0;
}

bool schedules(const part_record_t* part) {
  return part != nullptr && (part->state_up & PARTITION_SCHED) != 0;
}

template <typename Visit>  // (partition, priority of the job there)
void for_each_partition(const job_record_t& job, const Visit& visit) {
  if (job.part_ptr_list == nullptr) {
    if (job.part_ptr != nullptr) visit(job.part_ptr, job.priority);
    return;
  }
  int index = 0;
  ListWalk<part_record_t> parts(job.part_ptr_list);
  while (auto* part = parts.next()) {
    visit(part, release::priority_in(job, index));
    ++index;
  }
}

void peek_at(job_record_t& job, time_t now, list_t* queue) {
  if (!runnable(job, now)) return;
  for_each_partition(job, [&](part_record_t* part, std::uint32_t priority) {
    if (schedules(part)) append(queue, &job, part, priority);
  });
}

bool may_be_drawn(const job_record_t& job) {
  return job.resv_list == nullptr && job.resv_name == nullptr && job.het_job_id == 0;
}

// job_scheduler.c _job_queue_append.
void append_with_reservations(job_record_t& job, part_record_t* part, std::uint32_t priority,
                              list_t* queue) {
  job_queue_req_t request{};
  request.job_ptr = &job;
  request.job_queue = queue;
  request.part_ptr = part;
  request.prio = priority;
  if (job.resv_list == nullptr) {
    job_queue_append_internal(&request);
    if (may_be_drawn(job)) job_resv_append_magnetic(&request);
    return;
  }
  ListWalk<slurmctld_resv_t> reservations(job.resv_list);
  while (auto* reservation = reservations.next()) {
    request.resv_ptr = reservation;
    if ((job.bit_flags & JOB_PART_ASSIGNED) != 0 && reservation->part_ptr != nullptr)
      request.part_ptr = reservation->part_ptr;
    job_queue_append_internal(&request);
  }
}

// The tests of build_job_queue() for one job (job_scheduler.c _job_runnable_test1 and 2).
void test_and_append(job_record_t& job, list_t* queue) {
  job_record_t* record = &job;
  if (!IS_JOB_PENDING(record) || IS_JOB_COMPLETING(record) || IS_JOB_REVOKED(record)) return;
  if (job.details == nullptr || job.priority == 0 || job.details->prolog_running != 0 ||
      (job.step_list != nullptr && list_count(job.step_list) > 0))
    return;
  job.preempt_in_progress = false;
  if (job.array_recs != nullptr) job.array_recs->pend_run_tasks = 0;
  if (job.resv_list != nullptr) job.resv_ptr = nullptr;
  if (!job_independent(record)) return;
  part_record_t* const before = job.part_ptr;
  for_each_partition(job, [&](part_record_t* part, std::uint32_t priority) {
    job.part_ptr = part;
    job_record_t* tested = &job;
    if (job_limits_check(&tested, false) == WAIT_NO_REASON)
      append_with_reservations(job, part, priority, queue);
  });
  job.part_ptr = before;
}

bool comes_before(const SlurmQueueEntry& a, const SlurmQueueEntry& b) {
  const auto record = [](const SlurmQueueEntry& entry) {
    job_queue_rec_t out{};
    out.array_task_id = entry.array_task_id;
    out.job_id = entry.job->job_id;
    out.job_ptr = entry.job;
    out.part_ptr = entry.part;
    out.priority = entry.priority;
    out.resv_ptr = entry.reservation;
    return out;
  };
  job_queue_rec_t first = record(a);
  job_queue_rec_t second = record(b);
  job_queue_rec_t* one = &first;
  job_queue_rec_t* other = &second;
  return sort_job_queue2(static_cast<void*>(&one), static_cast<void*>(&other)) < 0;
}

}  // namespace

std::vector<SlurmQueueEntry> build_queue() { return drain_sorted(build_job_queue(false, false)); }

std::vector<SlurmQueueEntry> peek_queue() {
  const time_t now = time(nullptr);
  list_t* queue = list_create(xfree_ptr);
  ListWalk<job_record_t> jobs(job_list);
  while (auto* job = jobs.next()) peek_at(*job, now, queue);
  return drain_sorted(queue);
}

void append_entries(job_record_t& job, bool may_write, std::vector<SlurmQueueEntry>& entries) {
  list_t* queue = list_create(xfree_ptr);
  if (may_write)
    test_and_append(job, queue);
  else
    peek_at(job, time(nullptr), queue);
  drain(queue, entries);
}

bool still_queued(const job_record_t& job, time_t now) {
  return runnable(job, now) && job.details->prolog_running == 0;
}

void sort_entries(std::vector<SlurmQueueEntry>& entries, std::size_t sorted) {
  const auto middle = entries.begin() + static_cast<std::ptrdiff_t>(sorted);
  // Slurm's order is not transitive if partitions preempt each other, so sort everything then.
  const bool known =
      !slurm_preemption_enabled() && std::is_sorted(entries.begin(), middle, comes_before);
  if (!known) {
    std::stable_sort(entries.begin(), entries.end(), comes_before);
  } else {
    std::stable_sort(middle, entries.end(), comes_before);
    std::inplace_merge(entries.begin(), middle, entries.end(), comes_before);
  }
  put_preferred_first(entries);
}

std::uint64_t magnetic_state() {
  if (get_magnetic_resv_count() == 0) return 0;
  Hasher hash;
  hash.add(last_resv_update);
  ListWalk<slurmctld_resv_t> all(resv_list);
  while (const auto* one = all.next())
    if ((one->flags & RESERVE_FLAG_MAGNETIC) != 0)
      hash.add(reinterpret_cast<std::uintptr_t>(one)).add(one->resv_id);
  return hash.value() | 1;
}

std::vector<slurmctld_resv_t*> magnetic_of(job_record_t& job) {
  std::vector<slurmctld_resv_t*> found;
  if (!may_be_drawn(job)) return found;
  list_t* queue = list_create(xfree_ptr);
  job_queue_req_t request{};
  request.job_ptr = &job;
  request.job_queue = queue;
  request.part_ptr = job.part_ptr;
  request.prio = job.priority;
  const OwnedList owned(queue);
  job_resv_append_magnetic(&request);
  while (auto* record = static_cast<job_queue_rec_t*>(list_pop(queue))) {
    found.push_back(record->resv_ptr);
    xfree(record);
  }
  return found;
}

bool is_magnetic(const SlurmQueueEntry& entry) {
  return entry.reservation != nullptr && may_be_drawn(*entry.job);
}

}  // namespace rubato
