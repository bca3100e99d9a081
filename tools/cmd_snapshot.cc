// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato snapshot`: what the last round looked at, to keep, to pass on, or to decide again.
#include <fmt/format.h>

#include <memory>

#include "lib/core/json.h"
#include "lib/round.h"
#include "tools/anonymise.h"
#include "tools/command.h"
#include "tools/output.h"
#include "tools/published.h"
#include "tools/site.h"
#include "tools/source.h"
#include "tools/write_file.h"

namespace rubato::tools {
namespace {

struct Options {
  std::string output;
  bool anonymise = false;
  std::string replay;
  std::string config;
};

int failure(Exit exit, const std::string& text) {
  print_error(text);
  return exit;
}

int write(const Options& options, const std::string& text) {
  const auto done = write_whole(options.output, text);
  return done ? static_cast<int>(kOk) : failure(kFailed, done.error().text);
}

Result<std::string> read_input(const std::string& path) {
  return read_file(path == "-" ? "/dev/stdin" : path);
}

/// --config FILE, else the rubato.conf of this machine, else (with a warning) the defaults.
Result<Config> replay_config(const Options& options) {
  std::string path = options.config;
  if (path.empty()) {
    const auto site = find_site();
    if (!site) return fail(site.error().text + "; name a rubato.conf with --config");
    path = site->rubato_conf_path;
  }
  const auto loaded = load_config(path);
  if (!loaded) return tl::unexpected(loaded.error());
  if (!loaded->present && !options.config.empty()) {
    return fail(path + ": No such file or directory");
  }
  if (!loaded->present) {
    print_warning(path + ": No such file or directory; the defaults stand in its place");
  }
  return loaded->config;
}

int replay(const Options& options) {
  const auto text = read_input(options.replay);
  if (!text) return failure(kFailed, text.error().text);
  const auto snapshot = snapshot_from_json(*text);
  if (!snapshot) return failure(kFailed, options.replay + ": " + snapshot.error().text);
  const auto config = replay_config(options);
  if (!config) return failure(kFailed, config.error().text);
  std::map<std::string, double> speeds;
  for (const GpuTypeConfig& type : config->gpu_types) speeds[type.name] = type.speed;
  const Plan plan = round(*snapshot, Models(std::move(speeds)), *config, snapshot->taken);
  return write(options, to_json(plan, *snapshot) + "\n");
}

int run(const Globals& globals, const Options& options) {
  if (!options.replay.empty()) {
    if (!options.anonymise) return replay(options);
    return failure(kUsage,
                   "snapshot: --anonymise goes with a snapshot, --replay prints a plan; "
                   "write the anonymised snapshot to a file and replay that");
  }
  if (!options.config.empty()) {
    return failure(kUsage, "snapshot: --config only goes with --replay");
  }
  const auto site = find_source(globals.publish_dir);
  if (!site) return failure(kFailed, site.error().text);
  const auto published = read_snapshot(*site);
  if (!published) return failure(kUnreachable, published.error().text);
  if (!options.anonymise) {
    const bool ends = published->text.ends_with('\n');
    return write(options, published->text + (ends ? "" : "\n"));
  }
  return write(options, to_json(anonymise(published->snapshot)) + "\n");
}

std::function<int()> setup(CLI::App& app, const Globals& globals) {
  auto options = std::make_shared<Options>();
  app.add_option("-o,--output", options->output, "Write to FILE instead of stdout")
      ->type_name("FILE");
  app.add_flag("--anonymise,--anonymize", options->anonymise,
               "Replace the names of users, accounts, jobs, nodes, partitions and QOS by short "
               "tokens and drop free texts");
  app.add_option("--replay", options->replay,
                 "Decide again for the snapshot in FILE and print the plan; - reads stdin")
      ->type_name("FILE");
  app.add_option("--config", options->config,
                 "With --replay: the rubato.conf to decide by, instead of this machine's")
      ->type_name("FILE");
  return [options, &globals] { return run(globals, *options); };
}

}  // namespace

Command snapshot_command() {
  return {"snapshot", "Write what the last round looked at, or decide for it again", "", &setup};
}

}  // namespace rubato::tools
