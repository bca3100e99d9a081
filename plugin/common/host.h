// SPDX-License-Identifier: GPL-2.0-or-later
// Finds and opens the stock plugin that a plugin of Rubato wraps.
#pragma once

#include <string>

#include "lib/base/error.h"

namespace rubato {

/// The directory of the loaded file that contains `inside` (a function or variable), with links
/// resolved.
[[nodiscard]] std::string directory_of(const void* inside);

/// The first file `name` in a part of `plugin_dir` (slurm.conf's PluginDir, parts separated by ':')
/// after `own_directory`.
[[nodiscard]] Result<std::string> find_stock(const std::string& plugin_dir,
                                             const std::string& own_directory,
                                             const std::string& name);

/// An open stock plugin. Opened lazily and locally, as Slurm does.
class StockPlugin {
 public:
  [[nodiscard]] static Result<StockPlugin> open(const std::string& path);

  /// The address of `symbol`, or an error that names it and the file.
  [[nodiscard]] Result<void*> find(const char* symbol) const;
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Closes the plugin: its code must not run afterwards. Its static data is initialised again at
  /// the next open().
  void close();

 private:
  StockPlugin(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}

  void* handle_;
  std::string path_;
};

/// Keeps the file that contains `inside` in memory until the process ends: Slurm may unload a
/// plugin while one of its threads still runs.
void pin(const void* inside);

}  // namespace rubato
