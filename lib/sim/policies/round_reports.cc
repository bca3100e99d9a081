// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/policies/round_reports.h"
#include "lib/model/plans/plan.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace rubato::sim {
namespace {

std::optional<double> measured(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

MeasuredReport measured_report(const JobReport& report, const JobView& view,
                               const ReportingRun& run) {
  MeasuredReport made;
  ThroughputReport& throughput = made.throughput;
  throughput.profile = run.profile;
  throughput.configuration.gpu_type = run.gpu_type;
  throughput.configuration.gpus = report.setting.gpus();
  throughput.configuration.nodes = report.setting.nodes();
  throughput.configuration.batch = std::llround(std::clamp(report.seen.batch, 0.0, 1e18));
  throughput.configuration.plan =
      canonical_plan(report.setting.plan, throughput.configuration.gpus);
  throughput.job = run.job;
  throughput.restarts = view.restarts;
  throughput.time = run.time;
  throughput.run_start = run.run_start;
  throughput.throughput = report.seen.samples_per_s;
  made.cores = std::max(0, view.job->cores_per_gpu) * throughput.configuration.gpus;
  made.servers = report.seen.servers;
  made.workers = report.seen.workers;
  made.parts.iteration = measured(report.seen.step_s);
  // A job that times its steps knows that one GPU has nothing to exchange.
  if (made.parts.iteration) made.parts.sync = std::max(0.0, report.seen.sync_s);
  made.parts.noise = measured(report.seen.noise);
  return made;
}

}  // namespace rubato::sim
