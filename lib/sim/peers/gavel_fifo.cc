// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/gavel_fifo.h"

#include <algorithm>

namespace rubato::sim {

FifoChoice fifo_fastest(const std::vector<FifoJob>& jobs, std::vector<int> free,
                        const std::vector<TypeIndex>& by_name) {
  FifoChoice chosen;
  for (const FifoJob& job : jobs) {
    TypeIndex best;
    for (const TypeIndex type : by_name) {
      if (free[type] <= 0 || free[type] < job.gpus) continue;
      if (!best.valid() || job.throughputs[type] > job.throughputs[best]) best = type;
    }
    if (!best.valid()) break;
    if (!(job.throughputs[best] > 0)) continue;
    chosen[job.id] = best;
    free[best] -= job.gpus;
  }
  return chosen;
}

const FifoChoice& GavelFifo::choose(const std::vector<FifoJob>& jobs, std::vector<int> free,
                                    const std::vector<TypeIndex>& by_name) {
  std::deque<const FifoJob*> queue;
  for (const FifoJob& job : jobs) {
    if (!assigned_.contains(job.id)) queue.push_back(&job);
  }
  keep(jobs, free, queue);
  draw(free, queue, by_name);
  return assigned_;
}

/// Active jobs keep their type. For each job that ended, the head of the queue may take its type,
/// if the GPUs free at this point of the pass suffice.
void GavelFifo::keep(const std::vector<FifoJob>& jobs, std::vector<int>& free,
                     std::deque<const FifoJob*>& queue) {
  std::map<JobIndex, const FifoJob*> active;
  for (const FifoJob& job : jobs) active.emplace(job.id, &job);
  const FifoChoice before = assigned_;
  for (const auto& [id, type] : before) {
    if (const auto job = active.find(id); job != active.end()) {
      free[type] -= job->second->gpus;
      continue;
    }
    if (!queue.empty() && queue.front()->gpus <= free[type] &&
        queue.front()->throughputs[type] > 0) {
      assigned_[queue.front()->id] = type;
      free[type] -= queue.front()->gpus;
      queue.pop_front();
    }
    assigned_.erase(id);
  }
}

void GavelFifo::draw(std::vector<int>& free, std::deque<const FifoJob*>& queue,
                     const std::vector<TypeIndex>& by_name) {
  std::vector<TypeIndex> types;
  std::copy_if(by_name.begin(), by_name.end(), std::back_inserter(types),
               [&](TypeIndex type) { return free[type] > 0; });
  while (!queue.empty() && !types.empty()) {
    const FifoJob& job = *queue.front();
    queue.pop_front();
    std::vector<TypeIndex> fit;
    std::copy_if(types.begin(), types.end(), std::back_inserter(fit),
                 [&](TypeIndex type) { return free[type] >= job.gpus; });
    if (fit.empty()) break;
    const TypeIndex drawn = fit[random_.below(static_cast<std::uint32_t>(fit.size()))];
    const TypeIndex used = types.back();
    if (!(job.throughputs[used] > 0)) continue;
    assigned_[job.id] = used;
    free[used] -= job.gpus;
    if (free[used] == 0) std::erase(types, drawn);
  }
}

}  // namespace rubato::sim
