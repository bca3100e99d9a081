// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/guest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lib/sim/engine/job_view.h"
#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/noise.h"
#include "lib/sim/engine/policy_help.h"

namespace rubato::sim {
namespace {

/// Tolerance for a multiple of the period, relative to the period.
constexpr double kGridDust = 1e-9;
/// Maximum number of reports of a job between two decisions; the last ones are kept.
constexpr int kMaxReports = 4;

std::vector<int> counts(const std::vector<NodeGpus>& where) {
  std::vector<int> placement;
  for (const NodeGpus& part : where) placement.push_back(part.gpus);
  return placement;
}

bool same_place(const Grant& now, const Grant& grant) {
  if (!grant.holds() && !now.holds()) return true;
  return grant.type == now.type && grant.gpus == now.gpus && grant.plan == now.plan &&
         grant.cores_per_gpu == now.cores_per_gpu &&
         (grant.where.empty() || grant.where == now.where);
}

/// One flag per type: the job can run there with its request.
std::vector<char> types_of(const Suite& suite, const SimJob& job) {
  std::vector<char> can;
  for (const TypeIndex type : suite.cluster.type_indices()) {
    const bool room = job.gpus <= suite.cluster.gpus(type);
    const bool runs = may_use(job, suite.cluster, type) && room &&
                      suite.truth->throughput(job, packed(suite.cluster, type, job.gpus), 0) > 0;
    can.push_back(runs ? 1 : 0);
  }
  return can;
}

}  // namespace

Guest::Guest(const Suite& suite, Policy& policy, std::uint64_t seed, Place place)
    : suite_(suite),
      policy_(policy),
      seed_(seed),
      place_(std::move(place)),
      pool_(suite.cluster),
      states_(suite.jobs.size()) {
  for (std::size_t i = 0; i < suite.jobs.size(); ++i) {
    const SimJob& job = suite.jobs[JobIndex{i}];
    can_.push_back(types_of(suite, job));
    limits_.push_back(asked_limit(*suite.truth, suite.cluster, job, suite.limits, seed, i));
  }
}

Result<std::vector<Grant>> Guest::decide(double now, std::span<const GuestJob> active) {
  release_ended(active);
  std::vector<GuestJob> jobs(active.begin(), active.end());
  std::ranges::stable_sort(jobs, {}, [&](const GuestJob& one) {
    return std::pair(suite_.jobs[one.job].arrival, one.job);
  });
  std::vector<JobReport> reports;
  std::vector<JobView> views;
  for (const GuestJob& job : jobs) {
    advance(job, now, reports);
    views.push_back(view_of(suite_, job, states_[job.job], limits_[job.job], can_[job.job]));
  }
  const bool due = policy_.period() <= 0 || now >= next_decision_;
  if (due && !views.empty()) {
    if (const double period = policy_.period(); period > 0) {
      next_decision_ = std::floor(now / period + kGridDust) * period + period;
    }
    auto grants = ask(now, views, reports);
    if (!grants) return grants;
    if (auto made = apply(views, std::move(*grants), now); !made) {
      return tl::unexpected(made.error());
    }
  }
  std::vector<Grant> out;
  for (const GuestJob& job : active) out.push_back(states_[job.job].now);
  return out;
}

Result<std::vector<Grant>> Guest::ask(double now, const std::vector<JobView>& views,
                                      const std::vector<JobReport>& reports) {
  const std::vector<char> up = pool_.up_flags();
  const PolicyState state{now,     suite_.cluster,
                          views,   learns(policy_.information()) ? nullptr : suite_.truth.get(),
                          reports, up};
  auto grants = policy_.decide(state);
  if (grants.size() != views.size()) return fail("the policy decided for the wrong number of jobs");
  return grants;
}

void Guest::release(JobIndex job) {
  State& state = states_[job];
  pool_.give(state.now.type, state.now.where, per_gpu(suite_.jobs[job], state.now));
  state.now = {};
  state.setting = {};
  holding_.erase(job);
}

void Guest::release_ended(std::span<const GuestJob> active) {
  std::set<JobIndex> here;
  for (const GuestJob& one : active) here.insert(one.job);
  const std::set<JobIndex> before = holding_;
  for (const JobIndex job : before) {
    if (!here.contains(job)) release(job);
  }
}

void Guest::advance(const GuestJob& job, double now, std::vector<JobReport>& reports) {
  State& state = states_[job.job];
  if (!state.seen) state.waiting_since = suite_.jobs[job.job].arrival;
  state.seen = true;
  if (state.now.holds()) {
    if (policy_.hears()) report(job, state, now, reports);
    state.ran_s += now - state.since;
    state.gpu_seconds += (now - state.since) * state.now.gpus;
  }
  state.since = now;
  state.works_from = now + job.cost_left;
  state.done = job.done;
}

/// The measurements since the last decision. The loop knows the job's progress at decisions only;
/// in between it is linear once the start cost is paid.
void Guest::report(const GuestJob& job, State& state, double now,
                   std::vector<JobReport>& reports) const {
  const double every = suite_.report_s;
  if (!(every > 0)) return;
  const SimJob& of = suite_.jobs[job.job];
  const double from = std::max(state.next_report, now - kMaxReports * every);
  double time = state.next_report + std::ceil((from - state.next_report) / every) * every;
  for (; time <= now; time += every) {
    const double span = now - state.works_from;
    const double share = span > 0 ? std::clamp((time - state.works_from) / span, 0.0, 1.0) : 0;
    const double done = state.done + share * (job.done - state.done);
    JobReport seen;
    seen.job = job.job;
    seen.time = time;
    seen.done = std::min(done, of.work) * suite_.truth->samples_per_unit(of);
    seen.setting = state.setting;
    seen.seen = suite_.truth->observe(of, state.setting, done);
    seen.seen.samples_per_s *= std::exp(
        suite_.report_noise * normal_noise(seed_, static_cast<std::uint64_t>(job.job.value()),
                                           static_cast<std::uint64_t>(state.reports++)));
    reports.push_back(std::move(seen));
  }
  state.next_report = time;
}

/// Stops changed jobs first. Then starts grants that name nodes, then the others, larger ones
/// first, as the engine does.
Result<void> Guest::apply(const std::vector<JobView>& views, std::vector<Grant> grants,
                          double now) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < views.size(); ++i) {
    State& state = states_[views[i].index];
    if (same_place(state.now, grants[i])) {
      state.now.batch = state.setting.batch = grants[i].batch;
      continue;
    }
    if (state.now.holds()) {
      release(views[i].index);
      state.waiting_since = now;
    }
    if (grants[i].holds()) starts.push_back(i);
  }
  std::ranges::stable_sort(starts, {}, [&](std::size_t i) {
    return std::pair(grants[i].where.empty(), grants[i].where.empty() ? -grants[i].gpus : 0);
  });
  for (const std::size_t i : starts) {
    if (auto made = start(views[i].index, grants[i], now); !made) return made;
  }
  return {};
}

