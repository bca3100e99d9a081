// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/gavel_fifo.h"

#include <algorithm>

namespace rubato::sim {
namespace {

int& at(std::vector<int>& free, int type) { return free[static_cast<std::size_t>(type)]; }
double throughput_of(const FifoJob& job, int type) {
  return job.throughputs[static_cast<std::size_t>(type)];
}

}  // namespace

FifoChoice fifo_fastest(const std::vector<FifoJob>& jobs, std::vector<int> free,
                        const std::vector<int>& by_name) {
  FifoChoice chosen;
  for (const FifoJob& job : jobs) {
    int best = -1;
    for (const int type : by_name) {
      if (at(free, type) <= 0 || at(free, type) < job.gpus) continue;
      if (best < 0 || throughput_of(job, type) > throughput_of(job, best)) best = type;
    }
    if (best < 0) break;
    if (!(throughput_of(job, best) > 0)) continue;
    chosen[job.id] = best;
    at(free, best) -= job.gpus;
  }
  return chosen;
}

const FifoChoice& GavelFifo::choose(const std::vector<FifoJob>& jobs, std::vector<int> free,
                                    const std::vector<int>& by_name) {
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
  std::map<int, const FifoJob*> active;
  for (const FifoJob& job : jobs) active.emplace(job.id, &job);
  const FifoChoice before = assigned_;
  for (const auto& [id, type] : before) {
    if (const auto job = active.find(id); job != active.end()) {
      at(free, type) -= job->second->gpus;
      continue;
    }
    if (!queue.empty() && queue.front()->gpus <= at(free, type) &&
        throughput_of(*queue.front(), type) > 0) {
      assigned_[queue.front()->id] = type;
      at(free, type) -= queue.front()->gpus;
      queue.pop_front();
    }
    assigned_.erase(id);
  }
}

void GavelFifo::draw(std::vector<int>& free, std::deque<const FifoJob*>& queue,
                     const std::vector<int>& by_name) {
  std::vector<int> types;
  std::copy_if(by_name.begin(), by_name.end(), std::back_inserter(types),
               [&](int type) { return at(free, type) > 0; });
  while (!queue.empty() && !types.empty()) {
    const FifoJob& job = *queue.front();
    queue.pop_front();
    std::vector<int> fit;
    std::copy_if(types.begin(), types.end(), std::back_inserter(fit),
                 [&](int type) { return at(free, type) >= job.gpus; });
    if (fit.empty()) break;
    const int drawn = fit[random_.below(static_cast<std::uint32_t>(fit.size()))];
    const int used = types.back();
    if (!(throughput_of(job, used) > 0)) continue;
    assigned_[job.id] = used;
    at(free, used) -= job.gpus;
    if (at(free, used) == 0) std::erase(types, drawn);
  }
}

}  // namespace rubato::sim
