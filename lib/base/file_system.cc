// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/file_system.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace rubato {
namespace {

constexpr std::size_t kMebibyte = 1 << 20;

tl::unexpected<ReadFailure> failure(int error) {
  return tl::unexpected<ReadFailure>(
      {error == ENOENT || error == ENOTDIR, std::generic_category().message(error)});
}

/// Closes a descriptor at the end of its block.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

tl::expected<std::string, ReadFailure> RealFileSystem::read(const std::string& path) const {
  if (path.find('\0') != std::string::npos) return failure(EINVAL);
  // O_NONBLOCK: opening a FIFO without a writer would wait for ever.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) return failure(errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return failure(errno);
  if (!S_ISREG(info.st_mode)) {
    return tl::unexpected<ReadFailure>({false, "Not a regular file"});
  }
  std::string text;
  char buffer[8192];
  while (true) {
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure(errno);
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.size() > largest_ * kMebibyte) {
      return tl::unexpected<ReadFailure>(
          {false, "Larger than " + std::to_string(largest_) + " MiB"});
    }
  }
}

tl::expected<std::string, ReadFailure> MemoryFileSystem::read(const std::string& path) const {
  const auto found = files_.find(path);
  if (found == files_.end()) return failure(ENOENT);
  return found->second;
}

}  // namespace rubato
