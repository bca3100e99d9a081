// SPDX-License-Identifier: GPL-2.0-or-later
// Mechanisms of the commands that a test can switch off, to show that the test fails without them.
#pragma once

#include <array>
#include <string_view>

namespace rubato::tools {

/// Named by the variable RUBATO_TEST_OFF, which is read with RUBATO_TESTING=1 only.
enum class ToolMechanism {
  kWidth,
  kRoundMs,
  kSnapshotShape,
};

/// One line of the table of mechanisms.
struct ToolMechanismWord {
  ToolMechanism mechanism;
  std::string_view word;  ///< as RUBATO_TEST_OFF spells it
  std::string_view help;  ///< what happens without it
};

/// All mechanisms, in the order of the enum.
inline constexpr std::array kToolMechanisms = {
    ToolMechanismWord{ToolMechanism::kWidth, "width", "columns have no maximum width"},
    ToolMechanismWord{ToolMechanism::kRoundMs, "round-ms", "the times of rounds are not shown"},
    ToolMechanismWord{ToolMechanism::kSnapshotShape, "snapshot-shape",
                      "simulate takes only the first group of nodes of a snapshot"},
};

/// The word of a mechanism.
[[nodiscard]] constexpr std::string_view to_string(ToolMechanism mechanism) {
  return kToolMechanisms.at(static_cast<std::size_t>(mechanism)).word;
}

/// Whether each row has the index of its enumerator.
[[nodiscard]] constexpr bool tool_mechanisms_are_in_order() {
  for (std::size_t i = 0; i < kToolMechanisms.size(); ++i)
    if (kToolMechanisms.at(i).mechanism != static_cast<ToolMechanism>(i)) return false;
  return true;
}
static_assert(tool_mechanisms_are_in_order());

}  // namespace rubato::tools
