// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace rubato {

namespace {

namespace fs = std::filesystem;

constexpr mode_t kOwnerFile = 0600;
constexpr mode_t kPublicFile = 0644;
constexpr mode_t kOwnerFolder = 0700;
constexpr mode_t kPublicFolder = 0755;

std::string system_error_text(const std::string& what, const std::string& path) {
  return fmt::format("cannot {} {}: {}", what, path, std::strerror(errno));
}

bool write_all(int fd, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

void sync_directory(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)fsync(fd);
  close(fd);
}

// A folder that was there keeps its mode, unless it must be private.
void make_folder(const std::string& path, mode_t mode) {
  std::error_code ignored;
  const bool fresh = fs::create_directories(path, ignored);
  if (fresh || mode == kOwnerFolder) (void)chmod(path.c_str(), mode);
}

}  // namespace

std::string replace_file(const std::string& path, const std::string& text, FileKind kind) {
  const bool durable = kind == FileKind::kState;
  const std::string fresh = path + ".new";
  const mode_t mode = kind == FileKind::kPublic ? kPublicFile : kOwnerFile;
  const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
  if (fd < 0) return system_error_text("write", fresh);
  (void)fchmod(fd, mode);  // whatever the umask says
  bool ok = write_all(fd, text);
  if (ok && durable) ok = fsync(fd) == 0;
  std::string error = ok ? "" : system_error_text("write", fresh);
  if (close(fd) != 0 && error.empty()) error = system_error_text("write", fresh);
  if (error.empty() && rename(fresh.c_str(), path.c_str()) != 0)
    error = system_error_text("rename to", path);
  if (!error.empty()) {
    (void)unlink(fresh.c_str());
    return error;
  }
  if (durable) sync_directory(fs::path(path).parent_path().string());
  return {};
}

std::string publish_file(const std::string& name, const std::string& text, const std::string& whole,
                         const std::string& publish_dir, const std::string& private_dir) {
  make_folder(publish_dir, kPublicFolder);
  std::string error = replace_file(publish_dir + "/" + name, text, FileKind::kPublic);
  const std::string owner_file = private_dir + "/" + name;
  if (whole.empty()) {
    (void)unlink(owner_file.c_str());
    return error;
  }
  make_folder(private_dir, kOwnerFolder);
  const std::string failed = replace_file(owner_file, whole, FileKind::kPrivate);
  return error.empty() ? failed : error;
}

}  // namespace rubato
