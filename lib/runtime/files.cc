// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "lib/base/atomic_file.h"
#include "lib/base/folder_trust.h"

namespace rubato {

namespace {

constexpr mode_t kOwnerFile = 0600;
constexpr mode_t kPublicFile = 0644;
constexpr mode_t kOwnerFolder = 0700;
constexpr mode_t kPublicFolder = 0755;

std::string system_error_text(const std::string& what, const std::string& path, int code) {
  return fmt::format("cannot {} {}: {}", what, path, std::strerror(code));
}

// A folder that was there keeps its mode, unless it must be private. One above it that is missing
// is a file system that is not mounted, or a word that is spelt wrong.
std::string make_folder(const std::string& path, mode_t mode) {
  const bool fresh = mkdir(path.c_str(), mode) == 0;
  const int code = fresh ? 0 : errno;
  if (!fresh && code != EEXIST)
    return system_error_text("make the folder", path, code) +
           (code == ENOENT ? "; the one above it must be there" : "");
  if (const auto trouble = folder_trouble(path, geteuid()))
    return "nothing is written to " + to_string(*trouble);
  if (fresh || mode == kOwnerFolder) (void)chmod(path.c_str(), mode);
  return {};
}

}  // namespace

std::string replace_file(const std::string& path, const std::string& text, FileKind kind) {
  const auto written =
      write_atomically(path, text,
                       {.mode = kind == FileKind::kPublic ? kPublicFile : kOwnerFile,
                        .durable = kind == FileKind::kState});
  if (written) return {};
  const WriteFailure& failure = written.error();
  return system_error_text(failure.stage == WriteStage::kRename ? "rename to" : "write",
                           failure.path, failure.code);
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
