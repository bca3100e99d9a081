// SPDX-License-Identifier: GPL-2.0-or-later
// What a round decides on. It does not change during the round.
#pragma once

#include <algorithm>

#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "lib/model/models.h"

namespace rubato {

/// The arguments of round(). All must outlive the stages.
struct RoundInput {
  const Snapshot& snapshot;
  const Models& models;
  const Config& config;
  Seconds now = 0;  ///< time of the decision, Unix seconds

  /// Seconds since the job became eligible; 0 if that time is not known.
  [[nodiscard]] Seconds waited(const Job& job) const {
    return job.eligible > 0 ? std::max<Seconds>(now - job.eligible, 0) : 0;
  }
};

}  // namespace rubato
