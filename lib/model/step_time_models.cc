// SPDX-License-Identifier: GPL-2.0-or-later
// Forecasts of the step-time models.
#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/model/data_parallel/batch_choice.h"
#include "lib/model/data_parallel/goodput.h"
#include "lib/model/step_time_model_fits.h"

namespace rubato {
namespace {

using namespace rows;  // NOLINT(google-build-using-namespace)

// Maximum local batch, as a multiple of the largest measured one: how far a try may go.
constexpr std::int64_t kBatchReach = 2;
constexpr double kMaxStddev = 3;
// Batches that are tried at once. The speed of a batch is a smooth curve, so few of them show where
// its top is, and forecasts of all sizes of all jobs are most of the time of a round.
constexpr std::int64_t kTriedAtOnce = 12;

Prediction prediction_of(double seconds, double batch, double stddev, ModelKind model_kind,
                         const Resources& at) {
  Prediction out;
  out.throughput = batch / seconds;
  out.goodput = out.throughput;
  out.stddev = std::clamp(stddev, 0.0, kMaxStddev);
  out.batch = static_cast<std::int64_t>(batch);
  out.model_kind = model_kind;
  out.known_profile = true;
  out.effective = at;
  out.feasible = std::isfinite(out.throughput) && out.throughput > 0;
  if (!out.feasible) out.throughput = out.goodput = 0;
  return out;
}

void add_goodput(Prediction& out, std::optional<double> noise, double reference) {
  if (!noise || out.batch <= 0) return;
  const auto share = statistical_efficiency(*noise, static_cast<double>(out.batch), reference);
  if (share) out.goodput = out.throughput * *share;
}

/// The gradient noise that counts: the job's present one, else what its profile had.
std::optional<double> noise_of(const JobSpec& job, Rows rows) {
  return job.noise ? job.noise : noise_among(rows);
}

/// The batch that it runs with if no other is chosen, as far as its profile tells.
std::int64_t own_batch(const JobSpec& job, Rows rows, int gpus) {
  const std::int64_t own = own_batch(job, gpus);
  return own > 0 ? own : usual(rows).batch;
}

/// The batches to choose from. Of a job that names none: its usual one.
Batch range_of(const JobSpec& job, Rows rows, int gpus) {
  if (!job.batch) return {usual(rows).batch, usual(rows).batch};
  if (!job.batch_grows || !noise_of(job, rows)) return *job.batch;
  const std::int64_t own = own_batch(job, rows, gpus);
  return {std::clamp(own, job.batch->min, job.batch->max), job.batch->max};
}

/// The batch of which each sample counts as one.
double reference_of(const JobSpec& job, const Batch& range) {
  return static_cast<double>(job.batch ? job.batch->min : range.min);
}

/// Batches of a range to try: both ends, and doublings of the smaller one between them.
std::vector<std::int64_t> batches_of(const Batch& range) {
  std::vector<std::int64_t> batches;
  for (std::int64_t batch = std::max<std::int64_t>(range.min, 1); batch < range.max; batch *= 2) {
    batches.push_back(batch);
  }
  batches.push_back(std::max<std::int64_t>(range.max, 1));
  return batches;
}

}  // namespace

std::shared_ptr<const PlanCurve> StepTimeModels::Fits::plan_curve(const JobSpec& job,
                                                                  const Resources& at, Rows rows,
                                                                  std::int64_t gpu_memory,
                                                                  std::int64_t batch) {
  if (!job.shape || !job.plans || rows.empty() || at.gpus < 1) return nullptr;
  const ProfileOnType configuration{job.profile, at.gpu_type};
  auto model = plan_model(configuration, *job.shape, rows);
  if (model == nullptr || model->fit().settings == 0) return nullptr;
  CurveQuestion question;
  question.batch = std::max<std::int64_t>(batch, 1);
  question.plans = *job.plans;
  question.gpu_memory_mib = gpu_memory;
  question.host_memory_mib_per_gpu = at.memory_mib / at.gpus;
  const CurveKey key{configuration,
                     key_of(*job.shape),
                     question.batch,
                     question.plans.automatic,
                     question.plans.kinds,
                     question.gpu_memory_mib,
                     question.host_memory_mib_per_gpu};
  const std::lock_guard lock(mutex);
  auto& curve = curves[key];
  if (!curve) curve = std::make_shared<const PlanCurve>(std::move(model), std::move(question));
  return curve;
}

std::optional<Prediction> StepTimeModels::Fits::by_plans(const JobSpec& job, const Resources& asked,
                                                         Rows rows, std::int64_t gpu_memory) {
  const auto model = plan_model({job.profile, asked.gpu_type}, *job.shape, rows);
  if (model == nullptr || model->fit().settings == 0) return std::nullopt;
  const Resources at = placed(rows, asked);
  PlanQuery query;
  query.configuration.gpus = at.gpus;
  query.configuration.nodes = at.nodes;
  query.configuration.cores_per_gpu = std::max(1, at.cores / at.gpus);
  query.gpu_memory_mib = gpu_memory;
  query.host_memory_mib = at.memory_mib / at.nodes;
  query.plans = *job.plans;
  const auto noise = noise_of(job, rows);
  const Batch range = range_of(job, rows, asked.gpus);
  std::optional<Prediction> best;
  for (const std::int64_t batch : batches_of(range)) {
    query.batch = batch;
    const PlanForecast found = model->best(query);
    if (!found.feasible || found.step_seconds <= 0) continue;
    Prediction out = prediction_of(found.step_seconds, static_cast<double>(batch), found.stddev,
                                   ModelKind::kPlans, asked);
    add_goodput(out, noise, reference_of(job, range));
    out.plan = to_text(found.plan);
    out.plan_chosen = true;
    out.batch_chosen = !range.fixed();
    out.samples = found.samples;
    if (out.feasible && (!best || out.goodput > best->goodput)) best = std::move(out);
  }
  if (best) return best;
  Prediction none;
  none.feasible = false;
  none.known_profile = true;
  none.model_kind = ModelKind::kPlans;
  none.effective = asked;
  return none;
}

std::optional<Prediction> StepTimeModels::Fits::by_batch(const JobSpec& job, const Resources& asked,
                                                         Rows rows) {
  const auto model = data_parallel_model({job.profile, asked.gpu_type}, rows);
  if (model == nullptr || model->empty()) return std::nullopt;
  const Resources at = placed(rows, asked);
  BatchQuestion question;
  const Batch range = range_of(job, rows, asked.gpus);
  question.range.least = range.min;
  question.range.most = range.max;
  question.range.tried = kTriedAtOnce;
  question.range.max_local = kBatchReach * max_local_seen(rows);
  question.gpus = at.gpus;
  question.nodes = at.nodes;
  question.present = own_batch(job, rows, asked.gpus);
  question.noise = noise_of(job, rows);
  const auto chosen = choose_batch(*model, question);
  if (!chosen) return std::nullopt;
  Prediction out = prediction_of(chosen->seconds, static_cast<double>(chosen->batch),
                                 chosen->stddev, ModelKind::kDataParallel, asked);
  add_goodput(out, question.noise, static_cast<double>(job.batch->min));
  out.batch_chosen = true;
  out.batch_gain = chosen->gain;
  out.batch_gain_stddev = chosen->gain_stddev;
  return out;
}

std::optional<Prediction> StepTimeModels::Fits::by_steps(const JobSpec& job, const Resources& at,
                                                         Rows rows) {
  const auto model = step_model({job.profile, at.gpu_type}, rows);
  if (model == nullptr) return std::nullopt;
  StepShape shape = shape_at(usual(rows), at);
  const std::int64_t own = own_batch(job, at.gpus);
  if (own > 0) shape.batch = static_cast<double>(own);
  const StepForecast found = model->predict(shape);
  if (!found.known || model->report().contradictory || found.seconds <= 0 || shape.batch <= 0) {
    return std::nullopt;
  }
  return prediction_of(found.seconds, shape.batch, found.stddev, ModelKind::kStepTime, at);
}

StepTimeModels::StepTimeModels(std::vector<MeasuredRow> rows,
                               std::map<std::string, std::int64_t> memory,
                               std::map<std::string, double> links)
    : rows_(std::move(rows)),
      memory_(std::move(memory)),
      links_(std::move(links)),
      fits_(std::make_unique<Fits>()) {
  for (const auto& [type, gb_per_s] : links_) fits_->links.emplace(type, linked_by(gb_per_s));
  std::erase_if(rows_, [](const MeasuredRow& row) { return !usable(row); });
  std::stable_sort(rows_.begin(), rows_.end(), row_before);
  rows_.erase(std::unique(rows_.begin(), rows_.end(),
                          [](const MeasuredRow& a, const MeasuredRow& b) {
                            return !row_before(a, b) && !row_before(b, a);
                          }),
              rows_.end());
  if (rows_.size() <= kMaxRows) return;
  std::stable_sort(rows_.begin(), rows_.end(), [](const MeasuredRow& a, const MeasuredRow& b) {
    return a.samples > b.samples;
  });
  rows_.resize(kMaxRows);
  std::sort(rows_.begin(), rows_.end(), row_before);
}

StepTimeModels::~StepTimeModels() = default;

std::optional<Prediction> StepTimeModels::predict(const JobSpec& job, const Resources& at) const {
  const Rows rows = rows_of(rows_, job.profile, at.gpu_type);
  if (rows.empty() || at.gpus < 0 || at.cores < 0 || at.memory_mib < 0) return std::nullopt;
  if (at.gpus == 0) {
    return job.device == Device::kGpu ? std::nullopt : fits_->by_steps(job, at, rows);
  }
  if (job.shape && job.plans) {
    auto found = fits_->by_plans(job, at, rows, memory_of(at.gpu_type));
    if (found) return found;
  }
  if (has_servers(rows)) return fits_->by_steps(job, at, rows);
  if (job.batch && !job.batch->fixed()) return fits_->by_batch(job, at, rows);
  return std::nullopt;
}

namespace {

PlanConfiguration plan_configuration(const Resources& at) {
  return {.gpus = at.gpus, .nodes = at.nodes, .cores_per_gpu = std::max(1, at.cores / at.gpus)};
}

/// The part of the granted resources that a point of the curve uses.
Resources used_of(const PlanConfiguration& effective, const Resources& granted) {
  Resources used = granted;
  used.gpus = effective.gpus;
  used.nodes = effective.nodes;
  if (granted.cores > 0)
    used.cores = std::min(effective.cores_per_gpu * effective.gpus, granted.cores);
  used.memory_mib = granted.memory_mib * effective.gpus / granted.gpus;
  return used;
}

}  // namespace

std::optional<double> StepTimeModels::noise(const ProfileName& profile) const {
  return noise_among(rows_of(rows_, profile));
}

std::int64_t StepTimeModels::memory_of(const std::string& gpu_type) const {
  const auto found = memory_.find(gpu_type);
  return found != memory_.end() ? found->second : 0;
}

std::optional<Prediction> StepTimeModels::curve_at(const JobSpec& job, const Resources& granted,
                                                   std::int64_t batch) const {
  const Rows rows = rows_of(rows_, job.profile, granted.gpu_type);
  const auto curve = fits_->plan_curve(job, granted, rows, memory_of(granted.gpu_type), batch);
  if (!curve) return std::nullopt;
  const Resources at = placed(rows, granted);
  const PlanCurvePoint point = curve->at(plan_configuration(at));
  Prediction out;
  out.effective = at;
  out.model_kind = ModelKind::kPlans;
  out.known_profile = true;
  out.feasible = point.feasible && point.throughput > 0;
  if (!out.feasible) return out;
  out.throughput = out.goodput = point.throughput;
  out.plan = to_text(point.plan);
  out.plan_chosen = true;
  out.batch = curve->question().batch;
  out.effective = used_of(point.effective, at);
  PlanQuery query;
  query.configuration = point.effective;
  query.batch = out.batch;
  query.plans = *job.plans;
  out.stddev = std::clamp(curve->model().of_plan(query, point.plan).stddev, 0.0, kMaxStddev);
  const Batch range = range_of(job, rows, granted.gpus);
  out.batch_chosen = !range.fixed();
  add_goodput(out, noise_of(job, rows), reference_of(job, range));
  return out;
}

std::optional<Prediction> StepTimeModels::curve(const JobSpec& job,
                                                const Resources& granted) const {
  const Rows rows = rows_of(rows_, job.profile, granted.gpu_type);
  if (rows.empty()) return std::nullopt;
  std::optional<Prediction> best;
  for (const std::int64_t batch : batches_of(range_of(job, rows, granted.gpus))) {
    std::optional<Prediction> found = curve_at(job, granted, batch);
    if (!found) return std::nullopt;
    if (!best || (found->feasible && (!best->feasible || found->goodput > best->goodput)))
      best = std::move(found);
  }
  return best;
}

std::optional<Resources> StepTimeModels::least(const JobSpec& job, const Resources& guaranteed,
                                               const std::string& plan) const {
  const Rows rows = rows_of(rows_, job.profile, guaranteed.gpu_type);
  const auto promised = this->curve(job, guaranteed);
  if (!promised || !promised->feasible) return std::nullopt;
  const auto curve =
      fits_->plan_curve(job, guaranteed, rows, memory_of(guaranteed.gpu_type), promised->batch);
  if (!curve) return std::nullopt;
  const Resources at = placed(rows, guaranteed);
  ExecutionPlan as{.data = at.gpus};
  if (!plan.empty()) {
    const auto named = parse_execution_plan(plan, at.gpus);
    if (!named) return std::nullopt;
    as = *named;
  }
  const auto found = curve->least(as, plan_configuration(at));
  if (!found || !found->feasible) return std::nullopt;
  return used_of(found->effective, at);
}

}  // namespace rubato
