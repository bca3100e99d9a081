// SPDX-License-Identifier: GPL-2.0-or-later
// The loop of Gavel's simulator: rounds of 360 s. Jobs receive GPUs by the ratio of their share to
// the time they had. The policy recomputes shares after 1920 s at the earliest (Narayanan et al.,
// OSDI 2020, section 5; details from the simulator's behaviour).
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <tuple>

#include "lib/sim/engine/mersenne.h"
#include "lib/sim/peers/format_gavel.h"
#include "lib/sim/peers/gavel_fifo.h"
#include "lib/sim/peers/guest.h"
#include "lib/sim/policies/shares.h"

namespace rubato::sim {
namespace {

constexpr double kRound = 360;
constexpr double kRecompute = 1920;
constexpr double kBias = kRound / 2;  ///< initial time of a job on each type
constexpr int kMaxFailures = 5;
constexpr std::uint32_t kShuffleSeed = 5;  ///< added to the seed of the run

struct Active {
  JobIndex id = 0;
  int gpus = 1;
  double steps = 0;
  int failures = 0;
  std::vector<double> throughputs;
  std::vector<double> time;     ///< on each type since the last reset, plus the bias
  std::vector<double> deficit;  ///< on each type
  std::vector<double> share;    ///< empty: not yet in an allocation
  TypeIndex last_type;
};

/// Steps of a job on a type in a round.
struct Task {
  JobIndex id = 0;
  TypeIndex type = 0;
  double steps = 0;
  double finish = 0;
};

class GavelLoop {
 public:
  /// `guest`: decides instead of a policy of that name; null: none.
  GavelLoop(const Suite& suite, const std::string& policy, const RunControl& control, Guest* guest)
      : suite_(suite),
        control_(control),
        guest_(guest),
        types_(suite.cluster.types()),
        rule_(share_rule_of(policy)),
        fastest_(policy == "fifo-het"),
        fifo_(static_cast<std::uint32_t>(control.seed)),
        order_(static_cast<std::uint32_t>(control.seed) + kShuffleSeed) {
    aware_ = guest != nullptr || fastest_ || (rule_ && *rule_ != ShareRule::kLasAgnostic);
    for (const TypeIndex type : suite.cluster.type_indices()) {
      gpus_.push_back(suite.cluster.gpus(type));
      by_name_.push_back(type);
    }
    std::sort(by_name_.begin(), by_name_.end(),
              [&](TypeIndex a, TypeIndex b) { return group(a).type < group(b).type; });
    total_time_.assign(types_, 0);
    window_last_ = std::min(suite.window.last, suite.jobs.size());
    windowed_ = suite.window.first > 0 || window_last_ < suite.jobs.size();
    in_window_left_ = window_last_ - suite.window.first;
    record_.jobs.resize(suite.jobs.size());
    for (std::size_t i = 0; i < suite.jobs.size(); ++i) {
      record_.jobs[i].arrival = suite.jobs[i].arrival;
      record_.jobs[i].ideal_s = ideal_seconds(*suite.truth, suite.cluster, suite.jobs[i]);
    }
  }

  Result<RunMetrics> run() {
    now_ = suite_.jobs.empty() ? 0 : suite_.jobs.front().arrival;
    int idle = 0;
    while (!over() && idle < 3) {
      if (control_.cut(now_)) {
        record_.cut = true;
        break;
      }
      const bool arrivals = next_.within(suite_.jobs.size());
      if (!windowed_ && !arrivals && tasks_.empty()) last_reset_ = 0;
      advance();
      complete();
      admit();
      {
        const RoundTimer timer(record_.round_ms);
        const bool due = need_ && (now_ - last_reset_ >= kRecompute || last_reset_ == 0);
        if (due || now_ >= wake_) recompute();
        select();
      }
      if (!failure_.empty()) return fail(failure_);
      idle = tasks_.empty() && !arrivals ? idle + 1 : 0;  // no job can ever run
      if (control_.progress) {
        control_.progress(now_, window_size() - in_window_left_, window_size());
      }
    }
    record_.end = now_;
    return std::move(record_);
  }

 private:
  [[nodiscard]] const NodeGroup& group(TypeIndex type) const { return suite_.cluster.groups[type]; }
  [[nodiscard]] std::size_t window_size() const { return window_last_ - suite_.window.first; }
  [[nodiscard]] bool over() const {
    if (windowed_) return in_window_left_ == 0;
    return active_.empty() && !next_.within(suite_.jobs.size());
  }

