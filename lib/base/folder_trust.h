// SPDX-License-Identifier: GPL-2.0-or-later
// Whether other users could replace a folder or its files.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace rubato {

/// A folder that another user controls.
struct FolderTrouble {
  std::string path;      ///< the folder asked for, or one above it
  bool foreign = false;  ///< a foreign user owns it; else others can write it
  uid_t owner = 0;
};

/// The first folder on the way to `path`, or `path` itself, that a user could replace: it belongs
/// neither to root nor to `trusted`, or its group or all users can write it. Above `path` a sticky
/// bit is enough, as in /tmp. The groups of root and of `trusted` may write. Missing folders pass.
[[nodiscard]] std::optional<FolderTrouble> folder_trouble(const std::string& path, uid_t trusted);

/// "PATH: belongs to user 1000, who could replace its files; chown it to root or SlurmUser".
[[nodiscard]] std::string to_string(const FolderTrouble& trouble);

/// The command that ends the trouble: "chown ROOT_OR_USER PATH" or "chmod go-w PATH".
[[nodiscard]] std::string remedy(const FolderTrouble& trouble, const std::string& user);

}  // namespace rubato
