// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/job_forecast.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "lib/json/task_env.h"
#include "lib/policy/algorithms/forecast.h"

namespace rubato {

namespace {

// The gradient noise grows while a model trains (McCandlish et al., 2018). Without the work that is
// left nothing says how far, so a batch below the job's own that is the best at the start is not
// chosen for all of it. In mode elastic a job that may change is told another batch later.
bool batch_grows(const RoundInput& input, const Job& job) {
  if (input.config.mode == Mode::kElastic && hints_change(job)) return false;
  return !work_left(input.snapshot, job) && !input.models.forecasts().work_left(job.key);
}

}  // namespace

bool hints_consent(const Job& job) {
  return job.hints && job.hints->checkpoint.consents() && job.hints->resize != Resize::kNone;
}

bool hints_change(const Job& job) {
  const bool live = job.hints && job.hints->resize == Resize::kLive;
  return job.managed && job.batch && !job.het && job.array_id == 0 && (hints_consent(job) || live);
}

JobSpec spec_of(const RoundInput& input, const Job& job) {
  JobSpec spec;
  spec.profile = profile_of(job, input.config);
  if (!job.hints) return spec;
  spec.shape = job.hints->model;
  spec.plans = job.hints->plans;
  spec.batch = job.hints->batch;
  spec.device = job.hints->device;
  spec.plan = plan_of(job);
  const Progress* const progress = progress_of(input.snapshot.memory, job.key);
  if (progress != nullptr && progress->batch > 0) {
    spec.present_batch = progress->batch;
    spec.present_gpus = progress->gpus;
  }
  if (spec.batch && !spec.batch->fixed()) {
    spec.noise = noise_ahead(input.snapshot, job, spec.profile);
    spec.batch_grows = batch_grows(input, job);
  }
  return spec;
}

Resources asked_of(const Job& job, const std::string& gpu_type, int gpus) {
  const Request& request = job.request;
  Resources at;
  at.gpu_type = gpu_type;
  at.gpus = gpus;
  const bool own_size = gpus == request.gpus_on(std::max(request.min_nodes, 1));
  if (own_size && (request.fixed_nodes || request.gpus_per_node > 0 || request.min_nodes > 1))
    at.nodes = std::min(std::max(request.min_nodes, 1), std::max(gpus, 1));
  at.cores = std::max(request.cores, request.cores_per_gpu * gpus);
  return at;
}

Resources resources_of(const std::string& gpu_type, const std::vector<NodeShare>& shares) {
  Resources all;
  all.gpu_type = gpu_type;
  all.nodes = static_cast<int>(shares.size());
  for (const NodeShare& share : shares) {
    all.gpus += share.gpu_count();
    all.cores += share.cores;
    all.memory_mib += share.memory;
  }
  return all;
}

bool unproven(const Forecast& forecast, const Config& config) {
  return forecast.profile_jobs == 1 && !config.off(Mechanism::kProve);
}

bool has_choice(const JobSpec& job) {
  const bool plans = job.shape && job.plans;
  const bool batch = job.batch && !job.batch->fixed();
  return !job.profile.job_type.empty() && (plans || batch || job.device != Device::kGpu);
}

Forecast forecast_at(const RoundInput& input, const Job& job, const Resources& at) {
  const JobSpec spec = spec_of(input, job);
  const ThroughputForecasts& forecasts = input.models.forecasts();
  const Forecast plain = forecasts.throughput(job.key, spec, at);
  if (!has_choice(spec) || input.config.off(Mechanism::kPlans)) return plain;
  const std::optional<Prediction> found = forecasts.choice(job.key, spec, at);
  if (!found) return plain;
  Forecast out = plain;
  out.feasible = found->feasible;
  out.known_profile = found->known_profile;
  if (!found->feasible || !(found->throughput > 0) || !(found->goodput > 0)) return out;
  out.log_throughput = std::log(found->throughput);
  if (plain.exact > 0) out.exact = found->throughput;
  out.efficiency = found->goodput / found->throughput;
  out.stddev = found->stddev;
  return out;
}

Forecast forecast_for(const RoundInput& input, const Job& job, const std::string& gpu_type,
                      int gpus) {
  return forecast_at(input, job, asked_of(job, gpu_type, gpus));
}

bool accepts_type(const Job& job, const std::string& gpu_type) {
  if (!job.request.gpu_type.empty()) return job.request.gpu_type == gpu_type;
  if (!job.hints || job.hints->gpu_types.empty()) return true;
  return std::ranges::any_of(job.hints->gpu_types, [&](const std::vector<std::string>& group) {
    return std::ranges::find(group, gpu_type) != group.end();
  });
}

std::optional<FastestType> fastest_type(const RoundInput& input, const Job& job,
                                        const std::set<std::string>& types) {
  const bool named = job.hints && !job.hints->job_type.empty();
  if (!named || !input.models.forecasts().measured()) return std::nullopt;
  const int gpus = std::max(job.request.gpus_on(std::max(job.request.min_nodes, 1)), 1);
  FastestType fastest;
  for (const std::string& type : types) {
    if (!accepts_type(job, type)) continue;
    const Forecast forecast = forecast_for(input, job, type, gpus);
    if (!forecast.known_profile) return std::nullopt;
    fastest.unproven = fastest.unproven || unproven(forecast, input.config);
    fastest.goodput = std::max(fastest.goodput, forecast.goodput());
  }
  return fastest.goodput > 0 ? std::optional(fastest) : std::nullopt;
}

}  // namespace rubato
