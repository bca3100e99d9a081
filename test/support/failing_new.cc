// SPDX-License-Identifier: GPL-2.0-or-later
#include "test/support/failing_new.h"

#include <sqlite3.h>

#include <atomic>
#include <cstdlib>

namespace rubato::test {

namespace {

thread_local std::uint64_t until_failure = kAlways;
thread_local std::uint64_t failures_left = 0;
thread_local std::uint64_t failures = 0;
std::atomic<std::uint64_t> one_in_all{0};
std::atomic<std::uint64_t> calls{0};
std::atomic<std::uint64_t> all_failures{0};

bool fails() {
  const std::uint64_t one_in = one_in_all.load(std::memory_order_relaxed);
  if (one_in != 0) {
    // A full period of a linear congruence, so that neighbours do not fail together.
    const std::uint64_t number = calls.fetch_add(1) * 6364136223846793005U + 1442695040888963407U;
    const bool yes = (number >> 33) % one_in == 0;
    if (yes) all_failures.fetch_add(1);
    return yes;
  }
  if (failures_left == 0) return false;
  if (until_failure > 1) {
    --until_failure;
    return false;
  }
  if (failures_left != kAlways) --failures_left;
  ++failures;
  return true;
}

void* allocate(std::size_t size) { return fails() ? nullptr : std::malloc(size == 0 ? 1 : size); }

sqlite3_mem_methods sqlite_memory;

[[maybe_unused]] const bool kInstalled = [] {
  if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &sqlite_memory) != SQLITE_OK) return false;
  static sqlite3_mem_methods failing = sqlite_memory;
  failing.xMalloc = [](int size) { return fails() ? nullptr : sqlite_memory.xMalloc(size); };
  failing.xRealloc = [](void* memory, int size) {
    return fails() ? nullptr : sqlite_memory.xRealloc(memory, size);
  };
  return sqlite3_config(SQLITE_CONFIG_MALLOC, &failing) == SQLITE_OK;
}();

}  // namespace

FailingNew::FailingNew(std::uint64_t nth, std::uint64_t count) {
  failures = 0;
  until_failure = nth;
  failures_left = count;
}

FailingNew::~FailingNew() { failures_left = 0; }

std::uint64_t FailingNew::failed() { return failures; }

void fail_in_all_threads(std::uint64_t one_in) { one_in_all = one_in; }

std::uint64_t failed_in_all_threads() { return all_failures; }

}  // namespace rubato::test

void* operator new(std::size_t size) {
  void* memory = rubato::test::allocate(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return rubato::test::allocate(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return rubato::test::allocate(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
