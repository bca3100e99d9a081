// SPDX-License-Identifier: GPL-2.0-or-later
// Whose stated work counts: it never changes the order of another account's jobs before ended jobs
// of its own account did what they stated.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/policy/algorithms/round_input.h"

namespace rubato {

/// The stated work of the jobs of one round.
class StatedWork {
 public:
  explicit StatedWork(const RoundInput& input);

  /// The work that the job states counts. It does if all managed jobs with GPUs are of one account,
  /// or if kMinStatements jobs of its account ended and told how much of theirs they did
  /// (lib/model/progress/statements.h); by how much these did more, it is multiplied (work_left). A
  /// target loss always counts, for it is compared with the losses of the job itself.
  [[nodiscard]] bool counts(const Job& job) const;

 private:
  const RoundInput& input_;
  bool shared_ = false;  ///< jobs of several accounts wait or run
};

/// Service::believed; true without a record.
[[nodiscard]] bool believed(const std::vector<Service>& service, const JobKey& job);

}  // namespace rubato
