// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/forecasts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "lib/model/throughput/acquisition.h"

namespace rubato {
namespace {

using Profile = std::tuple<std::string, std::string, bool>;  // job type, account, shared
using MeasuredAt = std::pair<std::string, int>;              // GPU type, GPUs

std::map<Profile, std::set<MeasuredAt>> measured_places(const ModelsTable& table) {
  std::map<Profile, std::set<MeasuredAt>> places;
  for (const ModelRow& row : table.rows) {
    if (row.samples > row.flagged && row.gpus > 0)
      places[{row.job_type, row.account, row.shared}].emplace(row.gpu_type, row.gpus);
  }
  return places;
}

std::set<MeasuredAt> with_other_types(const std::set<MeasuredAt>& measured,
                                      const std::set<std::string>& gpu_types) {
  std::set<MeasuredAt> all = measured;
  std::set<std::string> types = gpu_types;
  for (const auto& [type, gpus] : measured)
    if (type.find('+') == std::string::npos) types.insert(type);
  for (const auto& [unused, gpus] : measured)
    for (const std::string& type : types) all.emplace(type, gpus);
  return all;
}

}  // namespace

std::vector<ForecastRow> forecasts_of(const ModelsTable& table, const ThroughputModel& model,
                                      const std::set<std::string>& gpu_types) {
  std::vector<ForecastRow> rows;
  for (const auto& [profile, measured] : measured_places(table)) {
    const auto& [job_type, account, shared] = profile;
    const ProfileName name{.account = shared ? "" : account, .job_type = job_type};
    for (const auto& [type, gpus] : with_other_types(measured, gpu_types)) {
      const Forecast forecast = model.predict(name, type, gpus);
      if (!forecast.known_profile) break;
      if (rows.size() >= kMaxForecasts) return rows;
      rows.push_back({.account = name.account,
                      .job_type = job_type,
                      .shared = shared,
                      .gpu_type = type,
                      .gpus = gpus,
                      .throughput = forecast.throughput(),
                      .throughput_low = std::exp(forecast.log_throughput - forecast.stddev),
                      .throughput_high = std::exp(forecast.log_throughput + forecast.stddev),
                      .samples = forecast.samples});
    }
  }
  return rows;
}

std::vector<ErrorRow> errors_of(const ForecastErrors& errors, const std::set<std::string>& shared) {
  std::vector<ErrorRow> rows;
  for (const auto& [key, found] : errors.rows()) {
    const auto& [profile, gpu_type] = key;
    rows.push_back({.account = profile.account,
                    .job_type = profile.job_type,
                    .shared = profile.account.empty() && shared.contains(profile.job_type),
                    .gpu_type = gpu_type,
                    .error = found.mean,
                    .reports = found.reports});
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<RefusalRow> refusals_of(const std::map<ForecastErrors::Key, RefusedFits>& refusals,
                                    const std::set<std::string>& shared) {
  std::vector<RefusalRow> rows;
  for (const auto& [key, found] : refusals) {
    const auto& [profile, gpu_type] = key;
    rows.push_back({.account = profile.account,
                    .job_type = profile.job_type,
                    .shared = profile.account.empty() &&
                              (profile.job_type.empty() || shared.contains(profile.job_type)),
                    .gpu_type = gpu_type,
                    .fits = found.fits,
                    .error = std::expm1(found.refused),
                    .kept_error = std::expm1(found.kept),
                    .reports = found.reports});
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<InformativeMeasurementRow> most_informative_of(const ThroughputModel& model,
                                                           const std::set<std::string>& gpu_types,
                                                           const std::set<std::string>& shared) {
  std::vector<InformativeMeasurementRow> rows;
  for (const InformativeMeasurement& measurement : most_informative(model, gpu_types)) {
    const ProfileName& profile = measurement.profile;
    rows.push_back({.account = profile.account,
                    .job_type = profile.job_type,
                    .shared = profile.account.empty() && shared.contains(profile.job_type),
                    .gpu_type = measurement.gpu_type,
                    .gpus = measurement.gpus,
                    .within = std::expm1(measurement.mean),
                    .after = std::expm1(measurement.mean - measurement.reduction)});
  }
  return rows;
}

}  // namespace rubato
