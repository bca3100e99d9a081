// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/files.h"

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

// A folder that was there keeps its mode, unless it must be private. One above it that is missing
// is a file system that is not mounted, or a word that is spelt wrong.
std::string make_folder(const std::string& path, mode_t mode) {
  const bool fresh = mkdir(path.c_str(), mode) == 0;
  if (!fresh && errno != EEXIST)
    return system_error_text("make the folder", path) +
           (errno == ENOENT ? "; the one above it must be there" : "");
  if (fresh || mode == kOwnerFolder) (void)chmod(path.c_str(), mode);
  return {};
}

}  // namespace

std::string replace_file(const std::string& path, const std::string& text, FileKind kind) {
  const bool durable = kind == FileKind::kState;
  const std::string fresh = path + ".new";
  const mode_t mode = kind == FileKind::kPublic ? kPublicFile : kOwnerFile;
  // A leftover that is not a regular file cannot be written: opening a FIFO would block.
  (void)unlink(fresh.c_str());
  const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
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

std::string make_last_folder(const std::string& path) { return make_folder(path, kPublicFolder); }

bool publish_file(const std::string& name, const std::string& text, const std::string& whole,
                  const std::string& publish_dir, const std::string& private_dir,
                  const WriteResult& told) {
  const auto put = [&](const std::string& folder, const std::string& content, FileKind kind) {
    const bool open = kind == FileKind::kPublic;
    std::string error = make_folder(folder, open ? kPublicFolder : kOwnerFolder);
    told(folder, error);
    if (!error.empty()) return false;
    const std::string path = folder + "/" + name;
    error = replace_file(path, content, kind);
    told(path, error);
    return error.empty();
  };
  const bool shown = put(publish_dir, text, FileKind::kPublic);
  if (!whole.empty()) return put(private_dir, whole, FileKind::kPrivate) && shown;
  (void)unlink((private_dir + "/" + name).c_str());
  return shown;
}

WriteLog::Line WriteLog::note(const std::string& path, const std::string& error, SteadyTime now) {
  const auto known = told_.find(path);
  if (error.empty()) {
    if (known == told_.end() || !known->second.failing) return {};
    known->second.failing = false;
    return {path + " is written again", false};
  }
  if (known != told_.end() && (known->second.failing || now - known->second.at < kQuiet)) return {};
  told_[path] = {now, true};
  return {error + "; scheduling goes on without", true};
}

}  // namespace rubato
