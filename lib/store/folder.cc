// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/folder.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <memory>
#include <system_error>

#include "lib/base/folder_trust.h"

namespace rubato::store {
namespace {

/// f_type values of linux/magic.h and of the file systems' own sources.
constexpr std::array<std::uint64_t, 13> kLocalTypes = {
    0xEF53,      // ext2, ext3, ext4
    0x58465342,  // xfs
    0x9123683E,  // btrfs
    0x01021994,  // tmpfs
    0x858458F6,  // ramfs
    0x2FC12FC1,  // zfs
    0xF2F52010,  // f2fs
    0x794C7630,  // overlayfs
    0xCA451A4E,  // bcachefs
    0x3153464A,  // jfs
    0x52654973,  // reiserfs
    0x4D44,      // vfat
    0x3434,      // nilfs
};
constexpr std::array<const char*, 3> kJournals = {"-wal", "-shm", "-journal"};

std::string utc_text(Seconds now) {
  const std::time_t time = now;
  std::tm parts{};
  if (::gmtime_r(&time, &parts) == nullptr) return std::to_string(now);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

bool exists(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0;
}

/// Number of databases set aside earlier, without their journals.
int count_set_aside(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), &::closedir);
  if (!entries) return 0;
  int count = 0;
  const std::string prefix = std::string(kDatabaseName) + ".corrupt-";
  // Safe: no other thread has this stream.
  while (const dirent* entry = ::readdir(entries.get())) {  // NOLINT(concurrency-mt-unsafe)
    const std::string name = entry->d_name;
    if (!name.starts_with(prefix)) continue;
    bool journal = false;
    for (const char* suffix : kJournals) journal = journal || name.ends_with(suffix);
    if (!journal) ++count;
  }
  return count;
}

}  // namespace

std::string system_text(const std::string& path, int code) {
  return fmt::format("{}: {}", path, std::generic_category().message(code));
}

Result<void> make_folder(const std::string& folder, uid_t trusted) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return fail(system_text(folder, errno));
  }
  struct stat found {};
  if (::stat(folder.c_str(), &found) != 0) return fail(system_text(folder, errno));
  if (!S_ISDIR(found.st_mode)) return fail(system_text(folder, ENOTDIR));
  if (const auto trouble = folder_trouble(folder, trusted)) return fail(to_string(*trouble));
  return {};
}

bool is_local_type(std::uint64_t type) {
  for (const std::uint64_t local : kLocalTypes) {
    if (type == local) return true;
  }
  return false;
}

Result<bool> is_local(const std::string& path) {
  struct statfs system {};
  if (::statfs(path.c_str(), &system) != 0) return fail(system_text(path, errno));
  // Magic numbers are 32 bits; f_type is signed and may be wider.
  return is_local_type(static_cast<std::uint32_t>(system.f_type));
}

Result<std::string> set_aside(const std::string& path, Seconds now) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  if (count_set_aside(folder) >= kMaxSetAside) {
    return fail(
        fmt::format("{} is corrupt, and {} corrupt files are in {} already: look at the "
                    "disk, then remove them",
                    path, kMaxSetAside, folder));
  }
  const std::string base = path + ".corrupt-" + utc_text(now);
  std::string name = base;
  for (int again = 2; exists(name); ++again) name = fmt::format("{}-{}", base, again);
  // Journals first: a new database must never find the old one's journal.
  for (const char* suffix : kJournals) {
    if (exists(path + suffix) && ::rename((path + suffix).c_str(), (name + suffix).c_str()) != 0) {
      return fail(system_text(path + suffix, errno));
    }
  }
  if (::rename(path.c_str(), name.c_str()) != 0) return fail(system_text(path, errno));
  return name;
}

}  // namespace rubato::store
