// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

/// A symbol that Slurm looks up in a plugin file. Everything else is hidden; the version script of
/// the plugin lists the same names.
#define RUBATO_EXPORTED __attribute__((visibility("default")))