  /// Advances to the end of the round, the end of its last task. If nothing runs, advances to the
  /// next arrival.
  void advance() {
    if (tasks_.empty()) {
      if (next_.within(suite_.jobs.size())) now_ = std::max(now_, suite_.jobs[next_].arrival);
      return;
    }
    double latest = 0;
    for (const Task& task : tasks_) latest = std::max(latest, task.finish);
    if (round_end_ >= 0) round_start_ = round_end_;
    now_ = round_end_ = latest;
  }

  void complete() {
    std::stable_sort(tasks_.begin(), tasks_.end(),
                     [](const Task& a, const Task& b) { return a.finish > b.finish; });
    for (const Task& task : tasks_) finish(task);
    tasks_.clear();
  }

  void finish(const Task& task) {
    Active& job = active_.at(task.id);
    const double time = task.finish - round_start_;
    // Steps are split over the workers, the last one does the rest. A worker without steps fails.
    const bool failed =
        time <= 0 || task.steps <= 0 || (job.gpus > 1 && std::floor(task.steps / job.gpus) <= 0);
    if (failed) {
      need_ = true;
      if (++job.failures >= kMaxFailures) leave(task.id, -1);
      return;
    }
    job.failures = 0;
    job.steps += task.steps;
    job.time[task.type] += time;
    total_time_[task.type] += time;
    JobResult& result = record_.jobs[task.id];
    result.gpu_seconds += time * job.gpus;
    record_.busy_gpu_seconds += time * job.gpus;
    if (control_.intervals) {
      record_.intervals.push_back({task.id, task.type, -1, job.gpus, round_start_, task.finish});
    }
    if (job.steps >= suite_.jobs[task.id].work) {
      leave(task.id, task.finish);
      need_ = true;
    }
  }

  /// Removes a job. `finish` below 0: given up.
  void leave(JobIndex id, double finish) {
    JobResult& result = record_.jobs[id];
    if (finish < 0) {
      result.dropped = true;
    } else {
      result.finish = finish;
    }
    if (suite_.window.contains(id)) --in_window_left_;
    active_.erase(id);
  }

  void admit() {
    for (; next_.within(suite_.jobs.size()) && suite_.jobs[next_].arrival <= now_; ++next_) {
      const SimJob& from = suite_.jobs[next_];
      Active job;
      job.id = next_;
      job.gpus = from.gpus;
      for (const TypeIndex type : suite_.cluster.type_indices()) {
        job.throughputs.push_back(
            suite_.truth->throughput(from, packed(suite_.cluster, type, from.gpus), 0));
      }
      job.time.assign(types_, kBias);
      job.deficit.assign(types_, 0);
      active_.emplace(job.id, std::move(job));
      need_ = true;
    }
  }

  void recompute() {
    const double since = now_ - last_reset_;
    for (const TypeIndex type : suite_.cluster.type_indices()) {
      total_time_[type] = 0;
      for (auto& [id, job] : active_) {
        const double share = job.share.empty() ? 0 : job.share[type];
        job.deficit[type] += share * since - (job.time[type] - kBias);
        job.time[type] = kBias;
        total_time_[type] += kBias;
      }
    }
    last_reset_ = now_;
    rule_ ? ask_shares() : guest_ != nullptr ? ask_guest() : ask_fifo();
    need_ = false;
  }

  void ask_shares() {
    std::vector<ShareJob> jobs;
    for (const auto& [id, job] : active_) {
      const SimJob& from = suite_.jobs[id];
      jobs.push_back({job.gpus, from.weight, from.work - job.steps, job.throughputs});
    }
    auto found = shares(*rule_, jobs, gpus_);
    std::size_t row = 0;
    for (auto& [id, job] : active_) {
      // Without a solution all jobs get equal shares.
      job.share = found ? (*found)[row] : std::vector<double>(types_, 1.0 / double(types_));
      ++row;
    }
  }

  void ask_fifo() {
    std::vector<FifoJob> jobs;
    for (const auto& [id, job] : active_) jobs.push_back({id, job.gpus, job.throughputs});
    const FifoChoice chosen =
        fastest_ ? fifo_fastest(jobs, gpus_, by_name_) : fifo_.choose(jobs, gpus_, by_name_);
    for (auto& [id, job] : active_) {
      job.share.assign(types_, 0);
      const auto type = chosen.find(id);
      if (type != chosen.end()) job.share[type->second] = 1;
    }
  }

