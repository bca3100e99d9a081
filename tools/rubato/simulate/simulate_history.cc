// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/simulate/simulate_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/base/statistics.h"
#include "lib/sim/formats/format_sacct.h"

namespace rubato::tools {
namespace {

constexpr const char* kStock = "backfill";

/// "3 jobs", "1 job".
std::string count(int number, const char* one, const char* many) {
  return fmt::format("{} {}", number, number == 1 ? one : many);
}

std::string left_out(const sim::SacctHistory& history) {
  return fmt::format("Excluded: {} without GPUs, {} that never started, {} of zero length, {}.",
                     count(history.without_gpus, "job", "jobs"), history.unfinished, history.empty,
                     count(history.steps, "step", "steps"));
}

double mean_jct(const std::vector<sim::JobResult>& jobs) {
  double sum = 0;
  for (const sim::JobResult& job : jobs) sum += job.jct();
  return jobs.empty() ? 0 : sum / static_cast<double>(jobs.size());
}

/// Median difference between the starts of `run` and the real ones, s.
double start_difference(const std::vector<sim::JobResult>& run,
                        const std::vector<sim::JobResult>& real) {
  std::vector<double> off;
  for (std::size_t i = 0; i < run.size(); ++i) {
    off.push_back(std::abs(run[i].first_start - real[i].first_start));
  }
  return percentile(off, 0.5);
}

/// Maximum number of GPUs held at once.
int max_held(const std::vector<sim::AllocationInterval>& intervals) {
  std::vector<std::pair<double, int>> steps;
  for (const sim::AllocationInterval& one : intervals) {
    steps.emplace_back(one.from, one.gpus);
    steps.emplace_back(one.to, -one.gpus);
  }
  std::sort(steps.begin(), steps.end());
  int now = 0;
  int most = 0;
  for (const auto& [time, step] : steps) most = std::max(most, now += step);
  return most;
}

std::string fidelity(const SimulatedRun& run, const SimulatedRun& real) {
  if (run.record.cut) {
    return "The replay of stock Slurm was cut short: its error against the real history is "
           "unknown.";
  }
  if (!run.waits || !real.waits) {
    return "No job of the history can run on this cluster: the error of the replay is unknown.";
  }
  const double here = run.waits->mean_s;
  const double there = real.waits->mean_s;
  // Compares means only over the same jobs.
  std::vector<sim::JobResult> ended;
  std::vector<sim::JobResult> really;
  std::vector<sim::JobResult> started;
  std::vector<sim::JobResult> really_started;
  for (std::size_t i = 0; i < run.record.jobs.size(); ++i) {
    const sim::JobResult& one = run.record.jobs[i];
    const sim::JobResult& other = real.record.jobs[i];
    if (other.first_start < 0) continue;
    if (one.finished() && other.finished()) ended.push_back(one), really.push_back(other);
    if (one.first_start < sim::kNever && other.first_start < sim::kNever) {
      started.push_back(one);
      really_started.push_back(other);
    }
  }
  if (started.empty()) {
    return "No job started in the replay of stock Slurm: its error against the real history is "
           "unknown.";
  }
  const std::string off = there > 0 ? fmt::format("{:+.1f} %", (here / there - 1) * 100)
                                    : fmt::format("{:+.1f} s", here - there);
  const std::string completion = ended.empty()
                                     ? ""
                                     : fmt::format(", {:+.1f} % in completion time",
                                                   (mean_jct(ended) / mean_jct(really) - 1) * 100);
  return fmt::format(
      "The replay of stock Slurm ({}) differs by {} from the real history in the time waited: mean "
      "{} against {}{}; half of the jobs start within {} of their real start.",
      kStock, off, time_text(here), time_text(there), completion,
      time_text(start_difference(started, really_started)));
}

/// How the jobs at its begin and end are treated.
std::string edges(const sim::SacctHistory& history) {
  std::string text;
  if (history.running_at_begin + history.waiting_at_begin > 0) {
    text = fmt::format(
        "Running when the history begins: {} (GPUs kept, not compared); waiting then: {}.",
        count(history.running_at_begin, "job", "jobs"), history.waiting_at_begin);
  }
  if (history.running_at_end + history.waiting_at_end > 0) {
    text += fmt::format("{}Running when it ends: {}; waiting then: {}; the replay stops there.",
                        text.empty() ? "" : " ", count(history.running_at_end, "job", "jobs"),
                        history.waiting_at_end);
  }
  return text;
}

}  // namespace

SimulatedRun real_run(const sim::Suite& suite) {
  SimulatedRun run;
  run.suite = suite.name;
  run.policy = "(real)";
  run.record.jobs = sim::history_of(suite)->real;
  run.record.jobs.resize(suite.jobs.size());  // --jobs
  for (const auto i : indices<sim::JobIndex>(run.record.jobs)) {
    sim::JobResult& job = run.record.jobs[i];
    const sim::SimJob& from = suite.jobs[i];
    const double end = std::min(job.finish, suite.horizon);
    if (job.finished()) run.record.end = std::max(run.record.end, end);
    run.record.busy_gpu_seconds += job.gpu_seconds;
    if (!(job.first_start < sim::kNever)) continue;
    sim::TypeIndex type;
    if (from.types.size() == 1) type = suite.cluster.type_of(from.types.front());
    if (suite.cluster.types() == 1) type = 0;
    run.record.intervals.push_back({i, type, -1, from.gpus, std::max(job.first_start, 0.0), end});
  }
  if (suite.horizon < sim::kNoHorizon) run.record.end = suite.horizon;
  run.metrics = sim::measure(run.record, suite.window, suite.cluster.gpus(), suite.origin);
  return run;
}

std::vector<std::string> history_notes(const std::vector<SimulatedRun>& runs,
                                       const sim::Suite& suite) {
  const sim::SacctHistory& history = *sim::history_of(suite);
  std::vector<std::string> notes;
  if (const std::string said = edges(history); !said.empty()) notes.push_back(said);
  notes.push_back(left_out(history));
  if (history.twice > 0) {
    notes.push_back(fmt::format("{} in the file twice: counted once.",
                                count(history.twice, "row is", "rows are")));
  }
  if (history.requeued > 0) {
    notes.push_back(fmt::format("{} of requeued jobs: each counted as a job.",
                                count(history.requeued, "later run", "later runs")));
  }
  if (history.odd_times > 0) {
    notes.push_back(fmt::format(
        "Also excluded: {} that end before their start or start before their submission, as after "
        "a clock change; SLURM_TIME_FORMAT=%s makes sacct print times that do not jump.",
        count(history.odd_times, "job", "jobs")));
  }
  if (history.het > 0) {
    notes.push_back(
        fmt::format("{} of heterogeneous jobs: each counted as a job, without a common start.",
                    count(history.het, "component", "components")));
  }
  if (history.other_type > 0) {
    notes.push_back(
        fmt::format("{} ran on GPU types that the cluster does not have: simulated on any type.",
                    count(history.other_type, "job", "jobs")));
  }
  if (history.too_wide > 0) {
    notes.push_back(
        fmt::format("{} had more CPUs or memory than a node: reduced to the share of its GPUs.",
                    count(history.too_wide, "job", "jobs")));
  }
  if (const int most = max_held(runs.front().record.intervals); most > suite.cluster.gpus()) {
    notes.push_back(
        fmt::format("up to {} GPUs were allocated at once, but this cluster has {}: was it a "
                    "different cluster then?",
                    most, suite.cluster.gpus()));
  }
  for (const SimulatedRun& run : runs) {
    if (run.policy == kStock) notes.push_back(fidelity(run, runs.front()));
  }
  return notes;
}

}  // namespace rubato::tools
