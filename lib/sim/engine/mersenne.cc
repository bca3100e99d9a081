// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/engine/mersenne.h"

#include <bit>

namespace rubato::sim {

Mersenne::Mersenne(std::uint32_t seed) {
  state_[0] = 19650218U;
  for (std::size_t i = 1; i < kWords; ++i) {
    state_[i] =
        1812433253U * (state_[i - 1] ^ (state_[i - 1] >> 30U)) + static_cast<std::uint32_t>(i);
  }
  std::size_t i = 1;
  for (std::size_t k = 0; k < kWords; ++k) {  // a one-word key: its index stays 0
    state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30U)) * 1664525U)) + seed;
    if (++i >= kWords) {
      state_[0] = state_[kWords - 1];
      i = 1;
    }
  }
  for (std::size_t k = 0; k + 1 < kWords; ++k) {
    state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30U)) * 1566083941U)) -
                static_cast<std::uint32_t>(i);
    if (++i >= kWords) {
      state_[0] = state_[kWords - 1];
      i = 1;
    }
  }
  state_[0] = 0x80000000U;
}

void Mersenne::refill() {
  constexpr std::size_t kShift = 397;
  for (std::size_t i = 0; i < kWords; ++i) {
    const std::uint32_t y = (state_[i] & 0x80000000U) | (state_[(i + 1) % kWords] & 0x7fffffffU);
    state_[i] = state_[(i + kShift) % kWords] ^ (y >> 1U) ^ ((y & 1U) != 0 ? 0x9908b0dfU : 0U);
  }
  at_ = 0;
}

std::uint32_t Mersenne::next() {
  if (at_ >= kWords) refill();
  std::uint32_t y = state_[at_++];
  y ^= y >> 11U;
  y ^= (y << 7U) & 0x9d2c5680U;
  y ^= (y << 15U) & 0xefc60000U;
  return y ^ (y >> 18U);
}

std::uint32_t Mersenne::below(std::uint32_t n) {
  const auto bits = static_cast<unsigned>(std::bit_width(n));
  while (true) {
    const std::uint32_t word = next() >> (32U - bits);
    if (word < n) return word;
  }
}

}  // namespace rubato::sim
