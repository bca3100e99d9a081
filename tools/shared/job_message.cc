// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/shared/job_message.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "lib/hints/message.h"
#include "tools/shared/process.h"

namespace rubato::tools {
namespace {

constexpr int kTimeout = 30000;
constexpr std::string_view kHead = "rubato!";

/// Writes the line in one write, so that lines of several processes do not mix.
bool append_line(const char* path, const std::string& line) {
  const int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (file < 0) return false;
  const ssize_t wrote = write(file, line.data(), line.size());
  return close(file) == 0 && wrote == static_cast<ssize_t>(line.size());
}

}  // namespace

Result<Sent> send_message(const std::string& job, const std::string& message, bool own) {
  const char* path = std::getenv("RUBATO_REPORT_FILE");
  // The file accepts only reports. /dev/null: the SPANK plugin has no file for this job.
  if (own && path != nullptr && *path != '\0' && std::string_view(path) != "/dev/null" &&
      message.starts_with("rubato!report ") &&
      append_line(path, message.substr(kHead.size()) + "\n")) {
    return Sent{path, 0};
  }
  const std::string scontrol = find_program("scontrol");
  if (scontrol.empty()) {
    return fail("scontrol is not in PATH, and there is no report file (RUBATO_REPORT_FILE)");
  }
  RunOptions options;
  options.milliseconds = kTimeout;
  options.show_errors = true;
  options.own_group = false;
  const auto outcome = run_for_outcome({scontrol, "update", "JobId=" + job, "Comment=" + message,
                                        std::string("Partition=") + kMessagePartition},
                                       options);
  if (!outcome) return tl::unexpected(outcome.error());
  return Sent{"scontrol", outcome->exit};
}

}  // namespace rubato::tools
