// SPDX-License-Identifier: GPL-2.0-or-later
// Hashes by xxHash. A hash finds an entry of a table or notices a change. The order of a hash table
// must never decide the order of output.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rubato {

/// XXH64 of `size` bytes. The same on each machine for the same bytes.
[[nodiscard]] std::uint64_t hash_bytes(const void* data, std::size_t size, std::uint64_t seed = 0);

/// Hashes several values, in their order:
/// `Hasher().add(name).add(count).value()`.
class Hasher {
 public:
  Hasher& add(std::string_view text) {
    state_ = hash_bytes(text.data(), text.size(), state_ + text.size());
    return *this;
  }
  template <typename T>
  requires std::integral<T> Hasher& add(T number) {
    const auto wide = static_cast<std::uint64_t>(number);
    state_ = hash_bytes(&wide, sizeof wide, state_);
    return *this;
  }

  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace rubato
