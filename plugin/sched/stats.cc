// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/stats.h"

#include <array>
#include <nlohmann/json.hpp>

#include "lib/base/json_reader.h"
#include "lib/base/version.h"
#include "plugin/common/guard.h"
#include "plugin/common/release.h"

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

std::string stats_json(const StatsInput& input, bool breakdown) {
  const GateStats gate = input.pair.stats();
  const LoopStats& loop = input.loop;
  const HoldTimes& holds = input.locks.all;
  nlohmann::ordered_json out;
  out["schema"] = "rubato.stats/1";
  out["version"] = std::string(version());
  out["slurm_version"] = kSlurmRelease;
  out["mode"] = to_string(input.config.mode);
  out["heartbeat"] = static_cast<std::int64_t>(input.now);
  out["gate_open"] = gate.open;
  out["records_fit"] = input.records_fit;
  out["config_good"] = input.config_good;
  out["pending"] = loop.pending;
  out["pending_managed"] = loop.managed_pending;
  out["rounds"] = loop.rounds;
  out["rounds_failed"] = loop.failed_rounds;
  out["rounds_late"] = loop.late_rounds;
  out["round_ms_mean"] = mean(loop.round_ms_total, loop.rounds);
  out["round_ms_longest"] = loop.round_ms_longest;
  out["wakes"] = loop.wakes;
  out["wake_to_end_ms_mean"] = mean(loop.wake_ms_total, loop.wake_rounds);
  out["wake_to_end_ms_longest"] = loop.wake_ms_longest;
  out["lock_holds"] = holds.holds;
  out["lock_ms_mean"] = mean(holds.total_ms, holds.holds);
  out["lock_ms_longest"] = holds.max_ms;
  out["locks"] = locks_json(input.locks);
  out["started"] = input.commits.started;
  out["started_unmanaged"] = input.commits.started_unmanaged;
  out["started_elsewhere"] = input.commits.elsewhere;
  out["refused_by_slurm"] = input.commits.refused;
  out["gate_refused_run_now"] = gate.refused_run_now;
  out["gate_refused_will_run"] = gate.refused_will_run;
  out["gate_masked"] = gate.masked;
  out["gate_immediate"] = gate.immediate;
  out["gate_opened"] = gate.opened;
  out["guard_failures"] = guard_failures();
  out["mail"] = message_json(input.pair.message_stats());
  out["hints"] = hints_json(input.pair.hint_stats());
  out["store"] = input.recorder.store_json();
  out["learning"] = input.models.learning_json();
  out["report"] = input.recorder.report_json(breakdown);
  return json_text(out) + "\n";
}

}  // namespace rubato
