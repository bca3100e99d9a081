// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/task_env.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lib/hints/values.h"

namespace rubato {

std::string plan_of(const Job& job) {
  if (!job.hints || !job.hints->plans || job.hints->plans->automatic) return "";
  const Plans& plans = *job.hints->plans;
  return plans.kinds.size() == 1 ? to_text(plans) : "";
}

std::vector<std::int64_t> batch_shares(std::int64_t batch, const std::vector<GpuCount>& groups,
                                       const std::vector<GpuSpeed>& speeds) {
  std::vector<double> gpus;  // the speed of each
  for (const GpuCount& group : groups) {
    const auto found = std::ranges::find(speeds, group.type, &GpuSpeed::type);
    if (found == speeds.end() || !(found->speed > 0)) return {};
    gpus.insert(gpus.end(), static_cast<std::size_t>(group.count), found->speed);
  }
  const double all = std::accumulate(gpus.begin(), gpus.end(), 0.0);
  std::vector<std::int64_t> shares;
  std::vector<std::pair<double, std::size_t>> remainders;  // negative: the largest comes first
  std::int64_t left = batch;
  for (const double speed : gpus) {
    const double exact = static_cast<double>(batch) * speed / all;
    shares.push_back(static_cast<std::int64_t>(exact));
    remainders.emplace_back(std::floor(exact) - exact, remainders.size());
    left -= shares.back();
  }
  std::ranges::sort(remainders);
  for (std::size_t i = 0; left > 0 && i < remainders.size(); ++i, --left)
    ++shares[remainders[i].second];
  const bool all_train = std::ranges::all_of(shares, [](std::int64_t share) { return share > 0; });
  return all_train ? shares : std::vector<std::int64_t>{};
}

TaskEnv task_env(const Job& job, const HeldGpus& held, const ChosenRun& run) {
  TaskEnv env;
  const auto set = [&](const char* name, std::string value) {
    if (!value.empty()) env.emplace_back(name, std::move(value));
  };
  if (job.hints) set("RUBATO_JOB_TYPE", job.hints->job_type);
  set("RUBATO_GPUS", fmt::format("{}", held.gpus));
  set("RUBATO_GPU_TYPE", held.type);
  // Of a range of which none was chosen the script's own batch is the user's choice.
  const bool fixed = job.hints && job.hints->batch && job.hints->batch->fixed();
  const std::int64_t batch = run.batch > 0 ? run.batch : fixed ? job.hints->batch->min : 0;
  if (batch > 0) set("RUBATO_BATCH", fmt::format("{}", batch));
  set("RUBATO_BATCH_SHARES",
      fmt::format("{}", fmt::join(batch_shares(batch, held.groups, run.speeds), ",")));
  set("RUBATO_PLAN", run.plan.empty() ? plan_of(job) : run.plan);
  if (run.restart_reason != RestartReason::kNone)
    set("RUBATO_RESTART_REASON", to_string(run.restart_reason));
  set("RUBATO_RESIZE_COUNT", fmt::format("{}", run.resizes));
  return env;
}

}  // namespace rubato
