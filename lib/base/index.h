// SPDX-License-Identifier: GPL-2.0-or-later
// Indices that are types: an index of a node cannot be taken for an index of a GPU type.
#pragma once

#include <fmt/core.h>  // sources that format an index include fmt/format.h

#include <compare>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iosfwd>

namespace rubato {

namespace index_detail {
template <typename T>
concept Number = std::integral<T> && !std::same_as<T, bool>;
// Subsumes Number, so that the explicit constructor goes before the one for constants.
template <typename T>
concept NamedNumber = Number<T> && !std::same_as<T, void>;
}  // namespace index_detail

/// The index of an element of a vector, an int inside. `Tag` says of which vector; indices of
/// different tags do not convert or compare.
///
/// - It is a subscript as it is: `nodes[share.node]`. It converts to std::size_t and to no other
///   type; value() is the plain number.
/// - A constant converts by itself, which the compiler checks: `NodeShare{3, 8}`, `node = 0`. A
///   number that is known at run time needs the name of the type: `NodeIndex{i}`.
/// - It equals a plain int of the same value. It is ordered among its kind only.
/// - Indices below 0 name no element. A default one is -1.
template <typename Tag>
class Index {
 public:
  constexpr Index() = default;
  template <index_detail::Number T>
  consteval Index(T value) : value_(static_cast<int>(value)) {}  // NOLINT(*-explicit-*)
  template <index_detail::NamedNumber T>
  explicit constexpr Index(T value) : value_(static_cast<int>(value)) {}

  [[nodiscard]] constexpr int value() const { return value_; }
  /// It may name an element: it is not below 0.
  [[nodiscard]] constexpr bool valid() const { return value_ >= 0; }
  /// It names an element of a vector of this size.
  [[nodiscard]] constexpr bool within(std::size_t size) const {
    return valid() && static_cast<std::size_t>(value_) < size;
  }

  // A template, so that no standard conversion follows: `int i = node` does not compile.
  template <std::same_as<std::size_t> Size>
  constexpr operator Size() const {  // NOLINT(*-explicit-*)
    return static_cast<std::size_t>(value_);
  }

  constexpr Index& operator++() {
    ++value_;
    return *this;
  }

  friend constexpr bool operator==(Index, Index) = default;
  friend constexpr auto operator<=>(Index, Index) = default;  // NOLINT(modernize-use-nullptr)
  friend constexpr bool operator==(Index a, std::same_as<int> auto b) { return a.value_ == b; }
  friend void operator<=>(Index, std::same_as<int> auto) = delete;

  template <typename Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& to,
                                                      Index index) {
    return to << index.value_;
  }

 private:
  int value_ = -1;
};

/// The indices from 0 to below `count`, for a range-based for loop.
template <typename IndexType>
class IndexRange {
 public:
  class Iterator {
   public:
    constexpr explicit Iterator(IndexType at) : at_(at) {}
    constexpr IndexType operator*() const { return at_; }
    constexpr Iterator& operator++() {
      ++at_;
      return *this;
    }
    friend constexpr bool operator==(Iterator, Iterator) = default;

   private:
    IndexType at_;
  };

  constexpr explicit IndexRange(std::size_t count) : end_(IndexType{count}) {}

  [[nodiscard]] constexpr Iterator begin() const { return Iterator(IndexType{0}); }
  [[nodiscard]] constexpr Iterator end() const { return end_; }

 private:
  Iterator end_;
};

/// All indices of a vector: `for (const NodeIndex node : indices<NodeIndex>(snapshot.nodes))`.
template <typename IndexType, typename Container>
requires requires(const Container& container) { container.size(); }
[[nodiscard]] constexpr IndexRange<IndexType> indices(const Container& container) {
  return IndexRange<IndexType>(container.size());
}
template <typename IndexType>
[[nodiscard]] constexpr IndexRange<IndexType> indices(std::size_t count) {
  return IndexRange<IndexType>(count);
}

}  // namespace rubato

template <typename Tag>
struct std::hash<rubato::Index<Tag>> {
  std::size_t operator()(rubato::Index<Tag> index) const noexcept {
    return std::hash<int>()(index.value());
  }
};

template <typename Tag>
struct fmt::formatter<rubato::Index<Tag>> : fmt::formatter<int> {
  template <typename Context>
  auto format(rubato::Index<Tag> index, Context& context) const {
    return fmt::formatter<int>::format(index.value(), context);
  }
};
