// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/job_forecast.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "lib/policy/algorithms/forecast.h"

namespace rubato {

JobSpec spec_of(const Job& job, const Config& config) {
  JobSpec spec;
  spec.profile = profile_of(job, config);
  if (!job.hints) return spec;
  spec.shape = job.hints->model;
  spec.plans = job.hints->plans;
  spec.batch = job.hints->batch;
  spec.device = job.hints->device;
  return spec;
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

Forecast forecast_for(const Models& models, const Config& config, const Job& job,
                      const std::string& gpu_type, int gpus) {
  const JobSpec spec = spec_of(job, config);
  const ThroughputForecasts& forecasts = models.forecasts();
  const Forecast plain = forecasts.throughput(job.key, spec.profile, gpu_type, gpus);
  if (!has_choice(spec) || config.off(Mechanism::kPlans)) return plain;
  Resources at;
  at.gpu_type = gpu_type;
  at.gpus = gpus;
  at.cores = std::max(job.request.cores, job.request.cores_per_gpu * gpus);
  const std::optional<Prediction> found = forecasts.choice(job.key, spec, at);
  if (!found) return plain;
  Forecast out = plain;
  out.feasible = found->feasible;
  out.known_profile = found->known_profile;
  if (!found->feasible || found->goodput <= 0) return out;
  out.log_throughput = std::log(found->goodput);
  if (plain.exact > 0) out.exact = found->goodput;
  out.stddev = found->stddev;
  return out;
}

}  // namespace rubato
