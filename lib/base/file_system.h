// SPDX-License-Identifier: GPL-2.0-or-later
// How configuration files are read. The parser sees this interface only.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace rubato {

/// Why a file was not read. `text` is the reason in the words of the system.
struct ReadFailure {
  bool missing = false;  ///< there is no such file; anything else is an error
  std::string text;
};

class FileSystem {
 public:
  FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;
  virtual ~FileSystem() = default;

  /// The whole file.
  [[nodiscard]] virtual tl::expected<std::string, ReadFailure> read(
      const std::string& path) const = 0;
};

/// The files of this machine. Reads regular files of at most `largest` MiB only: a FIFO or a device
/// in the place of a file must not hold up slurmctld.
class RealFileSystem : public FileSystem {
 public:
  explicit RealFileSystem(std::size_t largest = 1) : largest_(largest) {}
  [[nodiscard]] tl::expected<std::string, ReadFailure> read(const std::string& path) const override;

 private:
  std::size_t largest_;  ///< MiB
};

/// Files in memory, by exact path.
class MemoryFileSystem : public FileSystem {
 public:
  using Files = std::map<std::string, std::string>;
  explicit MemoryFileSystem(Files files) : files_(std::move(files)) {}
  [[nodiscard]] tl::expected<std::string, ReadFailure> read(const std::string& path) const override;

 private:
  Files files_;
};

}  // namespace rubato
