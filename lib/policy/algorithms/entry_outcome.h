// SPDX-License-Identifier: GPL-2.0-or-later
// What became of one entry of the queue in a round: what an explanation is made of.
#pragma once

#include <memory>
#include <optional>

#include "lib/core/plan.h"
#include "lib/policy/algorithms/placer.h"

namespace rubato {

/// Why an entry was not tried, where no shortage is the reason.
enum class Skipped {
  kNo,
  kHet,      ///< part of a heterogeneous job
  kBlocked,  ///< Slurm's word: Job::block
  kOther,    ///< the job starts by another of its entries
  kRunning,  ///< an allocation of it still runs
  kBackOff,  ///< slurmctld refused it; the next try is later
  kOutbid,   ///< GPUs are worth more to other jobs (stage trade)
};

struct EntryOutcome {
  Verdict verdict = Verdict::kWait;
  Skipped skipped = Skipped::kNo;
  int started = 0;                     ///< starts or attempts in the plan; more for arrays
  std::optional<Placement> placement;  ///< of the first start
  std::shared_ptr<const PlacementFailure>
      failure;  ///< why it, or its next array task, finds no room
  int refusals = 0;
  Seconds next_try = 0;        ///< kBackOff: when
  std::string other;           ///< kOther: the partition
  double worth = 0;            ///< kOutbid: its best value of a GPU over the price, below 1
  TypeId worth_type = kNoGpu;  ///< kOutbid: the GPU type of `worth`
  int kept_gpus = 0;  ///< GPUs reserved already, where that left no reservation for this job
};

}  // namespace rubato
