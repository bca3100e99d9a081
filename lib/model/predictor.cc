// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/model/data_parallel/goodput.h"
#include "lib/model/plans/plan.h"

namespace rubato {
namespace {

/// A unique key per query; names are preceded by their lengths, so they cannot run together.
std::string key_of(const JobSpec& job, const Resources& at) {
  std::string key = fmt::format("{}:{}{}:{}{}:{} {} {} {} {} {}", job.profile.account.size(),
                                job.profile.account, job.profile.job_type.size(),
                                job.profile.job_type, at.gpu_type.size(), at.gpu_type, at.gpus,
                                at.nodes, at.cores, at.memory_mib, static_cast<int>(job.device));
  if (job.batch) key += fmt::format(" b{}-{}", job.batch->min, job.batch->max);
  if (job.present_batch > 0) key += fmt::format(" n{},{}", job.present_batch, job.present_gpus);
  if (job.noise) key += fmt::format(" g{}", *job.noise);
  if (job.batch_grows) key += " >";
  if (!job.plan.empty()) key += fmt::format(" e{}:{}", job.plan.size(), job.plan);
  if (job.shape) {
    const ModelShape& shape = *job.shape;
    key += fmt::format(" m{},{},{},{},{}", shape.params, shape.hidden, shape.layers, shape.seq,
                       shape.heads);
  }
  if (job.plans) {
    key += job.plans->automatic ? " pa" : " p";
    for (const PlanKind kind : job.plans->kinds) key += fmt::format(",{}", static_cast<int>(kind));
  }
  return key;
}

}  // namespace

const char* to_string(ModelKind model_kind) {
  switch (model_kind) {
    case ModelKind::kNone:
      return "none";
    case ModelKind::kThroughput:
      return "throughput";
    case ModelKind::kPlans:
      return "plans";
    case ModelKind::kDataParallel:
      return "data-parallel";
    case ModelKind::kStepTime:
      return "step-time";
  }
  return "";
}

std::int64_t own_batch(const JobSpec& job, int gpus) {
  if (!job.batch) {
    const bool same = job.present_gpus == 0 || job.present_gpus == gpus;
    return same ? job.present_batch : 0;
  }
  if (job.batch->fixed()) return job.batch->min;
  return job.present_batch > 0 ? std::clamp(job.present_batch, job.batch->min, job.batch->max) : 0;
}

double Prediction::confidence() const { return std::clamp(1 - stddev, 0.0, 1.0); }

Predictor::Predictor(std::shared_ptr<const ThroughputModel> throughput_model,
                     std::shared_ptr<const StepTimeModels> step_time_models)
    : throughput_model_(std::move(throughput_model)),
      step_time_models_(std::move(step_time_models)) {}

Prediction Predictor::predict(const JobSpec& job, const Resources& at) const {
  std::string key = key_of(job, at);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = kept_.find(key); found != kept_.end()) return found->second;
  }
  Prediction made = compute(job, at);
  const std::lock_guard lock(mutex_);
  if (kept_.size() >= kMaxKept) kept_.clear();
  return kept_.emplace(std::move(key), std::move(made)).first->second;
}

namespace {

/// A model of steps knows what another batch changes; the process may know better how fast the job
/// is at its own (`unchanged`).
Prediction with_level_of(const Prediction& unchanged, Prediction chosen) {
  const double extra = chosen.batch_gain_stddev * chosen.batch_gain_stddev;
  const double own = std::sqrt(std::max(chosen.stddev * chosen.stddev - extra, 0.0));
  if (!chosen.batch_gain || unchanged.stddev >= own || !(unchanged.throughput > 0)) return chosen;
  const double efficiency = chosen.goodput / chosen.throughput;
  chosen.throughput = unchanged.throughput * std::exp(*chosen.batch_gain);
  chosen.goodput = chosen.throughput * efficiency;
  chosen.stddev = std::sqrt(unchanged.stddev * unchanged.stddev + extra);
  return chosen;
}

}  // namespace

Prediction Predictor::compute(const JobSpec& job, const Resources& at) const {
  Prediction base = from_throughput(job, at);
  // Of CPUs the process knows nothing.
  const bool tells = base.feasible || at.gpus == 0;
  if (!step_time_models_ || job.profile.job_type.empty() || !tells) return base;
  JobSpec spec = job;
  spec.present_batch = base.batch;
  spec.present_gpus = at.gpus;
  const auto found = step_time_models_->predict(spec, at);
  if (!found) return base;
  Prediction out = *found;
  out.samples = base.samples;
  if (!out.feasible || !base.known_profile || out.plan_chosen) return out;
  if (out.batch_chosen) return with_level_of(base, std::move(out));
  // Ignores a model that is less certain than the process.
  return out.stddev > 2 * base.stddev + kEnvelope ? base : out;
}

Prediction Predictor::from_throughput(const JobSpec& job, const Resources& at) const {
  Prediction out;
  out.effective = at;
  if (throughput_model_ == nullptr || at.gpus < 1) {
    out.feasible = at.gpus >= 1;
    out.throughput = out.goodput = out.feasible ? 1 : 0;
    out.stddev = 1;
    return out;
  }
  const Forecast f = unchanged(job, at);
  out.feasible = f.feasible;
  out.throughput = f.throughput();
  out.goodput = f.goodput();
  out.stddev = f.stddev;
  out.known_profile = f.known_profile;
  out.samples = f.samples;
  out.model_kind = f.known_profile ? ModelKind::kThroughput : ModelKind::kNone;
  out.batch = batch_of(job, at.gpus);
  return out;
}

