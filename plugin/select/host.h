// SPDX-License-Identifier: GPL-2.0-or-later
// What the parts of the select plugin share: the stock plugin behind it and the gate.
#pragma once

#include "plugin/select/gate.h"
#include "plugin/slurm/stock/select_ops.h"

namespace rubato {

/// Of the stock plugin; valid from the first init() on.
[[nodiscard]] const SelectOps& stock_ops();
[[nodiscard]] Gate& gate();

}  // namespace rubato
