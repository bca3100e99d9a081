// SPDX-License-Identifier: GPL-2.0-or-later
// Rows into the samples of the models of step times, and their forecasts into predictions.
#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "lib/model/best_batch.h"
#include "lib/model/data_parallel.h"
#include "lib/model/goodput.h"
#include "lib/model/plan_model.h"
#include "lib/model/predictor.h"
#include "lib/model/step_time.h"

namespace rubato {
namespace {

// A curve stands for a profile from so many configurations on.
constexpr std::size_t kLeastPlaces = 3;
// No local batch is chosen that is larger than so many times the largest that was measured.
constexpr std::int64_t kBatchReach = 2;
constexpr int kMostCurveSizes = 32;
constexpr double kMostSpread = 3;

using Rows = std::span<const MeasuredRow>;

struct OfType {
  bool operator()(const MeasuredRow& row, const std::pair<ProfileName, std::string>& key) const {
    return std::tie(row.profile, row.gpu_type) < std::tie(key.first, key.second);
  }
  bool operator()(const std::pair<ProfileName, std::string>& key, const MeasuredRow& row) const {
    return std::tie(key.first, key.second) < std::tie(row.profile, row.gpu_type);
  }
};

/// Those of a profile on a GPU type. `rows` is sorted.
Rows rows_of(Rows rows, const ProfileName& profile, const std::string& gpu_type) {
  const auto [begin, end] =
      std::equal_range(rows.begin(), rows.end(), std::pair(profile, gpu_type), OfType{});
  return {begin, end};
}

/// The row with most reports: how the profile usually runs. Not for no rows.
const MeasuredRow& usual(Rows rows) {
  return *std::max_element(
      rows.begin(), rows.end(),
      [](const MeasuredRow& a, const MeasuredRow& b) { return a.samples < b.samples; });
}

/// Nodes for so many GPUs where nobody says: as full as any that was measured.
int nodes_for(Rows rows, int gpus) {
  int a_node = 1;
  for (const MeasuredRow& row : rows) {
    if (row.nodes > 0) a_node = std::max(a_node, (row.gpus + row.nodes - 1) / row.nodes);
  }
  return std::max(1, (gpus + a_node - 1) / a_node);
}

Resources placed(Rows rows, Resources at) {
  if (at.nodes <= 0) at.nodes = nodes_for(rows, at.gpus);
  at.nodes = std::clamp(at.nodes, 1, std::max(at.gpus, 1));
  return at;
}

/// Gradient noise scale of the profile there, where it was reported: the median of the rows.
std::optional<double> noise_among(Rows rows) {
  std::vector<double> noise;
  for (const MeasuredRow& row : rows) {
    if (row.noise) noise.push_back(*row.noise);
  }
  return believed_noise(noise, noise.size());
}

Prediction prediction_of(double seconds, double batch, double spread, BackEnd back_end,
                         const Resources& at) {
  Prediction out;
  out.theta = batch / seconds;
  out.goodput = out.theta;
  out.spread = std::clamp(spread, 0.0, kMostSpread);
  out.batch = static_cast<std::int64_t>(batch);
  out.back_end = back_end;
  out.known_profile = true;
  out.effective = at;
  out.feasible = std::isfinite(out.theta) && out.theta > 0;
  if (!out.feasible) out.theta = out.goodput = 0;
  return out;
}

void add_goodput(Prediction& out, std::optional<double> noise, double reference) {
  if (!noise || out.batch <= 0) return;
  const auto share = statistical_efficiency(*noise, static_cast<double>(out.batch), reference);
  if (share) out.goodput = out.theta * *share;
}

PlanSample plan_sample(const MeasuredRow& row, const ExecutionPlan& plan) {
  PlanSample sample;
  sample.plan = plan;
  sample.place.gpus = row.gpus;
  sample.place.nodes = std::clamp(row.nodes, 1, row.gpus);
  sample.place.cores_per_gpu = std::max(1, row.cores / row.gpus);
  sample.batch = row.batch;
  sample.step_seconds = row.seconds();
  sample.forward_seconds = row.forward.value_or(0);
  sample.optimiser_seconds = row.optimise.value_or(0);
  if (row.forward && row.optimise && row.iteration) {
    sample.tail_seconds = std::max(0.0, *row.iteration - *row.forward - *row.optimise);
  }
  sample.reports = row.samples;
  return sample;
}

std::vector<PlanSample> plan_samples(Rows rows) {
  std::vector<PlanSample> samples;
  for (const MeasuredRow& row : rows) {
    if (row.gpus < 1 || row.batch < 1 || row.seconds() <= 0) continue;
    // As submitted: every GPU has the whole model.
    ExecutionPlan plan{.data = row.gpus};
    if (!row.plan.empty()) {
      const auto named = parse_execution_plan(row.plan, row.gpus);
      if (!named || named->gpus() != row.gpus) continue;
      plan = *named;
    }
    samples.push_back(plan_sample(row, plan));
  }
  return samples;
}

std::vector<DataParallelSample> data_parallel_samples(Rows rows) {
  std::vector<DataParallelSample> samples;
  for (const MeasuredRow& row : rows) {
    const bool plain = row.plan.empty() || row.plan == "dp" || row.plan.starts_with("dp=");
    if (!plain || row.plan.find(',') != std::string::npos || row.servers > 0) continue;
    if (row.gpus < 1 || row.batch < 1 || row.seconds() <= 0) continue;
    samples.push_back(
        {{static_cast<double>(row.batch) / row.gpus, row.gpus, std::clamp(row.nodes, 1, row.gpus)},
         row.seconds(),
         row.sync});
  }
  return samples;
}

StepShape step_shape(const MeasuredRow& row) {
  StepShape shape;
  shape.servers = row.servers;
  shape.workers = row.workers > 0 ? row.workers : std::max(row.gpus, 1);
  shape.gpus = row.gpus;
  shape.server_cores = row.server_cores;
  const int of_workers = row.cores - row.servers * row.server_cores;
  shape.worker_cores = of_workers > 0 ? static_cast<double>(of_workers) / shape.workers : 0;
  shape.batch = static_cast<double>(row.batch);
  return shape;
}

std::vector<StepSample> step_samples(Rows rows) {
  std::vector<StepSample> samples;
  for (const MeasuredRow& row : rows) {
    if (row.batch > 0 && row.seconds() > 0) samples.push_back({step_shape(row), row.seconds()});
  }
  return samples;
}

/// The usual row's shape with other resources: servers and cores stay in proportion.
StepShape shape_at(const MeasuredRow& usual, const Resources& at) {
  StepShape shape = step_shape(usual);
  const int workers = shape.workers;
  if (at.gpus > 0 && usual.gpus > 0) {
    shape.workers = std::max<int>(
        1, static_cast<int>(std::lround(static_cast<double>(workers) * at.gpus / usual.gpus)));
  }
  if (usual.servers > 0) {
    const double share = static_cast<double>(usual.servers) * shape.workers / workers;
    shape.servers = std::max(1, static_cast<int>(std::lround(share)));
  }
  shape.gpus = at.gpus;
  if (at.cores > 0) {
    const double of_workers = at.cores - shape.servers * shape.server_cores;
    shape.worker_cores = std::max(0.0, of_workers) / shape.workers;
  }
  return shape;
}

bool has_servers(Rows rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const MeasuredRow& row) { return row.servers > 0; });
}

