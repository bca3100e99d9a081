// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/validate/validate_sia.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "lib/base/statistics.h"
#include "lib/model/data_parallel/data_parallel.h"
#include "lib/model/numeric/choose_rows.h"
#include "lib/validate/data_sia.h"
#include "lib/validate/step_errors.h"

namespace rubato {
namespace {

constexpr std::size_t kRows = 10;
// Limits: this multiple of the error of the family fitted to all rows, and this error if that
// family's own error is small enough.
constexpr double kOverFull = 1.5;
constexpr double kTarget = 0.06;

DataParallelConfiguration place_of(const SiaStep& s) { return {s.local_batch, s.gpus, s.nodes}; }

/// Configurations that the model distinguishes, each with the row to measure: the most even of its
/// placements, so that no measured value is used.
std::vector<std::pair<SiaStep, double>> candidates(const std::vector<SiaStep>& rows) {
  const auto unevenness = [](const SiaStep& s) {
    const auto [least, most] = std::ranges::minmax(s.placement);
    return std::tuple(most - least, s.placement);
  };
  std::map<std::tuple<int, int, double>, std::pair<const SiaStep*, double>> by_place;
  for (const SiaStep& row : rows) {
    auto& [kept, count] = by_place[{row.nodes, row.gpus, row.local_batch}];
    if (kept == nullptr || unevenness(row) < unevenness(*kept)) kept = &row;
    ++count;
  }
  std::vector<std::pair<SiaStep, double>> out;
  out.reserve(by_place.size());
  for (const auto& [key, row] : by_place) out.emplace_back(*row.first, row.second);
  return out;
}

std::vector<DataParallelSample> samples_of(const std::vector<SiaStep>& rows, bool sync) {
  std::vector<DataParallelSample> samples;
  for (const SiaStep& row : rows) {
    samples.push_back({place_of(row), row.step_time, {}});
    if (sync) samples.back().sync_time = row.sync_time;
  }
  return samples;
}

/// Chooses rows one by one, each with a model of the previous ones.
std::vector<SiaStep> choose(const std::vector<SiaStep>& rows, std::size_t most) {
  const std::vector<std::pair<SiaStep, double>> from = candidates(rows);
  std::vector<DataParallelConfiguration> places;
  std::vector<double> weights;
  for (const auto& [row, count] : from) {
    places.push_back(place_of(row));
    weights.push_back(count);
  }
  std::vector<SiaStep> known;
  std::vector<bool> taken(from.size());
  const auto next = [&](const std::vector<std::size_t>& chosen) {
    if (!chosen.empty()) {
      known.push_back(from[chosen.back()].first);
      taken[chosen.back()] = true;
    }
    return DataParallelModel(samples_of(known, true)).most_informative_row(places, taken, weights);
  };
  std::vector<SiaStep> out;
  for (const std::size_t i : choose_rows(from.size(), most, next)) out.push_back(from[i].first);
  return out;
}

/// Linear between measurements; outside, the nearest one.
double interpolate(const std::map<double, double>& points, double at) {
  const auto above = points.lower_bound(at);
  if (above == points.end()) return points.rbegin()->second;
  if (above == points.begin()) return above->second;
  const auto below = std::prev(above);
  const double share = (at - below->first) / (above->first - below->first);
  return below->second + share * (above->second - below->second);
}

/// Interpolates over the local batch at each number of GPUs, then over the GPUs; separately inside
/// a node and across nodes, if both were measured.
double interpolate(const std::vector<SiaStep>& rows, const SiaStep& at) {
  const auto same_side = [&](const SiaStep& r) { return (r.nodes > 1) == (at.nodes > 1); };
  const bool apart = std::ranges::any_of(rows, same_side);
  std::map<double, std::map<double, double>> by_gpus;
  for (const SiaStep& r : rows) {
    if (!apart || same_side(r)) by_gpus[r.gpus][r.local_batch] = r.step_time;
  }
  std::map<double, double> times;
  for (const auto& [gpus, by_batch] : by_gpus) times[gpus] = interpolate(by_batch, at.local_batch);
  return interpolate(times, at.gpus);
}

/// 0 without errors. Independent of the order of names.
double mean_of(const std::vector<double>& errors) {
  return errors.empty() ? 0 : sorted_mean(errors);
}

/// The step time of the nearest row in log space; of equals the first.
double nearest(const std::vector<SiaStep>& rows, const SiaStep& at) {
  const auto distance = [&](const SiaStep& r) {
    return std::hypot(std::log(r.local_batch / at.local_batch),
                      std::log(static_cast<double>(r.gpus) / at.gpus),
                      std::log(static_cast<double>(r.nodes) / at.nodes));
  };
  return std::ranges::min_element(rows, {}, distance)->step_time;
}

/// Means over the observations, and over all rows together.
struct Means {
  std::vector<double> observations;
  std::vector<double> rows;

