// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/common/release.h"

namespace rubato {

const char* const kSlurmRelease = RUBATO_SLURM_RELEASE;

const char* const kPluginMarker =
    "RUBATO_PLUGIN_FOR_SLURM=" RUBATO_SLURM_RELEASE " RUBATO_VERSION=" RUBATO_RELEASE;

}  // namespace rubato
