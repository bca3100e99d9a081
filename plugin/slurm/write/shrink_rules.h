// SPDX-License-Identifier: GPL-2.0-or-later
// Whether a running job can give back nodes. Uses no Slurm types, so that every rule has a unit
// test.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/error.h"

namespace rubato {

/// What the rules need of a running job.
struct ShrinkFacts {
  bool running = false;
  bool completing = false;
  bool suspended = false;
  bool configuring = false;  ///< its nodes still boot
  bool resizing = false;
  bool het = false;
  bool cron = false;
  bool stepmgr = false;         ///< its steps are managed on its first node (24.11)
  bool arbitrary = false;       ///< --distribution=arbitrary
  bool being_expanded = false;  ///< another job grows it
  bool shared_gpus = false;     ///< holds shards or MPS
  bool saving = false;          ///< slurmdbd has not answered yet about its last record
  bool shrink_allowed = true;   ///< no SchedulerParameters=disable_job_shrink
  std::vector<int> nodes;       ///< indices of slurmctld's node table, sorted
  std::vector<int> core_nodes;  ///< the nodes on which it holds cores, sorted
  int batch_host = -1;          ///< index of the node of its batch script; -1: no script
};

/// Why the job cannot keep only the nodes `keep` (sorted, without duplicates); "" if it can.
[[nodiscard]] std::string why_not_shrink(const ShrinkFacts& job, const std::vector<int>& keep);

/// A node list for scontrol that Slurm does not take for the one that the job was submitted with:
/// from 24.11 on, an update with the same text does nothing. `hosts` is a hostlist, `first` the
/// name of one of its nodes.
[[nodiscard]] std::string other_spelling(const std::string& hosts, const std::string& first,
                                         const std::string& submitted);

}  // namespace rubato
