// SPDX-License-Identifier: GPL-2.0-or-later
// Makes allocations of the test program fail: of `operator new` and of SQLite.
#pragma once

#include <cstdint>
#include <limits>
#include <new>

#include <gtest/gtest.h>

namespace rubato::test {

inline constexpr std::uint64_t kAlways = std::numeric_limits<std::uint64_t>::max();

/// Until the end of the scope, `count` allocations of the calling thread fail: the `nth` from now
/// (from 1 on) and those behind it.
class FailingNew {
 public:
  FailingNew(std::uint64_t nth, std::uint64_t count);
  ~FailingNew();
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;

  /// Number of allocations of the calling thread that failed since the construction.
  [[nodiscard]] static std::uint64_t failed();
};

/// About one of `one_in` allocations fails in every thread; 0: none.
void fail_in_all_threads(std::uint64_t one_in);

/// Number of allocations that failed so far in all threads.
[[nodiscard]] std::uint64_t failed_in_all_threads();

/// Calls `entry` with its 1st, 2nd, 3rd ... allocation failing, until it needs no more: once with
/// that one alone, once with all behind it too. std::bad_alloc may leave it, as it may leave what
/// the guard holds. Calls `after` behind each. The first 300 one by one, later ones with growing
/// steps. Returns the number of calls that had a failure.
template <typename Entry, typename After>
int fail_each(Entry entry, After after) {
  int calls = 0;
  for (const std::uint64_t count : {std::uint64_t{1}, kAlways}) {
    bool reached = true;
    for (std::uint64_t nth = 1; reached; nth += nth < 300 ? 1 : nth / 20) {
      {
        const FailingNew failing(nth, count);
        try {
          entry();
        } catch (const std::bad_alloc&) {
        }
        reached = FailingNew::failed() > 0;
      }
      calls += reached ? 1 : 0;
      after();
      if (testing::Test::HasFailure()) {
        ADD_FAILURE() << "with allocation " << nth << (count > 1 ? " and all later ones" : "");
        return calls;
      }
    }
  }
  return calls;
}

template <typename Entry>
int fail_each(Entry entry) {
  return fail_each(entry, [] {});
}

}  // namespace rubato::test
