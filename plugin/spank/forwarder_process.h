// SPDX-License-Identifier: GPL-2.0-or-later
// Starts and ends the process that sends a job's reports.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "plugin/spank/report_file.h"

namespace rubato {

/// The numbers under which the program finds what it inherits; forwarder.cc.
inline constexpr int kStopPipe = 3;  ///< ends when the step daemon wants an end, or is gone
inline constexpr int kDonePipe = 4;  ///< held until the program has ended
inline constexpr int kClaim = 5;     ///< the lock of ReportFile::claim

struct ForwarderCall {
  std::string program;
  std::vector<std::string> arguments;    ///< behind the name
  std::vector<std::string> environment;  ///< all of it
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
};

/// A process of the job's owner, outside of the step's own processes. It knows by a pipe when the
/// step daemon has ended, however that came about.
class ForwarderProcess {
 public:
  [[nodiscard]] static Result<ForwarderProcess> start(const ForwarderCall& call, Descriptor claim);

  /// Lets it send what is left, for at most a second; then it is killed.
  void end();

 private:
  ForwarderProcess() = default;

  Descriptor stop_;    ///< write end
  Descriptor done_;    ///< read end
  Descriptor handle_;  ///< pidfd
};

}  // namespace rubato
