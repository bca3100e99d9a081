// SPDX-License-Identifier: GPL-2.0-or-later
// A placement test of slurmctld (select_p_job_test): its question and the nodes it offers.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/config/config.h"
#include "plugin/common/gate_question.h"
#include "plugin/common/pair.h"

struct job_record;

namespace rubato {

/// Valid only during the call of slurmctld that created it.
class PlacementTest {
 public:
  /// `nodes` is the bitmap of offered nodes (bitstr_t), `mode` as slurmctld passes it.
  PlacementTest(const job_record& job, std::int64_t* nodes, std::uint32_t min_nodes,
                std::uint32_t max_nodes, std::uint16_t mode)
      : job_(job), nodes_(nodes), min_nodes_(min_nodes), max_nodes_(max_nodes), mode_(mode) {}

  /// True if the job record has the size this build expects (job_record_fits()).
  [[nodiscard]] bool record_fits() const;
  [[nodiscard]] GateQuestion question(const Config& config) const;
  /// Removes the node indices `masked` from the offered nodes. False if the job requires one of
  /// them by name: Slurm must not conclude that the request is impossible.
  [[nodiscard]] bool remove(const std::vector<int>& masked) const;
  /// Keeps only the nodes that `scope` allows; false as above.
  [[nodiscard]] bool narrow(const StartScope& scope) const;
  /// Removes this test from stock backfill's count (uncount_backfill_try()).
  void uncount_backfill_try() const;

 private:
  const job_record& job_;
  std::int64_t* nodes_;
  std::uint32_t min_nodes_;
  std::uint32_t max_nodes_;
  std::uint16_t mode_;
};

}  // namespace rubato
