// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/read/job_desc_view.h"

#include <climits>

#include "plugin/slurm/read/kept_request.h"
#include "plugin/slurm/release/differences.h"

namespace rubato {

namespace {

constexpr std::string_view kVariables = "RUBATO_DL_";
constexpr Seconds kMinute = 60;

std::string text(const char* words) { return words != nullptr ? words : ""; }

int number(std::uint32_t value) {
  return value >= NO_VAL - 2 ? 0 : static_cast<int>(std::min<std::uint32_t>(value, INT_MAX));
}

int number16(std::uint16_t value) { return value >= NO_VAL16 ? 0 : value; }

Seconds seconds(std::uint32_t minutes) {
  if (minutes == INFINITE) return kForever;
  return minutes == NO_VAL ? 0 : Seconds{minutes} * kMinute;
}

void replace(const char* said, std::string& with) {
  if (said != nullptr) with = said;
}

}  // namespace

PassedHints passed_by(const job_desc_msg_t& job) {
  std::vector<std::string_view> variables;
  for (std::uint32_t i = 0; i < job.spank_job_env_size; ++i)
    variables.emplace_back(job.spank_job_env[i]);
  PassedHints passed = passed_hints(variables);
  for (std::uint32_t i = 0; i < job.env_size; ++i) {
    const std::string_view variable = job.environment[i];
    if (variable.starts_with(kVariables)) passed.environment.emplace_back(variable);
  }
  return passed;
}

RequestFacts facts_of(const job_desc_msg_t& job, bool requeue_default) {
  RequestFacts out;
  out.requeue = requeue_default;
  out.batch = job.script != nullptr;
  out.array = job.array_inx != nullptr;
  out.het = job.het_job_offset != NO_VAL;
  apply_update(job, out);
  return out;
}

RequestFacts facts_of(const job_record_t& job) {
  const job_details_t& details = *job.details;
  RequestFacts out;
  out.per_job = text(job.tres_per_job);
  out.per_node = text(job.tres_per_node);
  out.per_task = text(job.tres_per_task);
  out.per_socket = text(job.tres_per_socket);
  out.min_nodes = number(details.min_nodes);
  out.max_nodes = number(details.max_nodes);
  out.tasks = number(details.num_tasks);
  out.tasks_per_node = number16(details.ntasks_per_node);
  out.exclusive = release::wants_whole_nodes(details);
  out.batch = job.batch_flag != 0;
  out.requeue = details.requeue != 0;
  out.array = job.array_job_id != 0;
  out.het = job.het_job_id != 0;
  out.time_limit = seconds(job.time_limit);
  // Hints were checked against the submitted request, so use that even if the job runs at another
  // size.
  if (const auto kept = kept_request(job)) {
    out.per_job = kept->per_job;
    out.per_node = kept->per_node;
    out.per_task = kept->per_task;
    out.min_nodes = number(kept->min_nodes);
    out.max_nodes = number(kept->max_nodes);
    out.tasks = number(kept->tasks);
    out.tasks_per_node = number(kept->tasks_per_node);
  }
  return out;
}

bool touches_request(const job_desc_msg_t& update) {
  return update.tres_per_job != nullptr || update.tres_per_node != nullptr ||
         update.tres_per_task != nullptr || update.tres_per_socket != nullptr ||
         update.min_nodes != NO_VAL || update.max_nodes != NO_VAL || update.num_tasks != NO_VAL ||
         update.ntasks_per_node != NO_VAL16 || update.time_limit != NO_VAL ||
         update.requeue != NO_VAL16 || update.shared != NO_VAL16;
}

void apply_update(const job_desc_msg_t& update, RequestFacts& facts) {
  replace(update.tres_per_job, facts.per_job);
  replace(update.tres_per_node, facts.per_node);
  replace(update.tres_per_task, facts.per_task);
  replace(update.tres_per_socket, facts.per_socket);
  if (update.min_nodes != NO_VAL) facts.min_nodes = number(update.min_nodes);
  if (update.max_nodes != NO_VAL) facts.max_nodes = number(update.max_nodes);
  if (update.num_tasks != NO_VAL) facts.tasks = number(update.num_tasks);
  if (update.ntasks_per_node != NO_VAL16) facts.tasks_per_node = number16(update.ntasks_per_node);
  if (update.shared != NO_VAL16) facts.exclusive = update.shared == JOB_SHARED_NONE;
  if (update.requeue != NO_VAL16) facts.requeue = update.requeue != 0;
  if (update.time_limit != NO_VAL) facts.time_limit = seconds(update.time_limit);
}

}  // namespace rubato
