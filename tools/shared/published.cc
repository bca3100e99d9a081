// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/shared/published.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "lib/base/fingerprint.h"
#include "lib/base/json_value.h"
#include "lib/json/json.h"

namespace rubato::tools {
namespace {

// Files that cannot be read may never come. Those of two rounds become a pair as soon as the
// publisher runs again, which takes a while on a busy host. Large files take long to read.
constexpr int kReadTries = 5;
constexpr int kPairTries = 50;
constexpr useconds_t kPairPause = 20000;
constexpr auto kPairTime = std::chrono::seconds(1);

/// Why `path` could not be opened, as advice. Looks at errno of a second try, so that the words of
/// the system and the advice agree.
std::string cannot_show(const Site& site, const std::string& path, const std::string& what) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 && errno == ENOENT) {
    return fmt::format(
        "cannot show {}: {} does not exist, so Rubato has published nothing; is it loaded? Try: "
        "rubato doctor",
        what, path);
  }
  const int reason = access(path.c_str(), R_OK) == 0 ? EIO : errno;
  if (reason != EACCES) {
    return fmt::format("cannot show {}: {}: {}", what, path, std::strerror(reason));
  }
  return fmt::format(
      "cannot show {}: {}: Permission denied. Only root and {} (SlurmUser) can read it; an "
      "administrator can open it to all with PublishDir= in {}",
      what, path, site.slurm.get_or("SlurmUser", "root"), site.rubato_conf_path);
}

Result<std::string> read_published(const Site& site, const char* name, const char* what) {
  if (sees_all(site, name)) {
    if (auto text = read_file(site.private_dir + "/" + name)) return text;
  }
  const std::string path = site.publish_dir + "/" + name;
  auto text = read_file(path);
  if (!text) return fail(cannot_show(site, path, what));
  return text;
}

std::string broken(const Site& site, const char* name, const std::string& why) {
  return fmt::format("{}/{} cannot be read by this version of rubato: {}", site.publish_dir, name,
                     why);
}

template <typename T>
T member(const Json& object, const char* key, T fallback) {
  const Json& value = object.at(key);
  if constexpr (std::is_same_v<T, std::string>) {
    return value.is_string() ? value.get<T>() : fallback;
  } else if constexpr (std::is_same_v<T, bool>) {
    return value.is_boolean() ? value.get<T>() : fallback;
  } else {
    return value.is_number() ? value.get<T>() : fallback;
  }
}

Result<PublishedPlan> read_plan_once(const Site& site) {
  const auto plan_text = read_published(site, "plan.json", "the plan");
  if (!plan_text) return tl::unexpected(plan_text.error());
  auto snapshot = read_snapshot(site);
  if (!snapshot) return tl::unexpected(snapshot.error());
  auto plan = plan_from_json(*plan_text, snapshot->snapshot);
  if (!plan) return fail(broken(site, "plan.json", plan.error().text));
  const std::string print = fingerprint(to_json(snapshot->snapshot));
  const bool same = plan->snapshot_fingerprint.empty() || print == plan->snapshot_fingerprint;
  return PublishedPlan{std::move(snapshot->snapshot), std::move(*plan), same};
}

}  // namespace

Result<PublishedSnapshot> read_snapshot(const Site& site) {
  auto text = read_published(site, "snapshot.json", "the snapshot");
  if (!text) return tl::unexpected(text.error());
  auto snapshot = snapshot_from_json(*text);
  if (!snapshot) return fail(broken(site, "snapshot.json", snapshot.error().text));
  return PublishedSnapshot{std::move(*text), std::move(*snapshot)};
}

