// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/task_env.h"

#include <fmt/format.h>

#include "lib/hints/values.h"

namespace rubato {

std::string plan_of(const Job& job) {
  if (!job.hints || !job.hints->plans || job.hints->plans->automatic) return "";
  const Plans& plans = *job.hints->plans;
  return plans.kinds.size() == 1 ? to_text(plans) : "";
}

TaskEnv task_env(const Job& job, const HeldGpus& held, const ChosenRun& run) {
  TaskEnv env;
  const auto set = [&](const char* name, std::string value) {
    if (!value.empty()) env.emplace_back(name, std::move(value));
  };
  if (job.hints) set("RUBATO_JOB_TYPE", job.hints->job_type);
  set("RUBATO_GPUS", fmt::format("{}", held.gpus));
  set("RUBATO_GPU_TYPE", held.type);
  if (run.batch > 0) {
    set("RUBATO_BATCH", fmt::format("{}", run.batch));
  } else if (job.hints && job.hints->batch) {
    set("RUBATO_BATCH", fmt::format("{}", job.hints->batch->min));
  }
  set("RUBATO_PLAN", run.plan.empty() ? plan_of(job) : run.plan);
  if (run.restart_reason != RestartReason::kNone)
    set("RUBATO_RESTART_REASON", to_string(run.restart_reason));
  set("RUBATO_RESIZE_COUNT", fmt::format("{}", run.resizes));
  return env;
}

}  // namespace rubato
