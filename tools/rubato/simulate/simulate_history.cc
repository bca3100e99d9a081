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
  return fmt::format(
      "Excluded: {} without GPUs, {} that never started or have not ended, {} of zero length, {}.",
      count(history.without_gpus, "job", "jobs"), history.unfinished, history.empty,
      count(history.steps, "step", "steps"));
}

double mean_wait(const std::vector<sim::JobResult>& jobs) {
  double sum = 0;
  for (const sim::JobResult& job : jobs) {
    if (job.first_start < sim::kNever) sum += job.first_start - job.arrival;
  }
  return jobs.empty() ? 0 : sum / static_cast<double>(jobs.size());
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
  // Compares means only over the same jobs.
  std::vector<sim::JobResult> here;
  std::vector<sim::JobResult> there;
  for (std::size_t i = 0; i < run.record.jobs.size(); ++i) {
    if (!run.record.jobs[i].finished()) continue;
    here.push_back(run.record.jobs[i]);
    there.push_back(real.record.jobs[i]);
  }
  if (here.empty()) {
    return "No job finished in the replay of stock Slurm: its error against the real history is "
           "unknown.";
  }
  const std::string of = here.size() == run.record.jobs.size()
                             ? std::string{}
                             : fmt::format("over the {} that finished in it, ", here.size());
  return fmt::format(
      "The replay of stock Slurm ({}) differs by {:+.1f} % from the real history: {}AVG {} against "
      "{}, mean wait {} against {}; half of the jobs start within {} of their real start.",
      kStock, (mean_jct(here) / mean_jct(there) - 1) * 100, of, time_text(mean_jct(here)),
      time_text(mean_jct(there)), time_text(mean_wait(here)), time_text(mean_wait(there)),
      time_text(start_difference(here, there)));
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
    run.record.end = std::max(run.record.end, job.finish);
    run.record.busy_gpu_seconds += job.gpu_seconds;
    sim::TypeIndex type;
    if (from.types.size() == 1) type = suite.cluster.type_of(from.types.front());
    if (suite.cluster.types() == 1) type = 0;
    run.record.intervals.push_back({i, type, -1, from.gpus, job.first_start, job.finish});
  }
  run.metrics = sim::measure(run.record, suite.window, suite.cluster.gpus(), suite.origin);
  return run;
}

std::vector<std::string> history_notes(const std::vector<SimulatedRun>& runs,
                                       const sim::Suite& suite) {
  const sim::SacctHistory& history = *sim::history_of(suite);
  std::vector<std::string> notes{left_out(history)};
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
