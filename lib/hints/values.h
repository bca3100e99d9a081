// SPDX-License-Identifier: GPL-2.0-or-later
// Converts values of hints from text and back.
#pragma once

#include <string>
#include <string_view>

#include "lib/base/error.h"
#include "lib/hints/table.h"

namespace rubato {

/// Sets the field of `def` from the text of its value; blanks at both ends are ignored. The error
/// says what is wrong and what is valid, without the hint's name; `hints` is then unchanged. A
/// kFlag without a value means yes.
[[nodiscard]] Result<void> set_hint(const HintDef& def, std::string_view value, Hints& hints);

/// The text from which `set_hint` sets the value in `hints`. "" if this row does not apply:
/// samples, steps and target-loss share a field, and only one of them is set.
[[nodiscard]] std::string show_hint(const HintDef& def, const Hints& hints);

/// The kind of value in a few words, with its choices or range: "one of none, restart, live".
[[nodiscard]] std::string describe_values(const HintDef& def);

/// Values in text form.
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
