// SPDX-License-Identifier: GPL-2.0-or-later
// Records how many GPUs each job held, and for how long.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "lib/sim/engine/metrics.h"

namespace rubato::sim {

/// Makes allocation intervals from the GPUs that jobs hold.
class GpuIntervals {
 public:
  /// Does nothing unless `kept`. `nodes` false: the loop does not track nodes.
  GpuIntervals(RunMetrics& record, bool kept, bool nodes = true)
      : record_(record), kept_(kept), nodes_(nodes) {}

  /// From `time` on, the job holds exactly these GPUs on the nodes of a type.
  void set(JobIndex job, TypeIndex type, const std::vector<int>& gpus, double time) {
    if (!kept_) return;
    Held now{type, gpus, time};
    Held& before = held_[job];
    if (before.type == type && before.gpus == gpus) return;
    end(job, before, time);
    before = std::move(now);
  }

  /// Ends all open intervals.
  void close(double time) {
    for (auto& [job, held] : held_) end(job, held, time);
    held_.clear();
  }

 private:
  struct Held {
    TypeIndex type;
    std::vector<int> gpus;
    double since = 0;
  };

  void end(JobIndex job, const Held& held, double time) {
    if (held.since >= time) return;
    for (const auto n : indices<GroupNodeIndex>(held.gpus)) {
      if (held.gpus[n] == 0) continue;
      const GroupNodeIndex node = nodes_ ? n : GroupNodeIndex();
      record_.intervals.push_back({job, held.type, node, held.gpus[n], held.since, time});
    }
  }

  RunMetrics& record_;
  bool kept_;
  bool nodes_;
  std::map<JobIndex, Held> held_;
};

}  // namespace rubato::sim
