// SPDX-License-Identifier: GPL-2.0-or-later
// What the profiles of a site hold: models.json, which slurmctld publishes and the commands read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/units.h"

namespace rubato {

inline constexpr const char* kModelsSchema = "rubato.models/1";

/// The samples of one job type at one place: account (or all, where it is shared), GPU type, number
/// of GPUs and of nodes, plan and batch.
struct ModelRow {
  std::string account;  ///< "" where the profile is shared
  std::string job_type;
  bool shared = false;
  std::string gpu_type;
  int gpus = 0;
  int nodes = 0;             ///< 0: not known
  std::string plan;          ///< execution plan; "": as submitted
  std::int64_t batch = 0;    ///< global batch, samples
  std::int64_t samples = 0;  ///< reports, flagged ones included
  std::int64_t flagged = 0;  ///< those that no profile uses
  /// Why: word (`wall-time`) and reports, by word.
  std::vector<std::pair<std::string, std::int64_t>> flags{};
  std::int64_t jobs = 0;  ///< that sent them
  /// samples/s of the reports that are not flagged; all 0 if there are none.
  double throughput_mean = 0;
  double throughput_min = 0;
  double throughput_max = 0;
  double throughput_last = 0;
  Seconds last = 0;  ///< time of the last report, flagged or not

  /// Whether a report is not flagged.
  [[nodiscard]] bool measured() const { return samples > flagged; }
  bool operator==(const ModelRow&) const = default;
};

/// By job type, account, GPU type, GPUs, nodes, plan, batch.
[[nodiscard]] bool operator<(const ModelRow& a, const ModelRow& b);

/// What is expected of a profile on one GPU type at one number of GPUs, measured there or not.
struct ForecastRow {
  std::string account;  ///< "" where the profile is shared
  std::string job_type;
  bool shared = false;
  std::string gpu_type;
  int gpus = 0;
  double throughput = 0;  ///< samples/s; two of three jobs should be between the two below
  double throughput_low = 0;
  double throughput_high = 0;
  std::int64_t samples = 0;  ///< reports of exactly this; 0: forecast from others alone

  bool operator==(const ForecastRow&) const = default;
};

/// By job type, account, GPU type, GPUs.
[[nodiscard]] bool operator<(const ForecastRow& a, const ForecastRow& b);

/// How well it was foreseen what the jobs of a profile reported on one GPU type.
struct ErrorRow {
  std::string account;  ///< "" where the profile is shared
  std::string job_type;
  bool shared = false;
  std::string gpu_type;
  double error = 0;  ///< mean of |forecast / report - 1|, each report before it counted
  std::int64_t reports = 0;

  bool operator==(const ErrorRow&) const = default;
};

/// By job type, account, GPU type.
[[nodiscard]] bool operator<(const ErrorRow& a, const ErrorRow& b);

/// Fits that were not used, since they foresaw recent reports of a profile on one GPU type worse
/// than the one before, since slurmctld started.
struct RefusalRow {
  std::string account;   ///< "" where the profile is shared
  std::string job_type;  ///< "": no single one, all reports together
  bool shared = false;
  std::string gpu_type;
  std::int64_t fits = 0;
  double error = 0;       ///< of the last of them, over `reports`
  double kept_error = 0;  ///< of the one that stayed
  std::int64_t reports = 0;

  bool operator==(const RefusalRow&) const = default;
};

/// By job type, account, GPU type.
[[nodiscard]] bool operator<(const RefusalRow& a, const RefusalRow& b);

/// Where a measurement would teach most, see lib/model/throughput/acquisition.h.
struct InformativeMeasurementRow {
  std::string account;  ///< "" where the profile is shared
  std::string job_type;
  bool shared = false;
  std::string gpu_type;
  int gpus = 0;
  double within = 0;  ///< how sure forecasts of the profile are, as a share of the rate
  double after = 0;   ///< and would be with it

  bool operator==(const InformativeMeasurementRow&) const = default;
};

struct ModelsTable {
  Seconds generated = 0;
  std::vector<ModelRow> rows;          ///< sorted
  std::vector<ForecastRow> forecasts;  ///< sorted; none where nothing was learnt
  std::vector<ErrorRow> errors;        ///< sorted
  std::vector<RefusalRow> refusals{};  ///< sorted
  std::vector<InformativeMeasurementRow> most_informative;  ///< what teaches most first
  std::int64_t merged = 0;   ///< configurations that are part of another one in the model fit
  std::int64_t dropped = 0;  ///< configurations that are in no fit

  bool operator==(const ModelsTable&) const = default;
};

/// One line of JSON: {"schema":"rubato.models/1","generated":...,"models":[...],"forecasts":[...],
/// "forecast_errors":[...],"refused_fits":[...],"lessons":[...]}. Members of a row are named as
/// those of the structs and all there, but "flags":[{"flag","reports"}], which stands where there
/// are any.
[[nodiscard]] std::string to_json(const ModelsTable& table);
/// Errors name the member, as in json.h.
[[nodiscard]] Result<ModelsTable> models_from_json(std::string_view text);

}  // namespace rubato
