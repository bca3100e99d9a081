// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato stats`: the counters of Rubato in slurmctld.
#include <fmt/format.h>

#include "lib/json/record_writer.h"
#include "lib/json/statistics_table.h"
#include "tools/rubato/stats/stats_view.h"
#include "tools/rubato/stats/verdict_records.h"
#include "tools/shared/command.h"
#include "tools/shared/command_line.h"
#include "tools/shared/output.h"
#include "tools/shared/published.h"
#include "tools/shared/source.h"

namespace rubato::tools {
namespace {

constexpr std::size_t kTextWidth = 80;

/// The GPUs of the last snapshot; none where it cannot be read.
std::vector<GpuTypeUse> gpus_of(const Site& site) {
  if (const auto plan = read_plan(site)) return gpu_use(plan->snapshot, &plan->plan);
  if (const auto snapshot = read_snapshot(site)) return gpu_use(snapshot->snapshot, nullptr);
  return {};
}

int run(const Globals& globals) {
  const auto site = find_source(globals.publish_dir);
  if (!site) return report_failure(globals, kStatisticsSchema, kFailed, site.error().text);
  const auto stats = read_stats(*site);
  if (!stats) return report_failure(globals, kStatisticsSchema, kUnreachable, stats.error().text);
  const auto stopped = loop_stopped(*stats, site->config, now());
  if (stopped) print_warning(*stopped);
  const StatsExtras extras{verdict_of(periods_of(*stats), stats->mode, kVerdictDays),
                           gpus_of(*site)};
  if (globals.json) {
    Json json = document(kStatisticsSchema, stats->slurm_version,
                         stopped ? std::vector<std::string>{*stopped} : std::vector<std::string>{});
    json.update(*stats->all);  // the members of stats.json are members of the same object
    json.update(json::json_of(extras));
    print_json(json);
  } else {
    for (const std::string& line : wrap(extras.verdict.sentence, kTextWidth))
      fmt::print("{}\n", line);
    fmt::print("\n{}", gpus_text(extras.gpu_types));
    fmt::print("{}", stats_text(*stats, now()));
  }
  return stopped ? kUnreachable : kOk;
}

std::function<int()> setup(CommandLine&, const Globals& globals) {
  return [&globals] { return run(globals); };
}

}  // namespace

Command stats_command() { return {"stats", "Counters of Rubato in slurmctld", "", &setup}; }

}  // namespace rubato::tools