  /// A guest's job has all of one type, or waits.
  void ask_guest() {
    std::vector<GuestJob> jobs;
    for (const auto& [id, job] : active_) {
      jobs.push_back({id, job.steps, 0, record_.jobs[id].restarts});
    }
    const auto grants = guest_->decide(now_, jobs);
    wake_ = guest_->wake(now_);
    if (!grants) failure_ = grants.error().text;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      Active& job = active_.at(jobs[i].job);
      job.share.assign(types_, 0);
      if (!grants || !(*grants)[i].holds()) continue;
      if ((*grants)[i].gpus != job.gpus) failure_ = "Gavel's rules: each job has its own size";
      job.share[(*grants)[i].type] = 1;
    }
  }

  [[nodiscard]] double priority(const Active& job, TypeIndex type) const {
    if (job.share.empty() || !(job.share[type] > 0) || !(job.throughputs[type] > 0)) return 0;
    return job.share[type] / (job.time[type] / total_time_[type]);
  }

  void select() {
    std::vector<TypeIndex> order(types_);
    std::iota(order.begin(), order.end(), TypeIndex{0});
    if (!aware_) order_.shuffle(order);
    std::set<JobIndex> taken;
    for (const TypeIndex type : order) select_on(type, taken);
    for (const Task& task : tasks_) note_start(task);
    ran_last_.clear();
    for (const Task& task : tasks_) ran_last_.insert(task.id);
  }

  void select_on(TypeIndex type, std::set<JobIndex>& taken) {
    using Key = std::tuple<double, double, double>;
    std::vector<std::pair<Key, Active*>> queue;
    for (auto& [id, job] : active_) {
      const double share = job.share.empty() ? 0 : job.share[type];
      queue.emplace_back(Key{priority(job, type), job.deficit[type], share}, &job);
    }
    std::stable_sort(queue.begin(), queue.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    int free = gpus_[type];
    for (const auto& [key, job] : queue) {
      if (free <= 0) break;
      if (taken.contains(job->id) || !(job->throughputs[type] > 0) || job->gpus > free) continue;
      if (!rule_ && !(std::get<0>(key) > 0)) continue;
      taken.insert(job->id);
      free -= job->gpus;
      if (job->share.empty()) continue;  // it arrived after the last allocation: GPUs, but no task
      const SimJob& from = suite_.jobs[job->id];
      Task task;
      task.id = job->id;
      task.type = type;
      task.steps = std::min(std::floor(job->throughputs[type] * kRound), from.work - job->steps);
      task.finish = now_ + task.steps / job->throughputs[type];
      tasks_.push_back(task);
    }
  }

  /// Counts restarts; they cost nothing here.
  void note_start(const Task& task) {
    Active& job = active_.at(task.id);
    JobResult& result = record_.jobs[task.id];
    if (result.first_start == kNever) {
      result.first_start = now_;
    } else if (!ran_last_.contains(task.id) || job.last_type != task.type) {
      ++result.restarts;
    }
    job.last_type = task.type;
  }

  const Suite& suite_;
  const RunControl& control_;
  Guest* guest_;
  double wake_ = kNever;  ///< when the guest asked to decide again
  std::string failure_;
  std::size_t types_;
  std::optional<ShareRule> rule_;
  bool fastest_;
  bool aware_ = false;
  GavelFifo fifo_;
  Mersenne order_;
  std::vector<int> gpus_;
  std::vector<TypeIndex> by_name_;
  std::map<JobIndex, Active> active_;
  std::vector<Task> tasks_;
  std::set<JobIndex> ran_last_;
  std::vector<double> total_time_;  ///< time of all jobs on a type since the last reset
  JobIndex next_ = 0;               ///< the next arrival
  std::size_t window_last_ = 0;
  std::size_t in_window_left_ = 0;
  bool windowed_ = false;
  double now_ = 0;
  double last_reset_ = 0;
  double round_start_ = 0;
  double round_end_ = -1;
  bool need_ = true;
  RunMetrics record_;
};

bool all_rigid(const Suite& suite) { return std::ranges::all_of(suite.jobs, &SimJob::rigid); }

}  // namespace

std::optional<Result<RunMetrics>> rules_gavel(const Suite& suite, const std::string& policy,
                                              const RunControl& control) {
  if (policy != "fifo" && policy != "fifo-het" && !share_rule_of(policy)) return std::nullopt;
  if (!all_rigid(suite)) return std::nullopt;
  return GavelLoop(suite, policy, control, nullptr).run();
}

Result<RunMetrics> host_gavel(const Suite& suite, Policy& policy, const RunControl& control) {
  if (!all_rigid(suite)) return fail("Gavel's rules: each job has its own size");
  Guest guest(suite, policy, control.seed);
  return GavelLoop(suite, "", control, &guest).run();
}

}  // namespace rubato::sim