std::int64_t largest_local(Rows rows) {
  std::int64_t largest = 0;
  for (const MeasuredRow& row : rows) {
    if (row.gpus > 0) largest = std::max(largest, (row.batch + row.gpus - 1) / row.gpus);
  }
  return largest;
}

/// Batches of a range to look at: both ends, and doubled from the smaller one between them.
std::vector<std::int64_t> batches_of(const Batch& range) {
  std::vector<std::int64_t> batches;
  for (std::int64_t batch = std::max<std::int64_t>(range.min, 1); batch < range.max; batch *= 2) {
    batches.push_back(batch);
  }
  batches.push_back(std::max<std::int64_t>(range.max, 1));
  return batches;
}

auto key_of(const ModelShape& shape) {
  return std::tuple(shape.params, shape.hidden, shape.layers, shape.seq, shape.heads);
}

}  // namespace

/// The fits that were asked for so far. A fit that is under way is waited for.
struct BackEnds::Fits {
  using Place = std::pair<ProfileName, std::string>;
  using ShapeKey = decltype(key_of(ModelShape{}));

  std::mutex mutex;
  std::map<std::pair<Place, ShapeKey>, std::shared_ptr<const PlanModel>> plans;
  std::map<Place, std::shared_ptr<const DataParallelModel>> data_parallel;
  std::map<Place, std::shared_ptr<const StepTimeModel>> steps;

