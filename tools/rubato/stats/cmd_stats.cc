// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato stats`: the counters of Rubato in slurmctld.
#include <fmt/format.h>

#include "lib/json/statistics_table.h"
#include "tools/rubato/stats/stats_view.h"
#include "tools/shared/command.h"
#include "tools/shared/command_line.h"
#include "tools/shared/output.h"
#include "tools/shared/published.h"
#include "tools/shared/source.h"

namespace rubato::tools {
namespace {

int run(const Globals& globals) {
  const auto site = find_source(globals.publish_dir);
  if (!site) return report_failure(globals, kStatisticsSchema, kFailed, site.error().text);
  const auto stats = read_stats(*site);
  if (!stats) return report_failure(globals, kStatisticsSchema, kUnreachable, stats.error().text);
  const auto stopped = loop_stopped(*stats, site->config, now());
  if (stopped) print_warning(*stopped);
  if (globals.json) {
    Json json = document(kStatisticsSchema, stats->slurm_version,
                         stopped ? std::vector<std::string>{*stopped} : std::vector<std::string>{});
    json.update(*stats->all);  // the members of stats.json are members of the same object
    print_json(json);
  } else {
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
