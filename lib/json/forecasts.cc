// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/forecasts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "lib/model/throughput/teach.h"

namespace rubato {
namespace {

using Profile = std::tuple<std::string, std::string, bool>;  // job type, account, shared
using Place = std::pair<std::string, int>;                   // GPU type, GPUs

std::map<Profile, std::set<Place>> measured_places(const ModelsTable& table) {
  std::map<Profile, std::set<Place>> places;
  for (const ModelRow& row : table.rows) {
    if (row.samples > row.flagged && row.gpus > 0)
      places[{row.job_type, row.account, row.shared}].emplace(row.gpu_type, row.gpus);
  }
  return places;
}

std::set<Place> with_other_types(const std::set<Place>& measured,
                                 const std::set<std::string>& gpu_types) {
  std::set<Place> all = measured;
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
      if (rows.size() >= kMostForecasts) return rows;
      rows.push_back({.account = name.account,
                      .job_type = job_type,
                      .shared = shared,
                      .gpu_type = type,
                      .gpus = gpus,
                      .rate = forecast.rate(),
                      .rate_low = std::exp(forecast.log_rate - forecast.spread),
                      .rate_high = std::exp(forecast.log_rate + forecast.spread),
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

std::vector<LessonRow> lessons_of(const ThroughputModel& model,
                                  const std::set<std::string>& gpu_types,
                                  const std::set<std::string>& shared) {
  std::vector<LessonRow> rows;
  for (const Lesson& lesson : lessons(model, gpu_types)) {
    const ProfileName& profile = lesson.profile;
    rows.push_back({.account = profile.account,
                    .job_type = profile.job_type,
                    .shared = profile.account.empty() && shared.contains(profile.job_type),
                    .gpu_type = lesson.gpu_type,
                    .gpus = lesson.gpus,
                    .within = std::expm1(lesson.mean),
                    .after = std::expm1(lesson.mean - lesson.reduction)});
  }
  return rows;
}

}  // namespace rubato