  std::shared_ptr<const PlanModel> plan_model(const Place& place, const ModelShape& shape,
                                              Rows rows) {
    const std::lock_guard lock(mutex);
    auto& model = plans[{place, key_of(shape)}];
    if (!model) model = std::make_shared<const PlanModel>(shape, plan_samples(rows));
    return model;
  }
  std::shared_ptr<const DataParallelModel> data_parallel_model(const Place& place, Rows rows) {
    const std::lock_guard lock(mutex);
    auto& model = data_parallel[place];
    if (!model) model = std::make_shared<const DataParallelModel>(data_parallel_samples(rows));
    return model;
  }
  std::shared_ptr<const StepTimeModel> step_model(const Place& place, Rows rows) {
    const std::lock_guard lock(mutex);
    auto& model = steps[place];
    if (!model) model = std::make_shared<const StepTimeModel>(step_samples(rows));
    return model;
  }

  std::optional<Prediction> by_plans(const JobSpec& job, const Resources& at, Rows rows,
                                     std::int64_t gpu_memory);
  std::optional<Prediction> by_batch(const JobSpec& job, const Resources& at, Rows rows);
  std::optional<Prediction> by_steps(const JobSpec& job, const Resources& at, Rows rows);
};

std::optional<Prediction> BackEnds::Fits::by_plans(const JobSpec& job, const Resources& asked,
                                                   Rows rows, std::int64_t gpu_memory) {
  const auto model = plan_model({job.profile, asked.gpu_type}, *job.shape, rows);
  if (model->fit().settings == 0) return std::nullopt;
  const Resources at = placed(rows, asked);
  PlanQuery query;
  query.place.gpus = at.gpus;
  query.place.nodes = at.nodes;
  query.place.cores_per_gpu = std::max(1, at.cores / at.gpus);
  query.gpu_memory_mib = gpu_memory;
  query.host_memory_mib = at.memory_mib / at.nodes;
  query.plans = *job.plans;
  const auto noise = noise_among(rows);
  const Batch range = job.batch.value_or(Batch{usual(rows).batch, usual(rows).batch});
  std::optional<Prediction> best;
  for (const std::int64_t batch : batches_of(range)) {
    query.batch = batch;
    const PlanForecast found = model->best(query);
    if (!found.feasible || found.step_seconds <= 0) continue;
    Prediction out = prediction_of(found.step_seconds, static_cast<double>(batch), found.spread,
                                   BackEnd::kPlans, asked);
    add_goodput(out, noise, static_cast<double>(range.min));
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
  none.back_end = BackEnd::kPlans;
  none.effective = asked;
  return none;
}

std::optional<Prediction> BackEnds::Fits::by_batch(const JobSpec& job, const Resources& asked,
                                                   Rows rows) {
  const auto model = data_parallel_model({job.profile, asked.gpu_type}, rows);
  if (model->empty()) return std::nullopt;
  const Resources at = placed(rows, asked);
  BatchRange range;
  range.least = job.batch->min;
  range.most = job.batch->max;
  range.most_local = kBatchReach * largest_local(rows);
  const auto seconds = [&](double local, int passes) {
    return model->iteration_seconds({local, at.gpus, at.nodes}, passes);
  };
  const auto noise = noise_among(rows);
  const auto choice =
      noise ? best_goodput(range, at.gpus, seconds, noise) : best_batch(range, at.gpus, seconds);
  if (!choice || choice->seconds <= 0) return std::nullopt;
  const double local = static_cast<double>(choice->batch) / at.gpus / choice->passes;
  const auto step = model->iteration({local, at.gpus, at.nodes}, choice->passes);
  if (!step) return std::nullopt;
  Prediction out = prediction_of(step->seconds, static_cast<double>(choice->batch), step->spread,
                                 BackEnd::kDataParallel, asked);
  add_goodput(out, noise, static_cast<double>(range.least));
  out.batch_chosen = true;
  return out;
}

std::optional<Prediction> BackEnds::Fits::by_steps(const JobSpec& job, const Resources& at,
                                                   Rows rows) {
  const auto model = step_model({job.profile, at.gpu_type}, rows);
  StepShape shape = shape_at(usual(rows), at);
  if (job.batch && job.batch->fixed()) shape.batch = static_cast<double>(job.batch->min);
  const StepForecast found = model->predict(shape);
  if (!found.known || model->report().contradictory || found.seconds <= 0 || shape.batch <= 0) {
    return std::nullopt;
  }
  return prediction_of(found.seconds, shape.batch, found.spread, BackEnd::kStepTime, at);
}

BackEnds::BackEnds(std::vector<MeasuredRow> rows, std::map<std::string, std::int64_t> memory)
    : rows_(std::move(rows)), memory_(std::move(memory)), fits_(std::make_unique<Fits>()) {
  std::erase_if(rows_, [](const MeasuredRow& row) { return !usable(row); });
  std::stable_sort(rows_.begin(), rows_.end(), row_before);
  rows_.erase(std::unique(rows_.begin(), rows_.end(),
                          [](const MeasuredRow& a, const MeasuredRow& b) {
                            return !row_before(a, b) && !row_before(b, a);
                          }),
              rows_.end());
  if (rows_.size() <= kMostRows) return;
  std::stable_sort(rows_.begin(), rows_.end(), [](const MeasuredRow& a, const MeasuredRow& b) {
    return a.samples > b.samples;
  });
  rows_.resize(kMostRows);
  std::sort(rows_.begin(), rows_.end(), row_before);
}

BackEnds::~BackEnds() = default;

std::optional<Prediction> BackEnds::predict(const JobSpec& job, const Resources& at) const {
  const Rows rows = rows_of(rows_, job.profile, at.gpu_type);
  if (rows.empty() || at.gpus < 0 || at.cores < 0 || at.memory_mib < 0) return std::nullopt;
  if (at.gpus == 0) {
    return job.device == Device::kGpu ? std::nullopt : fits_->by_steps(job, at, rows);
  }
  if (job.shape && job.plans) {
    const auto memory = memory_.find(at.gpu_type);
    auto found = fits_->by_plans(job, at, rows, memory != memory_.end() ? memory->second : 0);
    if (found) return found;
  }
  if (has_servers(rows)) return fits_->by_steps(job, at, rows);
  if (job.batch && !job.batch->fixed()) return fits_->by_batch(job, at, rows);
  return std::nullopt;
}

namespace {

/// Adds the errors of forecasts up, weighted by the reports of a row.
class Errors {
 public:
  void add(double expected, double measured, std::int64_t samples) {
    if (!(expected > 0) || !(measured > 0)) return;
    const double error = std::abs(expected / measured - 1);
    total_ += error * static_cast<double>(samples);
    weight_ += static_cast<double>(samples);
    max_ = std::max(max_, error);
  }
  void into(FitSummary& summary) const {
    summary.mean_error = weight_ > 0 ? total_ / weight_ : 0;
    summary.max_error = max_;
  }

 private:
  double total_ = 0;
  double weight_ = 0;
  double max_ = 0;
};

FitSummary head_of(Rows rows, BackEnd back_end) {
  FitSummary out;
  out.profile = rows.front().profile;
  out.gpu_type = rows.front().gpu_type;
  out.back_end = back_end;
  for (const MeasuredRow& row : rows) out.samples += row.samples;
  return out;
}

FitSummary summary_of(const PlanModel& model, Rows rows) {
  FitSummary out = head_of(rows, BackEnd::kPlans);
  out.configurations = model.fit().settings;
  for (std::size_t i = 0; i < kPlanTerms; ++i) {
    out.parameters.emplace_back(name_of(static_cast<PlanTerm>(i)), model.fit().terms[i]);
  }
  Errors errors;
  for (const PlanSample& sample : model.fit().merged) {
    PlanQuery query;
    query.place = sample.place;
    query.batch = sample.batch;
    const PlanForecast found = model.of_plan(query, sample.plan);
    if (found.feasible) errors.add(found.step_seconds, sample.step_seconds, sample.reports);
  }
  errors.into(out);
  const PlanFitFlags& flags = model.fit().flags;
  if (flags.few) out.flags.emplace_back("few");
  if (flags.rejected) out.flags.emplace_back("rejected");
  if (flags.contradictory) out.flags.emplace_back("contradictory");
  if (flags.poor) out.flags.emplace_back("poor");
  if (flags.constant) out.flags.emplace_back("constant");
  return out;
}

FitSummary summary_of(const DataParallelModel& model, Rows rows) {
  FitSummary out = head_of(rows, BackEnd::kDataParallel);
  out.configurations = static_cast<int>(model.places());
  const DataParallelFamily& family = model.family();
  out.parameters = {{"fixed", family.fixed},    {"per_sample", family.per_sample},
                    {"local", family.local},    {"local_growth", family.local_growth},
                    {"remote", family.remote},  {"remote_growth", family.remote_growth},
                    {"overlap", family.overlap}};
  Errors errors;
  for (const DataParallelSample& sample : data_parallel_samples(rows)) {
    const auto step = model.step(sample.at);
    if (step) errors.add(step->seconds, sample.step_time, 1);
  }
  errors.into(out);
  for (const DataParallelFlag flag : model.flags()) out.flags.emplace_back(to_string(flag));
  return out;
}

FitSummary summary_of(const StepTimeModel& model, Rows rows) {
  FitSummary out = head_of(rows, BackEnd::kStepTime);
  out.configurations = model.report().configurations;
  for (std::size_t i = 0; i < model.coefficients().size(); ++i) {
    out.parameters.emplace_back("th" + std::to_string(i), model.coefficients()[i]);
  }
  out.parameters.emplace_back("cpu_factor", model.cpu_factor());
  Errors errors;
  for (const StepSample& sample : step_samples(rows)) {
    errors.add(model.predict(sample.shape).seconds, sample.seconds, 1);
  }
  errors.into(out);
  if (model.report().kind == StepFit::kReduced) out.flags.emplace_back("few");
  if (model.report().dropped > 0) out.flags.emplace_back("rejected");
  if (model.report().contradictory) out.flags.emplace_back("contradictory");
  return out;
}

/// Sizes of a curve: the powers of two up to twice the largest measured, and those measured.
std::set<int> curve_sizes(Rows rows) {
  std::set<int> sizes;
  int largest = 0;
  for (const MeasuredRow& row : rows) {
    if (row.gpus > 0) sizes.insert(row.gpus);
    largest = std::max(largest, row.gpus);
  }
  for (std::int64_t size = 1; size <= std::int64_t{2} * largest; size *= 2) {
    sizes.insert(static_cast<int>(size));
  }
  while (sizes.size() > static_cast<std::size_t>(kMostCurveSizes)) sizes.erase(*sizes.rbegin());
  return sizes;
}

}  // namespace

std::vector<FitSummary> BackEnds::summaries(const std::map<std::string, ModelShape>& shapes) const {
  std::vector<FitSummary> all;
  for (auto at = rows_.begin(); at != rows_.end();) {
    const Rows rows = rows_of(rows_, at->profile, at->gpu_type);
    at += static_cast<std::ptrdiff_t>(rows.size());
    const Fits::Place place{rows.front().profile, rows.front().gpu_type};
    const auto shape = shapes.find(place.first.job_type);
    if (shape != shapes.end() && rows.back().gpus > 0) {
      const auto model = fits_->plan_model(place, shape->second, rows);
      if (model->fit().settings > 0) all.push_back(summary_of(*model, rows));
    }
    if (has_servers(rows) || rows.back().gpus == 0) {
      const auto model = fits_->step_model(place, rows);
      if (model->report().samples > 0) all.push_back(summary_of(*model, rows));
      continue;
    }
    const auto model = fits_->data_parallel_model(place, rows);
    if (!model->empty()) all.push_back(summary_of(*model, rows));
  }
  return all;
}

std::vector<CurvePoint> BackEnds::curve_points() const {
  std::vector<CurvePoint> points;
  for (auto at = rows_.begin(); at != rows_.end();) {
    const Rows rows = rows_of(rows_, at->profile, at->gpu_type);
    at += static_cast<std::ptrdiff_t>(rows.size());
    const MeasuredRow& most = usual(rows);
    if (most.gpus < 1 || most.batch < 1) continue;
    const bool servers = has_servers(rows);
    const auto curve =
        servers ? nullptr : fits_->data_parallel_model({most.profile, most.gpu_type}, rows);
    if (curve && (curve->places() < kLeastPlaces || !curve->flags().empty())) continue;
    const JobSpec job{.profile = most.profile};
    for (const int gpus : curve_sizes(rows)) {
      const Resources place = placed(rows, {.gpu_type = most.gpu_type, .gpus = gpus});
      CurvePoint point{most.profile, {most.gpu_type, gpus, place.nodes, most.batch, ""}, 0, 0};
      if (servers) {
        const auto found = fits_->by_steps(job, place, rows);
        if (!found || !found->feasible) continue;
        point.log_rate = std::log(found->theta);
        point.spread = found->spread;
      } else {
        const auto step = curve->step({static_cast<double>(most.batch) / gpus, gpus, place.nodes});
        if (!step || !(step->seconds > 0)) continue;
        point.log_rate = std::log(static_cast<double>(most.batch) / step->seconds);
        point.spread = step->spread;
      }
      if (std::isfinite(point.log_rate) && std::isfinite(point.spread)) points.push_back(point);
    }
  }
  return points;
}

}  // namespace rubato
