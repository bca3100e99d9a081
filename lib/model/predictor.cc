// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace rubato {
namespace {

/// A unique key per query; names are preceded by their lengths, so they cannot run together.
std::string key_of(const JobSpec& job, const Resources& at) {
  std::string key = fmt::format("{}:{}{}:{}{}:{} {} {} {} {} {}", job.profile.account.size(),
                                job.profile.account, job.profile.job_type.size(),
                                job.profile.job_type, at.gpu_type.size(), at.gpu_type, at.gpus,
                                at.nodes, at.cores, at.memory_mib, static_cast<int>(job.device));
  if (job.batch) key += fmt::format(" b{}-{}", job.batch->min, job.batch->max);
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

Prediction Predictor::compute(const JobSpec& job, const Resources& at) const {
  Prediction base = from_throughput(job, at);
  if (!step_time_models_ || job.profile.job_type.empty() || !base.feasible) return base;
  const auto found = step_time_models_->predict(job, at);
  if (!found) return base;
  // Ignores a model that is less certain of its choice than the process is of the unchanged job.
  if (found->feasible && base.known_profile && found->stddev > 2 * base.stddev + kEnvelope &&
      !found->plan_chosen) {
    return base;
  }
  Prediction out = *found;
  out.samples = base.samples;
  return out;
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
  const Forecast f = throughput_model_->predict(job.profile, at.gpu_type, at.gpus);
  out.feasible = f.feasible;
  out.throughput = out.goodput = f.throughput();
  out.stddev = f.stddev;
  out.known_profile = f.known_profile;
  out.samples = f.samples;
  out.model_kind = f.known_profile ? ModelKind::kThroughput : ModelKind::kNone;
  if (job.batch && job.batch->fixed()) out.batch = job.batch->min;
  return out;
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
