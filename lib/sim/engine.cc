// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "lib/sim/node_pool.h"
#include "lib/sim/noise.h"

namespace rubato::sim {
namespace {

/// Work left below this share of the whole is rounding.
constexpr double kDust = 1e-12;
/// A multiple of the period is met so closely.
constexpr double kGridDust = 1e-9;
/// Policy::wake() from here on is no wish.
constexpr double kNoWish = 1e299;
/// Most reports of a job between two decisions: the last ones.
constexpr int kMostReports = 4;
/// Rounds in a row in which a policy leaves every job waiting and nothing else can happen.
constexpr int kMostIdle = 1000;

struct Running {
  int job = 0;
  double done = 0;
  double cost_left = 0;
  double since = 0;      ///< done and cost_left are of this time
  double rate = 0;       ///< units a second once the cost is paid
  double next = kNever;  ///< its next event: end, change of speed, time limit
  double until = 0;      ///< work done at that event
  double ran_s = 0;
  double gpu_seconds = 0;
  double waiting_since = 0;
  double held_from = 0;  ///< of the segments that are open
  double next_report = kNever;
  int reports = 0;
  int restarts = 0;
  bool started = false;
  bool ended = false;
  Grant now;
  Setting setting;
};

std::vector<int> counts(const std::vector<NodeGpus>& where) {
  std::vector<int> placement;
  for (const NodeGpus& part : where) placement.push_back(part.gpus);
  return placement;
}

}  // namespace

class Engine::Impl {
 public:
  Impl(const Suite& suite, Policy& policy, std::uint64_t seed, bool segments)
      : suite_(suite), policy_(policy), seed_(seed), segments_(segments), pool_(suite.cluster) {
    coming_.resize(suite.jobs.size());
    std::iota(coming_.begin(), coming_.end(), 0);
    std::stable_sort(coming_.begin(), coming_.end(),
                     [&](int a, int b) { return job_of(a).arrival < job_of(b).arrival; });
    record_.jobs.resize(suite.jobs.size());
    for (std::size_t i = 0; i < suite.jobs.size(); ++i) {
      record_.jobs[i].arrival = suite.jobs[i].arrival;
      record_.jobs[i].ideal_s = ideal_seconds(*suite.truth, suite.cluster, suite.jobs[i]);
      can_.push_back(types_of(suite.jobs[i]));
    }
    const std::size_t last = std::min(suite.window.last, suite.jobs.size());
    window_jobs_ = static_cast<int>(last - std::min(suite.window.first, last));
    window_left_ = window_jobs_;
  }

  Result<bool> run(const RunControl& control) {
    record_.cut = false;
    int idle = 0;
    while (window_left_ > 0) {
      const double next = next_event();
      if (next == kNever) break;
      if (control.cut(next)) {
        record_.cut = true;
        break;
      }
      const bool waiting_only = next_ >= coming_.size() && nobody_moves();
      idle = waiting_only ? idle + 1 : 0;
      if (idle > kMostIdle) break;
      now_ = next;
      const bool changed = happen();
      if (auto made = decide_if_due(changed); !made) return tl::unexpected(made.error());
      if (control.progress) control.progress(now_, window_jobs_ - window_left_, window_jobs_);
    }
    return !record_.cut;
  }

  [[nodiscard]] RunRecord record() const {
    RunRecord record = record_;
    record.end = now_;
    record.learned = policy_.information() == Information::kLearned;
    for (const Running& one : active_) {
      Running copy = one;
      close(copy, record);
      note(copy, record);
    }
    return record;
  }

 private:
  [[nodiscard]] const SimJob& job_of(int index) const {
    return suite_.jobs[static_cast<std::size_t>(index)];
  }
  /// A flag a type: it can run there with what it requests.
  [[nodiscard]] std::vector<char> types_of(const SimJob& job) const {
    std::vector<char> can;
    for (int type = 0; type < suite_.cluster.types(); ++type) {
      const std::string& name = suite_.cluster.groups[static_cast<std::size_t>(type)].type;
      const bool may = job.types.empty() ||
                       std::find(job.types.begin(), job.types.end(), name) != job.types.end();
      const bool room = job.gpus <= suite_.cluster.gpus(type);
      can.push_back(may && room &&
                    suite_.truth->rate(job, packed(suite_.cluster, type, job.gpus), 0) > 0);
    }
    return can;
  }
  [[nodiscard]] PerGpu per_gpu(int index) const {
    return {job_of(index).cores_per_gpu, job_of(index).memory_per_gpu};
  }
  /// Nothing runs, or only what makes no progress where it is.
  [[nodiscard]] bool nobody_moves() const {
    return next_node_ >= suite_.node_events.size() &&
           std::none_of(active_.begin(), active_.end(),
                        [](const Running& one) { return one.now.holds() && one.next < kNever; });
  }

