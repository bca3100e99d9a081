// SPDX-License-Identifier: GPL-2.0-or-later
// The checkpoint signal as it is written.
#pragma once

#include <string_view>

#include "lib/base/error.h"
#include "lib/hints/types.h"

namespace rubato {

/// `none`, or the form of sbatch --signal (Slurm's get_signal_opts in proc_args.c):
/// [R|B|RB:]SIGNAL[@SECONDS]. A name may begin with SIG and stand in any case. Stricter than Slurm,
/// which takes a missing colon and 0xffff signals: signals that no process can catch are refused.
[[nodiscard]] Result<Checkpoint> parse_checkpoint(std::string_view text);

}  // namespace rubato
