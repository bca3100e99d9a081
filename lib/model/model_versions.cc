// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/model_versions.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rubato {
namespace {

constexpr double kMovedThroughput = 0.01;
constexpr double kMoreSamples = 1.5;

/// Whether step-time models of `now` would differ, by the limits of throughput_change().
bool tells_more(const std::vector<MeasuredRow>& before, const std::vector<MeasuredRow>& now) {
  if (before.size() != now.size()) return true;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (row_before(before[i], now[i]) || row_before(now[i], before[i])) return true;
    const auto more = static_cast<double>(now[i].samples);
    if (more >= kMoreSamples * static_cast<double>(before[i].samples)) return true;
    if (std::abs(std::log(now[i].throughput / before[i].throughput)) >= kMovedThroughput)
      return true;
  }
  return false;
}

}  // namespace

LearnerRules learner_rules(const Config& config) {
  constexpr double kDaySeconds = 86400;
  LearnerRules rules;
  rules.use.warm_up = config.off(Mechanism::kWarmUp) ? 0 : config.warm_up;
  rules.history.half_life = config.model_half_life_days * kDaySeconds;
  rules.bounds_unproven = !config.off(Mechanism::kProve);
  return rules;
}

void ModelVersions::set_rows(std::vector<MeasuredRow> rows, const GpuTypeFacts& types,
                             Learner& learner) {
  auto made = std::make_shared<StepTimeModels>(std::move(rows), types.gpu_memory, types.gpu_links);
  if (step_time_models_ != nullptr && step_time_models_->rows() == made->rows() &&
      step_time_models_->memory() == made->memory() &&
      step_time_models_->links() == made->links()) {
    return;
  }
  if (step_time_models_ != nullptr) made->take_fits(*step_time_models_);
  static const std::vector<MeasuredRow> none;
  rows_news_ =
      rows_news_ ||
      tells_more(step_time_models_ != nullptr ? step_time_models_->rows() : none, made->rows());
  step_time_models_ = made->rows().empty() ? nullptr : std::move(made);
  learner.set_curves(step_time_models_ != nullptr ? step_time_models_->curve_points()
                                                  : std::vector<CurvePoint>());
}

// Whether a job has a shape to which no plan model was fitted, although its type was measured.
bool ModelVersions::has_new_shape(const std::set<ProfileShape>& shapes) const {
  if (latest_ == nullptr || step_time_models_ == nullptr) return false;
  const StepTimeModels* const now = latest_->predictor().step_time_models();
  static const std::vector<ProfileShape> none;
  const auto& known = now != nullptr && now->shapes() ? *now->shapes() : none;
  return !std::includes(known.begin(), known.end(), shapes.begin(), shapes.end());
}

void ModelVersions::make(const Learner& learner, const GpuTypeFacts& types,
                         const std::set<ProfileShape>& shapes) {
  const auto& throughput_model = learner.model();
  if (warms_ && throughput_model != nullptr && latest_ != nullptr &&
      latest_->throughput_model() != nullptr &&
      latest_->throughput_model() != throughput_model.get()) {
    throughput_model->warm(*latest_->throughput_model());
  }
  std::shared_ptr<const StepTimeModels> ready;
  if (step_time_models_ != nullptr)
    ready = step_time_models_->ready({shapes.begin(), shapes.end()});
  latest_ = std::make_shared<const Models>(types.speeds, throughput_model, std::move(ready));
}

ModelVersions::News ModelVersions::fit(Learner& learner, const GpuTypeFacts& types,
                                       const std::set<ProfileShape>& shapes, double share) {
  const bool first = latest_ == nullptr;
  Learner::News fitted = learner.refit_when_due(TypeSpeeds(types.speeds), share);
  News news;
  news.said = std::move(fitted.said);
  const bool others = types != types_ || has_new_shape(shapes);
  if (step_time_models_ != nullptr && (step_time_models_->memory() != types.gpu_memory ||
                                       step_time_models_->links() != types.gpu_links))
    step_time_models_ = std::make_shared<const StepTimeModels>(step_time_models_->rows(),
                                                               types.gpu_memory, types.gpu_links);
  types_ = types;
  const bool same = fitted.change == ThroughputChange::kSame || fitted.kept_old;
  if (!first && !others && same && !rows_news_) return news;
  rows_news_ = false;
  make(learner, types, shapes);
  news.made = true;
  news.decides = first || others || fitted.change == ThroughputChange::kDecides;
  return news;
}

ModelVersions::News ModelVersions::fit_hyperparameters(Learner& learner, const GpuTypeFacts& types,
                                                       const std::set<ProfileShape>& shapes) {
  if (!learner.fit_hyperparameters_when_due(TypeSpeeds(types.speeds))) return {};
  return fit(learner, types, shapes);
}

void ReportedModels::take(const MeasuredReport& report) {
  learner_.take(report.throughput);
  rows_.add(report);
}

void ReportedModels::set_rows_when_due(const GpuTypeFacts& types) {
  const auto enough = (1 + row_share_) * static_cast<double>(reports_at_rows_);
  const bool is_new = rows_.size() != rows_at_rows_;
  if (!is_new && static_cast<double>(rows_.reports()) < enough) return;
  if (rows_.reports() == reports_at_rows_) return;
  reports_at_rows_ = rows_.reports();
  rows_at_rows_ = rows_.size();
  versions_.set_rows(rows_.rows(), types, learner_);
}

std::shared_ptr<const Models> ReportedModels::fit_when_due(const GpuTypeFacts& types,
                                                           const std::set<ProfileShape>& shapes,
                                                           double share) {
  set_rows_when_due(types);
  (void)versions_.fit(learner_, types, shapes, share);
  (void)versions_.fit_hyperparameters(learner_, types, shapes);
  return versions_.latest();
}

}  // namespace rubato