  /// The next multiple of `step` that is not over at `time`.
  static double grid_time(double time, double step) {
    return std::ceil(time / step - kGridDust) * step;
  }

  [[nodiscard]] double next_event() const {
    double next = kNever;
    if (next_ < coming_.size()) next = std::min(next, job_of(coming_[next_]).arrival);
    if (next_node_ < suite_.node_events.size()) {
      next = std::min(next, suite_.node_events[next_node_].time);
    }
    for (const Running& one : active_) next = std::min(next, one.next);
    return std::max(std::min(next, next_decision_), now_);
  }

  /// All that happens now. True: something that policies are asked about.
  bool happen() {
    bool changed = false;
    for (; next_node_ < suite_.node_events.size() && suite_.node_events[next_node_].time <= now_;
         ++next_node_) {
      const NodeEvent& event = suite_.node_events[next_node_];
      pool_.set_up(event.type, event.node, event.up);
      if (!event.up) evict(event.type, event.node);
      changed = true;
    }
    for (Running& one : active_) {
      if (one.next > now_) continue;
      advance(one);
      const SimJob& job = job_of(one.job);
      if (one.done >= job.work * (1 - kDust)) {
        end(one, true);
      } else if (one.ran_s >= job.time_limit * (1 - kDust)) {
        end(one, false);
      } else {
        set_speed(one);
        continue;
      }
      changed = true;
    }
    std::erase_if(active_, [](const Running& one) { return one.ended; });
    for (; next_ < coming_.size() && job_of(coming_[next_]).arrival <= now_; ++next_) {
      Running one;
      one.job = coming_[next_];
      one.since = now_;
      one.waiting_since = now_;
      active_.push_back(std::move(one));
      changed = true;
    }
    return changed;
  }

  void evict(int type, int node) {
    for (Running& one : active_) {
      if (!one.now.holds() || one.now.type != type) continue;
      const bool there = std::any_of(one.now.where.begin(), one.now.where.end(),
                                     [node](const NodeGpus& part) { return part.node == node; });
      if (there) stop(one);
    }
  }

  /// Brings `one` up to now.
  void advance(Running& one) const {
    const double time = now_ - one.since;
    one.since = now_;
    if (!one.now.holds()) return;
    one.ran_s += time;
    one.gpu_seconds += time * one.now.gpus;
    const double cost = std::min(one.cost_left, time);
    one.cost_left -= cost;
    one.done = std::min(one.done + (time - cost) * one.rate, job_of(one.job).work);
    // What was meant to end or change now has done so, whatever the rounding says.
    if (one.next <= now_ && one.until > one.done) one.done = one.until;
  }

  void set_speed(Running& one) const {
    one.next = kNever;
    one.until = 0;
    if (!one.now.holds()) return;
    const SimJob& job = job_of(one.job);
    one.rate = suite_.truth->rate(job, one.setting, one.done);
    if (one.rate > 0) {
      one.until = std::min(job.work, suite_.truth->next_change(job, one.done));
      if (!(one.until > one.done)) one.until = job.work;
      one.next = now_ + one.cost_left + (one.until - one.done) / one.rate;
    }
    const double limit = now_ + (job.time_limit - one.ran_s);
    if (limit < one.next) {
      one.next = std::max(limit, now_);
      one.until = 0;
    }
  }

  void stop(Running& one) {
    advance(one);
    close(one, record_);
    pool_.give(one.now.type, one.now.where, per_gpu(one.job));
    one.now = {};
    one.setting = {};
    one.cost_left = 0;
    one.waiting_since = now_;
    one.next = kNever;
  }

