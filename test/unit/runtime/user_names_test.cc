// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/user_names.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

namespace rubato {
namespace {

std::vector<Job> jobs_of(std::initializer_list<std::uint32_t> uids) {
  std::vector<Job> jobs;
  for (const std::uint32_t uid : uids) jobs.emplace_back().uid = uid;
  return jobs;
}

// fill() until the first job has `name`, for at most ten seconds.
bool becomes(UserNames& names, std::uint32_t uid, const std::string& name) {
  for (int i = 0; i < 1000; ++i) {
    std::vector<Job> jobs = jobs_of({uid});
    names.fill(jobs);
    if (jobs[0].user == name) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(UserNames, ASlowLookUpHoldsNobodyUp) {
  std::promise<void> answer;
  auto ready = answer.get_future().share();
  std::atomic<int> calls{0};
  UserNames names(std::make_shared<SystemClock>(), [&calls, ready](std::uint32_t uid) {
    ++calls;
    ready.wait();
    return uid == 8 ? std::string() : "user" + std::to_string(uid);
  });
  std::vector<Job> jobs = jobs_of({7, 8, 7});
  jobs[2].user = "given";
  names.fill(jobs);
  EXPECT_EQ(jobs[0].user, "7");
  EXPECT_EQ(jobs[1].user, "8");
  EXPECT_EQ(jobs[2].user, "given");
  answer.set_value();
  EXPECT_TRUE(becomes(names, 7, "user7"));
  EXPECT_TRUE(becomes(names, 9, "user9"));
  jobs = jobs_of({8});
  names.fill(jobs);
  EXPECT_EQ(jobs[0].user, "8") << "the directory has no name";
  EXPECT_EQ(calls, 3) << "each once";
}

TEST(UserNames, ThePasswordFileHasRoot) {
  EXPECT_EQ(passwd_name(0), "root");
  EXPECT_EQ(passwd_name(4'000'000'001U), "");
}

}  // namespace
}  // namespace rubato
