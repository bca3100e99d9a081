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

/// The length is the same for each `beat`: the file is never empty while it is written again.
std::string owner_text(const LockOwner& owner, std::int64_t beat) {
  return fmt::format("host {}\nboot {}\npid {}\nbeat {:012}\n", owner.host, owner.boot, owner.pid,
                     beat);
}

bool write_text(int file, const std::string& text) {
  return ::pwrite(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
         ::fsync(file) == 0;
}

bool write_owner(int file, const LockOwner& owner) {
  return ::ftruncate(file, 0) == 0 && write_text(file, owner_text(owner, 0));
}

/// The content of the file that has this name now: an open one may be cached (NFS).
std::string read_anew(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return {};
  std::string text = read_all(file);
  ::close(file);
  return text;
}

/// True if the lock of another host has a heartbeat that stood still for too long.
bool stands_still(const std::string& text, LockWatch* watch) {
  if (watch == nullptr || text.find("\nbeat ") == std::string::npos) return false;
  if (text != watch->seen) {
    watch->seen = text;
    watch->since = watch->now;
  }
  return watch->now - watch->since >= kStaleAfter;
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
      fmt::format("{}: process {} on host {} holds it; it is taken over {} s after its last "
                  "heartbeat",
                  path, owner.pid, owner.host, kStaleAfter.count()));
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

Result<LockFile> LockFile::take(const std::string& path, bool local, const LockOwner& self,
                                LockWatch* watch) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    // Non-blocking: a FIFO at the path must not block the thread.
    const int file =
        ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (file < 0) return fail(system_text(path, errno));
    const KernelLock kernel = lock_in_kernel(file);
    const std::string text = read_all(file);
    const LockOwner owner = parse_owner(text);
    const bool stale = kernel != KernelLock::kHeld && owner.host != self.host && !local &&
                       stands_still(text, watch);
    if (is_held(owner, self, local, kernel) && !stale) {
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
    return LockFile(path, file, local, self);
  }
  return fail(fmt::format("{}: other processes take and release it all the time", path));
}

LockFile::LockFile(LockFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      local_(other.local_),
      self_(std::move(other.self_)),
      beat_(other.beat_),
      beaten_(other.beaten_) {}

LockFile& LockFile::operator=(LockFile&& other) noexcept {
  if (this != &other) {
    release();
    path_ = std::move(other.path_);
    file_ = std::exchange(other.file_, -1);
    local_ = other.local_;
    self_ = std::move(other.self_);
    beat_ = other.beat_;
    beaten_ = other.beaten_;
  }
  return *this;
}

LockFile::~LockFile() { release(); }

bool LockFile::is_ours() const {
  return is_current(file_, path_) && parse_owner(read_anew(path_)) == self_;
}

Result<void> LockFile::renew(SteadyTime now) {
  if (local_ || file_ < 0) return {};
  if (!is_ours()) {
    const LockOwner owner = parse_owner(read_anew(path_));
    return fail(fmt::format("{}: process {} on host {} has taken it over", path_, owner.pid,
                            owner.host.empty() ? "?" : owner.host));
  }
  if (beaten_ && now - *beaten_ < kBeatInterval) return {};
  if (!write_text(file_, owner_text(self_, ++beat_))) {
    const int code = errno;
    if (beaten_ && now - *beaten_ < kLease) return {};
    return fail(fmt::format("heartbeat of {}", system_text(path_, code)));
  }
  beaten_ = now;
  return {};
}

void LockFile::release() {
  if (file_ < 0) return;
  // Removes the file while locked, so that no new lock file of another process is removed.
  if (is_ours()) ::unlink(path_.c_str());
  ::close(file_);
  file_ = -1;
}

}  // namespace rubato::store
