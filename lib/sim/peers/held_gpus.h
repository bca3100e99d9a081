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
  void set(std::size_t job, int type, const std::vector<int>& gpus, double time) {
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
    int type = -1;
    std::vector<int> gpus;
    double since = 0;
  };

  void end(std::size_t job, const Held& held, double time) {
    if (held.since >= time) return;
    for (std::size_t n = 0; n < held.gpus.size(); ++n) {
      if (held.gpus[n] == 0) continue;
      const int node = nodes_ ? static_cast<int>(n) : -1;
      record_.intervals.push_back(
          {static_cast<int>(job), held.type, node, held.gpus[n], held.since, time});
    }
  }

  RunMetrics& record_;
  bool kept_;
  bool nodes_;
  std::map<std::size_t, Held> held_;
};

}  // namespace rubato::sim
