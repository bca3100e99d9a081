// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/user_names.h"

#include <pwd.h>

#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "lib/base/background_worker.h"
#include "lib/base/mutex.h"

namespace rubato {

std::string passwd_name(std::uint32_t uid) {
  std::vector<char> buffer(1024);
  passwd entry{};
  passwd* found = nullptr;
  int rc = ERANGE;
  constexpr std::size_t kMost = std::size_t{1} << 20;
  while ((rc = getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found)) == ERANGE &&
         buffer.size() < kMost) {
    buffer.resize(buffer.size() * 2);
  }
  return rc == 0 && found != nullptr ? found->pw_name : "";
}

struct UserNames::Known {
  Mutex mutex;
  /// Empty: asked for, and not known yet.
  std::map<std::uint32_t, std::string> names RUBATO_GUARDED_BY(mutex);
};

class UserNames::UidInbox {
 public:
  using Offer = std::uint32_t;
  using Outcome = std::monostate;
  static constexpr bool kDrain = false;

  void put(std::uint32_t uid) { uids_.insert(uid); }
  [[nodiscard]] std::optional<SteadyTime> due() const {
    return uids_.empty() ? std::nullopt : std::optional(SteadyTime{});
  }
  [[nodiscard]] std::uint32_t take() { return uids_.extract(uids_.begin()).value(); }
  void finish(Outcome /*outcome*/) {}

 private:
  std::set<std::uint32_t> uids_;
};

class UserNames::Task {
 public:
  using Inbox = UidInbox;

  Task(std::shared_ptr<Known> known, UserLookUp look_up)
      : known_(std::move(known)), look_up_(std::move(look_up)) {}

  std::monostate work(std::uint32_t uid) {
    uid_ = uid;
    std::string name = look_up_(uid);
    if (name.empty()) name = std::to_string(uid);
    const MutexLock lock(known_->mutex);
    known_->names[uid] = std::move(name);
    return {};
  }
  // It is asked for again.
  std::monostate failed(const char* /*what*/) {
    const MutexLock lock(known_->mutex);
    known_->names.erase(uid_);
    return {};
  }

 private:
  const std::shared_ptr<Known> known_;
  const UserLookUp look_up_;
  std::uint32_t uid_ = 0;  ///< of the last work
};

UserNames::UserNames(std::shared_ptr<const Clock> clock, UserLookUp look_up)
    : known_(std::make_shared<Known>()),
      worker_(std::make_unique<BackgroundWorker<Task>>(
          ThreadOptions{.name = "rubato-users", .niceness = 0}, std::move(clock),
          std::make_unique<Task>(known_, std::move(look_up)))) {}

UserNames::~UserNames() = default;

void UserNames::fill(std::vector<Job>& jobs) {
  std::vector<std::uint32_t> unknown;
  {
    const MutexLock lock(known_->mutex);
    for (Job& job : jobs) {
      if (!job.user.empty()) continue;
      const auto [at, fresh] = known_->names.try_emplace(job.uid);
      if (fresh) unknown.push_back(job.uid);
      job.user = at->second.empty() ? std::to_string(job.uid) : at->second;
    }
  }
  for (const std::uint32_t uid : unknown) worker_->offer(uid);
}

}  // namespace rubato
