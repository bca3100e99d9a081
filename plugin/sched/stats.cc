// SPDX-License-Identifier: GPL-2.0-or-later
// stats.json: counters of the loop and the gate, for doctor, stats and metrics.
#include <ctime>
#include <nlohmann/json.hpp>

#include "lib/core/version.h"
#include "plugin/pair/guard.h"
#include "plugin/sched/loop.h"
#include "plugin/slurm/release.h"

namespace rubato {

namespace {

double mean(double total, std::uint64_t count) {
  return count == 0 ? 0.0 : total / static_cast<double>(count);
}

}  // namespace

std::string Loop::stats_json() const {
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
  out["lock_holds"] = times_.holds;
  out["lock_ms_mean"] = mean(times_.total_ms, times_.holds);
  out["lock_ms_longest"] = times_.longest_ms;
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
  return out.dump() + "\n";
}

}  // namespace rubato
