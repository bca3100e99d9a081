// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/lock_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <utility>

#include "lib/store/folder.h"

namespace rubato::store {
namespace {

/// A lock file is much shorter than this.
constexpr std::size_t kMaxLength = 4096;

KernelLock lock_in_kernel(int file) {
  int code = 0;
  do {
    code = ::flock(file, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  } while (code == EINTR);
  if (code == 0) return KernelLock::kTaken;
  return code == EWOULDBLOCK ? KernelLock::kHeld : KernelLock::kNone;
}

std::string read_all(int file) {
  std::array<char, kMaxLength> buffer{};
  const ssize_t count = ::pread(file, buffer.data(), buffer.size(), 0);
  return count > 0 ? std::string(buffer.data(), static_cast<std::size_t>(count)) : std::string();
}

/// Returns an owner without host if the text is not in lock format, for example after a crash.
LockOwner parse_owner(const std::string& text) {
  LockOwner owner;
  std::istringstream words(text);
  std::string key;
  std::string value;
  while (words >> key >> value) {
    if (key == "host") owner.host = value;
    if (key == "boot") owner.boot = value;
    if (key == "pid") owner.pid = static_cast<pid_t>(std::strtol(value.c_str(), nullptr, 10));
  }
  return owner;
}

bool write_owner(int file, const LockOwner& owner) {
  const std::string text =
      fmt::format("host {}\nboot {}\npid {}\n", owner.host, owner.boot, owner.pid);
  return ::ftruncate(file, 0) == 0 &&
         ::pwrite(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
         ::fsync(file) == 0;
}

/// Whether the open file is still the one at the path.
bool is_current(int file, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

bool is_running(pid_t pid) { return pid > 0 && (::kill(pid, 0) == 0 || errno == EPERM); }

tl::unexpected<Error> held(const std::string& path, const LockOwner& owner) {
  if (owner.host.empty()) return fail(fmt::format("{}: another process holds it", path));
  return fail(
      fmt::format("{}: process {} on host {} holds it; if that host is down for good, "
                  "remove the file",
                  path, owner.pid, owner.host));
}

}  // namespace

bool is_held(const LockOwner& owner, const LockOwner& self, bool local, KernelLock kernel) {
  if (kernel == KernelLock::kHeld) return true;
  if (owner.host.empty()) return false;
  if (kernel == KernelLock::kTaken) return !local && owner.host != self.host;
  if (owner.host != self.host) return true;
  return owner.boot == self.boot && is_running(owner.pid);
}

LockOwner this_process() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0 || host[0] == '\0') host = {"localhost"};
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return {host.data(), boot.empty() ? "unknown" : boot, ::getpid()};
}

Result<LockFile> LockFile::take(const std::string& path, bool local, const LockOwner& self) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    // Non-blocking: a FIFO at the path must not block the thread.
    const int file =
        ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (file < 0) return fail(system_text(path, errno));
    const KernelLock kernel = lock_in_kernel(file);
    const LockOwner owner = parse_owner(read_all(file));
    if (is_held(owner, self, local, kernel)) {
      ::close(file);
      return held(path, owner);
    }
    if (!is_current(file, path)) {  // its owner released and removed it after our open
      ::close(file);
      continue;
    }
    if (!write_owner(file, self)) {
      const int code = errno;
      ::close(file);
      return fail(system_text(path, code));
    }
    return LockFile(path, file);
  }
  return fail(fmt::format("{}: other processes take and release it all the time", path));
}

LockFile::LockFile(LockFile&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}

LockFile& LockFile::operator=(LockFile&& other) noexcept {
  if (this != &other) {
    release();
    path_ = std::move(other.path_);
    file_ = std::exchange(other.file_, -1);
  }
  return *this;
}

LockFile::~LockFile() { release(); }

void LockFile::release() {
  if (file_ < 0) return;
  // Removes the file while locked, so that no new lock file of another process is removed.
  if (is_current(file_, path_)) ::unlink(path_.c_str());
  ::close(file_);
  file_ = -1;
}

}  // namespace rubato::store
