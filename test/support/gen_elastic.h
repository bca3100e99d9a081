// SPDX-License-Identifier: GPL-2.0-or-later
// Random clusters with elastic jobs, for properties of mode elastic.
#pragma once

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/policy/round.h"
#include "test/support/gen_snapshot.h"

namespace rubato::test {

inline constexpr const char* kJobTypes[] = {"bert", "gpt"};

inline Config elastic() {
  Config config;
  config.mode = Mode::kElastic;
  config.manage_all = true;
  config.reserve_depth = gen_int(0, 4);
  config.guaranteed_qos = {"high"};
  return config;
}

inline std::vector<ThroughputObservation> gen_observations() {
  std::vector<ThroughputObservation> observations;
  for (int i = gen_int(1, 12); i > 0; --i) {
    observations.push_back({{"lab", kJobTypes[gen_int(0, 1)]},
                            gen_chance(50) ? "a100" : "h100",
                            gen_int(1, 8),
                            static_cast<double>(gen_int(1, 1000)),
                            gen_int(1, 20)});
  }
  return observations;
}

inline Models learnt_from(const std::vector<ThroughputObservation>& observations) {
  const std::map<std::string, double> speeds = {{"a100", 1.0}, {"h100", 2.0}};
  return Models(speeds, std::make_shared<const ThroughputModel>(TypeSpeeds(speeds), observations));
}

inline Models gen_learnt() { return learnt_from(gen_observations()); }

inline ResolvedHints gen_hints() {
  ResolvedHints hints;
  hints.job_type = kJobTypes[gen_int(0, 1)];
  if (gen_chance(60)) hints.work = Work{WorkUnit::kSamples, gen_int(1, 1'000'000), 0};
  hints.sizes = GpuSizes({{1, gen_int(1, 16)}});
  if (gen_chance(20)) hints.gpu_types = {{gen_chance(50) ? "a100" : "h100"}};
  if (gen_chance(80)) hints.checkpoint.signal = SIGUSR1;
  hints.resize = gen_chance(20) ? Resize::kNone : gen_chance(50) ? Resize::kLive : Resize::kRestart;
  return hints;
}

// Running jobs on GPUs of one type, as those that Rubato starts.
inline void make_changeable(Job& job) {
  std::set<std::string> types;
  for (const NodeShare& share : job.allocation) {
    for (const GpuCount& group : share.gpus) types.insert(group.type);
  }
  if (types.size() != 1) return;
  for (const NodeShare& share : job.allocation) {
    if (share.gpus.empty()) return;
  }
  job.account = "lab";
  job.eligible = job.start;
  job.later_set = 0;
  job.hints = gen_hints();
  int gpus = 0;
  for (const NodeShare& share : job.allocation) gpus += share.gpu_count();
  job.request.gpus = gpus;
  job.hints->sizes = GpuSizes({{1, std::max(gpus, gen_int(1, 16))}});
  job.costs = {60.0 * gen_int(0, 3), 60.0 * gen_int(0, 3), 10.0 * gen_int(0, 3)};
  if (gen_chance(10)) job.starting = 30;
}

// Nodes of one type each, elastic jobs on them, and elastic jobs that wait: here most plans change
// something.
inline Snapshot elastic_jobs() {
  std::vector<std::pair<std::string, int>> nodes;
  for (int i = gen_int(1, 4); i > 0; --i)
    nodes.emplace_back(gen_chance(50) ? "a100" : "h100", gen_int(1, 8));
  Snapshot snapshot = make_cluster(nodes);
  for (int i = gen_int(1, 4); i > 0; --i) {
    const NodeIndex node{gen_int(0, static_cast<int>(nodes.size()) - 1)};
    const int free = snapshot.nodes[node].gpus.front().free;
    if (free == 0) continue;
    add_running(snapshot, {share_of(snapshot, node, gen_int(1, free))},
                gen_chance(10) ? kForever : kNow + 60 * gen_int(1, 2000));
  }
  for (int i = gen_int(0, 5); i > 0; --i) {
    Job& job = add_pending(snapshot, gen_int(1, 8), gen_chance(10) ? "a100" : "");
    job.time_limit = 60 * gen_int(1, 2000);
    job.later_set = 0;
  }
  return snapshot;
}

// In three bands of priority.
inline void make_bands(Snapshot& snapshot) {
  for (Job& job : snapshot.jobs) job.priority = static_cast<std::uint32_t>(1000 * gen_int(1, 3));
}

inline Snapshot anything() {
  const bool all_elastic = gen_chance(60);
  GenOptions options;
  options.twins = gen_chance(30);
  Snapshot snapshot = all_elastic ? elastic_jobs() : *gen_snapshot(options);
  if (gen_chance(40)) make_bands(snapshot);
  for (Job& job : snapshot.jobs) {
    if (!job.managed) continue;
    if (gen_chance(20)) job.qos = "high";
    if (job.state == JobState::kRunning) {
      make_changeable(job);
    } else if (gen_chance(80)) {
      job.account = "lab";
      if (all_elastic || gen_chance(50)) job.hints = gen_hints();
    }
  }
  return snapshot;
}

}  // namespace rubato::test
