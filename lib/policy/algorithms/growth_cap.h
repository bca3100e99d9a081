// SPDX-License-Identifier: GPL-2.0-or-later
// GrowthCap: how many GPUs the jobs of a QOS may hold in all beyond what they request.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "lib/core/job.h"
#include "lib/core/snapshot.h"
#include "lib/policy/algorithms/round_input.h"

namespace rubato {

/// GPUs that the job was submitted with. After a restart a job that waits for the size that is kept
/// for it has this size as its request (asked_resize.h), and only its hints have the submitted one.
[[nodiscard]] int submitted_gpus(const Job& job);

/// GPUs of `gpus` beyond those that the job was submitted with; 0: none.
[[nodiscard]] int beyond_request(const Job& job, int gpus);

/// GPUs that a running job holds; 0 for others.
[[nodiscard]] int held_gpus(const Job& job);

/// GPUs that a job holds, or will hold after the change that is under way, whichever is more.
[[nodiscard]] int claimed_gpus(const Memory& memory, const Job& job);

/// What the caps leave while the present jobs keep what they have.
class GrowthCaps {
 public:
  explicit GrowthCaps(const RoundInput& input);

  /// The cap of a QOS; none: it has none.
  [[nodiscard]] std::optional<int> of(const std::string& qos) const;
  /// GPUs that the job may hold beyond its request while all others keep theirs, at least 0; none:
  /// no cap.
  [[nodiscard]] std::optional<int> left_for(const Job& job) const;

 private:
  const RoundInput& input_;
  std::map<std::string, int> used_;  ///< by QOS
};

}  // namespace rubato
