// SPDX-License-Identifier: GPL-2.0-or-later
// Files published by Rubato in slurmctld: snapshot.json, plan.json, stats.json.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lib/base/error.h"
#include "lib/core/plan.h"
#include "lib/core/snapshot.h"
#include "lib/json/decisions.h"
#include "lib/json/models_fit.h"
#include "lib/json/models_table.h"
#include "lib/runtime/pause.h"
#include "tools/shared/output.h"
#include "tools/shared/site.h"

namespace rubato::tools {

/// stats.json. All members are in `all`.
struct PublishedStats {
  Seconds heartbeat = 0;  ///< when the loop last ran
  std::string mode;       ///< the mode in effect, which may differ from rubato.conf
  std::string version;    ///< of the plugins
  std::string slurm_version;
  bool gate_open = false;       ///< stock Slurm may start managed jobs
  int managed_pending = 0;      ///< managed jobs in the last round
  bool gate_matters = true;     ///< managed jobs are pending
  bool records_fit = true;      ///< slurmctld's records have the sizes the plugins were built for
  std::string records;          ///< sizes of slurmctld's records, and which one differs
  bool records_of_jobs = true;  ///< a job's record was among them
  bool config_good = true;      ///< slurmctld took the rubato.conf it read last
  std::optional<Pause> pause;   ///< in effect
  std::shared_ptr<const Json> all;  ///< an object; never null
};

/// A snapshot with the bytes it was read from.
struct PublishedSnapshot {
  std::string text;
  Snapshot snapshot;
};

struct PublishedPlan {
  Snapshot snapshot;
  Plan plan;
  /// False if the two are of different rounds: they are replaced one after the other.
  bool same_round = true;
};

/// Each fails with a sentence that says what cannot be shown, why, and who can.
[[nodiscard]] Result<PublishedSnapshot> read_snapshot(const Site& site);
[[nodiscard]] Result<PublishedStats> read_stats(const Site& site);
[[nodiscard]] Result<ModelsTable> read_models(const Site& site);
[[nodiscard]] Result<ModelsFit> read_models_fit(const Site& site);
/// The models of `fit` with the speeds, memory and links of GPU types in `config`.
[[nodiscard]] Models models_with(ModelsFit fit, const Config& config);
/// What running jobs started with; none where nothing of it is published.
[[nodiscard]] StartRecords read_decisions(const Site& site);
/// `name` can be read where nothing is hidden.
[[nodiscard]] bool sees_all(const Site& site, const char* name);
/// Reads the pair again until both are of one round, for about 1 s at most.
[[nodiscard]] Result<PublishedPlan> read_plan(const Site& site);

/// The last sign of life of the loop besides stats.json: it replaces state.json too, and changes
/// the time of a published file that it cannot write. 0: none.
[[nodiscard]] Seconds last_sign_of_loop(const Site& site);

/// Nothing if the loop runs. Else that it does not, since when, and who schedules.
[[nodiscard]] std::optional<std::string> loop_stopped(const PublishedStats& stats,
                                                      const Config& config, Seconds now);

}  // namespace rubato::tools
