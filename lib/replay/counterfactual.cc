// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/replay/counterfactual.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "lib/json/job_annotation.h"
#include "lib/policy/algorithms/forecast.h"
#include "lib/policy/algorithms/job_forecast.h"
#include "lib/replay/simulate.h"
#include "lib/store/run_text.h"

namespace rubato {
namespace {

using RunKey = std::pair<JobKey, Seconds>;  ///< job, and the time it became eligible

/// Of the replay in mode elastic, which decides about running jobs too: a minute or two.
constexpr sim::SimulationBounds kElasticBounds{
    .max_rounds = 30'000, .max_decisions = 1'000'000, .changes = true};

constexpr double kLongest = 1e15;  ///< seconds

/// One recorded run.
struct Real {
  Seconds start = 0;
  Seconds enters = 0;
  Seconds end = 0;
  bool ended = false;  ///< if false, `end` is unknown
  bool managed = false;
  bool compared = false;  ///< managed, started in this mode in this period, with a known end
  bool consents = false;  ///< to changes while it runs
  std::string account;
  HeldGpus held;
  ProfileName profile;  ///< no job type: no profile
};

class Estimate {
 public:
  Estimate(const Snapshot& now, const Models& models, const Config& config, Seconds from)
      : models_(models), config_(config) {
    workload_.cluster = now;
    workload_.cluster.memory = {};
    workload_.cluster.memory.statements = now.memory.statements;
    workload_.cluster.memory.works = now.memory.works;
    workload_.cluster.memory.change_costs = now.memory.change_costs;
    workload_.cluster.windows.clear();  // of now, not of then
    gain_.mode = config.mode;
    for (const Job& job : now.jobs)
      if (job.state == JobState::kRunning) running_.emplace(job.key, job.start);
    gain_.from = workload_.begin = from;
    gain_.until = now.taken;
  }

  CounterfactualEstimate run(const std::vector<RecordedRun>& runs) {
    for (const RecordedRun& one : runs) take(one);
    if (std::ranges::none_of(real_, [](const auto& one) { return one.second.compared; }))
      return std::move(gain_);
    const auto place = replay(Mode::kPlace, {});
    gain_.complete = gain_.elastic_complete = place.complete;
    if (!gain_.complete) return std::move(gain_);
    const auto elastic = replay(Mode::kElastic, kElasticBounds);
    gain_.elastic_complete = elastic.complete;
    compare(place, elastic);
    return std::move(gain_);
  }

 private:
  sim::SimulationOutcome replay(Mode mode, const sim::SimulationBounds& bounds) {
    config_.mode = mode;
    auto outcome = sim::simulate(
        workload_, models_, config_,
        [this](const Job& job, const Start& start) { return run_time(job, start); }, bounds);
    gain_.rounds += outcome.rounds;
    return outcome;
  }

  void leave_out(const char* why) { ++gain_.left_out[why]; }

  [[nodiscard]] bool runs_now(const RecordedRun& one) const {
    const auto at = running_.find(one.job);
    return at != running_.end() && at->second == one.start;
  }

  void take(const RecordedRun& one) {
    if (one.end != 0 && one.end <= gain_.from) return;
    ++gain_.runs;
    if (one.end == 0 && !runs_now(one)) return leave_out("the end was not seen");
    auto job = sim::run_from_text(one.text, workload_.cluster);
    if (!job) return leave_out("the request is not kept, or its nodes are gone");
    job->key = one.job;
    Real real;
    real.start = one.start;
    real.enters = std::min(one.enters, one.start);
    real.end = one.end;
    real.ended = one.end != 0;
    real.managed = job->managed;
    real.held = held_gpus(job->allocation);
    real.profile = profile_of(*job, config_);
    real.consents = hints_change(*job);
    real.account = job->account;
    if (one.start < gain_.from) {  // it runs at the start of the period
      workload_.holders.push_back({*job, real.ended ? one.end : job->end_limit});
      if (real.managed) leave_out("started before");
      return;
    }
    Seconds enters = std::max(real.enters, gain_.from);
    while (real_.contains({one.job, enters})) ++enters;  // requeued within a second
    if (real.managed) {
      const char* why = not_compared(one, real);
      real.compared = why == nullptr;
      if (!real.compared) leave_out(why);
    } else {
      ++gain_.beside;
    }
    workload_.arrivals.push_back({std::move(*job), enters});
    real_[{one.job, enters}] = std::move(real);
  }

  /// Why a managed run is replayed but not compared; null if it is compared.
  [[nodiscard]] const char* not_compared(const RecordedRun& one, const Real& real) const {
    const std::optional<Mode> mode = sim::mode_of_run(one.text);
    if (!mode) return "mode not recorded";
    if (*mode != gain_.mode)
      return gain_.mode == Mode::kObserve ? "started while Rubato placed"
                                          : "started in another mode";
    return real.ended ? nullptr : "still running";
  }

  [[nodiscard]] const Real& real_of(const Job& job) const {
    return real_.at({job.key, job.eligible});
  }

  /// ln of the ratio of run times, simulated start over recorded one; 0 if unknown.
  [[nodiscard]] double longer(const Real& real, const HeldGpus& got) const {
    const ThroughputModel* throughput_model = models_.throughput_model();
    if (throughput_model == nullptr || real.profile.job_type.empty() || got == real.held) return 0;
    if (real.held.gpus < 1 || got.gpus < 1) return 0;
    const Forecast ratio = throughput_model->ratio(real.profile, {real.held.type, real.held.gpus},
                                                   {got.type, got.gpus});
    return ratio.known_profile ? ratio.log_throughput : 0;
  }

  [[nodiscard]] Seconds run_time(const Job& job, const Start& start) const {
    const Real& real = real_of(job);
    if (!real.ended) return job.time_limit;
    const Seconds took = real.end - real.start;
    if (took >= job.time_limit) return job.time_limit;  // it ended at its time limit
    const double scaled =
        static_cast<double>(took) * std::exp(longer(real, held_gpus(start.shares)));
    return std::llround(std::min(scaled, kLongest));
  }

  using Played = std::map<RunKey, const sim::CompletedRun*>;

  /// Runs of an outcome that ended, by the runs that were recorded.
  [[nodiscard]] Played played(const sim::SimulationOutcome& outcome) const {
    std::map<JobKey, std::vector<const sim::CompletedRun*>> runs;
    for (const sim::CompletedRun& run : outcome.runs) runs[run.job].push_back(&run);
    std::map<JobKey, std::size_t> seen;
    Played played;
    for (const auto& [key, real] : real_) {  // by job, then time, the order of the simulation
      const auto& of_job = runs[key.first];
      const std::size_t number = seen[key.first]++;
      if (number < of_job.size() && of_job[number]->end > 0) played.emplace(key, of_job[number]);
    }
    return played;
  }

  void compare(const sim::SimulationOutcome& place, const sim::SimulationOutcome& elastic) {
    const Played placed = played(place);
    const Played changed = played(elastic);
    std::map<std::string, InterruptedAccount> accounts;
    std::int64_t never = 0;
    for (const auto& [key, real] : real_) {
      if (!real.compared) continue;
      const auto one = placed.find(key);
      const auto other = changed.find(key);
      const bool both = other != changed.end() || !gain_.elastic_complete;
      if (one == placed.end() || !both) {
        ++never;
        continue;
      }
      add(real, *one->second, key.second);
      if (!gain_.elastic_complete) continue;
      add_times(gain_.elastic, other->second->start, other->second->end, key.second);
      add(real, *other->second, accounts[real.account]);
    }
    if (never > 0) gain_.left_out["never ended in the estimate"] = never;
    for (auto& [name, account] : accounts) {
      account.account = name;
      gain_.accounts.push_back(std::move(account));
    }
    if (gain_.compared == 0) return;
    const auto jobs = static_cast<double>(gain_.compared);
    for (CounterfactualSide* side : {&gain_.observed, &gain_.place, &gain_.elastic}) {
      side->wait /= jobs;
      side->jct /= jobs;
    }
  }

  static void add_times(CounterfactualSide& side, Seconds start, Seconds end, Seconds enters) {
    side.wait += static_cast<double>(start - enters);
    side.jct += static_cast<double>(end - enters);
  }

  void add(const Real& real, const sim::CompletedRun& placed, Seconds enters) {
    ++gain_.compared;
    const HeldGpus got = held_gpus(placed.shares);
    if (got != real.held) ++gain_.moved;
    if (longer(real, got) != 0) ++gain_.rescaled;
    add_times(gain_.observed, real.start, real.end, enters);
    add_times(gain_.place, placed.start, placed.end, enters);
  }

  static void add(const Real& real, const sim::CompletedRun& run, InterruptedAccount& account) {
    ++account.runs;
    if (real.consents) ++account.consenting;
    if (run.restarts > 0) ++account.interrupted;
    account.restarts += run.restarts;
    account.resizes += run.resizes;
  }

  const Models& models_;
  Config config_;
  sim::SimulationInput workload_;
  std::map<JobKey, Seconds> running_;
  std::map<RunKey, Real> real_;
  CounterfactualEstimate gain_;
};

}  // namespace

CounterfactualEstimate estimate_counterfactual(const Snapshot& now,
                                               const std::vector<RecordedRun>& runs,
                                               const Models& models, const Config& config,
                                               Seconds from) {
  const std::size_t skipped =
      runs.size() > kMaxCounterfactualRuns ? runs.size() - kMaxCounterfactualRuns : 0;
  if (skipped > 0) from = std::max(from, runs[skipped].start);
  return Estimate(now, models, config, from).run(runs);
}

const std::vector<std::string>& counterfactual_assumptions() {
  // Each literal has its own brackets, so that a missing comma is an error.
  static const std::vector<std::string> sentences{
      {"the nodes were all the time as they are now, and first starts and ends cost no time"},
      {"a job enters when Slurm would have let it start: what held it back until then (a "
       "dependency, a hold, a limit, a licence) would have held it back as long"},
      {"it runs as long as it did, on another GPU type or at another size as much longer or "
       "shorter as the model of its job type says, and never beyond its time limit; without a "
       "profile as long as it did"},
      {"it is decided with what is known now of every job type, also for runs that began before it "
       "was measured"},
      {"mode elastic changes only jobs whose hints consent, and each change costs what it was "
       "measured to cost, else RestartCost or ResizeCost; it decides when a job enters or ends, "
       "and "
       "every ten minutes while jobs wait; each job is taken to run a step that hears its signal"},
      {"jobs that still run go on to their time limits; jobs that never ran are not in it"},
      {"jobs that Rubato does not manage start as it would start them for Slurm, in Slurm's "
       "order"}};
  return sentences;
}

}  // namespace rubato
