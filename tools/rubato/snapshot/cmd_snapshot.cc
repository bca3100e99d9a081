// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato snapshot`: saves, anonymises or replays the last round's snapshot.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "lib/base/fingerprint.h"
#include "lib/json/json.h"
#include "lib/json/models_fit.h"
#include "lib/policy/round.h"
#include "tools/rubato/snapshot/anonymise.h"
#include "tools/shared/command.h"
#include "tools/shared/command_line.h"
#include "tools/shared/output.h"
#include "tools/shared/published.h"
#include "tools/shared/site.h"
#include "tools/shared/source.h"
#include "tools/shared/write_file.h"

namespace rubato::tools {
namespace {

constexpr const char* kModelsFile = "models-fit.json";

struct Options {
  std::string output;
  bool anonymise = false;
  std::string replay;
  std::string config;
  std::string models;
};

int failure(Exit exit, const std::string& text) {
  print_error(text);
  return exit;
}

int write(const std::string& path, const std::string& text) {
  const auto done = write_whole(path, text);
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
    print_warning(path + ": No such file or directory; defaults apply");
  }
  return loaded->config;
}

/// --models FILE, else models-fit.json beside the snapshot. nullopt if there is none: nothing was
/// learnt, or only the snapshot was copied.
Result<std::optional<ModelsFit>> replay_models(const Options& options) {
  namespace fs = std::filesystem;
  std::string path = options.models;
  if (path.empty()) {
    if (options.replay == "-") return std::nullopt;
    path = (fs::path(options.replay).parent_path() / kModelsFile).string();
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return std::nullopt;
  }
  const auto text = read_input(path);
  if (!text) return tl::unexpected(text.error());
  auto fit = models_fit_from_json(*text);
  if (!fit) return fail(path + ": " + fit.error().text);
  return std::optional<ModelsFit>(std::move(*fit));
}

int replay(const Options& options) {
  const auto text = read_input(options.replay);
  if (!text) return failure(kFailed, text.error().text);
  const auto snapshot = snapshot_from_json(*text);
  if (!snapshot) return failure(kFailed, options.replay + ": " + snapshot.error().text);
  const auto config = replay_config(options);
  if (!config) return failure(kFailed, config.error().text);
  auto fit = replay_models(options);
  if (!fit) return failure(kFailed, fit.error().text);
  const Models models = models_with(std::move(*fit).value_or(ModelsFit{}), *config);
  Plan plan = round(*snapshot, models, *config, snapshot->taken);
  plan.snapshot_fingerprint = fingerprint(to_json(*snapshot));
  plan.models_fingerprint = fingerprint(fit_of(models));
  return write(options.output, to_json(plan, *snapshot) + "\n");
}

std::string with_end(const std::string& text) { return text.ends_with('\n') ? text : text + "\n"; }

/// Saves the last published snapshot; with --models also the models of that round.
int save(const Options& options, const Site& site) {
  ModelsFit fit;
  if (!options.models.empty()) {
    auto found = read_models_fit(site);
    if (!found) return failure(kUnreachable, found.error().text);
    fit = std::move(*found);
  }
  const auto published = read_snapshot(site);
  if (!published) return failure(kUnreachable, published.error().text);
  std::string snapshot = published->text;
  if (options.anonymise) {
    Anonymous plain = anonymise(published->snapshot, fit);
    snapshot = to_json(plain.snapshot);
    fit = std::move(plain.fit);
  }
  if (!options.models.empty()) {
    if (const int exit = write(options.models, to_json(fit) + "\n"); exit != kOk) return exit;
  }
  return write(options.output, with_end(snapshot));
}

int run(const Globals& globals, const Options& options) {
  if (!options.replay.empty()) {
    if (!options.anonymise) return replay(options);
    return failure(kUsage,
                   "snapshot: --anonymise and --replay exclude each other; write the anonymised "
                   "snapshot to a file and replay that");
  }
  if (!options.config.empty()) {
    return failure(kUsage, "snapshot: --config requires --replay");
  }
  const auto site = find_source(globals.publish_dir);
  if (!site) return failure(kFailed, site.error().text);
  return save(options, *site);
}

std::function<int()> setup(CommandLine& line, const Globals& globals) {
  auto options = std::make_shared<Options>();
  line.text("-o,--output", options->output, "FILE", "Write to FILE instead of stdout");
  line.flag("--anonymise,--anonymize", options->anonymise,
            "Replace names of users, accounts, jobs, nodes, partitions and QOS by short tokens; "
            "drop free text");
  line.text("--replay", options->replay, "FILE",
            "Replay: run a round on the snapshot in FILE and print the plan; - reads stdin");
  line.text("--config", options->config, "FILE",
            "With --replay: rubato.conf to use (default: this machine's)");
  line.text("--models", options->models, "FILE",
            "With --replay: model fits to use (default: models-fit.json in the snapshot's "
            "directory). Without: write the round's model fits to FILE");
  return [options, &globals] { return run(globals, *options); };
}

}  // namespace

Command snapshot_command() {
  return {"snapshot", "Write the last round's input, or replay it", "", &setup};
}

}  // namespace rubato::tools
