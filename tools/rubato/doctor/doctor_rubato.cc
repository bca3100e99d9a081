// SPDX-License-Identifier: GPL-2.0-or-later
// Checks rubato.conf and the names in it.
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "lib/base/nearest.h"
#include "tools/rubato/doctor/doctor.h"

namespace rubato::tools {
namespace {

/// Whether the bits of a file let `user` read it; true for a user that is unknown here.
bool can_read(const std::string& user, const struct stat& info) {
  const passwd* entry = getpwnam(user.c_str());
  if (entry == nullptr || entry->pw_uid == 0) return true;
  if (entry->pw_uid == info.st_uid) return (info.st_mode & S_IRUSR) != 0;
  std::array<gid_t, 256> groups{};
  int count = static_cast<int>(groups.size());
  if (getgrouplist(user.c_str(), entry->pw_gid, groups.data(), &count) < 0) return true;
  const auto last = groups.begin() + count;
  const bool member = std::find(groups.begin(), last, info.st_gid) != last;
  return (info.st_mode & (member ? S_IRGRP : S_IROTH)) != 0;
}

/// True if rubato.conf was read, so that its values can be checked.
bool check_file(const Machine& machine, Checks& checks) {
  const Site& site = machine.site;
  if (site.config_error) {
    for (const std::string& error : split(*site.config_error, '\n')) {
      checks.push_back({Status::kFail, "rubato.conf", error, ""});
    }
    return false;
  }
  if (!site.config_present) {
    checks.push_back({Status::kWarn, "rubato.conf",
                      site.rubato_conf_path + " does not exist, so the mode is observe",
                      "Mode=observe"});
    return true;
  }
  struct stat info {};
  const bool found = stat(site.rubato_conf_path.c_str(), &info) == 0;
  const std::string user = site.slurm.get_or("SlurmUser", "root");
  if (found && !can_read(user, info)) {
    checks.push_back(
        {Status::kFail, "rubato.conf",
         fmt::format("slurmctld runs as {}, which cannot read {}", user, site.rubato_conf_path),
         "chmod a+r " + site.rubato_conf_path});
    return true;
  }
  if (found && (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    checks.push_back({Status::kWarn, "rubato.conf", "users other than its owner can write it",
                      "chmod go-w " + site.rubato_conf_path});
    return true;
  }
  checks.push_back({Status::kOk, "rubato.conf", site.rubato_conf_path + " was read", ""});
  return true;
}

const char* mode_words(Mode mode) {
  switch (mode) {
    case Mode::kPlace:
      return "place: Rubato decides order and nodes of managed jobs";
    case Mode::kElastic:
      return "elastic: Rubato decides about managed jobs, also about those that run";
    case Mode::kObserve:
      break;
  }
  return "observe: Rubato plans and records, stock Slurm starts all jobs";
}

void check_mode(const Config& config, Checks& checks) {
  checks.push_back({Status::kOk, "Mode", mode_words(config.mode), ""});
}

void check_managed(const Machine& machine, Checks& checks) {
  const Config& config = machine.site.config;
  if (config.manage_all) {
    checks.push_back({Status::kOk, "ManagedPartitions", "all", ""});
    return;
  }
  std::vector<std::string> names;
  for (const ConfPartition& partition : machine.site.slurm.partitions()) {
    names.push_back(partition.name);
  }
  const std::set<std::string> known(names.begin(), names.end());
  std::string found;
  for (const std::string& name : config.managed_partitions) {
    if (known.contains(name)) {
      found += (found.empty() ? "" : ", ") + name;
      continue;
    }
    checks.push_back(
        {Status::kFail, "ManagedPartitions",
         fmt::format("slurm.conf has no partition {}{}", name, did_you_mean(name, names)),
         fmt::format("ManagedPartitions={}", fmt::join(names, ","))});
  }
  if (!found.empty()) {
    checks.push_back({Status::kOk, "ManagedPartitions", found, ""});
  } else if (config.managed_partitions.empty()) {
    checks.push_back({Status::kWarn, "ManagedPartitions",
                      "not set, so no job is managed, and rubato report has nothing to compare",
                      fmt::format("ManagedPartitions={}", fmt::join(names, ","))});
  }
}

/// Types in the Gres= of the node lines: "gpu:a100:4,gpu:v100:2(S:0)" gives a100, v100.
std::set<std::string> gpu_types_of(const SlurmConf& conf) {
  std::set<std::string> types;
  for (const ConfRecord& record : conf.records) {
    if (record.pairs.front().first != "nodename") continue;
    for (const std::string& gres : split(record.get("gres").value_or(""), ',')) {
      const std::vector<std::string> parts = split(gres, ':');
      if (parts.size() >= 3 && parts[0] == "gpu") types.insert(parts[1]);
    }
  }
  return types;
}

void check_gpu_types(const Machine& machine, Checks& checks) {
  const std::set<std::string> known = gpu_types_of(machine.site.slurm);
  const std::vector<std::string> names(known.begin(), known.end());
  for (const GpuTypeConfig& type : machine.site.config.gpu_types) {
    if (known.contains(type.name)) continue;
    checks.push_back({Status::kWarn, "GpuType",
                      fmt::format("no node in slurm.conf has GPU type {}{}", type.name,
                                  did_you_mean(type.name, names)),
                      ""});
  }
  if (!machine.site.config_present || names.size() < 2) return;
  std::vector<std::string> without;
  for (const std::string& name : names) {
    bool has_line = false;
    for (const GpuTypeConfig& type : machine.site.config.gpu_types) has_line |= type.name == name;
    if (!has_line) without.push_back(name);
  }
  if (without.empty()) return;
  checks.push_back({Status::kWarn, "GpuType",
                    fmt::format("rubato.conf sets no Speed= for {}, which {} relative speed 1",
                                fmt::join(without, ", "), without.size() == 1 ? "has" : "have"),
                    fmt::format("GpuType={} Speed=1.0", without.front())});
}

}  // namespace

void check_rubato_conf(const Machine& machine, Checks& checks) {
  if (!check_file(machine, checks)) return;
  check_mode(machine.site.config, checks);
  check_managed(machine, checks);
  check_gpu_types(machine, checks);
}

}  // namespace rubato::tools
