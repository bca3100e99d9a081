// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/learned_forecasts.h"

namespace rubato {

double LearnedForecasts::speed(const std::string& gpu_type) const {
  // For a job type without measurements: what all measured job types have in common.
  return measured() ? predictor_->throughput_model()->predict({}, gpu_type, 1).throughput()
                    : speeds_.speed(gpu_type);
}

Forecast LearnedForecasts::throughput(const JobKey& /*job*/, const JobSpec& spec,
                                      const Resources& at) const {
  return predictor_->unchanged(spec, at);
}

std::optional<Prediction> LearnedForecasts::choice(const JobKey& /*job*/, const JobSpec& spec,
                                                   const Resources& at) const {
  Prediction found = predictor_->predict(spec, at);
  // The Gaussian process knows neither plans nor batches.
  if (found.model_kind == ModelKind::kNone || found.model_kind == ModelKind::kThroughput)
    return std::nullopt;
  return found;
}

}  // namespace rubato
