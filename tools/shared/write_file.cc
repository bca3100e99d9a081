// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/shared/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "lib/base/atomic_file.h"

namespace rubato::tools {
namespace {

using Stat = struct stat;

std::optional<Stat> stat_of(const std::string& path) {
  Stat found{};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return found;
}

tl::unexpected<Error> failure(const std::string& path, int reason) {
  return fail(fmt::format("{}: {}", path, std::strerror(reason)));
}

std::optional<std::string> real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> text(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (text == nullptr) return std::nullopt;
  return std::string(text.get());
}

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// The path behind a link that names nothing yet; `path` itself where it is no link.
std::string follow(std::string path) {
  constexpr int kMaxLinks = 40;  // as the kernel
  for (int i = 0; i < kMaxLinks; ++i) {
    char text[PATH_MAX];
    const ssize_t size = ::readlink(path.c_str(), text, sizeof(text));
    if (size <= 0 || size == ssize_t{sizeof(text)}) break;
    const std::string next(text, static_cast<std::size_t>(size));
    path = next.front() == '/' ? next : folder_of(path) + "/" + next;
  }
  return path;
}

/// Writes all of `text` and closes; 0, or the errno of what failed.
int write_and_close(int file, const std::string& text) {
  std::size_t done = 0;
  int reason = 0;
  while (done < text.size() && reason == 0) {
    const ssize_t size = ::write(file, text.data() + done, text.size() - done);
    if (size >= 0) {
      done += static_cast<std::size_t>(size);
    } else if (errno != EINTR) {
      reason = errno;
    }
  }
  if (::close(file) != 0 && reason == 0) reason = errno;
  return reason;
}

/// Writes to what is there, which keeps what it is.
Result<void> write_into(const std::string& path, const std::string& text, int flags) {
  const int file = ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC | flags);
  const int reason = file < 0 ? errno : write_and_close(file, text);
  if (reason == 0) return {};
  return failure(path, reason);
}

Result<void> write_stdout(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) {
    return {};
  }
  const int reason = errno;
  // The caller says it, so the end of the program need not say it again.
  __fpurge(stdout);
  std::clearerr(stdout);
  return failure("standard output", reason);
}

bool is_open_as(int descriptor, const Stat& target) {
  Stat ours{};
  return ::fstat(descriptor, &ours) == 0 && ours.st_dev == target.st_dev &&
         ours.st_ino == target.st_ino;
}

/// Writes beside `path` and renames; `old` is the file that is replaced.
Result<void> replace(const std::string& path, const std::string& text,
                     const std::optional<Stat>& old) {
  AtomicWriteOptions options{.mode = 0666, .umask = true, .suffix = ".part"};
  if (old.has_value()) {
    options.mode = old->st_mode & 07777U;
    options.owner = FileOwner{old->st_uid, old->st_gid};
  }
  const auto written = write_atomically(path, text, options);
  if (written) return {};
  // Another user's file keeps its owner only if it is written in its place.
  if (written.error().stage == WriteStage::kOwner) return write_into(path, text, O_TRUNC);
  return failure(path, written.error().code);
}

}  // namespace

Result<void> write_whole(const std::string& path, const std::string& text) {
  if (path.empty() || path == "-") return write_stdout(text);
  const auto target = stat_of(path);
  if (!target) {
    if (errno != ENOENT) return failure(path, errno);
    return replace(follow(path), text, std::nullopt);
  }
  // /dev/stdout may be a file: the rest of the output is to stay in it.
  if (is_open_as(STDOUT_FILENO, *target)) return write_stdout(text);
  if (!S_ISREG(target->st_mode)) return write_into(path, text, 0);
  // /dev/stderr likewise.
  if (is_open_as(STDERR_FILENO, *target)) return write_into(path, text, O_APPEND);
  const auto real = real_path(path);
  if (!real) return failure(path, errno);
  return replace(*real, text, target);
}

Result<void> check_writable(const std::string& path) {
  if (path.empty() || path == "-") return {};
  const auto target = stat_of(path);
  if (!target && errno != ENOENT) return failure(path, errno);
  if (target && S_ISDIR(target->st_mode)) return failure(path, EISDIR);
  if (target && S_ISSOCK(target->st_mode)) return failure(path, ENXIO);
  if (target && (is_open_as(STDOUT_FILENO, *target) || is_open_as(STDERR_FILENO, *target))) {
    return {};
  }
  if (target && !S_ISREG(target->st_mode)) {
    if (::euidaccess(path.c_str(), W_OK) != 0) return failure(path, errno);
    return {};
  }
  const std::string real = target ? real_path(path).value_or(path) : follow(path);
  if (real.ends_with('/')) return failure(path, EISDIR);
  const std::string folder = folder_of(real);
  const auto parent = stat_of(folder);
  if (!parent) return failure(path, errno);
  if (!S_ISDIR(parent->st_mode)) return failure(path, ENOTDIR);
  if (::euidaccess(folder.c_str(), W_OK | X_OK) != 0) return failure(path, errno);
  return {};
}

std::string resolved_path(const std::string& path) {
  if (auto real = real_path(path)) return std::move(*real);
  const std::string target = follow(path);
  const auto folder = real_path(folder_of(target));
  if (!folder) return path;
  const auto slash = target.rfind('/');
  const std::string name = slash == std::string::npos ? target : target.substr(slash + 1);
  return *folder == "/" ? "/" + name : *folder + "/" + name;
}

bool same_file(const std::string& left, const std::string& right) {
  const auto first = stat_of(left);
  const auto second = stat_of(right);
  if (first.has_value() != second.has_value()) return false;
  if (!first) return resolved_path(left) == resolved_path(right);
  return S_ISREG(first->st_mode) && first->st_dev == second->st_dev &&
         first->st_ino == second->st_ino;
}

}  // namespace rubato::tools
