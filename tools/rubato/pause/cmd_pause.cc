// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato pause`: stock Slurm starts all jobs until the pause ends.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "lib/base/atomic_file.h"
#include "lib/base/text.h"
#include "lib/config/values.h"
#include "lib/json/record_writer.h"
#include "lib/runtime/pause.h"
#include "lib/runtime/user_names.h"
#include "tools/rubato/pause/pause_records.h"
#include "tools/shared/command.h"
#include "tools/shared/command_line.h"
#include "tools/shared/output.h"
#include "tools/shared/pause_view.h"
#include "tools/shared/site.h"

namespace rubato::tools {
namespace {

constexpr mode_t kReadableForAll = 0644;

struct Options {
  bool resume = false;
  bool status = false;
  std::string time;
};

std::string text_of(const std::optional<Pause>& pause) {
  if (!pause) return "Rubato is not paused.";
  return fmt::format("Rubato is {}{}. Stock Slurm starts all jobs.", pause_words(*pause),
                     pause->until == 0 ? " until rubato pause --resume" : "");
}

int print(const Globals& globals, const std::optional<Pause>& pause) {
  if (globals.json) {
    Json json = document(kPauseSchema, "");
    json.update(json::json_of(pause));
    print_json(json);
  } else {
    fmt::print("{}\n", text_of(pause));
  }
  return kOk;
}

/// The user behind sudo, or of this process.
std::string who() {
  const char* behind = std::getenv("SUDO_USER");
  const std::string name = user_word(behind == nullptr ? "" : behind);
  return name.empty() ? user_word(passwd_name(getuid())) : name;
}

std::string denied(const std::string& folder, int code) {
  if (code == EACCES || code == EPERM) return "only root and SlurmUser may pause Rubato";
  if (code == ENOENT)
    return fmt::format("{} does not exist: slurmctld has not run with Rubato yet", folder);
  return fmt::format("{}: {}", folder, std::strerror(code));
}

int run(const Globals& globals, const Options& options) {
  const auto fails = [&](Exit exit, const std::string& why) {
    return report_failure(globals, kPauseSchema, exit, why);
  };
  const auto site = find_site();
  if (!site) return fails(kFailed, site.error().text);
  const std::string folder = site->state_dir + "/rubato";
  struct stat info {};
  if (stat(folder.c_str(), &info) != 0) return fails(kFailed, denied(folder, errno));
  const std::string path = pause_file(folder);
  if (options.status) return print(globals, read_pause(folder, now()));
  if (options.resume) {
    if (unlink(path.c_str()) != 0 && errno != ENOENT) return fails(kFailed, denied(folder, errno));
    return print(globals, std::nullopt);
  }
  Pause pause{.since = now(), .by = who()};
  if (!options.time.empty()) {
    const auto length = parse_duration(options.time);
    if (!length || *length < 1) return fails(kUsage, "--for: invalid duration " + options.time);
    pause.until = now() + static_cast<Seconds>(*length);
  }
  const auto written =
      write_atomically(path, pause_text(pause), {.mode = kReadableForAll, .durable = true});
  if (!written) return fails(kFailed, denied(folder, written.error().code));
  return print(globals, pause);
}

std::function<int()> setup(CommandLine& line, const Globals& globals) {
  auto options = std::make_shared<Options>();
  line.text("--for", options->time, "TIME",
            "End the pause after this time: seconds, or MM:SS, HH:MM:SS, D-HH");
  line.flag("--resume", options->resume, "End the pause");
  line.flag("--status", options->status, "Print whether Rubato is paused; change nothing");
  return [options, &globals] { return run(globals, *options); };
}

}  // namespace

Command pause_command() {
  return {"pause", "Let stock Slurm start all jobs for a while", "", &setup};
}

}  // namespace rubato::tools
