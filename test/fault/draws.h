// SPDX-License-Identifier: GPL-2.0-or-later
// Random numbers of named streams: a draw of one stream does not move those of another.
#pragma once

#include <cstdint>
#include <string_view>

namespace rubato::test {

class Draws {
 public:
  Draws(std::uint64_t seed, std::string_view stream) : state_(seed * 0x9e3779b97f4a7c15ULL) {
    for (const char c : stream)
      state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  }
  /// splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// From `from` to `to`, both included.
  int number(int from, int to) {
    return from + static_cast<int>(next() % static_cast<std::uint64_t>(to - from + 1));
  }
  bool chance(int percent) { return number(1, 100) <= percent; }

 private:
  std::uint64_t state_;
};

}  // namespace rubato::test
