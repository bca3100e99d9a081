// SPDX-License-Identifier: GPL-2.0-or-later
// Names of users, looked up in a thread of its own: a directory service may take seconds for one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "lib/core/job.h"

namespace rubato {

template <typename Task>
class BackgroundWorker;

/// The name of a user; "" if the directory has none. May wait for a directory service.
using UserLookUp = std::function<std::string(std::uint32_t uid)>;
/// getpwuid_r(3).
[[nodiscard]] std::string passwd_name(std::uint32_t uid);

/// Looks up each user once. Used by one thread.
class UserNames {
 public:
  explicit UserNames(std::shared_ptr<const Clock> clock, UserLookUp look_up = passwd_name);
  /// Does not wait for a look-up under way.
  ~UserNames();
  UserNames(const UserNames&) = delete;
  UserNames& operator=(const UserNames&) = delete;

  /// Sets Job::user where it is empty: the name, or the uid as long as the name is not known. Never
  /// waits for a look-up.
  void fill(std::vector<Job>& jobs);

 private:
  class UidInbox;
  class Task;
  struct Known;

  std::shared_ptr<Known> known_;
  std::unique_ptr<BackgroundWorker<Task>> worker_;
};

}  // namespace rubato
