// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/read/records.h"

#include <fmt/format.h>

#include "plugin/common/slurm_log.h"

namespace rubato {

namespace {

Result<void> compare(const char* what, const void* record, std::size_t expected,
                     std::uint32_t magic, std::uint32_t expected_magic) {
  const std::size_t size = xsize(const_cast<void*>(record));
  if (size == expected && magic == expected_magic) return {};
  return fail(fmt::format(
      "slurmctld's {} record has {} bytes and magic {:#x}; these plugins were built for {} bytes "
      "and {:#x}",
      what, size, magic, expected, expected_magic));
}

Result<void> check_job(const job_record_t& job) {
  Result<void> rc = compare("job", &job, sizeof(job_record_t), job.magic, JOB_MAGIC);
  if (rc && job.details != nullptr)
    rc = compare("job details", job.details, sizeof(job_details_t), job.details->magic,
                 DETAILS_MAGIC);
  if (rc && job.job_resrcs != nullptr)
    rc = compare("job resources", job.job_resrcs, sizeof(job_resources_t), 0, 0);
  return rc;
}

}  // namespace

RecordCheck check_records() {
  Result<void> rc;
  std::string sizes;
  const auto add = [&](const char* what, const void* record) {
    sizes +=
        fmt::format("{}{} {}", sizes.empty() ? "" : ", ", what, xsize(const_cast<void*>(record)));
  };
  const auto* part = static_cast<part_record_t*>(list_peek(part_list));
  if (part != nullptr) {
    rc = compare("partition", part, sizeof(part_record_t), part->magic, PART_MAGIC);
    add("partition", part);
  }
  for (int i = 0; rc && i < node_record_count; ++i) {
    const node_record_t* node = node_record_table_ptr[i];
    if (node == nullptr) continue;
    rc = compare("node", node, sizeof(node_record_t), node->magic, NODE_MAGIC);
    add("node", node);
    break;
  }
  const auto* job = static_cast<job_record_t*>(list_peek(job_list));
  if (rc && job != nullptr) {
    rc = check_job(*job);
    add("job", job);
  }
  RecordCheck check{.fit = rc.has_value(), .jobs = job != nullptr, .text = {}};
  check.text = rc ? (sizes.empty() ? "none" : sizes + " bytes") : rc.error().text;
  return check;
}

bool job_record_fits(const job_record_t& job) {
  static std::atomic<int> known{0};  // 0 unknown, 1 fits, 2 does not
  const int state = known.load(std::memory_order_relaxed);
  if (state != 0) return state == 1;
  const Result<void> rc = check_job(job);
  known.store(rc ? 1 : 2, std::memory_order_relaxed);
  if (!rc)
    slurm_log(LogLevel::kError, "rubato: %s; stock Slurm schedules all jobs",
              rc.error().text.c_str());
  return rc.has_value();
}

bool waits_without_slurmdbd(const job_record_t& job) {
  return job.db_index == NO_VAL64 && job.resize_time != 0 && !slurm_with_slurmdbd();
}

bool keeps_resize_time(const job_record_t& job) {
  const job_record_t* const record = &job;  // for the macros
  return job.resize_time != 0 && IS_JOB_PENDING(record) && !IS_JOB_COMPLETING(record);
}

}  // namespace rubato