Result<void> Guest::start(JobIndex job, const Grant& grant, double now) {
  const SimJob& of = suite_.jobs[job];
  const auto no_room = [&] {
    return fail(fmt::format("at {:.0f} s job {} was granted {} GPUs of {}, where there is no room",
                            now, of.key, grant.gpus, suite_.cluster.groups[grant.type].type));
  };
  if (!grant.type.within(suite_.cluster.types())) {
    return fail(fmt::format("job {} was granted GPUs of type number {}", of.key, grant.type));
  }
  const PerGpu each = per_gpu(of, grant);
  std::optional<std::vector<NodeGpus>> where;
  if (place_) {
    where = place_(of, grant, pool_);
    if (!where) return {};
  } else {
    where = grant.where.empty() ? pool_.find(grant.type, grant.gpus, each) : grant.where;
    if (!where) return no_room();
  }
  const std::vector<int> placement = counts(*where);
  const int sum = std::accumulate(placement.begin(), placement.end(), 0);
  if (sum != grant.gpus || !pool_.take(grant.type, *where, each)) return no_room();
  State& state = states_[job];
  state.now = grant;
  state.now.where = std::move(*where);
  state.setting = {grant.type, placement, grant.batch, grant.plan};
  const double cost = state.started ? of.restart_s : of.start_s;
  state.works_from = now + cost;
  state.next_report = now + cost + suite_.report_s;
  state.started = true;
  holding_.insert(job);
  return {};
}

}  // namespace rubato::sim
