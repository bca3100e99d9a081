// SPDX-License-Identifier: GPL-2.0-or-later
// Indices as types: what converts, what compares, and what must not compile.
#include "lib/base/index.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <vector>

namespace rubato {
namespace {

using RowIndex = Index<struct RowTag>;
using ColumnIndex = Index<struct ColumnTag>;

template <typename A, typename B>
concept Comparable = requires(A a, B b) {
  a == b;
};
template <typename A, typename B>
concept Ordered = requires(A a, B b) {
  a < b;
};
template <typename A, typename B>
concept Adds = requires(A a, B b) {
  a += b;
};

struct Cell {
  RowIndex row = 0;
  int value = 0;
};

// A conversion that compiles where it must not is an error of this file.
static_assert(!std::is_convertible_v<RowIndex, ColumnIndex>);
static_assert(!std::is_constructible_v<RowIndex, ColumnIndex>);
static_assert(!std::is_assignable_v<RowIndex&, ColumnIndex>);
static_assert(!Comparable<RowIndex, ColumnIndex>);
static_assert(!Ordered<RowIndex, ColumnIndex>);
static_assert(!Ordered<RowIndex, int>);
static_assert(!Adds<RowIndex, int>);
static_assert(!std::is_convertible_v<RowIndex, int>);
static_assert(!std::is_convertible_v<RowIndex, double>);
static_assert(!std::is_convertible_v<RowIndex, bool>);
static_assert(!std::is_constructible_v<RowIndex, bool>);
static_assert(std::is_convertible_v<RowIndex, std::size_t>);
static_assert(std::is_trivially_copyable_v<RowIndex> && sizeof(RowIndex) == sizeof(int));

TEST(Index, IsASubscript) {
  const std::vector<std::string> names{"a", "b", "c"};
  std::vector<bool> seen(3);
  const RowIndex row = 2;
  seen[row] = true;
  EXPECT_EQ(names[row], "c");
  EXPECT_EQ(names.at(RowIndex{1}), "b");
  EXPECT_EQ(seen, std::vector<bool>({false, false, true}));
}

TEST(Index, TakesAConstantOrANumberWithItsName) {
  const std::vector<int> numbers(5);
  const Cell cell{3, 8};
  EXPECT_EQ(cell.row.value(), 3);
  EXPECT_EQ(Cell().row, 0);
  EXPECT_EQ(RowIndex{numbers.size()}, 5);
  EXPECT_EQ(RowIndex{numbers.end() - numbers.begin()}, RowIndex{5});
  const std::vector<RowIndex> rows{0, 1, 4};
  EXPECT_EQ(rows.back(), 4);
}

TEST(Index, NamesNoElementBelowZero) {
  EXPECT_EQ(RowIndex(), -1);
  EXPECT_FALSE(RowIndex().valid());
  EXPECT_TRUE(RowIndex{0}.valid());
  EXPECT_TRUE(RowIndex{2}.within(3));
  EXPECT_FALSE(RowIndex{3}.within(3));
  EXPECT_FALSE(RowIndex().within(3));
  EXPECT_FALSE(RowIndex{0}.within(0));
}

TEST(Index, IsOrderedAndHashedByItsNumber) {
  EXPECT_LT(RowIndex{1}, RowIndex{2});
  EXPECT_LT(RowIndex(), RowIndex{0});
  EXPECT_NE(RowIndex{1}, RowIndex{2});
  const std::set<RowIndex> sorted{5, 1, 3, 1};
  EXPECT_EQ(std::vector<RowIndex>(sorted.begin(), sorted.end()), (std::vector<RowIndex>{1, 3, 5}));
  const std::unordered_set<RowIndex> hashed{5, 1, 3, 1};
  EXPECT_EQ(hashed.size(), 3U);
  EXPECT_TRUE(hashed.contains(RowIndex{3}));
  EXPECT_FALSE(hashed.contains(RowIndex{2}));
}

TEST(Index, LoopsOverAVectorOrACount) {
  const std::vector<std::string> names{"a", "b", "c"};
  std::string text;
  for (const RowIndex row : indices<RowIndex>(names)) text += names[row];
  EXPECT_EQ(text, "abc");
  std::vector<RowIndex> rows;
  for (const RowIndex row : indices<RowIndex>(2)) rows.push_back(row);
  EXPECT_EQ(rows, (std::vector<RowIndex>{0, 1}));
  for (const RowIndex row : indices<RowIndex>(std::vector<int>())) ADD_FAILURE() << row;
}

TEST(Index, IsPrintedAsItsNumber) {
  std::ostringstream stream;
  stream << RowIndex{12} << ' ' << RowIndex();
  EXPECT_EQ(stream.str(), "12 -1");
  EXPECT_EQ(fmt::format("{} {:03}", RowIndex{12}, RowIndex{7}), "12 007");
}

}  // namespace
}  // namespace rubato
