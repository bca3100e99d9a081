// SPDX-License-Identifier: GPL-2.0-or-later
// Files that are replaced in one rename, and what the log says of them.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>

#include "lib/base/clock.h"

namespace rubato {

enum class FileKind {
  kState,    ///< 0600; file and directory are synced before the rename counts
  kPublic,   ///< 0644
  kPrivate,  ///< 0600
};

/// Replaces the file by `text` in one rename. Returns what went wrong, empty if nothing.
[[nodiscard]] std::string replace_file(const std::string& path, const std::string& text,
                                       FileKind kind);

/// Hears of each path that was to be written; `error` is "" if it was.
using WriteResult = std::function<void(const std::string& path, const std::string& error)>;

/// `text` as `publish_dir`/`name` for everybody, `whole` as `private_dir`/`name` for the owner
/// alone; "" removes that one, since nothing is hidden. A folder that another user controls is
/// refused (folder_trouble()). The folders are made if they are not there,
/// 0755 and 0700, but not the ones above them. A folder that cannot be made is told in place of its
/// file. Returns false if anything went wrong.
[[nodiscard]] bool publish_file(const std::string& name, const std::string& text,
                                const std::string& whole, const std::string& publish_dir,
                                const std::string& private_dir, const WriteResult& told);

/// Makes the last folder of `path`. Returns what went wrong, empty if nothing or if it was there.
[[nodiscard]] std::string make_last_folder(const std::string& path);

/// Says once what cannot be written, and once that it is written again, each path for itself. A
/// path that fails now and then has one error a minute.
class WriteLog {
 public:
  static constexpr auto kQuiet = std::chrono::minutes(1);

  /// The line for the log, or "".
  struct Line {
    std::string text;
    bool trouble = false;
  };
  [[nodiscard]] Line note(const std::string& path, const std::string& error, SteadyTime now);

 private:
  struct LoggedFailure {
    SteadyTime at;
    bool failing = false;  ///< the last line about it was an error
  };
  std::map<std::string, LoggedFailure> told_;
};

}  // namespace rubato
