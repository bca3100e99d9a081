// SPDX-License-Identifier: GPL-2.0-or-later
// The daemon's own log, for code without Slurm headers.
#pragma once

#include "lib/base/log.h"

namespace rubato {

/// Writes one line of any length to the log of the daemon that loaded the plugin.
void write_slurm_log(LogLevel level, const char* line) noexcept;

/// The same with printf. Cuts lines at 1 KiB. Allocates nothing, so that it can report a bad_alloc.
void slurm_log(LogLevel level, const char* format, ...) noexcept
    __attribute__((format(printf, 2, 3)));

}  // namespace rubato
