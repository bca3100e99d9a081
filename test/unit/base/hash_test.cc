// SPDX-License-Identifier: GPL-2.0-or-later
// Hashes of bytes and of several values.
#include "lib/base/hash.h"

#include <gtest/gtest.h>

#include <set>

namespace rubato {
namespace {

TEST(Hash, IsXxh64) { EXPECT_EQ(hash_bytes("", 0), 0xef46db3751d8e999U); }

TEST(Hash, DependsOnEachValueAndOnTheirOrder) {
  std::set<std::uint64_t> seen;
  seen.insert(Hasher().value());
  seen.insert(Hasher().add("").value());
  seen.insert(Hasher().add("a").add("b").value());
  seen.insert(Hasher().add("b").add("a").value());
  seen.insert(Hasher().add("ab").add("").value());
  seen.insert(Hasher().add("").add("ab").value());
  seen.insert(Hasher().add(0).value());
  seen.insert(Hasher().add(0).add(0).value());
  seen.insert(Hasher().add(1).add(2).value());
  seen.insert(Hasher().add(2).add(1).value());
  seen.insert(Hasher().add(-1).value());
  EXPECT_EQ(seen.size(), 11U);
}

TEST(Hash, EqualNumbersOfAnyTypeHashAlike) {
  EXPECT_EQ(Hasher().add(7).value(), Hasher().add(std::int64_t{7}).value());
  EXPECT_EQ(Hasher().add(-7).value(), Hasher().add(std::int64_t{-7}).value());
}

}  // namespace
}  // namespace rubato
