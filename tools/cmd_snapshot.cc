// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato snapshot`: what the last round looked at, to keep, to pass on, or to decide again.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "lib/core/json.h"
#include "lib/round.h"
#include "tools/anonymise.h"
#include "tools/command.h"
#include "tools/output.h"
#include "tools/published.h"
#include "tools/site.h"

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

/// To stdout, or whole or not at all to a file.
int write(const Options& options, const std::string& text) {
  if (options.output.empty() || options.output == "-") {
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
        std::fflush(stdout) == 0) {
      return kOk;
    }
    return failure(kFailed, fmt::format("cannot write: {}", std::strerror(errno)));
  }
  const std::string part = options.output + ".part";
  std::FILE* file = std::fopen(part.c_str(), "wb");
  bool good = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  int reason = errno;
  if (file != nullptr && std::fclose(file) != 0 && good) {
    good = false;
    reason = errno;
  }
  if (good && std::rename(part.c_str(), options.output.c_str()) != 0) {
    good = false;
    reason = errno;
  }
  if (good) return kOk;
  if (file != nullptr) std::remove(part.c_str());
  return failure(kFailed, fmt::format("{}: {}", options.output, std::strerror(reason)));
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

int run(const Options& options) {
  if (!options.replay.empty()) {
    if (!options.anonymise) return replay(options);
    return failure(kUsage,
                   "snapshot: --anonymise goes with a snapshot, --replay prints a plan; "
                   "write the anonymised snapshot to a file and replay that");
  }
  if (!options.config.empty()) {
    return failure(kUsage, "snapshot: --config only goes with --replay");
  }
  const auto site = find_site();
  if (!site) return failure(kFailed, site.error().text);
  const auto published = read_snapshot(*site);
  if (!published) return failure(kUnreachable, published.error().text);
  if (!options.anonymise) {
    const bool ends = published->text.ends_with('\n');
    return write(options, published->text + (ends ? "" : "\n"));
  }
  return write(options, to_json(anonymise(published->snapshot)) + "\n");
}

std::function<int()> setup(CLI::App& app, const Globals&) {
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
  return [options] { return run(*options); };
}

}  // namespace

Command snapshot_command() {
  return {"snapshot", "Write what the last round looked at, or decide for it again", "", &setup};
}

}  // namespace rubato::tools
