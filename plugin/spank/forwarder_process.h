// SPDX-License-Identifier: GPL-2.0-or-later
// Starts and ends the process that forwards a job's reports.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "plugin/spank/report_file.h"

namespace rubato {

/// File descriptors that the program (forwarder.cc) inherits.
inline constexpr int kStopPipe = 3;  ///< closed when the step daemon requests an end, or is gone
inline constexpr int kDonePipe = 4;  ///< open until the program ends
inline constexpr int kClaim = 5;     ///< the lock of ReportFile::claim; holds the last sent line

struct ForwarderCall {
  std::string program;
  std::vector<std::string> arguments;    ///< after the name
  std::vector<std::string> environment;  ///< the whole environment
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
};

/// A process of the job's owner, outside the step's own processes. A pipe tells it when the step
/// daemon has ended, for whatever reason. If the step daemon is root, the owner cannot trace the
/// process nor the scontrol that it runs: their real user id is another one. The kernel lets a user
/// attach only to a process whose real, effective and saved ids are all that user's (ptrace(2)),
/// and execve(2) makes a program with two ids non-dumpable.
class ForwarderProcess {
 public:
  [[nodiscard]] static Result<ForwarderProcess> start(const ForwarderCall& call, Descriptor claim);

  /// Lets the process send remaining reports for at most one second, then kills it. False: it had
  /// ended before, so something killed it and reports may remain.
  bool end();

 private:
  ForwarderProcess() = default;

  Descriptor stop_;    ///< write end
  Descriptor done_;    ///< read end
  Descriptor handle_;  ///< pidfd
};

}  // namespace rubato
