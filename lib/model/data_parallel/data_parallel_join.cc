// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

#include "lib/base/statistics.h"
#include "lib/model/data_parallel/data_parallel_fit.h"

namespace rubato::data_parallel {
namespace {

// Bounds of the time of a training step, seconds.
constexpr double kMinSeconds = 1e-9;
constexpr double kMaxSeconds = 1e9;

auto key(const DataParallelConfiguration& at) {
  return std::tuple(at.nodes, at.gpus, at.local_batch);
}

bool usable(const DataParallelSample& s) {
  return valid(s.at) && s.step_time >= kMinSeconds && s.step_time <= kMaxSeconds;
}

// Keeps evenly spaced entries of the list, which is sorted by nodes, GPUs and batch, with the first
// and the last.
void thin(std::vector<StepObservation>& measured, std::size_t most) {
  std::vector<StepObservation> kept;
  for (std::size_t i = 0; i < most; ++i) {
    kept.push_back(measured[i * (measured.size() - 1) / (most - 1)]);
  }
  measured = std::move(kept);
}

}  // namespace

std::vector<StepObservation> join(std::span<const DataParallelSample> samples, std::size_t most,
                                  std::vector<DataParallelFlag>& flags) {
  std::vector<DataParallelSample> sorted;
  std::ranges::copy_if(samples, std::back_inserter(sorted), usable);
  if (sorted.size() < samples.size()) flags.push_back(DataParallelFlag::kDropped);
  const bool outside = std::ranges::any_of(sorted, [](const DataParallelSample& s) {
    return s.sync_time && !(*s.sync_time >= 0 && *s.sync_time < s.step_time);
  });
  if (outside) flags.push_back(DataParallelFlag::kSyncOutside);
  std::ranges::sort(sorted, {}, [](const DataParallelSample& s) { return key(s.at); });
  std::vector<StepObservation> measured;
  for (auto from = sorted.begin(); from != sorted.end();) {
    const auto to =
        std::find_if(from, sorted.end(), [&](const auto& s) { return key(s.at) != key(from->at); });
    StepObservation m;
    m.at = from->at;
    std::vector<double> steps;
    std::vector<double> passes;
    for (auto s = from; s != to; ++s) {
      steps.push_back(std::log(s->step_time));
      if (outside || !s->sync_time) continue;
      passes.push_back(std::log(std::max(s->step_time - *s->sync_time, kMinSeconds)));
    }
    m.samples = steps.size();
    m.log_step = median(steps);
    for (const double step : steps) {
      m.disagreement = std::max(m.disagreement, std::abs(step - m.log_step));
    }
    if (!passes.empty()) m.log_pass = median(passes);
    measured.push_back(m);
    from = to;
  }
  if (measured.size() > most) {
    thin(measured, most);
    flags.push_back(DataParallelFlag::kThinned);
  }
  return measured;
}

}  // namespace rubato::data_parallel
