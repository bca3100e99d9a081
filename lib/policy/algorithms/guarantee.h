// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs whose QOS (GuaranteedQOS in rubato.conf) promises them the speed of their request.
#pragma once

#include <string>
#include <vector>

#include "lib/policy/algorithms/job_forecast.h"
#include "lib/policy/algorithms/round_input.h"

namespace rubato {

/// Whether the QOS of the job promises it the speed of its request.
[[nodiscard]] bool is_guaranteed(const Config& config, const Job& job);

/// The goodput, efficient samples/s, that is promised to a job: as requested, on the slowest of
/// those of `types` that it accepts and runs on. 0 if it is not guaranteed, or nothing is known of
/// it. Less than its request may be faster, by a better plan or on a faster type (Rubick, OSDI
/// 2024, section 5: the least resources that keep the throughput of the request).
[[nodiscard]] double promised_goodput(const RoundInput& input, const Job& job,
                                      const std::vector<std::string>& types);

}  // namespace rubato
