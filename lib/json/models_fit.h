// SPDX-License-Identifier: GPL-2.0-or-later
// What a version of Models is made of: models-fit.json, which is in the folder of snapshot.json so
// that a round can be decided again.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"
#include "lib/model/models.h"

namespace rubato {

inline constexpr const char* kModelsFitSchema = "rubato.models-fit/1";

struct ModelsFit {
  std::map<std::string, double> speeds;  ///< of the GPU types, as configured
  std::vector<ThroughputObservation>
      observations;                ///< as ThroughputModel has them; none: nothing was learnt
  std::vector<CurvePoint> curves;  ///< the same
  ThroughputPrior prior;
  std::vector<MeasuredRow> rows;  ///< as StepTimeModels has them; none: no model of steps
  std::map<std::string, std::int64_t> memory;  ///< MiB of a GPU of a type, as configured
  std::map<std::string, double> links{};       ///< GB/s per GPU in a node, as configured
  /// Shapes with a fit of execution plans, if `ready`: no other fit is made
  /// (StepTimeModels::ready).
  std::vector<ProfileShape> shapes{};
  bool ready = false;
};

[[nodiscard]] ModelsFit fit_of(const Models& models);
/// Gives the forecasts of the Models that `fit` was taken from, to the last bit. Fits anew: cubic
/// in the number of cells.
[[nodiscard]] Models models_of(const ModelsFit& fit);

/// One line of JSON: {"schema":...,"speeds":[{"gpu_type","speed"}],"cells":[{"account","job_type",
/// "gpu_type","gpus","rate","samples"}]}; of a cell also "nodes","batch","plan","weight" where they
/// are known; "prior" with the standard deviations that were learnt and "curves" with points of
/// fitted curves, where there are any.
[[nodiscard]] std::string to_json(const ModelsFit& fit);
/// Errors name the member, as in json.h.
[[nodiscard]] Result<ModelsFit> models_fit_from_json(std::string_view text);

/// What a plan says of the models it was made with: 16 hex digits (XXH64) of their JSON; "" where
/// nothing was learnt, since rubato.conf has the speeds.
[[nodiscard]] std::string fingerprint(const ModelsFit& fit);

}  // namespace rubato
