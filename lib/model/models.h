// SPDX-License-Identifier: GPL-2.0-or-later
// The throughput models of jobs and GPU types: an immutable version that a round reads.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "lib/model/learned_forecasts.h"
#include "lib/model/predictor.h"
#include "lib/model/throughput/throughput.h"
#include "lib/model/throughput/type_speeds.h"

namespace rubato {

class Models {
 public:
  Models() = default;
  /// Relative speeds of GPU types (see TypeSpeeds), and the learnt model; null: nothing learnt.
  explicit Models(std::map<std::string, double> speeds,
                  std::shared_ptr<const ThroughputModel> throughput_model = nullptr,
                  std::shared_ptr<const StepTimeModels> step_time_models = nullptr)
      : speeds_(std::move(speeds)),
        throughput_model_(throughput_model),
        predictor_(std::make_shared<const Predictor>(std::move(throughput_model),
                                                     std::move(step_time_models))),
        forecasts_(std::make_shared<const LearnedForecasts>(speeds_, predictor_)) {}
  /// Models without learned ones; `forecasts` answers the round instead.
  [[nodiscard]] static Models with_forecasts(std::map<std::string, double> speeds,
                                             std::shared_ptr<const ThroughputForecasts> forecasts) {
    Models models(std::move(speeds));
    models.forecasts_ = std::move(forecasts);
    return models;
  }

  /// Above 0.
  [[nodiscard]] double speed(const std::string& gpu_type) const { return speeds_.speed(gpu_type); }
  /// The configured relative speeds.
  [[nodiscard]] const TypeSpeeds& speeds() const { return speeds_; }
  /// Null until a model was learnt.
  [[nodiscard]] const ThroughputModel* throughput_model() const { return throughput_model_.get(); }
  /// A prediction for any job with any resources, from the model that fits the job.
  [[nodiscard]] const Predictor& predictor() const { return *predictor_; }
  /// What a round asks.
  [[nodiscard]] const ThroughputForecasts& forecasts() const { return *forecasts_; }

 private:
  TypeSpeeds speeds_;
  std::shared_ptr<const ThroughputModel> throughput_model_;
  std::shared_ptr<const Predictor> predictor_ = std::make_shared<const Predictor>(nullptr, nullptr);
  std::shared_ptr<const ThroughputForecasts> forecasts_ =
      std::make_shared<const LearnedForecasts>(speeds_, predictor_);
};

}  // namespace rubato
