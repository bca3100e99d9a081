// SPDX-License-Identifier: GPL-2.0-or-later
// Values of hints: from text into Hints, and back.
#pragma once

#include <string>
#include <string_view>

#include "lib/base/error.h"
#include "lib/hints/table.h"

namespace rubato {

/// Sets the field of `def` from the text of its value; blanks at both ends do not count. The error
/// says what is wrong with the value and what would be right, without the name of the hint; `hints`
/// is unchanged then. A kFlag without a value is yes.
[[nodiscard]] Result<void> set_hint(const HintDef& def, std::string_view value, Hints& hints);

/// The value that `set_hint` would take to get what `hints` has; "" when this row says nothing
/// (samples, steps and target-loss share a field, and one of them speaks).
[[nodiscard]] std::string show_hint(const HintDef& def, const Hints& hints);

/// The kind of value in a few words with its choices or range: "one of none, restart, live".
[[nodiscard]] std::string describe_values(const HintDef& def);

/// Values as they are written.
[[nodiscard]] std::string to_text(const GpuSizes& sizes);         ///< "1,2,4-8"
[[nodiscard]] std::string to_text(const GpuTypes& types);         ///< "h100/a100,v100"
[[nodiscard]] std::string to_text(const Batch& batch);            ///< "256-1024"
[[nodiscard]] std::string to_text(const ModelShape& shape);       ///< "params=7e9,layers=32"
[[nodiscard]] std::string to_text(const Plans& plans);            ///< "dp,zero"
[[nodiscard]] std::string to_text(const Checkpoint& checkpoint);  ///< "B:USR1@60"
[[nodiscard]] const char* to_string(Resize resize);
[[nodiscard]] const char* to_string(Device device);
[[nodiscard]] const char* to_string(PlanKind kind);
/// "USR1", or the number of a signal without a name.
[[nodiscard]] std::string signal_name(int signal);

}  // namespace rubato
