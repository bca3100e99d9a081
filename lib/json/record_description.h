// SPDX-License-Identifier: GPL-2.0-or-later
// How records are described: describe(visitor, record) calls the visitor for each member.
//
// A visitor has one function per kind of value. Members are written in this order. A member with
// its default is left out. `expected` names a member that the schema requires and the reader does
// not; `note` is a description for the schema. `above_zero` and `not_negative` bound a number, for
// reader and schema; `one_of` lists the values that a member can have, for the schema. `figure` is
// a number, null if it is not finite. `past` is a time that is never "forever". `table` is a map as
// a list of its elements, `by_name` a map of records as an object, `values_by_name` one of texts or
// numbers. `copied` is a list of records as another document has it. An optional without a value is
// left out. Members behind `rest(false)` are not written. `column` is for tables alone: heading,
// format and value; tables have the columns in this order.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

#include "lib/base/json_reader.h"
#include "lib/hints/types.h"

namespace rubato::json {

inline constexpr std::uint64_t kMaxUint32 = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint64_t kMaxInt = std::numeric_limits<int>::max();
inline constexpr auto kMaxSamples = static_cast<std::uint64_t>(kMaxWork);
/// More points of a progress history are dropped.
inline constexpr std::size_t kMaxPoints = 1024;
/// For a list of any length.
inline constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

/// When a member is written, and whether the reader needs it.
enum class Presence {
  kUnlessDefault,  ///< left out if it has its default
  kAlways,         ///< always written; the reader takes the default if it is missing
  kRequired,       ///< always written; the reader refuses a record without it
};
using enum Presence;

/// How a column of a table shows its values.
enum class CellFormat {
  kTextCell,     ///< left-aligned
  kNumberCell,   ///< a whole number
  kRatioCell,    ///< two digits behind the point
  kRateCell,     ///< samples/s
  kPercentCell,  ///< a share in percent
  kTenthsCell,   ///< a share in percent, one digit behind the point
  kTimeCell,     ///< local time
};
using enum CellFormat;

/// `value` if it is known. A table shows "-" otherwise.
template <typename Value>
std::optional<Value> known_if(bool known, const Value& value) {
  return known ? std::optional<Value>(value) : std::nullopt;
}

/// The value that to_string() calls `word`. to_string() of what follows the last value is "".
template <typename Enum>
std::optional<Enum> from_word(std::string_view word) {
  for (int i = 0; *to_string(static_cast<Enum>(i)) != '\0'; ++i)
    if (word == to_string(static_cast<Enum>(i))) return static_cast<Enum>(i);
  return std::nullopt;
}

/// The record of an element of a list.
template <typename Record>
const Record& record_of(const Record& record) {
  return record;
}
template <typename Record>
const Record& record_of(const std::shared_ptr<const Record>& record) {
  return *record;
}

/// `Record` is `Wanted` or const `Wanted`.
template <typename Record, typename Wanted>
concept Is = std::same_as<std::remove_const_t<Record>, Wanted>;

}  // namespace rubato::json
