// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/engine/step_truth.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace rubato::sim {
namespace {

constexpr std::string_view kServers = "servers=";

}  // namespace

std::string servers_plan(int servers) { return std::string(kServers) + std::to_string(servers); }

std::optional<int> planned_servers(const std::string& plan) {
  if (!plan.starts_with(kServers)) return std::nullopt;
  int servers = 0;
  const char* const end = plan.data() + plan.size();
  const auto [stop, code] = std::from_chars(plan.data() + kServers.size(), end, servers);
  if (code != std::errc() || stop != end || servers < 0) return std::nullopt;
  return servers;
}

std::optional<StepSpan> step_span(const SimJob& job, const Setting& setting) {
  if (!job.step || !setting.holds()) return std::nullopt;
  const StepCosts& costs = *job.step;
  int workers = setting.gpus();
  int servers = job.servers;
  if (setting.plan.empty()) {
    workers -= servers;
  } else {
    const auto planned = planned_servers(setting.plan);
    if (!planned) return std::nullopt;
    servers = *planned;
  }
  StepSpan span;
  span.workers = workers;
  span.servers = servers;
  span.batch = setting.batch > 0 ? setting.batch : job.batch;
  if (workers < 1 || span.batch < workers) return std::nullopt;
  double local = std::ceil(span.batch / workers);
  if (costs.max_local > 0 && local > costs.max_local) {
    // The user's own batch must fit. One that a policy chose is split, as trainers do.
    if (!(setting.batch > 0) || costs.max_local < 1) return std::nullopt;
    span.passes = static_cast<int>(std::ceil(local / std::floor(costs.max_local)));
    local = std::ceil(local / span.passes);
  }
  const double ring = 2.0 * (workers - 1) / workers * costs.gradient_mb / costs.link_mb_s;
  const double exchange = workers * costs.exchange_s / std::max(servers, 1) +
                          workers * costs.worker_s + servers * costs.server_s;
  span.sync_s = ring + exchange;
  span.step_s = span.passes * (costs.fixed_s + local * costs.sample_s) + span.sync_s;
  return span;
}

double StepTruth::throughput(const SimJob& job, const Setting& setting, double /*done*/) const {
  const auto span = step_span(job, setting);
  return span && span->step_s > 0 ? span->batch / span->step_s : 0;
}

Observation StepTruth::observe(const SimJob& job, const Setting& setting, double done) const {
  if (!job.step) return Truth::observe(job, setting, done);
  const auto span = step_span(job, setting);
  if (!span || !(span->step_s > 0)) return {};
  Observation seen;
  seen.samples_per_s = span->batch / span->step_s;
  seen.batch = span->batch;
  seen.step_s = span->step_s;
  seen.sync_s = span->sync_s;
  seen.passes = span->passes;
  if (span->servers > 0) {
    seen.workers = span->workers;
    seen.servers = span->servers;
  }
  return seen;
}

}  // namespace rubato::sim
