// SPDX-License-Identifier: GPL-2.0-or-later
// Bands of priority (PriorityBand in rubato.conf). Between bands Slurm's priority decides, inside
// of one Rubato does.
#pragma once

#include <vector>

#include "lib/config/config.h"
#include "lib/core/job.h"

namespace rubato {

/// The bands of one round. With `auto` the width follows from the priorities of the managed GPU
/// jobs among `jobs` that run or could start. Jobs whose user or an admin chose the priority do not
/// count for it: a user's nice value must not change the order of other jobs.
class Bands {
 public:
  Bands(const std::vector<const Job*>& jobs, const Config& config);

  /// The band of a job; the highest goes first.
  [[nodiscard]] double of(const Job& job) const;

 private:
  double width_;  ///< 0: every priority is a band of its own; infinite: one band
};

}  // namespace rubato
