// SPDX-License-Identifier: GPL-2.0-or-later
// Whether a running job can give back nodes, or get more while it runs. Uses no Slurm types, so
// that every rule has a unit test.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/error.h"

namespace rubato {

/// What the rules need of a running job.
struct ResizeFacts {
  bool running = false;
  bool completing = false;
  bool suspended = false;
  bool configuring = false;  ///< its nodes still boot
  bool resizing = false;
  bool het = false;
  bool cron = false;
  bool stepmgr = false;                ///< its steps are managed on its first node (24.11)
  bool arbitrary = false;              ///< --distribution=arbitrary
  bool being_expanded = false;         ///< another job grows it, or it grows another
  bool shared_gpus = false;            ///< holds shards or MPS
  bool whole_nodes = false;            ///< --exclusive
  bool mixed_step = false;             ///< a step of it uses GRES of several kinds or types
  bool saving = false;                 ///< slurmdbd has not answered yet about its last record
  bool shrink_allowed = true;          ///< no SchedulerParameters=disable_job_shrink
  bool prolog_first = false;           ///< a prolog must run on a node before a step may
  std::vector<int> nodes;              ///< indices of slurmctld's node table, sorted
  std::vector<int> core_nodes;         ///< the nodes on which it holds cores, sorted
  int batch_host = -1;                 ///< index of the node of its batch script; -1: no script
  std::vector<std::string> gpu_types;  ///< of the GPUs that it holds, sorted; "": without a type
};

/// Why the job cannot keep only the nodes `keep` (sorted, without duplicates); "" if it can.
[[nodiscard]] std::string why_not_shrink(const ResizeFacts& job, const std::vector<int>& keep);

/// Why the job cannot get more GPUs of `gpu_type` while it runs; "" if it can.
[[nodiscard]] std::string why_not_grow(const ResizeFacts& job, const std::string& gpu_type);

/// A node list for scontrol that Slurm does not take for the one that the job was submitted with:
/// from 24.11 on, an update with the same text does nothing. `hosts` is a hostlist, `first` the
/// name of one of its nodes.
[[nodiscard]] std::string other_spelling(const std::string& hosts, const std::string& first,
                                         const std::string& submitted);

}  // namespace rubato
