// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/folder_trust.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <vector>

namespace rubato {

namespace {

constexpr std::size_t kMaxEntry = 4096;

/// The primary group of a user; that of this process if the user is unknown.
gid_t group_of(uid_t user) {
  if (user == geteuid()) return getegid();
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, kMaxEntry> text{};
  const int code = getpwuid_r(user, &entry, text.data(), text.size(), &found);
  return code == 0 && found != nullptr ? entry.pw_gid : getegid();
}

bool others_write(const struct stat& found, gid_t trusted_group) {
  if ((found.st_mode & S_IWOTH) != 0) return true;
  const bool own_group = found.st_gid == 0 || found.st_gid == trusted_group;
  return (found.st_mode & S_IWGRP) != 0 && !own_group;
}

/// "/a", "/a/b" and "/a/b/c" for "/a/b/c".
std::vector<std::string> on_the_way(const std::string& path) {
  std::vector<std::string> folders;
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    if (path[at - 1] != '/') folders.push_back(path.substr(0, at));
  }
  if (!path.empty() && path.back() != '/') folders.push_back(path);
  return folders;
}

std::optional<FolderTrouble> first_trouble(const std::string& path, uid_t trusted, gid_t group) {
  const std::vector<std::string> folders = on_the_way(path);
  for (const std::string& folder : folders) {
    struct stat found {};
    if (stat(folder.c_str(), &found) != 0) return std::nullopt;
    if (found.st_uid != 0 && found.st_uid != trusted) {
      return FolderTrouble{folder, true, found.st_uid};
    }
    const bool sticky = (found.st_mode & S_ISVTX) != 0 && folder != folders.back();
    if (!sticky && others_write(found, group)) return FolderTrouble{folder, false, found.st_uid};
  }
  return std::nullopt;
}

}  // namespace

std::optional<FolderTrouble> folder_trouble(const std::string& path, uid_t trusted) {
  const gid_t group = group_of(trusted);
  if (auto trouble = first_trouble(path, trusted, group)) return trouble;
  std::array<char, PATH_MAX> real{};
  if (realpath(path.c_str(), real.data()) == nullptr || path == real.data()) return std::nullopt;
  return first_trouble(real.data(), trusted, group);
}

std::string to_string(const FolderTrouble& trouble) {
  if (trouble.foreign) {
    return fmt::format(
        "{}: belongs to user {}, who could replace its files; it must belong to root or SlurmUser",
        trouble.path, trouble.owner);
  }
  return fmt::format("{}: other users can write it and replace its files; chmod go-w {}",
                     trouble.path, trouble.path);
}

std::string remedy(const FolderTrouble& trouble, const std::string& user) {
  return trouble.foreign ? fmt::format("chown {} {}", user, trouble.path)
                         : fmt::format("chmod go-w {}", trouble.path);
}

}  // namespace rubato
