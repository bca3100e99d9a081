// SPDX-License-Identifier: GPL-2.0-or-later
// rubato.conf, read at start and at every `scontrol reconfigure`.
#pragma once

#include <memory>
#include <string>

#include "lib/config/config.h"

namespace rubato {

/// The file beside slurm.conf. A file that is missing, unreadable or wrong never replaces a
/// configuration that was read before; at start it means Mode=observe.
class ConfigSource {
 public:
  /// A copy of the last good file goes to `kept`. With `reconfigured` the process goes on with the
  /// work of another one, and begins with that copy.
  ConfigSource(std::string path, std::string kept, bool reconfigured)
      : path_(std::move(path)), kept_(std::move(kept)), reconfigured_(reconfigured) {}

  /// Reads the file and logs what came of it, every error in a line of its own. Never null.
  [[nodiscard]] std::shared_ptr<const Config> read();
  /// Whether the last read() took the file as it is.
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void recall();
  void keep(const std::string& text);

  std::string path_;
  std::string kept_;
  bool reconfigured_;
  std::string kept_text_;  ///< what the copy has
  std::shared_ptr<const Config> last_;
  bool any_good_ = false;
  bool good_ = false;
  int reads_ = 0;
  std::string told_;  // at the last read
};

}  // namespace rubato
