// SPDX-License-Identifier: GPL-2.0-or-later
// Sentences about running jobs: how they change, or why they keep their GPUs.
#pragma once

#include <string>

#include "lib/core/plan.h"
#include "lib/core/snapshot.h"

namespace rubato::tools {

/// In mode elastic. Times that PrivateData hides are left out.
[[nodiscard]] std::string change_text(const Change& change, const Job& job);

[[nodiscard]] std::string stay_text(const Stay& stay, const Job& job, Seconds now);

/// What became of the last `rubato resize` of the job.
[[nodiscard]] std::string resize_text(const AskedResize& resize);

/// Until when Rubato does not change the size of a running job.
[[nodiscard]] std::string hold_text(const SizeHold& hold, const Job& job, Seconds now);

/// Whether a running job holds its GPUs so that its reports show how fast its job type is there;
/// null: it does not.
[[nodiscard]] const Exploration* exploration_of(const Job& job, const Memory& memory);
[[nodiscard]] std::string exploration_text(const Exploration& exploration);

/// What changes of the job's type cost so far; null if none was measured.
[[nodiscard]] const ProfileCosts* costs_of(const Job& job, const Memory& memory);
[[nodiscard]] std::string costs_text(const ProfileCosts& costs);

}  // namespace rubato::tools
