// SPDX-License-Identifier: GPL-2.0-or-later
// State shared in the select plugin: the stock plugin and the gate.
#pragma once

#include "plugin/select/gate.h"
#include "plugin/slurm/stock/select_ops.h"

namespace rubato {

/// The stock plugin's operations; valid after the first init().
[[nodiscard]] const SelectOps& stock_ops();
[[nodiscard]] Gate& gate();

}  // namespace rubato
