// SPDX-License-Identifier: GPL-2.0-or-later
// What a policy is told about jobs before they ran.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace rubato::sim {

enum class Information {
  kKnown,    ///< exact throughput, total work and costs
  kRates,    ///< exact throughput and costs; no job tells its work
  kLearned,  ///< reports with noise; predictable jobs tell their work
  kBlind,    ///< reports with noise; no job tells its work
};

/// The words of --information, in the order of the enumeration.
inline constexpr std::array<std::string_view, 4> kInformationWords{"known", "rates", "learned",
                                                                   "blind"};

[[nodiscard]] constexpr std::string_view to_string(Information information) {
  return kInformationWords[static_cast<std::size_t>(information)];
}

/// nullopt: not one of the words.
[[nodiscard]] constexpr std::optional<Information> information_of(std::string_view word) {
  for (std::size_t i = 0; i < kInformationWords.size(); ++i) {
    if (kInformationWords[i] == word) return static_cast<Information>(i);
  }
  return std::nullopt;
}

/// Whether throughput is known only from reports.
[[nodiscard]] constexpr bool learns(Information information) {
  return information == Information::kLearned || information == Information::kBlind;
}

}  // namespace rubato::sim
