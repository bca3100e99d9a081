// SPDX-License-Identifier: GPL-2.0-or-later
// The fits of StepTimeModels. Only its own files include this.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "lib/model/data_parallel/data_parallel.h"
#include "lib/model/plans/plan_curve.h"
#include "lib/model/plans/plan_model.h"
#include "lib/model/predictor.h"
#include "lib/model/row_samples.h"
#include "lib/model/step_time/step_time.h"

namespace rubato {

using rows::Rows;

/// The fits requested so far. A second caller waits for a fit in progress.
struct StepTimeModels::Fits {
  using ProfileOnType = std::pair<ProfileName, std::string>;
  using ShapeKey = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  /// Profile and GPU type, shape, batch, plans, MiB of a GPU, MiB of the host per GPU.
  using CurveKey = std::tuple<ProfileOnType, ShapeKey, std::int64_t, bool, std::set<PlanKind>,
                              std::int64_t, std::int64_t>;

  static ShapeKey key_of(const ModelShape& shape) {
    return {shape.params, shape.hidden, shape.layers, shape.seq, shape.heads};
  }

  std::map<std::string, PlanEnvironment> links{};  ///< by GPU type, where configured
  std::mutex mutex{};
  std::map<std::pair<ProfileOnType, ShapeKey>, std::shared_ptr<const PlanModel>> plans;
  std::map<CurveKey, std::shared_ptr<const PlanCurve>> curves;
  std::map<ProfileOnType, std::shared_ptr<const DataParallelModel>> data_parallel;
  std::map<ProfileOnType, std::shared_ptr<const StepTimeModel>> steps;

  bool complete = false;  ///< makes no further fit
  std::int64_t made = 0;

  /// The fit for a key. Null if it is missing in a complete set.
  template <typename Key, typename Model, typename Make>
  std::shared_ptr<const Model> fit_for(std::map<Key, std::shared_ptr<const Model>>& fits,
                                       const Key& key, const Make& make) {
    const std::lock_guard lock(mutex);
    if (const auto found = fits.find(key); found != fits.end()) return found->second;
    if (complete) return nullptr;
    ++made;
    return fits.emplace(key, make()).first->second;
  }

  /// Null if the fit is missing in a complete set, as of the following ones.
  std::shared_ptr<const PlanModel> plan_model(const ProfileOnType& profile_on_type,
                                              const ModelShape& shape, Rows rows) {
    return fit_for(plans, std::pair(profile_on_type, key_of(shape)), [&] {
      const auto link = links.find(profile_on_type.second);
      PlanEnvironment guessed;
      guessed.known = false;
      return std::make_shared<const PlanModel>(shape, rows::plan_samples(rows),
                                               link != links.end() ? link->second : guessed);
    });
  }
  std::shared_ptr<const DataParallelModel> data_parallel_model(const ProfileOnType& profile_on_type,
                                                               Rows rows) {
    return fit_for(data_parallel, profile_on_type, [&] {
      return std::make_shared<const DataParallelModel>(rows::data_parallel_samples(rows));
    });
  }
  std::shared_ptr<const StepTimeModel> step_model(const ProfileOnType& profile_on_type, Rows rows) {
    return fit_for(steps, profile_on_type,
                   [&] { return std::make_shared<const StepTimeModel>(rows::step_samples(rows)); });
  }

  /// Null without suitable measurements.
  std::shared_ptr<const PlanCurve> plan_curve(const JobSpec& job, const Resources& at, Rows rows,
                                              std::int64_t gpu_memory, std::int64_t batch);
  std::optional<Prediction> by_plans(const JobSpec& job, const Resources& at, Rows rows,
                                     std::int64_t gpu_memory);
  std::optional<Prediction> by_batch(const JobSpec& job, const Resources& at, Rows rows);
  std::optional<Prediction> by_steps(const JobSpec& job, const Resources& at, Rows rows);
};

}  // namespace rubato
