// SPDX-License-Identifier: GPL-2.0-or-later
// stats.json: counters of the loop and the gate, for doctor, stats and metrics.
#include <ctime>
#include <nlohmann/json.hpp>

#include "lib/base/version.h"
#include "plugin/common/guard.h"
#include "plugin/common/release.h"
#include "plugin/sched/loop.h"

namespace rubato {

namespace {

double mean(double total, std::uint64_t count) {
  return count == 0 ? 0.0 : total / static_cast<double>(count);
}

nlohmann::ordered_json locks_json(const LockTimes& times) {
  constexpr std::array<const char*, kLockUses> kNames = {"light_look", "full_look", "start",
                                                         "write", "peek"};
  nlohmann::ordered_json out;
  for (std::size_t use = 0; use < kLockUses; ++use) {
    const HoldTimes& holds = times.by_use[use];
    out[kNames[use]] = {{"holds", holds.holds},
                        {"ms_mean", mean(holds.total_ms, holds.holds)},
                        {"ms_longest", holds.max_ms},
                        {"cpu_ms_mean", mean(holds.cpu_ms, holds.holds)},
                        {"cpu_ms_longest", holds.max_cpu_ms}};
  }
  return out;
}

nlohmann::ordered_json message_json(const MessageStats& mail) {
  return {{"taken", mail.taken},
          {"too_soon", mail.too_soon},
          {"full", mail.full},
          {"off", mail.off},
          {"malformed", mail.malformed},
          {"foreign", mail.foreign},
          {"not_running", mail.not_running},
          {"mode", mail.mode},
          {"waiting", mail.waiting}};
}

nlohmann::ordered_json hints_json(const HintStats& hints) {
  return {{"jobs", hints.jobs},
          {"refused", hints.refused},
          {"updates", hints.updates},
          {"updates_refused", hints.updates_refused}};
}

}  // namespace

std::string Loop::stats_json(bool breakdown) const {
  const GateStats gate = pair_.stats();
  nlohmann::ordered_json out;
  out["schema"] = "rubato.stats/1";
  out["version"] = std::string(version());
  out["slurm_version"] = kSlurmRelease;
  out["mode"] = to_string(config_->mode);
  out["heartbeat"] = static_cast<std::int64_t>(std::time(nullptr));
  out["gate_open"] = gate.open;
  out["records_fit"] = records_fit_;
  out["config_good"] = source_.good();
  out["pending"] = pending_;
  out["pending_managed"] = managed_pending_;
  out["rounds"] = stats_.rounds;
  out["rounds_failed"] = stats_.failed_rounds;
  out["rounds_late"] = stats_.late_rounds;
  out["round_ms_mean"] = mean(stats_.round_ms_total, stats_.rounds);
  out["round_ms_longest"] = stats_.round_ms_longest;
  out["wakes"] = stats_.wakes;
  out["wake_to_end_ms_mean"] = mean(stats_.wake_ms_total, stats_.wake_rounds);
  out["wake_to_end_ms_longest"] = stats_.wake_ms_longest;
  out["lock_holds"] = times_.all.holds;
  out["lock_ms_mean"] = mean(times_.all.total_ms, times_.all.holds);
  out["lock_ms_longest"] = times_.all.max_ms;
  out["locks"] = locks_json(times_);
  out["started"] = stats_.commits.started;
  out["started_unmanaged"] = stats_.commits.started_unmanaged;
  out["started_elsewhere"] = stats_.commits.elsewhere;
  out["refused_by_slurm"] = stats_.commits.refused;
  out["gate_refused_run_now"] = gate.refused_run_now;
  out["gate_refused_will_run"] = gate.refused_will_run;
  out["gate_masked"] = gate.masked;
  out["gate_immediate"] = gate.immediate;
  out["gate_opened"] = gate.opened;
  out["guard_failures"] = guard_failures();
  out["mail"] = message_json(pair_.message_stats());
  out["hints"] = hints_json(pair_.hint_stats());
  out["store"] = recorder_.store_json();
  out["learning"] = learning_json();
  out["report"] = recorder_.report_json(breakdown);
  return out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace rubato
