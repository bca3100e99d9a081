// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/stats.h"

#include <array>
#include <optional>

#include "lib/base/json_reader.h"
#include "lib/base/version.h"
#include "lib/json/statistics_table.h"
#include "plugin/common/guard.h"
#include "plugin/common/release.h"

namespace rubato {

namespace {

double mean(double total, std::uint64_t count) {
  return count == 0 ? 0.0 : total / static_cast<double>(count);
}

void put_locks(JsonValue& out, const LockTimes& times) {
  constexpr std::array<const char*, kLockUses> kNames = {
      "light_look", "full_look", "start", "write", "peek", "signal", "requeue", "shrink", "grow"};
  for (std::size_t use = 0; use < kLockUses; ++use) {
    const HoldTimes& holds = times.by_use[use];
    put(out, "locks.*.holds", holds.holds, kNames[use]);
    put(out, "locks.*.ms_mean", mean(holds.total_ms, holds.holds), kNames[use]);
    put(out, "locks.*.ms_longest", holds.max_ms, kNames[use]);
    put(out, "locks.*.cpu_ms_mean", mean(holds.cpu_ms, holds.holds), kNames[use]);
    put(out, "locks.*.cpu_ms_longest", holds.max_cpu_ms, kNames[use]);
  }
}

void put_loop(JsonValue& out, const LoopStats& loop) {
  put(out, "pending", loop.pending);
  put(out, "pending_managed", loop.managed_pending);
  put(out, "rounds", loop.rounds);
  put(out, "rounds_failed", loop.failed_rounds);
  put(out, "rounds_late", loop.late_rounds);
  put(out, "round_ms_mean", mean(loop.round_ms_total, loop.rounds));
  put(out, "round_ms_longest", loop.round_ms_longest);
  put(out, "wakes", loop.wakes);
  put(out, "wake_to_end_ms_mean", mean(loop.wake_ms_total, loop.wake_rounds));
  put(out, "wake_to_end_ms_longest", loop.wake_ms_longest);
}

void put_starts(JsonValue& out, const CommitCount& commits, const GateStats& gate) {
  put(out, "started", commits.started);
  put(out, "started_unmanaged", commits.started_unmanaged);
  put(out, "started_elsewhere", commits.elsewhere);
  put(out, "refused_by_slurm", commits.refused);
  put(out, "gate_refused_run_now", gate.refused_run_now);
  put(out, "gate_refused_will_run", gate.refused_will_run);
  put(out, "gate_masked", gate.masked);
  put(out, "gate_immediate", gate.immediate);
  put(out, "gate_opened", gate.opened);
}

void put_messages(JsonValue& out, const MessageStats& mail) {
  put(out, "mail.taken", mail.taken);
  put(out, "mail.too_soon", mail.too_soon);
  put(out, "mail.full", mail.full);
  put(out, "mail.off", mail.off);
  put(out, "mail.malformed", mail.malformed);
  put(out, "mail.foreign", mail.foreign);
  put(out, "mail.not_running", mail.not_running);
  put(out, "mail.mode", mail.mode);
  put(out, "mail.waiting", mail.waiting);
}

void put_hints(JsonValue& out, const HintStats& hints) {
  put(out, "hints.jobs", hints.jobs);
  put(out, "hints.refused", hints.refused);
  put(out, "hints.updates", hints.updates);
  put(out, "hints.updates_refused", hints.updates_refused);
}

// The name of the admin is left out where PrivateData hides something.
void put_pause(JsonValue& out, const std::optional<Pause>& pause, bool breakdown) {
  put(out, "paused", pause.has_value());
  if (!pause) return;
  if (breakdown && !pause->by.empty()) put(out, "pause.by", pause->by);
  if (pause->since > 0) put(out, "pause.since", pause->since);
  if (pause->until > 0) put(out, "pause.until", pause->until);
}

}  // namespace

std::string stats_json(const StatsInput& input, bool breakdown) {
  const GateStats gate = input.pair.stats();
  const HoldTimes& holds = input.locks.all;
  JsonValue out;
  out["schema"] = kStatisticsSchema;
  put(out, "version", std::string(version()));
  put(out, "slurm_version", kSlurmRelease);
  put(out, "mode", to_string(input.config.mode));
  put_pause(out, input.pause, breakdown);
  put(out, "heartbeat", static_cast<std::int64_t>(input.now));
  put(out, "gate_open", gate.open);
  put(out, "records_fit", input.records.fit);
  put(out, "records", input.records.text);
  put(out, "records_of_jobs", input.records.jobs);
  put(out, "config_good", input.config_good);
  put_loop(out, input.loop);
  put(out, "lock_holds", holds.holds);
  put(out, "lock_ms_mean", mean(holds.total_ms, holds.holds));
  put(out, "lock_ms_longest", holds.max_ms);
  put_locks(out, input.locks);
  put_starts(out, input.commits, gate);
  put(out, "guard_failures", guard_failures());
  put_messages(out, input.pair.message_stats());
  put_hints(out, input.pair.hint_stats());
  input.recorder.put_store(out);
  input.models.put_learning(out);
  out["report"] = input.recorder.report_json(breakdown);
  return json_text(out) + "\n";
}

}  // namespace rubato
