// SPDX-License-Identifier: GPL-2.0-or-later
// The Slurm release these files are built for.
#pragma once

namespace rubato {

/// In each plugin file, for `rubato doctor`: "RUBATO_PLUGIN_FOR_SLURM=22.05.8
/// RUBATO_VERSION=0.1.0".
extern const char* const kPluginMarker;

/// "22.05.8"
extern const char* const kSlurmRelease;

}  // namespace rubato
