// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/engine/run_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lib/sim/engine/job_view.h"
#include "lib/sim/engine/noise.h"
#include "lib/sim/engine/policy_help.h"

namespace rubato::sim {
namespace {

/// Remaining work below this fraction of the total is a rounding error.
constexpr double kDust = 1e-12;
/// Maximum number of reports of a job between two decisions; the last ones are kept.
constexpr int kMaxReports = 4;

std::vector<int> counts(const std::vector<NodeGpus>& where) {
  std::vector<int> placement;
  placement.reserve(where.size());
  for (const NodeGpus& part : where) placement.push_back(part.gpus);
  return placement;
}

bool same_place(const RunningJob& one, const Grant& grant) {
  if (!grant.holds() && !one.now.holds()) return true;
  return grant.type == one.now.type && grant.gpus == one.now.gpus && grant.plan == one.now.plan &&
         grant.cores_per_gpu == one.now.cores_per_gpu &&
         (grant.where.empty() || grant.where == one.now.where);
}

}  // namespace

RunState::RunState(const Suite& suite, std::uint64_t seed, bool intervals)
    : suite_(suite), seed_(seed), intervals_(intervals), pool_(suite.cluster) {
  record_.jobs.resize(suite.jobs.size());
  for (std::size_t i = 0; i < suite.jobs.size(); ++i) {
    record_.jobs[i].arrival = suite.jobs[i].arrival;
    record_.jobs[i].ideal_s = ideal_seconds(*suite.truth, suite.cluster, suite.jobs[i]);
    can_.push_back(types_of(suite.jobs[i]));
    limits_.push_back(
        asked_limit(*suite.truth, suite.cluster, suite.jobs[i], suite.limits, seed, i));
  }
  const std::size_t last = std::min(suite.window.last, suite.jobs.size());
  window_jobs_ = last - std::min(suite.window.first, last);
  window_left_ = window_jobs_;
}

/// One flag per type: the job can run there with its request.
std::vector<char> RunState::types_of(const SimJob& job) const {
  std::vector<char> can;
  for (const TypeIndex type : suite_.cluster.type_indices()) {
    const bool room = job.gpus <= suite_.cluster.gpus(type);
    const bool runs = may_use(job, suite_.cluster, type) && room &&
                      suite_.truth->throughput(job, packed(suite_.cluster, type, job.gpus), 0) > 0;
    can.push_back(runs ? 1 : 0);
  }
  return can;
}

PerGpu RunState::per_gpu(const RunningJob& one, const Grant& grant) const {
  const SimJob& job = job_of(one);
  return {grant.cores_per_gpu >= 0 ? grant.cores_per_gpu : job.cores_per_gpu, job.memory_per_gpu};
}

bool RunState::anyone_moves() const {
  return std::any_of(active_.begin(), active_.end(),
                     [](const RunningJob& one) { return one.now.holds() && one.next < kNever; });
}

double RunState::next_change() const {
  double next = kNever;
  for (const RunningJob& one : active_) next = std::min(next, one.next);
  return next;
}

void RunState::arrive(JobIndex job) {
  RunningJob one;
  one.job = job;
  one.since = now_;
  one.waiting_since = now_;
  active_.push_back(std::move(one));
}

void RunState::resume() {
  std::vector<RunningJob*> jobs;
  for (RunningJob& one : active_) {
    if (job_of(one).running_since && !one.started) jobs.push_back(&one);
  }
  std::ranges::stable_sort(jobs, {}, [&](const RunningJob* one) { return -job_of(*one).gpus; });
  for (RunningJob* one : jobs) resume(*one);
}

void RunState::resume(RunningJob& one) {
  const SimJob& job = job_of(one);
  for (const TypeIndex type : suite_.cluster.type_indices()) {
    if (can_[one.job][type] == 0) continue;
    Grant grant{type, job.gpus, {}, 0, ""};
    auto where = pool_.find(type, job.gpus, per_gpu(one, grant));
    if (!where) continue;
    const Setting setting{type, counts(*where), 0, ""};
    if (!(suite_.truth->throughput(job, setting, 0) > 0)) continue;
    grant.where = std::move(*where);
    if (!start(one, grant, false)) continue;
    result_of(one).first_start = *job.running_since;
    one.ran_s = now_ - *job.running_since;
    one.cost_left = 0;
    one.done = std::min(one.ran_s * one.throughput, job.work);
    one.samples = one.ran_s * one.samples_per_s;
    set_speed(one);
    return;
  }
}

void RunState::set_node(TypeIndex type, GroupNodeIndex node, bool up) {
  pool_.set_up(type, node, up);
  if (up) return;
  for (RunningJob& one : active_) {
    if (!one.now.holds() || one.now.type != type) continue;
    const bool there = std::any_of(one.now.where.begin(), one.now.where.end(),
                                   [node](const NodeGpus& part) { return part.node == node; });
    if (there) stop(one);
  }
}

bool RunState::advance_due() {
  bool any = false;
  for (RunningJob& one : active_) {
    if (one.next > now_) continue;
    advance(one);
    const SimJob& job = job_of(one);
    if (one.done >= job.work * (1 - kDust)) {
      end(one, true);
    } else if (one.ran_s >= job.time_limit * (1 - kDust)) {
      end(one, false);
    } else {
      set_speed(one);
    }
    any = any || one.ended;
  }
  std::erase_if(active_, [](const RunningJob& one) { return one.ended; });
  return any;
}

/// Advances `one` to the current time.
void RunState::advance(RunningJob& one) const {
  const double time = now_ - one.since;
  one.since = now_;
  if (!one.now.holds()) return;
  one.ran_s += time;
  one.gpu_seconds += time * one.now.gpus;
  const double cost = std::min(one.cost_left, time);
  one.cost_left -= cost;
  one.done = std::min(one.done + (time - cost) * one.throughput, job_of(one).work);
  one.samples += (time - cost) * one.samples_per_s;
  // An event that is due now has happened, whatever rounding says.
  if (one.next <= now_ && one.until > one.done) one.done = one.until;
}

void RunState::set_speed(RunningJob& one) const {
  one.next = kNever;
  one.until = 0;
  if (!one.now.holds()) return;
  const SimJob& job = job_of(one);
  one.throughput = suite_.truth->throughput(job, one.setting, one.done);
  one.samples_per_s = suite_.truth->observe(job, one.setting, one.done).samples_per_s;
  if (one.throughput > 0) {
    one.until = std::min(job.work, suite_.truth->next_change(job, one.done));
    if (!(one.until > one.done)) one.until = job.work;
    one.next = now_ + one.cost_left + (one.until - one.done) / one.throughput;
  }
  const double limit = now_ + (job.time_limit - one.ran_s);
  if (limit < one.next) {
    one.next = std::max(limit, now_);
    one.until = 0;
  }
}

void RunState::stop(RunningJob& one) {
  advance(one);
  close(one, record_);
  pool_.give(one.now.type, one.now.where, per_gpu(one, one.now));
  one.now = {};
  one.setting = {};
  one.cost_left = 0;
  one.waiting_since = now_;
  one.next = kNever;
}

void RunState::end(RunningJob& one, bool finished) {
  stop(one);
  one.ended = true;
  record_.last_end = now_;
  note(one, record_);
  JobResult& result = result_of(one);
  if (finished) {
    result.finish = now_;
  } else {
    result.dropped = true;
  }
  if (suite_.window.contains(one.job)) --window_left_;
}

void RunState::note(const RunningJob& one, RunMetrics& record) const {
  JobResult& result = record.jobs[one.job];
  result.restarts = one.restarts;
  result.gpu_seconds = one.gpu_seconds;
}

/// Closes the open allocation intervals of `one` at the current time.
void RunState::close(const RunningJob& one, RunMetrics& record) const {
  if (!one.now.holds() || now_ <= one.held_from) return;
  record.busy_gpu_seconds += (now_ - one.held_from) * one.now.gpus;
  if (!intervals_) return;
  for (const NodeGpus& part : one.now.where) {
    record.intervals.push_back({one.job, one.now.type, part.node, part.gpus, one.held_from, now_});
  }
}

RunMetrics RunState::record() const {
  RunMetrics record = record_;
  record.end = now_;
  for (RunningJob one : active_) {
    advance(one);
    close(one, record);
    note(one, record);
  }
  return record;
}

std::vector<JobView> RunState::look(bool hears, std::vector<JobReport>& reports) {
  std::vector<JobView> views;
  for (RunningJob& one : active_) {
    if (hears) report(one, reports);
    advance(one);
    views.push_back(view_of(suite_, one, one, limits_[one.job], can_[one.job]));
  }
  return views;
}

/// Faster steps by the noise are more samples/s by it: a job takes both from the same clock.
void RunState::add_noise(RunningJob& one, Observation& seen) const {
  const auto draw = [&](std::uint64_t seed) {
    return std::exp(suite_.report_noise * normal_noise(seed,
                                                       static_cast<std::uint64_t>(one.job.value()),
                                                       static_cast<std::uint64_t>(one.reports)));
  };
  const double faster = draw(seed_);
  seen.samples_per_s *= faster;
  seen.step_s /= faster;
  seen.sync_s /= faster;
  seen.noise *= draw(mix_bits(seed_));
  ++one.reports;
}

/// Adds the measurements since the last decision, each with its own time.
void RunState::report(RunningJob& one, std::vector<JobReport>& reports) const {
  if (!one.now.holds() || !(suite_.report_s > 0)) return;
  const SimJob& job = job_of(one);
  const double from = std::max(one.next_report, now_ - kMaxReports * suite_.report_s);
  double time =
      one.next_report + std::ceil((from - one.next_report) / suite_.report_s) * suite_.report_s;
  while (time <= now_) {
    const double worked = std::max(0.0, time - one.since - one.cost_left);
    JobReport seen;
    seen.job = one.job;
    seen.time = time;
    const double since = time >= one.since ? worked : 0;
    seen.done = one.samples + since * one.samples_per_s;
    seen.useful =
        std::min(one.done + since * one.throughput, job.work) * suite_.truth->samples_per_unit(job);
    seen.setting = one.setting;
    seen.seen = suite_.truth->observe(job, one.setting, one.done);
    add_noise(one, seen.seen);
    reports.push_back(std::move(seen));
    time += suite_.report_s;
  }
  one.next_report = time;
}

/// Stops changed jobs first. Then starts grants that name nodes, then the others, larger ones
/// first.
Result<void> RunState::apply(const std::vector<Grant>& grants) {
  if (grants.size() != active_.size())
    return fail("the policy decided for the wrong number of jobs");
  struct Start {
    std::size_t at = 0;
    bool resized = false;  ///< it had an allocation until now
  };
  std::vector<Start> starts;
  for (std::size_t i = 0; i < active_.size(); ++i) {
    RunningJob& one = active_[i];
    const Grant& grant = grants[i];
    if (same_place(one, grant)) {
      if (auto kept = keep(one, grant); !kept) return kept;
      continue;
    }
    const bool held = one.now.holds();
    if (held) stop(one);
    if (grant.holds()) starts.push_back({i, held});
  }
  std::stable_sort(starts.begin(), starts.end(), [&](const Start& a, const Start& b) {
    const bool fixed_a = !grants[a.at].where.empty();
    const bool fixed_b = !grants[b.at].where.empty();
    return fixed_a != fixed_b ? fixed_a : grants[a.at].gpus > grants[b.at].gpus;
  });
  for (const Start& one : starts) {
    if (auto made = start(active_[one.at], grants[one.at], one.resized); !made) return made;
  }
  return {};
}

Result<void> RunState::keep(RunningJob& one, const Grant& grant) const {
  if (!one.now.holds() || one.now.batch == grant.batch) return {};
  one.now.batch = one.setting.batch = grant.batch;
  set_speed(one);
  return check_choice(one);
}

Result<void> RunState::start(RunningJob& one, const Grant& grant, bool resized) {
  const SimJob& job = job_of(one);
  std::vector<NodeGpus> where = grant.where;
  if (!grant.type.within(suite_.cluster.types())) {
    return fail(fmt::format("job {} was granted GPUs of type number {}", job.key, grant.type));
  }
  if (where.empty()) {
    auto found = pool_.find(grant.type, grant.gpus, per_gpu(one, grant));
    if (!found) return no_room(job, grant);
    where = std::move(*found);
  }
  const std::vector<int> placement = counts(where);
  const int sum = std::accumulate(placement.begin(), placement.end(), 0);
  if (sum != grant.gpus || !pool_.take(grant.type, where, per_gpu(one, grant))) {
    return no_room(job, grant);
  }
  one.now = grant;
  one.now.where = std::move(where);
  one.now.restarts = false;
  one.setting = {grant.type, placement, grant.batch, grant.plan};
  if (!one.started) {
    one.cost_left = job.start_s;
    result_of(one).first_start = now_;
  } else {
    const bool live = resized && job.resize_s >= 0 && !grant.restarts;
    one.cost_left = live ? job.resize_s : job.restart_s;
    ++one.restarts;
  }
  one.started = true;
  one.held_from = one.since = now_;
  one.next_report = now_ + one.cost_left + suite_.report_s;
  set_speed(one);
  return check_choice(one);
}

Result<void> RunState::check_choice(const RunningJob& one) const {
  const SimJob& job = job_of(one);
  const Setting& chosen = one.setting;
  if (one.throughput > 0 || (chosen.plan.empty() && !(chosen.batch > 0))) return {};
  const std::vector<std::string> plans = suite_.truth->plans(job, chosen);
  std::string choices;
  if (!chosen.plan.empty() && !plans.empty())
    choices = fmt::format("; its plans there are {}", fmt::join(plans, ", "));
  if (chosen.batch > 0 && job.max_batch > 0)
    choices += fmt::format("; its batches are {:.0f} to {:.0f}", job.min_batch, job.max_batch);
  return fail(fmt::format(
      "at {:.0f} s job {} was granted plan '{}' and batch {:.0f} on {} GPUs of {}, with which it "
      "cannot run{}",
      now_, job.key, chosen.plan, chosen.batch, chosen.gpus(),
      suite_.cluster.groups[chosen.type].type, choices));
}

tl::unexpected<Error> RunState::no_room(const SimJob& job, const Grant& grant) const {
  return fail(fmt::format("at {:.0f} s job {} was granted {} GPUs of {}, where there is no room",
                          now_, job.key, grant.gpus, suite_.cluster.groups[grant.type].type));
}

}  // namespace rubato::sim