Result<PublishedStats> read_stats(const Site& site) {
  const auto text = read_published(site, "stats.json", "the state of Rubato");
  if (!text) return tl::unexpected(text.error());
  PublishedStats stats;
  stats.all = std::make_shared<const Json>(Json::parse(*text).value_or(Json()));
  const Json& all = *stats.all;
  if (!all.is_object()) return fail(broken(site, "stats.json", "not a JSON object"));
  const Json& heartbeat = all.at("heartbeat");
  if (!heartbeat.is_number()) {
    return fail(broken(site, "stats.json", "heartbeat: expected a number"));
  }
  stats.heartbeat = heartbeat.get<Seconds>();
  stats.mode = member<std::string>(all, "mode", "");
  stats.version = member<std::string>(all, "version", "");
  stats.slurm_version = member<std::string>(all, "slurm_version", "");
  stats.gate_open = member<bool>(all, "gate_open", false);
  // While no managed job waits, an open gate lets none through.
  stats.gate_matters = member<int>(all, "pending_managed", 1) > 0;
  stats.managed_pending = member<int>(all, "pending_managed", 0);
  stats.records_fit = member<bool>(all, "records_fit", true);
  stats.records = member<std::string>(all, "records", "");
  stats.records_of_jobs = member<bool>(all, "records_of_jobs", true);
  stats.config_good = member<bool>(all, "config_good", true);
  if (!member<bool>(all, "paused", false)) return stats;
  const Json& pause = all.at("pause");
  stats.pause = Pause{.until = member<Seconds>(pause, "until", 0),
                      .since = member<Seconds>(pause, "since", 0),
                      .by = member<std::string>(pause, "by", "")};
  return stats;
}

Result<ModelsTable> read_models(const Site& site) {
  const auto text = read_published(site, "models.json", "the profiles");
  if (!text) return tl::unexpected(text.error());
  auto table = models_from_json(*text);
  if (!table) return fail(broken(site, "models.json", table.error().text));
  return table;
}

Result<ModelsFit> read_models_fit(const Site& site) {
  const auto text = read_published(site, "models-fit.json", "the model fits");
  if (!text) return tl::unexpected(text.error());
  auto fit = models_fit_from_json(*text);
  if (!fit) return fail(broken(site, "models-fit.json", fit.error().text));
  return fit;
}

Models models_with(ModelsFit fit, const Config& config) {
  fit.speeds = config.speeds();
  fit.memory = config.gpu_memory();
  fit.links = config.gpu_links();
  return models_of(fit);
}

StartRecords read_decisions(const Site& site) {
  const auto text = read_published(site, "decisions.json", "the decisions");
  if (!text) return {};
  auto records = decisions_from_json(*text);
  return records ? std::move(*records) : StartRecords{};
}

bool sees_all(const Site& site, const char* name) {
  return !site.private_dir.empty() && access((site.private_dir + "/" + name).c_str(), R_OK) == 0;
}

Result<PublishedPlan> read_plan(const Site& site) {
  const auto began = std::chrono::steady_clock::now();
  auto pair = read_plan_once(site);
  for (int i = 1; !pair || !pair->same_round; ++i) {
    const bool early = std::chrono::steady_clock::now() - began < kPairTime;
    if (i >= kReadTries && !(pair && early && i < kPairTries)) break;
    usleep(kPairPause);
    pair = read_plan_once(site);
  }
  return pair;
}

Seconds last_sign_of_loop(const Site& site) {
  Seconds last = 0;
  for (const std::string& path :
       {site.state_dir + "/rubato/state.json", site.publish_dir + "/stats.json"}) {
    struct stat found {};
    if (stat(path.c_str(), &found) == 0) last = std::max<Seconds>(last, found.st_mtime);
  }
  return last;
}

std::optional<std::string> loop_stopped(const PublishedStats& stats, const Config& config,
                                        Seconds now) {
  const Seconds age = now - stats.heartbeat;
  if (age <= config.heartbeat_timeout) return std::nullopt;
  return fmt::format(
      "Rubato's loop is not running: it last ran {} s ago, at {} (HeartbeatTimeout is {} s). If "
      "slurmctld runs, stock Slurm starts all jobs",
      age, format_time(stats.heartbeat), config.heartbeat_timeout);
}

}  // namespace rubato::tools
