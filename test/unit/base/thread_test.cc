// SPDX-License-Identifier: GPL-2.0-or-later
// Threads on stacks of their own.
#include "lib/base/thread.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <utility>
#include <vector>

namespace rubato {
namespace {

/// The page of a variable of the calling thread.
void* page_of_stack() {
  const int here = 0;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(&here) / page * page);
}

bool is_mapped(void* page) {
  return madvise(page, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), MADV_NORMAL) == 0 ||
         errno != ENOMEM;
}

TEST(Thread, RunsItsBody) {
  int value = 0;
  Thread thread([&value] { value = 7; });
  EXPECT_TRUE(thread.joinable());
  thread.join();
  EXPECT_FALSE(thread.joinable());
  EXPECT_EQ(value, 7);
}

TEST(Thread, GivesItsStackBackWhenItIsJoined) {
  void* page = nullptr;
  Thread thread([&page] { page = page_of_stack(); });
  thread.join();
  EXPECT_FALSE(is_mapped(page));
}

TEST(Thread, PushesNoStackOfAnotherThreadOut) {
  void* page = nullptr;
  pthread_t other{};
  ASSERT_EQ(pthread_create(
                &other, nullptr,
                [](void* into) -> void* {
                  *static_cast<void**>(into) = page_of_stack();
                  return nullptr;
                },
                &page),
            0);
  pthread_join(other, nullptr);
  ASSERT_TRUE(is_mapped(page));  // glibc keeps it for a next thread
  std::vector<Thread> threads;
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  for (int i = 0; i < 16; ++i) threads.emplace_back([ended] { ended.wait(); });
  end.set_value();
  for (Thread& thread : threads) thread.join();
  EXPECT_TRUE(is_mapped(page));
}

TEST(Thread, MovesToAnotherOwner) {
  std::promise<void> end;
  Thread first([ended = end.get_future().share()] { ended.wait(); });
  Thread second(std::move(first));
  EXPECT_FALSE(first.joinable());  // NOLINT(bugprone-use-after-move): what a move leaves is tested
  Thread third;
  third = std::move(second);
  end.set_value();
  third.join();
}

TEST(Thread, LeavesAThreadBehind) {
  std::promise<void> end;
  const auto result = std::make_shared<std::promise<int>>();
  std::future<int> value = result->get_future();
  void* page = nullptr;
  {
    Thread thread([ended = end.get_future().share(), result, &page] {
      page = page_of_stack();
      ended.wait();
      result->set_value(3);
    });
    thread.detach();
  }
  end.set_value();
  EXPECT_EQ(value.get(), 3);
  // It ends soon; a later thread gives its stack back.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (is_mapped(page) && std::chrono::steady_clock::now() < deadline) Thread([] {}).join();
  EXPECT_FALSE(is_mapped(page));
}

}  // namespace
}  // namespace rubato
