// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/queue.h"

namespace rubato {

namespace {

std::vector<QueueEntry> drain(List queue) {
  sort_job_queue(queue);
  std::vector<QueueEntry> entries;
  entries.reserve(static_cast<std::size_t>(list_count(queue)));
  while (auto* record = static_cast<job_queue_rec_t*>(list_pop(queue))) {
    entries.push_back({.job = record->job_ptr,
                       .part = record->part_ptr,
                       .reservation = record->resv_ptr,
                       .priority = record->priority,
                       .array_task_id = record->array_task_id,
                       .use_prefer = record->use_prefer});
    xfree(record);
  }
  FREE_NULL_LIST(queue);
  return entries;
}

void append(List queue, job_record_t* job, part_record_t* part, std::uint32_t priority) {
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
  const struct job_details* details = job.details;
  if (details == nullptr || details->begin_time > now) return false;
  return details->depend_list == nullptr || list_count(details->depend_list) == 0;
}

bool schedules(const part_record_t* part) {
  return part != nullptr && (part->state_up & PARTITION_SCHED) != 0;
}

}  // namespace

std::vector<QueueEntry> build_queue() { return drain(build_job_queue(false, false)); }

std::vector<QueueEntry> peek_queue() {
  const time_t now = time(nullptr);
  List queue = list_create(xfree_ptr);
  ListIterator jobs = list_iterator_create(job_list);
  while (auto* job = static_cast<job_record_t*>(list_next(jobs))) {
    if (!runnable(*job, now)) continue;
    if (job->part_ptr_list == nullptr) {
      if (schedules(job->part_ptr)) append(queue, job, job->part_ptr, job->priority);
      continue;
    }
    int index = 0;
    ListIterator parts = list_iterator_create(job->part_ptr_list);
    while (auto* part = static_cast<part_record_t*>(list_next(parts))) {
      const std::uint32_t priority =
          job->priority_array != nullptr ? job->priority_array[index] : job->priority;
      ++index;
      if (schedules(part)) append(queue, job, part, priority);
    }
    list_iterator_destroy(parts);
  }
  list_iterator_destroy(jobs);
  return drain(queue);
}

}  // namespace rubato
