// SPDX-License-Identifier: GPL-2.0-or-later
// The file to which the tasks of a job write reports, and its locks.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "lib/base/error.h"

namespace rubato {

/// A file descriptor that its owner closes.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool open() const { return number_ >= 0; }
  [[nodiscard]] int release();

 private:
  int number_;
};

/// `DIR/JOB/report` on one host. DIR and DIR/JOB belong to the step daemon's user. The job's owner
/// can thus write the file, but cannot replace it. It exists while any step of the job is on the
/// host.
class ReportFile {
 public:
  struct Owner {
    uid_t uid;
    gid_t gid;
  };

  /// Creates missing folders and files. `fresh`: removes the content of an earlier run of the job.
  [[nodiscard]] static Result<ReportFile> open(const std::string& folder, std::uint32_t job,
                                               Owner owner, bool fresh);

  [[nodiscard]] std::string path() const { return folder_ + "/report"; }

  /// The right to forward this file; only one process per host has it. Not open if another process
  /// has it.
  [[nodiscard]] Descriptor claim() const;

  /// Removes the files, unless another step of the job is on this host.
  void leave();

 private:
  ReportFile(std::string folder, Descriptor users)
      : folder_(std::move(folder)), users_(std::move(users)) {}

  std::string folder_;
  Descriptor users_;  ///< shared lock of every step of the job on this host
};

}  // namespace rubato
