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

/// Closes `file`. 0 or errno.
int fill(int file, std::string_view text, const AtomicWriteOptions& options) {
  (void)::fchmod(file, options.mode);
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
  const std::string fresh = path + ".new";
  ::unlink(fresh.c_str());
  const int file =
      ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, options.mode);
  if (file < 0) return tl::unexpected<WriteFailure>({fresh, errno, false});
  if (const int code = fill(file, text, options); code != 0) {
    ::unlink(fresh.c_str());
    return tl::unexpected<WriteFailure>({fresh, code, false});
  }
  if (::rename(fresh.c_str(), path.c_str()) != 0) {
    const int code = errno;
    ::unlink(fresh.c_str());
    return tl::unexpected<WriteFailure>({path, code, true});
  }
  if (options.durable) sync_folder_of(path);
  return {};
}

}  // namespace rubato
