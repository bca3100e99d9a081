// SPDX-License-Identifier: GPL-2.0-or-later
// Files that are replaced in one rename.
#pragma once

#include <string>

namespace rubato {

enum class FileKind {
  kState,    ///< 0600; file and directory are synced before the rename counts
  kPublic,   ///< 0644
  kPrivate,  ///< 0600
};

/// Replaces the file by `text` in one rename. Returns what went wrong, empty if nothing.
[[nodiscard]] std::string replace_file(const std::string& path, const std::string& text,
                                       FileKind kind);

/// `text` as `publish_dir`/`name` for everybody, `whole` as `private_dir`/`name` for the owner
/// alone; "" removes that one, since nothing is hidden. The folders are made if they are not there:
/// 0755 and 0700. Returns what went wrong first, empty if nothing.
[[nodiscard]] std::string publish_file(const std::string& name, const std::string& text,
                                       const std::string& whole, const std::string& publish_dir,
                                       const std::string& private_dir);

}  // namespace rubato
