// SPDX-License-Identifier: GPL-2.0-or-later
// Forecasts from the models that learn from the reports of jobs.
#pragma once

#include <memory>
#include <utility>

#include "lib/model/throughput/type_speeds.h"
#include "lib/model/throughput_forecasts.h"

namespace rubato {

/// Immutable and thread-safe. A profile counts, not the single job. Costs are not learned.
class LearnedForecasts final : public ThroughputForecasts {
 public:
  explicit LearnedForecasts(TypeSpeeds speeds, std::shared_ptr<const Predictor> predictor)
      : speeds_(std::move(speeds)), predictor_(std::move(predictor)) {}

  [[nodiscard]] bool measured() const override { return predictor_->throughput_model() != nullptr; }
  [[nodiscard]] double speed(const std::string& gpu_type) const override;
  [[nodiscard]] Forecast throughput(const JobKey& job, const JobSpec& spec,
                                    const Resources& at) const override;
  [[nodiscard]] std::optional<Prediction> choice(const JobKey& job, const JobSpec& spec,
                                                 const Resources& at) const override;
  [[nodiscard]] double start_seconds(const JobKey& /*job*/) const override { return 0; }
  [[nodiscard]] std::optional<double> work_left(const JobKey& /*job*/) const override {
    return std::nullopt;
  }
  [[nodiscard]] std::optional<double> seconds_left(const JobKey& /*job*/) const override {
    return std::nullopt;
  }

 private:
  TypeSpeeds speeds_;
  std::shared_ptr<const Predictor> predictor_;
};

}  // namespace rubato
