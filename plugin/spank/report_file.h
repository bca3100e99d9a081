// SPDX-License-Identifier: GPL-2.0-or-later
// The file into which the tasks of a job write their reports, and the locks beside it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "lib/base/error.h"

namespace rubato {

/// A file descriptor that is closed with its owner.
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

/// `DIR/JOB/report` on one host. DIR and DIR/JOB belong to the step daemon's user, so that the
/// job's owner can write the file, and cannot put anything else in its place. It is there while any
/// step of the job is on the host.
class ReportFile {
 public:
  struct Owner {
    uid_t uid;
    gid_t gid;
  };

  /// Makes what is missing. `fresh`: what an earlier run of the job left is dropped.
  [[nodiscard]] static Result<ReportFile> open(const std::string& folder, std::uint32_t job,
                                               Owner owner, bool fresh);

  [[nodiscard]] std::string path() const { return folder_ + "/report"; }

  /// The right to forward this file, which one process of the host has at a time. Not open when
  /// another has it.
  [[nodiscard]] Descriptor claim() const;

  /// Removes the files, unless another step of the job is on this host.
  void leave();

 private:
  ReportFile(std::string folder, Descriptor users)
      : folder_(std::move(folder)), users_(std::move(users)) {}

  std::string folder_;
  Descriptor users_;  ///< locked by every step of the job on this host, shared
};

}  // namespace rubato
