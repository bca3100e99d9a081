// SPDX-License-Identifier: GPL-2.0-or-later
// The fields that squeue prints of jobs: letters of -o, names of -O.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rubato::tools {

/// A field of squeue -O; `letter` prints the same with -o, 0 if none does. All letters from a to z
/// and A to Z are taken.
struct SqueueField {
  char letter;
  const char* name;
};

/// Names as they are written in squeue(1), aliases behind the name they stand for; from Slurm 22.05
/// to 26.05. %x alone has no name in 22.05: it stands here as "excnodes".
[[nodiscard]] const std::vector<SqueueField>& squeue_fields();

[[nodiscard]] const SqueueField* field_of_letter(char letter);
/// In any case of letters; squeue takes every name that begins with "numtask" as numtasks.
[[nodiscard]] const SqueueField* field_of_name(std::string_view name);

/// Name of the field that only -o prints.
inline constexpr std::string_view kShortOnly = "excnodes";

}  // namespace rubato::tools
