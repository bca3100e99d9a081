// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/doctor/plugin_files.h"

#include <sys/stat.h>

#include <cerrno>

#include "tools/shared/slurm_conf.h"

namespace rubato::tools {
namespace {

constexpr std::size_t kMaxMarkerLength = 256;

/// The word after `key` in `text`, up to a blank.
std::string word_after(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + key.size();
  return text.substr(begin, text.find(' ', begin) - begin);
}

}  // namespace

std::optional<PluginMarker> find_marker(const std::string& bytes) {
  const std::string head = "RUBATO_PLUGIN_FOR_SLURM=";
  const std::size_t at = bytes.find(head);
  if (at == std::string::npos) return std::nullopt;
  std::string text = bytes.substr(at, kMaxMarkerLength);
  text = text.substr(0, text.find_first_of(std::string("\0\n", 2)));
  return PluginMarker{word_after(text, head), word_after(text, "RUBATO_VERSION="),
                      word_after(text, "BUILD=")};
}

PluginFile look_at_plugin(const std::string& folder, const std::string& name) {
  PluginFile file{folder + "/" + name, PluginKind::kMissing, {}};
  struct stat info {};
  if (stat(file.path.c_str(), &info) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) file.kind = PluginKind::kUnreadable;
    return file;
  }
  const auto bytes = read_file(file.path);
  if (!bytes) {
    file.kind = PluginKind::kUnreadable;
  } else if (auto marker = find_marker(*bytes)) {
    file.kind = PluginKind::kRubato;
    file.marker = std::move(*marker);
  } else {
    file.kind = PluginKind::kStock;
  }
  return file;
}

bool is_folder(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace rubato::tools
