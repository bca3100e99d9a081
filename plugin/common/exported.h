// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

/// Exports a symbol that Slurm looks up in a plugin file. All others are hidden; the plugin's
/// version script lists the same names.
#define RUBATO_EXPORTED __attribute__((visibility("default")))
