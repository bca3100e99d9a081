// SPDX-License-Identifier: GPL-2.0-or-later
// Running jobs that grow in the next round unless something forbids it.
#pragma once

#include <cmath>
#include <csignal>
#include <memory>

#include "lib/policy/round.h"
#include "test/support/build_snapshot.h"

namespace rubato::test {

/// Jobs scale with the power .8 of their GPUs.
inline Models growing_models() {
  const std::map<std::string, double> speeds = {{"slow", 1.0}};
  std::vector<ThroughputObservation> observations;
  for (int gpus = 1; gpus <= 8; gpus *= 2)
    observations.push_back({{"lab", "net"}, "slow", gpus, 10 * std::pow(gpus, .8), 50});
  return Models(speeds, std::make_shared<const ThroughputModel>(TypeSpeeds(speeds), observations));
}

/// `count` nodes with 8 GPUs, on each a job of user 7 on 2 of them; each has more work than the one
/// before it.
inline Snapshot growing_jobs(int count) {
  Snapshot snapshot = make_cluster(
      std::vector<std::pair<std::string, int>>(static_cast<std::size_t>(count), {"slow", 8}));
  for (int i = 0; i < count; ++i) {
    Job& job = add_running(snapshot, {share_of(snapshot, NodeIndex{i}, 2)}, kNow + 10'000'000);
    job.uid = 7;
    job.account = "lab";
    job.start = job.eligible = kNow - 600;
    job.request.gpus = 2;
    job.later_set = 0;
    job.hints = ResolvedHints{};
    job.hints->job_type = "net";
    job.hints->work = Work{WorkUnit::kSamples, 1'000'000 * (i + 1), 0};
    job.hints->sizes = GpuSizes({{1, 8}});
    job.hints->checkpoint.signal = SIGUSR1;
    job.hints->resize = Resize::kRestart;
    job.costs = {30, 30, 30};
  }
  return snapshot;
}

}  // namespace rubato::test