  void add(const std::vector<double>& errors) {
    observations.push_back(mean_of(errors));
    rows.insert(rows.end(), errors.begin(), errors.end());
  }
};

}  // namespace

StepErrors step_errors(const std::vector<SiaStep>& rows, std::size_t most, bool with_full) {
  const std::vector<SiaStep> chosen = choose(rows, most);
  const DataParallelModel ours(samples_of(chosen, true));
  // Fits only step times, which are what is tested: the synchronisation times would make it worse.
  std::optional<DataParallelModel> full;
  if (with_full) full.emplace(samples_of(rows, false), DataParallelPrior{.correct = false});
  const auto key = [](const SiaStep& s) { return std::tie(s.placement, s.local_batch); };
  StepErrors errors;
  errors.chosen = chosen.size();
  for (const SiaStep& row : rows) {
    const bool seen =
        std::ranges::any_of(chosen, [&](const SiaStep& c) { return key(c) == key(row); });
    if (seen) continue;
    const auto error = [&](double forecast) { return std::abs(forecast / row.step_time - 1); };
    const DataParallelConfiguration at = place_of(row);
    errors.ours.push_back(error(ours.iteration_seconds(at, 1)));
    errors.interpolated.push_back(error(interpolate(chosen, row)));
    errors.nearest.push_back(error(nearest(chosen, row)));
    if (full) errors.full.push_back(error(full->iteration_seconds(at, 1)));
  }
  return errors;
}

Result<ValidateSection> validate_sia(const std::string& data_dir) {
  const auto data = read_sia(data_dir);
  if (!data) return tl::unexpected(data.error());
  ValidateSection section;
  Means ours;
  Means interpolated;
  Means nearest;
  Means full;
  int better = 0;
  for (const SiaApp& app : data->apps) {
    for (const SiaProfile& profile : app.profiles) {
      if (std::ranges::find(data->gpu_types, profile.gpu_type) == data->gpu_types.end()) continue;
      const StepErrors errors = step_errors(profile.placements, kRows, true);
      if (errors.ours.empty()) continue;
      ours.add(errors.ours);
      interpolated.add(errors.interpolated);
      nearest.add(errors.nearest);
      full.add(errors.full);
      better += ours.observations.back() <= interpolated.observations.back() ? 1 : 0;
      section.observations.push_back({.source = "sia",
                                      .model = app.name,
                                      .plan = profile.gpu_type,
                                      .fit_samples = static_cast<int>(errors.chosen),
                                      .test_rows = static_cast<int>(errors.ours.size()),
                                      .mean_error = ours.observations.back(),
                                      .max_error = std::ranges::max(errors.ours)});
    }
  }
  if (section.observations.empty()) return fail(data_dir + "/sia/traces: no rows to test on");
  const double found = mean_of(ours.observations);
  const double all = mean_of(full.observations);
  const auto observations = static_cast<double>(section.observations.size());
  section.summary = {{"cells", observations},
                     {"mean", found},
                     {"nearest_mean", mean_of(nearest.observations)},
                     {"interp_mean", mean_of(interpolated.observations)},
                     {"full_fit_mean", all}};
  const bool reachable = kOverFull * all >= kTarget;
  section.gates = {{"sia_nearest", found <= mean_of(nearest.observations)},
                   {"sia_interpolation", found <= mean_of(interpolated.observations)},
                   {"sia_full_fit", found <= kOverFull * all},
                   {"sia_target", !reachable || found <= kTarget}};
  section.notes = {
      fmt::format("Step times: means are of the cells' means. Of all {} rows together: {:.4f}; "
                  "interpolated {:.4f}; family on all rows {:.4f}.",
                  ours.rows.size(), mean_of(ours.rows), mean_of(interpolated.rows),
                  mean_of(full.rows)),
      fmt::format("In {} of {} cells the model is at least as good as the same rows interpolated.",
                  better, section.observations.size()),
      fmt::format("GPU types whose rows are those of another one are not counted: {} are.",
                  data->gpu_types.size())};
  return section;
}

}  // namespace rubato
