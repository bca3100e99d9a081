// SPDX-License-Identifier: GPL-2.0-or-later
// Finding and opening the stock plugin that one of ours stands in front of.
#pragma once

#include <string>

#include "lib/base/error.h"

namespace rubato {

/// The directory of the loaded file that `inside` (a function or datum) belongs to, links resolved.
[[nodiscard]] std::string directory_of(const void* inside);

/// The file `name` in the first part of `plugin_dir` (slurm.conf's PluginDir, parts split by ':')
/// that is neither `own_directory` nor a part before it.
[[nodiscard]] Result<std::string> find_stock(const std::string& plugin_dir,
                                             const std::string& own_directory,
                                             const std::string& name);

/// A stock plugin held open. Opened lazily and locally, as Slurm does.
class StockPlugin {
 public:
  [[nodiscard]] static Result<StockPlugin> open(const std::string& path);

  /// The address of `symbol`, or an error that names it and the file.
  [[nodiscard]] Result<void*> find(const char* symbol) const;
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Nothing of the plugin may run or be called afterwards. Its static data begin anew at the next
  /// open().
  void close();

 private:
  StockPlugin(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}

  void* handle_;
  std::string path_;
};

/// Keeps the file that `inside` belongs to in memory until the process ends: Slurm may unload a
/// plugin while a thread of it is still inside.
void pin(const void* inside);

}  // namespace rubato
