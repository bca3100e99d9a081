// SPDX-License-Identifier: GPL-2.0-or-later
// State folder, published folder, heartbeat.
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "lib/base/folder_trust.h"
#include "lib/runtime/pause.h"
#include "tools/rubato/doctor/doctor.h"
#include "tools/shared/pause_view.h"
#include "tools/shared/published.h"

namespace rubato::tools {
namespace {

constexpr const char* kSeeLog = "see slurmctld's log for lines with 'rubato'";
constexpr int kDefaultJobTest = 500;  // Slurm's
constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;
constexpr mode_t kOthersLook = S_IROTH | S_IXOTH;

std::string slurm_user(const Machine& machine) {
  return machine.site.slurm.get_or("SlurmUser", "root");
}

/// True if `uid` is the user that runs slurmctld, or if that user is unknown here.
bool is_slurm_user(const Machine& machine, uid_t uid) {
  const std::string name = slurm_user(machine);
  if (name.find_first_not_of("0123456789") == std::string::npos) return std::to_string(uid) == name;
  const passwd* entry = getpwnam(name.c_str());
  return entry == nullptr || entry->pw_uid == uid;
}

/// The uid of SlurmUser; this process's user if that name is unknown here.
uid_t slurm_uid(const Machine& machine) {
  const std::string name = slurm_user(machine);
  if (name.find_first_not_of("0123456789") == std::string::npos)
    return static_cast<uid_t>(std::strtoul(name.c_str(), nullptr, 10));
  const passwd* entry = getpwnam(name.c_str());
  return entry == nullptr ? geteuid() : entry->pw_uid;
}

std::string user_name(uid_t uid) {
  const passwd* entry = getpwuid(uid);
  return entry == nullptr ? std::to_string(uid) : entry->pw_name;
}

/// Adds a failure if another user could replace the folder; slurmctld then does not use it.
bool another_controls(const Machine& machine, const std::string& path, const char* name,
                      Checks& checks) {
  const auto trouble = folder_trouble(path, slurm_uid(machine));
  if (!trouble) return false;
  const std::string why = trouble->foreign
                              ? "belongs to " + user_name(trouble->owner)
                              : std::string("can be written by users other than SlurmUser");
  checks.push_back({Status::kFail, name,
                    fmt::format("slurmctld does not use {}: {} {}", path,
                                trouble->path == path ? "it" : trouble->path, why),
                    remedy(*trouble, slurm_user(machine))});
  return true;
}

/// Adds a result about the folder itself; true if its content cannot be checked.
bool folder_is_closed(const std::string& path, const char* name, const struct stat& info, int error,
                      Checks& checks) {
  if (error == EACCES) {
    checks.push_back(
        {Status::kWarn, name,
         fmt::format("{} cannot be read by this user; run this as root or SlurmUser", path), ""});
    return true;
  }
  if (error == ENOENT) {
    checks.push_back({Status::kWarn, name,
                      fmt::format("{} does not exist: slurmctld has not run with Rubato yet", path),
                      ""});
    return true;
  }
  if (error != 0 || !S_ISDIR(info.st_mode)) {
    checks.push_back(
        {Status::kFail, name,
         fmt::format("{}: {}", path, error != 0 ? std::strerror(error) : "is not a directory"),
         ""});
    return true;
  }
  return false;
}

void check_state_dir(const Machine& machine, Checks& checks) {
  const char* name = "state folder";
  const std::string path = machine.site.state_dir + "/rubato";
  struct stat info {};
  const int error = stat(path.c_str(), &info) == 0 ? 0 : errno;
  if (folder_is_closed(path, name, info, error, checks)) return;
  if (!is_slurm_user(machine, info.st_uid)) {
    checks.push_back({Status::kFail, name,
                      fmt::format("{} belongs to {}, but slurmctld runs as {}", path,
                                  user_name(info.st_uid), slurm_user(machine)),
                      fmt::format("chown -R {} {}", slurm_user(machine), path)});
  } else if ((info.st_mode & kOthersWrite) != 0) {
    checks.push_back({Status::kFail, name,
                      fmt::format("users other than SlurmUser can write {}", path),
                      fmt::format("chmod go-w {}", path)});
  } else if (!another_controls(machine, path, name, checks)) {
    checks.push_back({Status::kOk, name,
                      fmt::format("{} belongs to SlurmUser; only SlurmUser can write it", path),
                      ""});
  }
}

void check_store_dir(const Machine& machine, Checks& checks) {
  const std::string& path = machine.site.config.store_dir;
  if (path.empty()) return;
  if (!another_controls(machine, path, "StoreDir", checks))
    checks.push_back({Status::kOk, "StoreDir", path + ", only SlurmUser can write it", ""});
}

/// The first folder in `path` that users may not enter; "" if they can reach it.
std::string closed_on_the_way(const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    std::string folder = path.substr(0, at);
    struct stat info {};
    if (stat(folder.c_str(), &info) == 0 && (info.st_mode & S_IXOTH) == 0) return folder;
  }
  return "";
}

/// slurmctld only creates the last folder of PublishDir=.
bool cannot_be_made(const Site& site, const char* name, Checks& checks) {
  if (site.config.publish_dir.empty()) return false;
  const std::string above = std::filesystem::path(site.publish_dir).parent_path().string();
  struct stat info {};
  if (stat(above.c_str(), &info) == 0 || (errno != ENOENT && errno != ENOTDIR)) return false;
  checks.push_back({Status::kFail, name,
                    fmt::format("{} cannot be created because {} does not exist: slurmctld creates "
                                "only the last directory",
                                site.publish_dir, above),
                    fmt::format("mkdir -p {}", above)});
  return true;
}

void check_publish_dir(const Machine& machine, Checks& checks) {
  const char* name = "PublishDir";
  const std::string& path = machine.site.publish_dir;
  struct stat info {};
  const int error = stat(path.c_str(), &info) == 0 ? 0 : errno;
  if (error == ENOENT && cannot_be_made(machine.site, name, checks)) return;
  if (folder_is_closed(path, name, info, error, checks)) return;
  const std::string closed = closed_on_the_way(path);
  if ((info.st_mode & kOthersWrite) != 0) {
    checks.push_back(
        {Status::kFail, name,
         fmt::format("users other than its owner can write {}, so its files can be forged", path),
         fmt::format("chmod go-w {}", path)});
  } else if (!machine.site.config.publish_dir.empty() &&
             another_controls(machine, path, name, checks)) {
    return;
  } else if ((info.st_mode & kOthersLook) != kOthersLook) {
    checks.push_back(
        {Status::kWarn, name,
         fmt::format("users cannot read {}, so 'rubato explain' works only for root and SlurmUser",
                     path),
         fmt::format("chmod o+rx {}", path)});
  } else if (!closed.empty()) {
    checks.push_back(
        {Status::kWarn, name,
         fmt::format("users cannot read {} because {} is closed to them", path, closed),
         "PublishDir=/var/lib/rubato"});
  } else {
    checks.push_back({Status::kOk, name, path + ", readable by all", ""});
  }
}

void check_loaded(const PublishedStats& stats, Checks& checks) {
  if (stats.records_fit) {
    checks.push_back({Status::kOk, "records",
                      fmt::format("slurmctld's records match Slurm {}{}{}", stats.slurm_version,
                                  stats.records.empty() ? "" : ": " + stats.records,
                                  stats.records_of_jobs ? "" : "; no job's record was there yet"),
                      ""});
  } else {
    checks.push_back(
        {Status::kFail, "records",
         fmt::format("slurmctld's records differ from Slurm {}, for which the plugins "
                     "were built, so stock Slurm does everything{}{}",
                     stats.slurm_version, stats.records.empty() ? "" : ": ", stats.records),
         "contrib/quickstart build"});
  }
  if (stats.config_good) {
    checks.push_back(
        {Status::kOk, "rubato.conf in effect", "slurmctld accepted the file it read last", ""});
  } else {
    checks.push_back(
        {Status::kWarn, "rubato.conf in effect",
         "slurmctld found errors when it last read rubato.conf and kept its old settings",
         "scontrol reconfigure"});
  }
}

void check_mode_in_effect(const Machine& machine, const PublishedStats& stats, Checks& checks) {
  const auto pause = read_pause(machine.site.state_dir + "/rubato", now());
  if (pause && stats.mode == "observe") {
    checks.push_back({Status::kWarn, "mode in effect",
                      fmt::format("is observe: {} (rubato pause)", pause_words(*pause)),
                      "rubato pause --resume"});
    return;
  }
  const std::string wanted = rubato::to_string(machine.site.config.mode);
  if (stats.mode == wanted) {
    checks.push_back({Status::kOk, "mode in effect", "is " + stats.mode, ""});
  } else if (machine.site.config_present) {
    checks.push_back({Status::kWarn, "mode in effect",
                      fmt::format("is {}, but rubato.conf says {}", stats.mode, wanted),
                      "scontrol reconfigure"});
  }
}

void check_gate(const PublishedStats& stats, Checks& checks) {
  const char* name = "gate";
  if (!stats.gate_open) {
    checks.push_back({Status::kOk, name, "is closed: only Rubato starts managed jobs", ""});
  } else if (stats.mode == "observe") {
    checks.push_back({Status::kOk, name, "is open because the mode is observe", ""});
  } else if (stats.gate_matters && stats.mode == "place") {
    checks.push_back({Status::kWarn, name,
                      "is open although the mode is place: stock Slurm starts managed jobs too",
                      kSeeLog});
  }
}

/// Stock backfill of 24.11 counts the managed jobs that the gate refuses; 22.05 does not.
void check_depth(const Machine& machine, const PublishedStats& stats, Checks& checks) {
  const std::string& slurm = stats.slurm_version;
  const int limit = job_test_limit(machine.site.slurm).value_or(kDefaultJobTest);
  if (stats.mode != "place" || slurm < "23.11" || stats.managed_pending < limit) return;
  checks.push_back(
      {Status::kWarn, "bf_max_job_test",
       fmt::format(
           "is {}, and {} managed jobs wait: stock backfill of Slurm {} counts them and may "
           "not reach het jobs behind them",
           limit, stats.managed_pending, slurm),
       fmt::format("bf_max_job_test={}", (2 * stats.managed_pending / 1000 + 1) * 1000)});
}

/// Why slurmctld cannot write to a folder, "" if this host does not show it.
std::string why_unwritable(const Machine& machine, const std::string& path) {
  struct statvfs system {};
  if (statvfs(path.c_str(), &system) != 0) return fmt::format("{}: {}", path, std::strerror(errno));
  if ((system.f_flag & ST_RDONLY) != 0) return path + " is mounted read-only";
  if (system.f_bavail == 0) return "no space is left for " + path;
  if (system.f_files > 0 && system.f_favail == 0) return "no inode is left for " + path;
  struct stat info {};
  const uid_t user = slurm_uid(machine);
  if (stat(path.c_str(), &info) != 0 || user == 0 || info.st_uid == user) return "";
  return fmt::format("{} belongs to {}, but slurmctld runs as {}", path, user_name(info.st_uid),
                     slurm_user(machine));
}

/// Adds a failure if the loop runs, but its files are older. `published`: time of stats.json.
bool publishing_fails(const Machine& machine, Seconds published, Checks& checks) {
  const Seconds sign = last_sign_of_loop(machine.site);
  const auto timeout = static_cast<Seconds>(machine.site.config.heartbeat_timeout);
  if (sign < now() - timeout || sign > now() + timeout) return false;
  const std::string why = why_unwritable(machine, machine.site.publish_dir);
  checks.push_back(
      {Status::kFail, "publishing",
       fmt::format("fails: the loop ran {} s ago, but {}/stats.json {}{}",
                   std::max<Seconds>(now() - sign, 0), machine.site.publish_dir,
                   published == 0 ? "does not exist" : "dates from " + format_time(published),
                   why.empty() ? "" : "; " + why),
       kSeeLog});
  return true;
}

void check_heartbeat(const Machine& machine, Checks& checks) {
  const char* name = "heartbeat";
  const std::string path = machine.site.publish_dir + "/stats.json";
  if (access(path.c_str(), F_OK) != 0 && errno == ENOENT) {
    if (publishing_fails(machine, 0, checks)) return;
    checks.push_back({Status::kWarn, name,
                      fmt::format("{} does not exist: slurmctld has not run with Rubato yet", path),
                      ""});
    return;
  }
  const auto stats = read_stats(machine.site);
  if (!stats) {
    checks.push_back({Status::kWarn, name, stats.error().text, ""});
    return;
  }
  check_loaded(*stats, checks);
  if (const auto stopped = loop_stopped(*stats, machine.site.config, now())) {
    if (!publishing_fails(machine, stats->heartbeat, checks))
      checks.push_back({Status::kFail, name, *stopped, kSeeLog});
    return;
  }
  checks.push_back(
      {Status::kOk, name, fmt::format("the loop ran {} s ago", now() - stats->heartbeat), ""});
  check_mode_in_effect(machine, *stats, checks);
  check_gate(*stats, checks);
  check_depth(machine, *stats, checks);
  check_store(machine, *stats, checks);
}

}  // namespace

void check_running(const Machine& machine, Checks& checks) {
  check_state_dir(machine, checks);
  check_store_dir(machine, checks);
  check_publish_dir(machine, checks);
  check_heartbeat(machine, checks);
}

}  // namespace rubato::tools
