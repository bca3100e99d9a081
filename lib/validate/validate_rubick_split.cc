// SPDX-License-Identifier: GPL-2.0-or-later
// Execution plans with tensor or pipeline parallelism: few rows chosen, all others tested.
#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/model/plans/plan_rows.h"
#include "lib/validate/step_errors.h"
#include "lib/validate/validate_rubick_cells.h"

namespace rubato {
namespace {

constexpr std::size_t kSplitRows = 7;
// A medium transformer and a usual batch, if the data have none; volumes are fitted.
constexpr ModelShape kGuess{
    .params = 1'000'000'000, .hidden = 2048, .layers = 24, .seq = 1024, .heads = 16};
constexpr std::int64_t kGuessBatch = 64;

// The data lack the micro-batches of pipelines: one, as many as stages, or one sample each. The
// fitted rows decide.
std::vector<std::vector<PlanSample>> split_rows(const RubickProfile& profile) {
  std::vector<std::vector<PlanSample>> readings(3);
  for (const RubickProfileRow& row : profile.rows) {
    if (!row.sample.plan.split()) continue;
    PlanSample sample{.plan = row.sample.plan,
                      .configuration = row.sample.configuration,
                      .batch = kGuessBatch,
                      .step_seconds = row.sample.step_seconds};
    readings[0].push_back(sample);
    const int stages = sample.plan.pipeline;
    if (stages > 1) sample.plan.steps = stages;
    readings[1].push_back(sample);
    if (stages > 1) sample.plan.steps = static_cast<int>(kGuessBatch / sample.plan.data);
    readings[2].push_back(sample);
  }
  return readings;
}

/// The step time of the nearest of the chosen rows; of equals the first.
double nearest(const std::vector<PlanSample>& rows, const std::vector<std::size_t>& chosen,
               const ExecutionPlan& at) {
  const auto distance = [&](std::size_t i) {
    const ExecutionPlan& plan = rows[i].plan;
    return std::hypot(std::log(static_cast<double>(plan.pipeline) / at.pipeline),
                      std::log(static_cast<double>(plan.tensor) / at.tensor),
                      std::log(static_cast<double>(plan.data) / at.data));
  };
  return rows[*std::ranges::min_element(chosen, {}, distance)].step_seconds;
}

SplitErrors errors_of(const RubickProfile& profile) {
  const std::vector<std::vector<PlanSample>> readings = split_rows(profile);
  const std::vector<PlanSample>& rows = readings.front();
  SplitErrors errors{.model = profile.name, .ours = {}, .nearest = {}};
  if (rows.size() <= kSplitRows) return errors;
  std::vector<PlanSetting> settings;
  settings.reserve(rows.size());
  for (const PlanSample& row : rows) settings.push_back({row.plan, row.configuration, row.batch});
  const auto measure = [&](std::size_t i) { return rows[i]; };
  const std::vector<std::size_t> chosen =
      choose_settings(kGuess, settings, kSplitRows, measure, {}, PlanBelief::kShapeGuessed);
  errors.chosen = chosen.size();
  PlanFit best;
  const std::vector<PlanSample>* read = nullptr;
  for (const std::vector<PlanSample>& reading : readings) {
    std::vector<PlanSample> known;
    known.reserve(chosen.size());
    for (const std::size_t i : chosen) known.push_back(reading[i]);
    PlanFit fit = fit_plans(kGuess, known, {}, PlanBelief::kShapeGuessed);
    if (read != nullptr && fit.rmsle >= best.rmsle) continue;
    best = std::move(fit);
    read = &reading;
  }
  for (std::size_t i = 0; i < read->size(); ++i) {
    if (std::find(chosen.begin(), chosen.end(), i) != chosen.end()) continue;
    errors.ours.push_back(error_of(best.terms, kGuess, (*read)[i]));
    const double closest = nearest(rows, chosen, rows[i].plan);
    errors.nearest.push_back(std::abs(closest / rows[i].step_seconds - 1));
  }
  return errors;
}

}  // namespace

std::vector<SplitErrors> split_errors(const RubickData& data) {
  std::vector<SplitErrors> all;
  for (const RubickProfile& profile : data.profiles) {
    SplitErrors errors = errors_of(profile);
    if (!errors.ours.empty()) all.push_back(std::move(errors));
  }
  return all;
}

}  // namespace rubato