  void end(Running& one, bool finished) {
    stop(one);
    one.ended = true;
    note(one, record_);
    JobResult& result = record_.jobs[static_cast<std::size_t>(one.job)];
    if (finished) {
      result.finish = now_;
    } else {
      result.dropped = true;
    }
    const auto index = static_cast<std::size_t>(one.job);
    if (index >= suite_.window.first && index < suite_.window.last) --window_left_;
  }

  void note(const Running& one, RunRecord& record) const {
    JobResult& result = record.jobs[static_cast<std::size_t>(one.job)];
    result.restarts = one.restarts;
    result.gpu_seconds = one.gpu_seconds;
  }

  /// The segments of what `one` holds end now.
  void close(const Running& one, RunRecord& record) const {
    if (!one.now.holds() || now_ <= one.held_from) return;
    record.busy_gpu_seconds += (now_ - one.held_from) * one.now.gpus;
    if (!segments_) return;
    for (const NodeGpus& part : one.now.where) {
      record.segments.push_back({one.job, one.now.type, part.node, part.gpus, one.held_from, now_});
    }
  }

  Result<void> decide_if_due(bool changed) {
    const double period = policy_.period() > 0 ? policy_.period() : suite_.grid;
    if (period > 0) {
      if (active_.empty()) {
        next_decision_ = kNever;
        return {};
      }
      if (next_decision_ == kNever) next_decision_ = grid_time(now_, period);
      if (now_ < next_decision_) return {};
      next_decision_ = std::floor(now_ / period + kGridDust) * period + period;
      return decide();
    }
    if (!changed && now_ < next_decision_) return {};
    auto made = decide();
    const double wish = policy_.wake(now_);
    next_decision_ = wish > now_ && wish < kNoWish ? wish : kNever;
    return made;
  }

  [[nodiscard]] JobView view_of(const Running& one) const {
    const SimJob& job = job_of(one.job);
    JobView view;
    view.index = one.job;
    view.job = &job;
    view.done = one.done;
    view.ran_s = one.ran_s;
    view.gpu_seconds = one.gpu_seconds;
    view.waiting_since = one.waiting_since;
    view.cost_left = one.cost_left;
    view.restarts = one.restarts;
    view.started = one.started;
    view.now = one.now;
    view.samples = job.work * suite_.truth->samples_per_unit(job);
    view.can = can_[static_cast<std::size_t>(one.job)];
    return view;
  }

  Result<void> decide() {
    std::vector<JobView> views;
    std::vector<Report> reports;
    const bool learns = policy_.information() == Information::kLearned;
    const bool hears = policy_.hears();
    for (Running& one : active_) {
      if (hears) report(one, reports);
      advance(one);
      views.push_back(view_of(one));
    }
    const std::vector<char> up = pool_.up_flags();
    const PolicyState state{
        now_, suite_.cluster, views, learns ? nullptr : suite_.truth.get(), reports, up};
    std::vector<Grant> grants;
    {
      const RoundTimer timer(record_.round_ms);
      grants = policy_.decide(state);
    }
    if (grants.size() != active_.size()) return fail("the policy answered for other jobs");
    return apply(grants);
  }

  /// What it measured since the last decision, at its own times.
  void report(Running& one, std::vector<Report>& reports) const {
    if (!one.now.holds() || !(suite_.report_s > 0)) return;
    const SimJob& job = job_of(one.job);
    const double from = std::max(one.next_report, now_ - kMostReports * suite_.report_s);
    double time =
        one.next_report + std::ceil((from - one.next_report) / suite_.report_s) * suite_.report_s;
    for (; time <= now_; time += suite_.report_s) {
      const double worked = std::max(0.0, time - one.since - one.cost_left);
      Report seen;
      seen.job = one.job;
      seen.time = time;
      const double done = time >= one.since ? one.done + worked * one.rate : one.done;
      seen.done = std::min(done, job.work) * suite_.truth->samples_per_unit(job);
      seen.setting = one.setting;
      seen.seen = suite_.truth->observe(job, one.setting, one.done);
      seen.seen.samples_per_s *=
          std::exp(suite_.report_noise * normal_noise(seed_, static_cast<std::uint64_t>(one.job),
                                                      static_cast<std::uint64_t>(one.reports++)));
      reports.push_back(std::move(seen));
    }
    one.next_report = time;
  }

