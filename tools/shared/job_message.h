// SPDX-License-Identifier: GPL-2.0-or-later
// Sends a message to slurmctld about a job.
#pragma once

#include <string>

#include "lib/base/error.h"

namespace rubato::tools {

/// How a message was sent.
struct Sent {
  std::string way;  ///< "scontrol", or the report file
  int exit = 0;     ///< of scontrol, which printed any error on stderr
};

/// Sends `message` ("rubato!report ...") of job `job`. If RUBATO_REPORT_FILE is set and `own` is
/// true, appends a line to that file, which the step daemon forwards. Otherwise, or if that file is
/// not writable, scontrol updates the job's comment (at most 30 s).
[[nodiscard]] Result<Sent> send_message(const std::string& job, const std::string& message,
                                        bool own);

}  // namespace rubato::tools
