// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

namespace rubato {
namespace {

/// 0 or errno.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(file, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return 0;
}

/// 0 or errno.
int set_owner(int file, const FileOwner& owner, mode_t mode) {
  struct stat made {};
  const bool known = ::fstat(file, &made) == 0;
  const bool same = known && made.st_uid == owner.user && made.st_gid == owner.group;
  // chown clears bits of the mode, so the mode comes last.
  if (!same && ::fchown(file, owner.user, owner.group) != 0) return errno;
  return ::fchmod(file, mode) == 0 ? 0 : errno;
}

/// Closes `file`. 0 or errno.
int fill(int file, std::string_view text, const AtomicWriteOptions& options) {
  int code = write_all(file, text);
  if (code == 0 && options.durable && ::fsync(file) != 0) code = errno;
  if (::close(file) != 0 && code == 0) code = errno;
  return code;
}

/// Makes a rename in the folder of `path` durable, where the file system can.
void sync_folder_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const int folder =
      ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  (void)::fsync(folder);
  ::close(folder);
}

}  // namespace

tl::expected<void, WriteFailure> write_atomically(const std::string& path, std::string_view text,
                                                  const AtomicWriteOptions& options) {
  const std::string fresh = path + options.suffix;
  const auto failed = [&](const std::string& at, int code, WriteStage stage) {
    ::unlink(fresh.c_str());
    return tl::unexpected<WriteFailure>({at, code, stage});
  };
  ::unlink(fresh.c_str());
  constexpr mode_t kPrivate = 0600;  // until it has its owner
  const int file = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                          options.owner ? kPrivate : options.mode);
  if (file < 0) return tl::unexpected<WriteFailure>({fresh, errno, WriteStage::kContent});
  if (options.owner) {
    if (const int code = set_owner(file, *options.owner, options.mode); code != 0) {
      ::close(file);
      return failed(fresh, code, WriteStage::kOwner);
    }
  } else if (!options.umask) {
    (void)::fchmod(file, options.mode);
  }
  if (const int code = fill(file, text, options); code != 0)
    return failed(fresh, code, WriteStage::kContent);
  if (::rename(fresh.c_str(), path.c_str()) != 0) return failed(path, errno, WriteStage::kRename);
  if (options.durable) sync_folder_of(path);
  return {};
}

}  // namespace rubato
