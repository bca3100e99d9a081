// SPDX-License-Identifier: GPL-2.0-or-later
// Sending a message of a job: `rubato report` inside of one.
#pragma once

#include <string>

#include "lib/base/error.h"

namespace rubato::tools {

/// How a message went out.
struct Sent {
  std::string way;  ///< "scontrol", or the report file
  int exit = 0;     ///< of scontrol, which has said on stderr what went wrong
};

/// `message` ("rubato!report ...") of job `job`. Where RUBATO_REPORT_FILE stands in the environment
/// and `own` is true, a line of that file, which the step daemon forwards; else, and where that
/// file cannot be written, an update of the job's comment by scontrol (at most 30 s).
[[nodiscard]] Result<Sent> send_message(const std::string& job, const std::string& message,
                                        bool own);

}  // namespace rubato::tools
