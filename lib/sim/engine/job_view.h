// SPDX-License-Identifier: GPL-2.0-or-later
// The view that a policy gets of a job, made by the engine and by the loop of a guest.
#pragma once

#include <span>

#include "lib/sim/engine/policy.h"
#include "lib/sim/engine/suite.h"

namespace rubato::sim {

/// `job` has the work done, the remaining start cost and the restarts; `held` the grant, and what
/// the job held so far. `limit`: s; `can`: a flag per GPU type. All must outlive the view.
template <class Job, class Held>
[[nodiscard]] JobView view_of(const Suite& suite, const Job& job, const Held& held, double limit,
                              std::span<const char> can) {
  JobView view;
  view.index = job.job;
  view.job = &suite.jobs[job.job];
  view.done = job.done;
  view.ran_s = held.ran_s;
  view.gpu_seconds = held.gpu_seconds;
  view.waiting_since = held.waiting_since;
  view.cost_left = job.cost_left;
  view.restarts = job.restarts;
  view.started = held.started;
  view.now = held.now;
  view.samples = view.job->work * suite.truth->samples_per_unit(*view.job);
  view.limit = limit;
  view.can = can;
  return view;
}

}  // namespace rubato::sim
