// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato page`: the cluster now as one HTML file.
#include <sys/stat.h>

#include <memory>

#include "tools/rubato/page/page_input.h"
#include "tools/rubato/page/page_view.h"
#include "tools/shared/command.h"
#include "tools/shared/command_line.h"
#include "tools/shared/output.h"
#include "tools/shared/source.h"
#include "tools/shared/write_file.h"

namespace rubato::tools {
namespace {

constexpr int kHours = 6;
constexpr int kMaxHours = 168;

struct Options {
  std::string output;
  int hours = kHours;
  bool whole = false;
};

int failure(Exit exit, const std::string& text) {
  print_error(text);
  return exit;
}

int run(const Globals& globals, const Options& options) {
  if (globals.json) {
    return failure(kUsage,
                   "page: writes HTML; for JSON use rubato explain --json and rubato stats --json");
  }
  if (const auto can = check_writable(options.output); !can)
    return failure(kFailed, can.error().text);
  const auto site = find_source(globals.publish_dir);
  if (!site) return failure(kFailed, site.error().text);
  const auto input = read_page_input(*site, options.hours, options.whole);
  if (!input) return failure(kUnreachable, input.error().text);
  if (!input->stopped.empty()) print_warning(input->stopped);
  // A new file with what PrivateData hides is for its owner alone. That of an old one stays.
  const bool secret = options.whole && input->snapshot.private_data.any();
  const mode_t before = umask(077);
  if (!secret) umask(before);
  const auto written = write_whole(options.output, cluster_page(*input));
  umask(before);
  if (!written) return failure(kFailed, written.error().text);
  return input->stopped.empty() ? kOk : kUnreachable;
}

std::function<int()> setup(CommandLine& line, const Globals& globals) {
  auto options = std::make_shared<Options>();
  line.text("-o,--output", options->output, "FILE", "Write to FILE instead of stdout");
  line.number("--hours", options->hours, 1, kMaxHours, "COUNT",
              "Hours of the chart before and after now, 1 to 168 (default: 6)");
  line.flag("--private", options->whole,
            "Show what PrivateData of slurm.conf hides too, as far as you may read it; a new FILE "
            "is readable for you alone");
  return [options, &globals] { return run(globals, *options); };
}

}  // namespace

Command page_command() { return {"page", "Write the cluster now as one HTML file", "", &setup}; }

}  // namespace rubato::tools
