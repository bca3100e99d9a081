// SPDX-License-Identifier: GPL-2.0-or-later
// Files that change as a whole: a reader sees the old content or the new one, never a part.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace rubato {

struct FileOwner {
  uid_t user = 0;
  gid_t group = 0;
};

struct AtomicWriteOptions {
  mode_t mode = 0600;                   ///< of the new file, whatever the umask
  bool umask = false;                   ///< the umask limits `mode`
  std::optional<FileOwner> owner = {};  ///< of the new file; empty: as the process makes it
  bool durable = false;  ///< the new content survives a power failure: fsync of file and folder
  const char* suffix = ".new";  ///< of the temporary file
};

enum class WriteStage {
  kContent,  ///< the temporary file could not be made or written
  kOwner,    ///< it could not get `owner` and `mode`; only with an `owner`
  kRename,   ///< the content was written, but could not take the place of the file
};

/// Why a file was not written.
struct WriteFailure {
  std::string path;  ///< the file or its temporary file
  int code = 0;      ///< errno
  WriteStage stage = WriteStage::kContent;
};

/// Writes `text` to `path`.new (see `suffix`) and renames that to `path`. Removes an older
/// `path`.new first, so that a link or FIFO of this name is never written to. After an error `path`
/// is unchanged and `path`.new is gone.
[[nodiscard]] tl::expected<void, WriteFailure> write_atomically(
    const std::string& path, std::string_view text, const AtomicWriteOptions& options = {});

}  // namespace rubato
