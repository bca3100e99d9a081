// SPDX-License-Identifier: GPL-2.0-or-later
// Summaries of the fits of StepTimeModels for users, and their curves for the Gaussian process.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "lib/model/step_time_model_fits.h"

namespace rubato {
namespace {

using namespace rows;  // NOLINT(google-build-using-namespace)

// Minimum number of configurations for a curve of a profile.
constexpr std::size_t kMinConfigurations = 3;
constexpr int kMaxCurveSizes = 32;

/// Sums up forecast errors, weighted by the reports of a row.
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

FitSummary head_of(Rows rows, ModelKind model_kind) {
  FitSummary out;
  out.profile = rows.front().profile;
  out.gpu_type = rows.front().gpu_type;
  out.model_kind = model_kind;
  for (const MeasuredRow& row : rows) out.samples += row.samples;
  return out;
}

FitSummary summary_of(const PlanModel& model, Rows rows) {
  FitSummary out = head_of(rows, ModelKind::kPlans);
  out.configurations = model.fit().settings;
  for (std::size_t i = 0; i < kPlanTerms; ++i) {
    out.parameters.emplace_back(name_of(static_cast<PlanTerm>(i)), model.fit().terms[i]);
  }
  Errors errors;
  for (const PlanSample& sample : model.fit().merged) {
    PlanQuery query;
    query.configuration = sample.configuration;
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
  FitSummary out = head_of(rows, ModelKind::kDataParallel);
  out.configurations = static_cast<int>(model.configurations());
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
  FitSummary out = head_of(rows, ModelKind::kStepTime);
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

/// Sizes of a curve: powers of two up to twice the largest measured size, and measured sizes.
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
  while (sizes.size() > static_cast<std::size_t>(kMaxCurveSizes)) sizes.erase(*sizes.rbegin());
  return sizes;
}

}  // namespace

std::vector<FitSummary> StepTimeModels::summaries(
    const std::map<std::string, ModelShape>& shapes) const {
  std::vector<FitSummary> all;
  for (auto at = rows_.begin(); at != rows_.end();) {
    const Rows rows = rows_of(rows_, at->profile, at->gpu_type);
    at += static_cast<std::ptrdiff_t>(rows.size());
    const Fits::ProfileOnType configuration{rows.front().profile, rows.front().gpu_type};
    const auto shape = shapes.find(configuration.first.job_type);
    if (shape != shapes.end() && rows.back().gpus > 0) {
      const auto model = fits_->plan_model(configuration, shape->second, rows);
      if (model != nullptr && model->fit().settings > 0) all.push_back(summary_of(*model, rows));
    }
    if (has_servers(rows) || rows.back().gpus == 0) {
      const auto model = fits_->step_model(configuration, rows);
      if (model != nullptr && model->report().samples > 0) all.push_back(summary_of(*model, rows));
      continue;
    }
    const auto model = fits_->data_parallel_model(configuration, rows);
    if (model != nullptr && !model->empty()) all.push_back(summary_of(*model, rows));
  }
  return all;
}

std::vector<CurvePoint> StepTimeModels::curve_points() const {
  std::vector<CurvePoint> points;
  for (auto at = rows_.begin(); at != rows_.end();) {
    const Rows rows = rows_of(rows_, at->profile, at->gpu_type);
    at += static_cast<std::ptrdiff_t>(rows.size());
    const MeasuredRow& most = usual(rows);
    if (most.gpus < 1 || most.batch < 1) continue;
    const bool servers = has_servers(rows);
    const auto curve =
        servers ? nullptr : fits_->data_parallel_model({most.profile, most.gpu_type}, rows);
    if (!servers && curve == nullptr) continue;
    if (curve && (curve->configurations() < kMinConfigurations || !curve->flags().empty()))
      continue;
    const JobSpec job{.profile = most.profile};
    for (const int gpus : curve_sizes(rows)) {
      const Resources configuration = placed(rows, {.gpu_type = most.gpu_type, .gpus = gpus});
      CurvePoint point{
          most.profile, {most.gpu_type, gpus, configuration.nodes, most.batch, ""}, 0, 0};
      if (servers) {
        const auto found = fits_->by_steps(job, configuration, rows);
        if (!found || !found->feasible) continue;
        point.log_throughput = std::log(found->throughput);
        point.stddev = found->stddev;
      } else {
        const auto step =
            curve->step({static_cast<double>(most.batch) / gpus, gpus, configuration.nodes});
        if (!step || !(step->seconds > 0)) continue;
        point.log_throughput = std::log(static_cast<double>(most.batch) / step->seconds);
        point.stddev = step->stddev;
      }
      if (std::isfinite(point.log_throughput) && std::isfinite(point.stddev))
        points.push_back(point);
    }
  }
  return points;
}

}  // namespace rubato