  /// First all that give something up, then those that stay, then the others by size.
  Result<void> apply(const std::vector<Grant>& grants) {
    std::vector<std::size_t> starts;
    for (std::size_t i = 0; i < active_.size(); ++i) {
      Running& one = active_[i];
      const Grant& grant = grants[i];
      if (same_place(one, grant)) {
        keep(one, grant);
        continue;
      }
      was_running_.insert_or_assign(one.job, one.now.holds());
      if (one.now.holds()) stop(one);
      if (grant.holds()) starts.push_back(i);
    }
    std::stable_sort(starts.begin(), starts.end(), [&](std::size_t a, std::size_t b) {
      const bool fixed_a = !grants[a].where.empty();
      const bool fixed_b = !grants[b].where.empty();
      return fixed_a != fixed_b ? fixed_a : grants[a].gpus > grants[b].gpus;
    });
    for (const std::size_t i : starts) {
      if (auto made = start(active_[i], grants[i]); !made) return made;
    }
    was_running_.clear();
    return {};
  }

  [[nodiscard]] static bool same_place(const Running& one, const Grant& grant) {
    if (!grant.holds() && !one.now.holds()) return true;
    return grant.type == one.now.type && grant.gpus == one.now.gpus && grant.plan == one.now.plan &&
           (grant.where.empty() || grant.where == one.now.where);
  }

  void keep(Running& one, const Grant& grant) const {
    if (!one.now.holds() || one.now.batch == grant.batch) return;
    one.now.batch = one.setting.batch = grant.batch;
    set_speed(one);
  }

  Result<void> start(Running& one, const Grant& grant) {
    const SimJob& job = job_of(one.job);
    std::vector<NodeGpus> where = grant.where;
    if (grant.type < 0 || grant.type >= suite_.cluster.types()) {
      return fail(fmt::format("job {} was granted GPUs of type number {}", job.key, grant.type));
    }
    if (where.empty()) {
      auto found = pool_.find(grant.type, grant.gpus, per_gpu(one.job));
      if (!found) return no_room(job, grant);
      where = std::move(*found);
    }
    const std::vector<int> placement = counts(where);
    const int sum = std::accumulate(placement.begin(), placement.end(), 0);
    if (sum != grant.gpus || !pool_.take(grant.type, where, per_gpu(one.job))) {
      return no_room(job, grant);
    }
    const bool resized = was_running_[one.job];
    one.now = grant;
    one.now.where = std::move(where);
    one.setting = {grant.type, placement, grant.batch, grant.plan};
    if (!one.started) {
      one.cost_left = job.start_s;
      record_.jobs[static_cast<std::size_t>(one.job)].first_start = now_;
    } else {
      one.cost_left = resized && job.resize_s >= 0 ? job.resize_s : job.restart_s;
      ++one.restarts;
    }
    one.started = true;
    one.held_from = one.since = now_;
    one.next_report = now_ + one.cost_left + suite_.report_s;
    set_speed(one);
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> no_room(const SimJob& job, const Grant& grant) const {
    return fail(fmt::format("at {:.0f} s job {} was granted {} GPUs of {}, where there is no room",
                            now_, job.key, grant.gpus,
                            suite_.cluster.groups[static_cast<std::size_t>(grant.type)].type));
  }

  const Suite& suite_;
  Policy& policy_;
  std::uint64_t seed_;
  bool segments_;
  NodePool pool_;
  std::vector<int> coming_;  ///< by arrival
  std::vector<std::vector<char>> can_;
  std::size_t next_ = 0;
  std::size_t next_node_ = 0;
  std::vector<Running> active_;  ///< by arrival
  std::map<int, bool> was_running_;
  double now_ = 0;
  double next_decision_ = kNever;
  int window_jobs_ = 0;
  int window_left_ = 0;
  RunRecord record_;
};

Engine::Engine(const Suite& suite, Policy& policy, std::uint64_t seed, bool segments)
    : impl_(std::make_unique<Impl>(suite, policy, seed, segments)) {}
Engine::~Engine() = default;

Result<bool> Engine::run(const RunControl& control) { return impl_->run(control); }
RunRecord Engine::record() const { return impl_->record(); }

Result<RunRecord> run_engine(const Suite& suite, Policy& policy, const RunControl& control) {
  Engine engine(suite, policy, control.seed, control.segments);
  const auto done = engine.run(control);
  if (!done) return tl::unexpected(done.error());
  return engine.record();
}

}  // namespace rubato::sim
