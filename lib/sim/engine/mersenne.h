// SPDX-License-Identifier: GPL-2.0-or-later
// The random stream of simulators written in Python: MT19937 seeded by an array of one word
// (Matsumoto and Nishimura 1998, init_by_array of 2002). std::mt19937 uses another seeding.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rubato::sim {

class Mersenne {
 public:
  explicit Mersenne(std::uint32_t seed);

  std::uint32_t next();
  /// Uniform in [0, n), n > 0: draws the top bits of new words until they are below n.
  std::uint32_t below(std::uint32_t n);
  /// Fisher-Yates from the last element down: swaps each with a random element at or before its
  /// index.
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i-- > 1;) {
      std::swap(items[i], items[below(static_cast<std::uint32_t>(i + 1))]);
    }
  }

 private:
  static constexpr std::size_t kWords = 624;

  void refill();

  std::array<std::uint32_t, kWords> state_{};
  std::size_t at_ = kWords;
};

}  // namespace rubato::sim
