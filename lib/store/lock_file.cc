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
#include <string_view>
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

using Buffer = std::array<char, kMaxLength>;

std::string_view read_all(int file, Buffer& buffer) noexcept {
  const ssize_t count = ::pread(file, buffer.data(), buffer.size(), 0);
  return {buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
}

/// Returns an owner without host if the text is not in lock format, for example after a crash.
LockOwner parse_owner(std::string_view text) {
  LockOwner owner;
  std::istringstream words{std::string(text)};
  std::string key;
  std::string value;
  while (words >> key >> value) {
    if (key == "host") owner.host = value;
    if (key == "boot") owner.boot = value;
    if (key == "pid") owner.pid = static_cast<pid_t>(std::strtol(value.c_str(), nullptr, 10));
  }
  return owner;
}

std::string lines_of(const LockOwner& owner) {
  return fmt::format("host {}\nboot {}\npid {}\n", owner.host, owner.boot, owner.pid);
}

/// The length is the same for each `beat`: the file is never empty while it is written again.
std::string owner_text(const std::string& owner_lines, std::int64_t beat) {
  return fmt::format("{}beat {:012}\n", owner_lines, beat);
}

bool write_text(int file, const std::string& text) {
  return ::pwrite(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
         ::fsync(file) == 0;
}

bool write_owner(int file, const std::string& owner_lines) {
  return ::ftruncate(file, 0) == 0 && write_text(file, owner_text(owner_lines, 0));
}

/// The content of the file that has this name now: an open one may be cached (NFS).
std::string_view read_anew(const std::string& path, Buffer& buffer) noexcept {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return {};
  const std::string_view text = read_all(file, buffer);
  ::close(file);
  return text;
}

/// True if the lock of another host has a heartbeat that stood still for too long.
bool stands_still(std::string_view text, LockWatch* watch) {
  if (watch == nullptr || text.find("\nbeat ") == std::string_view::npos) return false;
  if (text != watch->seen) {
    watch->seen = text;
    watch->since = watch->now;
  }
  return watch->now - watch->since >= kStaleAfter;
}

/// Whether the open file is still the one at the path.
bool is_current(int file, const std::string& path) noexcept {
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
    // It closes the file whatever fails below: an open one would hold the kernel lock for ever.
    LockFile lock(path, local, self);
    // Non-blocking: a FIFO at the path must not block the thread.
    const int file = lock.file_ =
        ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (file < 0) return fail(system_text(path, errno));
    const KernelLock kernel = lock_in_kernel(file);
    Buffer buffer;
    const std::string_view text = read_all(file, buffer);
    const LockOwner owner = parse_owner(text);
    const bool stale = kernel != KernelLock::kHeld && owner.host != self.host && !local &&
                       stands_still(text, watch);
    if (is_held(owner, self, local, kernel) && !stale) return held(path, owner);
    if (!is_current(file, path)) continue;  // its owner released and removed it after our open
    lock.taken_ = true;
    if (!write_owner(file, lock.owner_lines_)) return fail(system_text(path, errno));
    return lock;
  }
  return fail(fmt::format("{}: other processes take and release it all the time", path));
}

LockFile::LockFile(std::string path, bool local, LockOwner self)
    : path_(std::move(path)),
      local_(local),
      self_(std::move(self)),
      owner_lines_(lines_of(self_)) {}

LockFile::LockFile(LockFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      taken_(other.taken_),
      local_(other.local_),
      self_(std::move(other.self_)),
      owner_lines_(std::move(other.owner_lines_)),
      beat_(other.beat_),
      beaten_(other.beaten_) {}

LockFile& LockFile::operator=(LockFile&& other) noexcept {
  if (this != &other) {
    release();
    path_ = std::move(other.path_);
    file_ = std::exchange(other.file_, -1);
    taken_ = other.taken_;
    local_ = other.local_;
    self_ = std::move(other.self_);
    owner_lines_ = std::move(other.owner_lines_);
    beat_ = other.beat_;
    beaten_ = other.beaten_;
  }
  return *this;
}

LockFile::~LockFile() { release(); }

bool LockFile::is_ours() const noexcept {
  Buffer buffer;
  return is_current(file_, path_) && read_anew(path_, buffer).starts_with(owner_lines_);
}

Result<void> LockFile::renew(SteadyTime now) {
  if (local_ || file_ < 0) return {};
  if (!is_ours()) {
    Buffer buffer;
    const LockOwner owner = parse_owner(read_anew(path_, buffer));
    return fail(fmt::format("{}: process {} on host {} has taken it over", path_, owner.pid,
                            owner.host.empty() ? "?" : owner.host));
  }
  if (beaten_ && now - *beaten_ < kBeatInterval) return {};
  if (!write_text(file_, owner_text(owner_lines_, ++beat_))) {
    const int code = errno;
    if (beaten_ && now - *beaten_ < kLease) return {};
    return fail(fmt::format("heartbeat of {}", system_text(path_, code)));
  }
  beaten_ = now;
  return {};
}

void LockFile::release() noexcept {
  if (file_ < 0) return;
  // Removes the file while locked, so that no new lock file of another process is removed.
  if (taken_ && is_ours()) ::unlink(path_.c_str());
  ::close(file_);
  file_ = -1;
}

}  // namespace rubato::store
