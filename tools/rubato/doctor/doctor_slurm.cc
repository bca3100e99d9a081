// SPDX-License-Identifier: GPL-2.0-or-later
// Checks the lines of slurm.conf that Rubato needs or that prevent it from working.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "lib/base/nearest.h"
#include "tools/rubato/doctor/doctor.h"

namespace rubato::tools {
namespace {

constexpr int kMinJobTest = 100;

void check_type(const Machine& machine, const char* key, const std::string& wanted, bool is_default,
                Checks& checks) {
  const auto value = machine.site.slurm.get(key);
  if (value == wanted || (!value && is_default)) {
    checks.push_back({Status::kOk, key, wanted + (value ? "" : " (Slurm's default)"), ""});
    return;
  }
  checks.push_back(
      {Status::kFail, key,
       fmt::format("is {}; Rubato can only replace {}", value.value_or("not set"), wanted),
       fmt::format("{}={}", key, wanted)});
}

/// `key` with `word` appended to its list.
std::string with_word(const SlurmConf& conf, const char* key, const char* word) {
  const std::string value = conf.get_or(key, "");
  return fmt::format("{}={}{}{}", key, value, value.empty() ? "" : ",", word);
}

void check_job_submit(const Machine& machine, Checks& checks) {
  const std::vector<std::string> plugins = machine.site.slurm.list("JobSubmitPlugins");
  const bool has = std::any_of(plugins.begin(), plugins.end(), [](const std::string& name) {
    return name == "logging" || name == "job_submit/logging";
  });
  checks.push_back(
      {has ? Status::kOk : Status::kFail, "JobSubmitPlugins",
       has ? "contains logging" : "logging is missing: salloc -I and srun -I with GPUs are refused",
       has ? "" : with_word(machine.site.slurm, "JobSubmitPlugins", "logging")});
}

void check_bf_continue(const Machine& machine, Checks& checks) {
  const SlurmConf& conf = machine.site.slurm;
  if (has_parameter(conf, "bf_continue")) {
    checks.push_back({Status::kOk, "bf_continue", "is in SchedulerParameters", ""});
    return;
  }
  const bool place = machine.site.config.mode != Mode::kObserve;
  checks.push_back(
      {place ? Status::kFail : Status::kWarn, "bf_continue",
       fmt::format(
           "is not in SchedulerParameters: each start by Rubato ends a stock backfill cycle{}",
           place ? "" : "; the modes place and elastic require it"),
       with_word(conf, "SchedulerParameters", "bf_continue")});
}

void check_job_test(const Machine& machine, Checks& checks) {
  const std::optional<int> value = job_test_limit(machine.site.slurm);
  if (!value) {
    checks.push_back({Status::kOk, "bf_max_job_test", "not set (Slurm's default)", ""});
  } else if (*value >= kMinJobTest) {
    checks.push_back({Status::kOk, "bf_max_job_test", std::to_string(*value), ""});
  } else {
    checks.push_back({Status::kWarn, "bf_max_job_test",
                      fmt::format("is {}: stock backfill still starts het jobs, but tests only "
                                  "this many jobs per cycle",
                                  *value),
                      "bf_max_job_test=500"});
  }
}

void check_defer(const Machine& machine, Checks& checks) {
  for (const std::string& word : machine.site.slurm.list("SchedulerParameters")) {
    if (!lower(word).starts_with("defer")) continue;
    checks.push_back(
        {Status::kWarn, "defer",
         fmt::format("{} is in SchedulerParameters: salloc -I and srun -I are refused", word),
         fmt::format("remove {} from SchedulerParameters", word)});
    return;
  }
  checks.push_back({Status::kOk, "defer", "is not in SchedulerParameters", ""});
}

void check_gres_types(const Machine& machine, Checks& checks) {
  const std::vector<std::string> types = machine.site.slurm.list("GresTypes");
  const bool has = std::find(types.begin(), types.end(), "gpu") != types.end();
  checks.push_back({has ? Status::kOk : Status::kFail, "GresTypes",
                    has ? "contains gpu" : "gpu is missing, so no job can request GPUs",
                    has ? "" : with_word(machine.site.slurm, "GresTypes", "gpu")});
}

/// OverSubscribe=FORCE (or YES) with PreemptMode=GANG shares resources in time slices.
void check_gang(const Machine& machine, Checks& checks) {
  const std::string mode = lower(machine.site.slurm.get_or("PreemptMode", ""));
  if (mode.find("gang") == std::string::npos) return;
  for (const ConfPartition& partition : machine.site.slurm.partitions()) {
    if (!lower(partition.get("oversubscribe")).starts_with("force")) continue;
    const bool managed = machine.site.config.managed_partitions.contains(partition.name);
    checks.push_back(
        {managed ? Status::kWarn : Status::kOk, "gang scheduling",
         fmt::format("partition {} is gang-scheduled; stock Slurm schedules its jobs{}",
                     partition.name, managed ? " although ManagedPartitions names it" : ""),
         ""});
  }
}

}  // namespace

std::optional<int> job_test_limit(const SlurmConf& conf) {
  const std::string key = "bf_max_job_test=";
  for (const std::string& word : conf.list("SchedulerParameters")) {
    if (!lower(word).starts_with(key)) continue;
    int value = 0;  // Slurm reads malformed numbers as 0
    std::from_chars(word.data() + key.size(), word.data() + word.size(), value);
    return value;
  }
  return std::nullopt;
}

void check_slurm_conf(const Machine& machine, Checks& checks) {
  check_type(machine, "SchedulerType", "sched/backfill", true, checks);
  check_type(machine, "SelectType", "select/cons_tres", false, checks);
  check_job_submit(machine, checks);
  check_bf_continue(machine, checks);
  check_job_test(machine, checks);
  check_defer(machine, checks);
  check_gres_types(machine, checks);
  check_gang(machine, checks);
}

}  // namespace rubato::tools
