// SPDX-License-Identifier: GPL-2.0-or-later
// stats.json: counters of the loop and the gate, for doctor, stats and metrics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lib/base/units.h"
#include "lib/config/config.h"
#include "lib/runtime/pause.h"
#include "lib/runtime/recorder.h"
#include "plugin/actuate/commit.h"
#include "plugin/common/pair.h"
#include "plugin/sched/model_source.h"
#include "plugin/slurm/read/records.h"
#include "plugin/slurm/stock/locks.h"

namespace rubato {

/// Counters of the loop since it began.
struct LoopStats {
  std::uint64_t rounds = 0;
  std::uint64_t failed_rounds = 0;
  std::uint64_t late_rounds = 0;  ///< plans dropped for RoundDeadline
  std::uint64_t wakes = 0;
  double round_ms_total = 0;
  double round_ms_longest = 0;
  double wake_ms_longest = 0;  ///< from a wake to the end of the round it caused
  double wake_ms_total = 0;
  std::uint64_t wake_rounds = 0;
  std::size_t pending = 0;          ///< jobs in the last round
  std::size_t managed_pending = 0;  ///< managed jobs among them
};

/// What stats.json is made from.
struct StatsInput {
  const Config& config;
  const Pair& pair;
  const LoopStats& loop;
  const LockTimes& locks;
  const CommitCount& commits;
  const Recorder& recorder;
  const ModelSource& models;
  const std::optional<Pause>& pause;
  Seconds now = 0;  ///< Unix seconds
  const RecordCheck& records;
  bool config_good = false;
};

/// One line of JSON. With `breakdown` also what PrivateData hides.
[[nodiscard]] std::string stats_json(const StatsInput& input, bool breakdown);

}  // namespace rubato
