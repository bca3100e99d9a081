// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato metrics`: counters and profiles for Prometheus, by the textfile collector of its node
// exporter.
#include <fmt/format.h>

#include <memory>

#include "tools/rubato/stats/metrics.h"
#include "tools/shared/command.h"
#include "tools/shared/command_line.h"
#include "tools/shared/output.h"
#include "tools/shared/published.h"
#include "tools/shared/source.h"
#include "tools/shared/write_file.h"

namespace rubato::tools {
namespace {

struct Options {
  std::string output;
  bool no_profiles = false;
};

int failure(Exit exit, const std::string& text) {
  print_error(text);
  return exit;
}

/// Where there is no plan of the same round, or none at all.
Result<Snapshot> snapshot_alone(const Site& site) {
  auto read = read_snapshot(site);
  if (!read) return tl::unexpected(read.error());
  return std::move(read->snapshot);
}

int run(const Globals& globals, const Options& options) {
  if (globals.json) {
    return failure(kUsage,
                   "metrics: prints the Prometheus text format; for JSON use rubato stats --json");
  }
  const auto site = find_source(globals.publish_dir);
  if (!site) return failure(kFailed, site.error().text);
  const auto stats = read_stats(*site);
  const auto models = read_models(*site);  // without a store there is none
  const auto plan = read_plan(*site);
  const auto snapshot = plan ? Result<Snapshot>(plan->snapshot) : snapshot_alone(*site);
  const auto stopped = stats ? loop_stopped(*stats, site->config, now()) : std::nullopt;
  const bool jobs_known =
      snapshot && (!snapshot->private_data.jobs || sees_all(*site, "snapshot.json"));
  const std::string text = metrics_text({.stats = stats ? &*stats : nullptr,
                                         .snapshot = snapshot ? &*snapshot : nullptr,
                                         .jobs_known = jobs_known,
                                         .plan = plan ? &plan->plan : nullptr,
                                         .models = models ? &*models : nullptr,
                                         .profiles = !options.no_profiles,
                                         .up = stats.has_value() && !stopped});
  if (const auto done = write_whole(options.output, text); !done) {
    return failure(kFailed, done.error().text);
  }
  // rubato_up tells it too; a collector that ran is no failure.
  if (!stats) return failure(kUnreachable, stats.error().text);
  if (stopped) print_warning(*stopped);
  return stopped ? kUnreachable : kOk;
}

std::function<int()> setup(CommandLine& line, const Globals& globals) {
  auto options = std::make_shared<Options>();
  line.text("-o,--output", options->output, "FILE", "Write to FILE (atomically) instead of stdout");
  line.flag("--no-profiles", options->no_profiles, "Omit the profiles of job types");
  return [options, &globals] { return run(globals, *options); };
}

}  // namespace

Command metrics_command() {
  return {"metrics", "Counters and profiles for Prometheus", "", &setup};
}

}  // namespace rubato::tools
