// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/rubick_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "lib/sim/peers/guest.h"
#include "lib/sim/peers/held_gpus.h"
#include "lib/sim/peers/rubick_nodes.h"
#include "lib/sim/peers/rubick_policy.h"

namespace rubato::sim {
namespace {

constexpr double kRound = 60;
constexpr double kRestart = 260;

struct State {
  const RubickKind* kind = nullptr;
  double work = 0;            ///< iterations
  double done = 0;            ///< whole iterations
  double into_iteration = 0;  ///< seconds
  double iteration = 0;       ///< seconds
  double delay = 0;
  std::vector<int> shape;  ///< GPUs per used node, in node order
  std::vector<int> gpus;   ///< GPUs on each node of the cluster
  bool seen = false;
};

class Loop {
 public:
  /// `guest`: decides instead of Rubick's policy; null: none.
  Loop(const JobList& jobs, const ClusterShape& cluster, const RubickTimes& times, bool phantom,
       const RunControl& control, Guest* guest)
      : jobs_(jobs),
        cluster_(cluster),
        times_(times),
        phantom_(phantom),
        control_(control),
        guest_(guest) {}

  Result<RunMetrics> run() {
    if (cluster_.types() != 1 || cluster_.groups[0].gpus_per_node > 8) {
      return fail("cluster: expected one type of GPU, with at most 8 GPUs per node");
    }
    for (const SimJob& job : jobs_) {
      const auto kind = rubick_kind(job.model);
      if (!kind) return fail(fmt::format("job {}: {}", job.key, kind.error().text));
      State state;
      state.kind = *kind;
      state.work = job.work;
      state.gpus.assign(cluster_.groups[0].node_count(), 0);
      states_.push_back(std::move(state));
      record_.jobs.push_back({.arrival = job.arrival});
    }
    GpuIntervals held(record_, control_.intervals);
    std::size_t finished = 0;
    double clock = 0;
    while (finished < jobs_.size()) {
      if (control_.cut(clock)) {
        record_.cut = true;
        break;
      }
      for (const auto j : indices<JobIndex>(states_)) finished += advance(j, clock) ? 1 : 0;
      clock += kRound;
      if (auto decided = decide(clock, held); !decided) return tl::unexpected(decided.error());
      if (control_.progress) {
        control_.progress(clock, finished, jobs_.size());
      }
    }
    held.close(clock);
    record_.end = clock;
    return std::move(record_);
  }

 private:
  /// Simulates a round from `clock` on. True: the job finished in it.
  bool advance(JobIndex j, double clock) {
    State& s = states_[j];
    JobResult& result = record_.jobs[j];
    if (s.shape.empty() || result.finished()) return false;
    const int gpus = std::accumulate(s.shape.begin(), s.shape.end(), 0);
    result.gpu_seconds += kRound * gpus;
    double left = kRound;
    const double waited = std::min(s.delay, left);
    s.delay -= waited;
    left -= waited;
    while (left > 0 && s.done < s.work) {
      const double rest = s.iteration - s.into_iteration;
      if (left < rest) {
        s.into_iteration += left;
        left = 0;
      } else {
        left -= rest;
        s.into_iteration = 0;
        ++s.done;
      }
    }
    record_.busy_gpu_seconds += (kRound - left) * gpus;
    if (s.done < s.work) return false;
    result.finish = clock + kRound - left;
    s.shape.clear();
    std::ranges::fill(s.gpus, 0);
    return true;
  }

  Result<void> decide(double clock, GpuIntervals& held) {
    std::vector<JobIndex> active;
    for (const auto j : indices<JobIndex>(states_)) {
      if (jobs_[j].arrival <= clock && !record_.jobs[j].finished()) active.push_back(j);
    }
    if (guest_ != nullptr) {
      if (auto decided = ask_guest(active, clock); !decided) return decided;
    } else {
      ask_rubick(active, clock);
    }
    for (const JobIndex j : active) {
      if (auto taken = take(j, clock); !taken) return taken;
    }
    for (const auto j : indices<JobIndex>(states_)) held.set(j, 0, states_[j].gpus, clock);
    return {};
  }

