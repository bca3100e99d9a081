// SPDX-License-Identifier: GPL-2.0-or-later
// A policy of the engine that decides in the loop of a peer's simulator: it gets the views and the
// reports that the engine would give it. The loop says when it decides and what a start costs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "lib/base/error.h"
#include "lib/sim/engine/node_pool.h"
#include "lib/sim/engine/policy.h"
#include "lib/sim/engine/suite.h"

namespace rubato::sim {

/// A submitted, unfinished job in the loop.
struct GuestJob {
  JobIndex job = 0;
  double done = 0;       ///< part of SimJob::work
  double cost_left = 0;  ///< remaining start cost, s
  int restarts = 0;
};

class Guest {
 public:
  /// The nodes for a grant by the loop's own rules; nullopt: the job waits until the next decision.
  using Place =
      std::function<std::optional<std::vector<NodeGpus>>(const SimJob&, const Grant&, NodePool&)>;

  /// `suite` and `policy` must outlive the guest. Without `place`, the policy's nodes are used, and
  /// a grant that names none is placed as in the engine.
  Guest(const Suite& suite, Policy& policy, std::uint64_t seed, Place place = {});

  /// Decides at `now`, which never goes back. Returns one grant per entry of `active`, in that
  /// order; grants that hold GPUs name their nodes. Grants are valid until the next call. Fails if
  /// a grant does not fit; the error names the policy's mistake.
  [[nodiscard]] Result<std::vector<Grant>> decide(double now, std::span<const GuestJob> active);
  /// When a policy that moves_jobs() asks to decide again after a decision at `now`, whatever
  /// happens; kNever for others.
  [[nodiscard]] double wake(double now) const {
    return policy_.moves_jobs() ? policy_.wake(now) : kNever;
  }
  /// The job's grant since the last decision.
  [[nodiscard]] const Grant& grant(JobIndex job) const { return states_[job].now; }

 private:
  struct State {
    Grant now;
    Setting setting;
    double since = 0;       ///< time of `done`
    double works_from = 0;  ///< `since`, or the end of its start cost
    double done = 0;
    double ran_s = 0;
    double gpu_seconds = 0;
    double waiting_since = 0;
    double next_report = 0;
    int reports = 0;
    bool seen = false;
    bool started = false;
  };

  void advance(const GuestJob& job, double now, std::vector<JobReport>& reports);
  void report(const GuestJob& job, State& state, double now, std::vector<JobReport>& reports) const;
  void release(JobIndex job);
  void release_ended(std::span<const GuestJob> active);
  [[nodiscard]] Result<std::vector<Grant>> ask(double now, const std::vector<JobView>& views,
                                               const std::vector<JobReport>& reports);
  [[nodiscard]] Result<void> apply(const std::vector<JobView>& views, std::vector<Grant> grants,
                                   double now);
  [[nodiscard]] Result<void> start(JobIndex job, const Grant& grant, double now);

  const Suite& suite_;
  Policy& policy_;
  std::uint64_t seed_;
  Place place_;
  NodePool pool_;
  std::vector<std::vector<char>> can_;
  std::vector<double> limits_;
  std::vector<State> states_;   ///< of each job of the suite
  std::set<JobIndex> holding_;  ///< jobs with GPUs
  double next_decision_ = 0;    ///< of a policy with a period
};

}  // namespace rubato::sim
