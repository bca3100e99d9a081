// SPDX-License-Identifier: GPL-2.0-or-later
// Parses the checkpoint signal.
#pragma once

#include <string_view>

#include "lib/base/error.h"
#include "lib/hints/types.h"

namespace rubato {

/// `none`, or the form of sbatch --signal (Slurm's get_signal_opts in proc_args.c):
/// [R|B|RB:]SIGNAL[@SECONDS]. A name may begin with SIG, in any case. Stricter than Slurm, which
/// accepts a missing colon and 0xffff signals: refuses signals that no process can catch.
[[nodiscard]] Result<Checkpoint> parse_checkpoint(std::string_view text);

}  // namespace rubato