Forecast Predictor::unchanged(const JobSpec& job, const Resources& at) const {
  const ThroughputModel& model = *throughput_model_;
  const int gpus = std::max(at.gpus, 1);
  const std::int64_t batch = batch_of(job, gpus);
  JobConfiguration own{at.gpu_type, gpus, at.nodes, batch, canonical_plan(job.plan, gpus)};
  if (own.plan.empty()) own.plan = model.usual_plan(job.profile);
  Forecast forecast = model.predict(job.profile, own);
  if (!job.batch || job.batch->fixed()) return forecast;
  const std::optional<double> noise = job.noise ? job.noise : noise_of(job.profile);
  if (noise) {
    forecast.efficiency = statistical_efficiency(*noise, static_cast<double>(batch),
                                                 static_cast<double>(job.batch->min))
                              .value_or(1);
  }
  return forecast;
}

std::int64_t Predictor::batch_of(const JobSpec& job, int gpus) const {
  const std::int64_t own = own_batch(job, gpus);
  const auto usual_at = [&](int size) {
    return throughput_model_ != nullptr ? throughput_model_->usual_batch(job.profile, size) : 0;
  };
  if (own > 0) return own;
  const std::int64_t usual = usual_at(gpus);
  if (job.batch) return std::clamp(usual, job.batch->min, job.batch->max);
  if (job.present_batch <= 0) return 0;
  // Its batch differs from the usual one by the same factor at all sizes.
  const std::int64_t there = usual_at(job.present_gpus);
  if (usual <= 0 || there <= 0) return job.present_batch;
  return std::llround(static_cast<double>(job.present_batch) * static_cast<double>(usual) /
                      static_cast<double>(there));
}

std::optional<double> Predictor::noise_of(const ProfileName& profile) const {
  return step_time_models_ ? step_time_models_->noise(profile) : std::nullopt;
}

Prediction Predictor::envelope(const JobSpec& job, const Resources& at,
                               std::span<const int> sizes) const {
  Prediction best = predict(job, at);
  std::vector<int> smaller(sizes.begin(), sizes.end());
  std::erase_if(smaller, [&](int gpus) { return gpus < 1 || gpus >= at.gpus; });
  std::sort(smaller.begin(), smaller.end(), std::greater<>());
  // From large to small: a smaller size wins if its throughput is within the envelope.
  double most = best.feasible ? best.goodput : 0;
  std::vector<Prediction> found;
  for (const int gpus : smaller) {
    Resources less = at;
    less.gpus = gpus;
    // A smaller size must not use more nodes than GPUs.
    less.nodes = at.nodes > 0 ? std::min(at.nodes, gpus) : 0;
    Prediction other = predict(job, less);
    if (!other.feasible) continue;
    other.effective = less;
    most = std::max(most, other.goodput);
    found.push_back(std::move(other));
  }
  for (const Prediction& other : found) {  // the last one is the smallest
    const bool enough = other.goodput >= most * (1 - kEnvelope);
    if (enough) best = other;
  }
  if (best.feasible) best.goodput = std::max(best.goodput, most);
  return best;
}

namespace {

/// The proportional part of the resources at a smaller size.
Resources part_of(const Resources& whole, int gpus) {
  Resources part = whole;
  const auto share = [&](std::int64_t of) { return (of * gpus + whole.gpus - 1) / whole.gpus; };
  part.gpus = gpus;
  part.nodes = static_cast<int>(share(whole.nodes));
  part.cores = static_cast<int>(share(whole.cores));
  part.memory_mib = share(whole.memory_mib);
  return part;
}

}  // namespace

std::vector<Prediction> Predictor::curve(const JobSpec& job, const Resources& at,
                                         std::span<const int> sizes) const {
  std::vector<int> rising(sizes.begin(), sizes.end());
  std::erase_if(rising, [&](int gpus) { return gpus < 1 || gpus > at.gpus; });
  std::sort(rising.begin(), rising.end());
  rising.erase(std::unique(rising.begin(), rising.end()), rising.end());
  std::vector<Prediction> points;
  for (const int gpus : rising) {
    const Resources part = part_of(at, gpus);
    std::optional<Prediction> own =
        step_time_models_ ? step_time_models_->curve(job, part) : std::nullopt;
    Prediction point = own ? std::move(*own) : predict(job, part);
    if (!points.empty()) {
      const Prediction& less = points.back();
      const bool gains =
          point.feasible && (!less.feasible || point.goodput > less.goodput * (1 + kEnvelope));
      if (!gains && less.feasible) point = less;
    }
    points.push_back(std::move(point));
  }
  return points;
}

Resources Predictor::least(const JobSpec& job, const Resources& guaranteed,
                           std::span<const int> sizes, const std::string& plan) const {
  if (guaranteed.gpus < 1) return guaranteed;
  if (step_time_models_) {
    if (const auto found = step_time_models_->least(job, guaranteed, plan)) {
      const bool offered = std::find(sizes.begin(), sizes.end(), found->gpus) != sizes.end();
      if (offered) return *found;
    }
  }
  const Prediction promised = predict(job, guaranteed);
  if (!promised.feasible) return guaranteed;
  for (const Prediction& point : curve(job, guaranteed, sizes)) {
    if (point.feasible && point.goodput >= promised.goodput * (1 - kEnvelope))
      return point.effective;
  }
  return guaranteed;
}

}  // namespace rubato
