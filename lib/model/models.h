// SPDX-License-Identifier: GPL-2.0-or-later
// What is known of the speed of jobs and GPU types: an immutable version that a round reads.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "lib/model/predictor.h"
#include "lib/model/throughput/throughput.h"
#include "lib/model/throughput/type_speeds.h"

namespace rubato {

class Models {
 public:
  Models() = default;
  /// Speeds of the GPU types (see TypeSpeeds), and what was learnt; nothing yet when null.
  explicit Models(std::map<std::string, double> speeds,
                  std::shared_ptr<const ThroughputModel> learnt = nullptr,
                  std::shared_ptr<const BackEnds> back_ends = nullptr)
      : speeds_(std::move(speeds)),
        learnt_(learnt),
        predictor_(std::make_shared<const Predictor>(std::move(learnt), std::move(back_ends))) {}

  /// Above 0.
  [[nodiscard]] double speed(const std::string& gpu_type) const { return speeds_.speed(gpu_type); }
  /// As configured.
  [[nodiscard]] const TypeSpeeds& speeds() const { return speeds_; }
  /// Null while nothing was learnt.
  [[nodiscard]] const ThroughputModel* learnt() const { return learnt_.get(); }
  /// Of any job with any resources, from the model that suits it.
  [[nodiscard]] const Predictor& predictor() const { return *predictor_; }

 private:
  TypeSpeeds speeds_;
  std::shared_ptr<const ThroughputModel> learnt_;
  std::shared_ptr<const Predictor> predictor_ = std::make_shared<const Predictor>(nullptr, nullptr);
};

}  // namespace rubato