  void ask_rubick(const std::vector<JobIndex>& active, double clock) {
    std::vector<RubickView> views;
    for (const JobIndex j : active) {
      State& s = states_[j];
      views.push_back({s.kind, clock - jobs_[j].arrival, record_.jobs[j].restarts,
                       std::exchange(s.seen, true), s.gpus, promised(j)});
    }
    {
      const RoundTimer timer(record_.round_ms);
      rubick_round(views, cluster_.groups[0].gpus_per_node);
    }
    for (std::size_t i = 0; i < active.size(); ++i) states_[active[i]].gpus = views[i].gpus;
  }

  Result<void> ask_guest(const std::vector<JobIndex>& active, double clock) {
    if (active.empty()) return {};
    std::vector<GuestJob> jobs;
    for (const JobIndex j : active) {
      const State& s = states_[j];
      const double part = s.iteration > 0 ? s.into_iteration / s.iteration : 0;
      jobs.push_back({j, s.done + part, s.delay, record_.jobs[j].restarts});
    }
    const RoundTimer timer(record_.round_ms);
    const auto grants = guest_->decide(clock, jobs);
    if (!grants) return tl::unexpected(grants.error());
    for (std::size_t i = 0; i < active.size(); ++i) {
      std::vector<int>& gpus = states_[active[i]].gpus;
      std::ranges::fill(gpus, 0);
      for (const NodeGpus& part : (*grants)[i].where) gpus[part.node.value()] = part.gpus;
    }
    return {};
  }

  /// The measured throughput of a guaranteed job as requested: its plan and GPUs, on one node. The
  /// predicted one if that was not measured. 0: not guaranteed.
  [[nodiscard]] double promised(JobIndex j) const {
    const SimJob& job = jobs_[j];
    if (!job.guaranteed) return 0;
    const RubickKind& kind = *states_[j].kind;
    const auto seconds = times_.asked(job.model, job.plan, job.gpus);
    return seconds ? kind.batch / *seconds : kind.throughput(std::min(job.gpus, 8));
  }

  /// Applies the shape of the job's new GPUs.
  Result<void> take(JobIndex j, double clock) {
    State& s = states_[j];
    std::vector<int> shape;
    std::ranges::copy_if(s.gpus, std::back_inserter(shape), [](int gpus) { return gpus > 0; });
    if (shape == s.shape || (shape.empty() && phantom_)) return {};
    s.shape = std::move(shape);
    if (s.shape.empty()) return {};
    const auto seconds =
        times_.seconds(jobs_[j].model, {static_cast<int>(s.shape.size()), s.shape.front()});
    if (!seconds) return tl::unexpected(seconds.error());
    s.iteration = *seconds;
    s.delay = kRestart;
    JobResult& result = record_.jobs[j];
    if (result.first_start < kNever) {
      ++result.restarts;
    } else {
      result.first_start = clock;
    }
    return {};
  }

  const JobList& jobs_;
  const ClusterShape& cluster_;
  const RubickTimes& times_;
  bool phantom_;
  const RunControl& control_;
  Guest* guest_;
  std::vector<State> states_;
  RunMetrics record_;
};

}  // namespace

Result<RunMetrics> replay_rubick(const JobList& jobs, const ClusterShape& cluster,
                                 const RubickTimes& times, bool phantom,
                                 const RunControl& control) {
  return Loop(jobs, cluster, times, phantom, control, nullptr).run();
}

Result<RunMetrics> replay_rubick_guest(const Suite& suite, const RubickTimes& times, Policy& policy,
                                       const RunControl& control) {
  Guest guest(suite, policy, control.seed,
              [&times](const SimJob& job, const Grant& grant, NodePool& pool) {
                return rubick_nodes(times, job, grant, pool);
              });
  return Loop(suite.jobs, suite.cluster, times, false, control, &guest).run();
}

}  // namespace rubato::sim
