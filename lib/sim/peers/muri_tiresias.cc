// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/muri_tiresias.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "lib/sim/peers/held_gpus.h"

namespace rubato::sim {
namespace {

/// A job with this many GPU-seconds moves to the next queue. The last queue has no limit.
constexpr std::array<double, 2> kLimits{3250, 7200};
constexpr std::size_t kQueues = kLimits.size() + 1;

/// Seconds on 1, 2, 4, 8, 16, 32 GPUs.
using Overheads = std::array<double, 6>;

const Overheads& overheads(const std::string& model) {
  static const std::map<std::string, Overheads> table = {
      {"vgg16", {7, 7, 8, 9, 9, 10}},    {"vgg19", {7, 7, 8, 9, 10, 10}},
      {"resnet18", {4, 5, 5, 7, 7, 7}},  {"shufflenet_v2_x1_0", {4, 4, 5, 5, 7, 8}},
      {"a2c", {38, 39, 39, 46, 46, 46}}, {"dqn", {5, 5, 6, 6, 8, 8}},
  };
  static const Overheads other{10, 10, 10, 10, 10, 10};
  const auto at = table.find(model);
  return at == table.end() ? other : at->second;
}

struct State {
  double iteration = 0;
  double overhead = 0;
  double remaining = 0;  ///< iterations
  double served = 0;     ///< seconds with GPUs
  double checked = 0;
  std::size_t queue = 0;
  bool running = false;
};

class Loop {
 public:
  Loop(const JobList& jobs, int gpus, const RunControl& control)
      : jobs_(jobs), gpus_(gpus), control_(control), held_(record_, control.intervals, false) {
    for (const SimJob& job : jobs) {
      State state;
      state.iteration = muri_iteration(job);
      state.overhead = muri_overhead(job);
      state.remaining = job.work;
      states_.push_back(state);
      record_.jobs.push_back({.arrival = job.arrival});
    }
    coming_.resize(jobs.size());
    std::iota(coming_.begin(), coming_.end(), JobIndex{0});
    std::ranges::stable_sort(coming_, {}, [&](JobIndex j) { return jobs[j].arrival; });
  }

  RunMetrics run() {
    double now = 0;
    while (true) {
      // NOLINTNEXTLINE(bugprone-narrowing-conversions): kNever is a double, an infinite one
      const double arrival = next_ < coming_.size() ? jobs_[coming_[next_]].arrival : kNever;
      const double event = std::min({arrival, completion_, jump_});
      if (event == kNever) break;
      if (control_.cut(event)) {
        record_.cut = true;
        break;
      }
      now = event;
      if (event == completion_) complete(now);
      while (next_ < coming_.size() && jobs_[coming_[next_]].arrival == now) {
        queues_[0].push_back(coming_[next_]);
        system_.push_back(coming_[next_]);
        states_[coming_[next_++]].checked = now;
      }
      account(now);
      {
        const RoundTimer timer(record_.round_ms);
        choose(now);
      }
      look_ahead(now);
      if (control_.progress) {
        control_.progress(now, finished_, jobs_.size());
      }
    }
    held_.close(now);
    record_.end = now;
    return std::move(record_);
  }

 private:
  void complete(double now) {
    for (const JobIndex j : ending_) {
      states_[j].running = false;
      const double held = (now - states_[j].checked) * jobs_[j].gpus;
      record_.jobs[j].gpu_seconds += held;
      record_.busy_gpu_seconds += held;
      record_.jobs[j].finish = now;
      held_.set(j, 0, {}, now);
      std::erase(system_, j);
      std::erase(queues_[states_[j].queue], j);
      ++finished_;
    }
  }

  /// Adds service and progress since the last event, and moves jobs to lower queues.
  void account(double now) {
    for (const JobIndex j : system_) {
      State& s = states_[j];
      const double passed = now - std::exchange(s.checked, now);
      if (!s.running) continue;
      s.remaining -= std::max(passed - s.overhead, 0.0) / s.iteration;
      s.served += passed;
      record_.jobs[j].gpu_seconds += passed * jobs_[j].gpus;
      record_.busy_gpu_seconds += passed * jobs_[j].gpus;
      if (s.queue >= kLimits.size() || s.served * jobs_[j].gpus < kLimits[s.queue]) continue;
      std::erase(queues_[s.queue], j);
      queues_[++s.queue].push_back(j);
    }
  }

  void choose(double now) {
    int free = gpus_;
    for (auto& queue : queues_) {
      for (const JobIndex j : queue) {
        const bool runs = jobs_[j].gpus <= free;
        if (runs) free -= jobs_[j].gpus;
        set_running(j, runs, now);
      }
      std::stable_partition(queue.begin(), queue.end(),
                            [&](JobIndex j) { return states_[j].running; });
    }
  }

  void set_running(JobIndex j, bool runs, double now) {
    if (runs == states_[j].running) return;
    states_[j].running = runs;
    if (control_.intervals)
      held_.set(j, 0, runs ? std::vector<int>{jobs_[j].gpus} : std::vector<int>{}, now);
    if (!runs) return;
    JobResult& result = record_.jobs[j];
    if (result.first_start < kNever) {
      ++result.restarts;
    } else {
      result.first_start = now;
    }
  }

  void look_ahead(double now) {
    completion_ = jump_ = kNever;
    ending_.clear();
    for (const auto& queue : queues_) {
      for (const JobIndex j : queue) {
        const State& s = states_[j];
        if (!s.running) continue;
        const double end = now + s.remaining * s.iteration;
        if (end < completion_) ending_.clear();
        completion_ = std::min(completion_, end);
        if (end == completion_) ending_.push_back(j);
        if (s.queue >= kLimits.size()) continue;
        jump_ = std::min(jump_, now + std::ceil(kLimits[s.queue] / jobs_[j].gpus) - s.served);
      }
    }
    // Rounding of service must not stop the clock.
    if (jump_ <= now) jump_ = std::nextafter(now, kNever);
  }

  const JobList& jobs_;
  int gpus_;
  const RunControl& control_;
  RunMetrics record_;
  GpuIntervals held_;
  std::vector<State> states_;
  std::vector<JobIndex> coming_;  ///< sorted by arrival
  std::size_t next_ = 0;          ///< index into coming_
  std::vector<JobIndex> system_;  ///< arrived and unfinished, sorted by arrival
  std::array<std::vector<JobIndex>, kQueues> queues_;
  std::vector<JobIndex> ending_;  ///< jobs that end at completion_
  double completion_ = kNever;
  double jump_ = kNever;
  std::size_t finished_ = 0;
};

}  // namespace

double muri_overhead(const SimJob& job) {
  std::size_t at = 0;
  while (at < 5 && (2 << at) <= job.gpus) ++at;
  return overheads(job.model)[at];
}

double muri_iteration(const SimJob& job) {
  const std::string& text = job.more.at("iteration_time");
  double ms = 0;
  std::from_chars(text.data(), text.data() + text.size(), ms);
  return ms / 1000 * kMuriSlowdown;
}

RunMetrics replay_muri_tiresias(const JobList& jobs, const ClusterShape& cluster,
                                const RunControl& control) {
  return Loop(jobs, cluster.gpus(), control).run();
}

}  // namespace rubato::sim
