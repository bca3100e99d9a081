// SPDX-License-Identifier: GPL-2.0-or-later
// Sends the library's log lines to the daemon's log from the moment the plugin file is opened. Only
// plugins that log through lib/base/log.h link this file.
#include "lib/base/log.h"
#include "plugin/common/slurm_log.h"

namespace rubato {

namespace {

[[maybe_unused]] const bool kInstalled = (set_log_writer(&write_slurm_log), true);

}  // namespace

}  // namespace rubato
