// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/validate/validate_gavel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "lib/base/statistics.h"
#include "lib/model/throughput/fit_hyperparameters.h"
#include "lib/model/throughput/throughput.h"
#include "lib/validate/data_gavel.h"

namespace rubato {
namespace {

constexpr int kFolds = 5;

/// Samples/s at (model, type, scale); without infeasible ones.
struct Table {
  std::vector<GavelObservation> observations;  ///< sorted by throughput
  std::map<std::tuple<std::string, std::string, int>, double> throughputs;
  std::vector<std::string> types;  ///< in the order of their numbers
  /// Numbers that replace names in the fit, so that renaming changes nothing.
  std::map<std::string, std::string> app_numbers;
  std::map<std::string, std::string> type_numbers;

  [[nodiscard]] std::optional<double> at(const GavelObservation& observation,
                                         const std::string& type, int scale) const {
    const auto found = throughputs.find({observation.model.name, type, scale});
    return found != throughputs.end() ? std::optional(found->second) : std::nullopt;
  }
};

/// Numbers names by their throughputs, which are sorted.
std::map<std::string, std::string> numbered(
    const std::map<std::string, std::vector<double>>& throughputs) {
  std::vector<std::pair<std::vector<double>, std::string>> order;
  order.reserve(throughputs.size());
  for (const auto& [name, own] : throughputs) order.emplace_back(own, name);
  std::sort(order.begin(), order.end());
  std::map<std::string, std::string> numbers;
  for (std::size_t i = 0; i < order.size(); ++i)
    numbers[order[i].second] = fmt::format("{:04d}", i);
  return numbers;
}

Table table_of(const GavelData& data) {
  Table table;
  for (const GavelObservation& observation : data.observations) {
    if (!observation.consolidated || observation.steps <= 0) continue;
    table.throughputs[{observation.model.name, observation.gpu_type, observation.scale}] =
        observation.throughput();
    table.observations.push_back(observation);
  }
  std::stable_sort(table.observations.begin(), table.observations.end(),
                   [](const GavelObservation& a, const GavelObservation& b) {
                     return std::tuple(a.throughput(), a.steps, a.scale) <
                            std::tuple(b.throughput(), b.steps, b.scale);
                   });
  std::map<std::string, std::vector<double>> apps;
  std::map<std::string, std::vector<double>> types;
  for (const GavelObservation& observation : table.observations) {
    apps[observation.model.app].push_back(observation.throughput());
    types[observation.gpu_type].push_back(observation.throughput());
  }
  table.app_numbers = numbered(apps);
  table.type_numbers = numbered(types);
  for (const auto& [name, unused] : types) table.types.push_back(name);
  std::sort(table.types.begin(), table.types.end(),
            [&](const std::string& a, const std::string& b) {
              return table.type_numbers.at(a) < table.type_numbers.at(b);
            });
  return table;
}

ThroughputObservation throughput_observation(const Table& table,
                                             const GavelObservation& observation) {
  ThroughputObservation made;
  made.profile.job_type = table.app_numbers.at(observation.model.app);
  made.gpu_type = table.type_numbers.at(observation.gpu_type);
  made.gpus = observation.scale;
  made.throughput = observation.throughput();
  made.samples = 1;
  made.batch = observation.model.batch * observation.scale;
  return made;
}

/// Scales linearly from the fewest GPUs of the type, without the observation itself.
std::optional<double> linear(const Table& table, const GavelObservation& observation) {
  for (const auto& [place, throughput] : table.throughputs) {
    const auto& [model, type, scale] = place;  // sorted by model, type, scale
    if (model == observation.model.name && type == observation.gpu_type &&
        scale != observation.scale)
      return throughput * observation.scale / scale;
  }
  return std::nullopt;
}

/// Mean of ln(throughput on `type` / throughput on `other`) over models and scales, without the
/// observation's own.
std::optional<double> log_ratio(const Table& table, const GavelObservation& observation,
                                const std::string& other) {
  double sum = 0;
  int count = 0;
  for (const GavelObservation& one : table.observations) {
    if (one.gpu_type != observation.gpu_type) continue;
    if (one.model == observation.model && one.scale == observation.scale) continue;
    const auto there = table.at(one, other, one.scale);
    if (!there) continue;
    sum += std::log(one.throughput() / *there);
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

std::optional<double> by_ratio(const Table& table, const GavelObservation& observation) {
  double sum = 0;
  int count = 0;
  for (const std::string& other : table.types) {
    if (other == observation.gpu_type) continue;
    const auto there = table.at(observation, other, observation.scale);
    const auto ratio = there ? log_ratio(table, observation, other) : std::nullopt;
    if (!ratio) continue;
    sum += std::log(*there) + *ratio;
    ++count;
  }
  return count > 0 ? std::optional(std::exp(sum / count)) : std::nullopt;
}

/// Leave-one-out forecasts of all observations, in the order of `table.observations`.
std::vector<double> forecasts(const Table& table) {
  std::vector<ThroughputObservation> all;
  for (const GavelObservation& observation : table.observations)
    all.push_back(throughput_observation(table, observation));
  std::vector<double> result(all.size());
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    std::vector<ThroughputObservation> others;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (i % kFolds != fold) others.push_back(all[i]);
    const ThroughputModel model(TypeSpeeds(), all, fit_hyperparameters(TypeSpeeds(), others));
    const auto left_out = model.leave_one_out();
    for (std::size_t i = fold; i < all.size(); i += kFolds) {
      const auto at = std::lower_bound(model.observations().begin(), model.observations().end(),
                                       all[i], before);
      const auto& forecast = left_out[static_cast<std::size_t>(at - model.observations().begin())];
      if (forecast) result[i] = forecast->throughput();
    }
  }
  return result;
}

struct Errors {
  std::vector<double> all;

  void add(double predicted, double measured) { all.push_back(std::abs(predicted / measured - 1)); }
  [[nodiscard]] double mean() const { return all.empty() ? 0 : rubato::mean(all); }
  /// The 90th percentile of the errors.
  [[nodiscard]] double p90() const {
    if (all.empty()) return 0;
    std::vector<double> sorted = all;
    std::sort(sorted.begin(), sorted.end());
    return sorted[(sorted.size() * 9 + 9) / 10 - 1];
  }
};

}  // namespace

Result<ValidateSection> validate_gavel(const std::string& data_dir) {
  const auto data = read_gavel(data_dir);
  if (!data) return tl::unexpected(data.error());
  const Table table = table_of(*data);
  const auto infeasible = std::count_if(data->observations.begin(), data->observations.end(),
                                        [](const GavelObservation& observation) {
                                          return observation.consolidated && observation.steps <= 0;
                                        });
  if (table.observations.size() < kMinObservationsForPrior)
    return fail(fmt::format("{}/gavel: expected at least {} measured cells", data_dir,
                            kMinObservationsForPrior));
  const std::vector<double> ours = forecasts(table);
  Errors own;
  Errors lines;
  Errors ratios;
  std::map<std::pair<std::string, std::string>, Errors> by_kind;
  for (std::size_t i = 0; i < table.observations.size(); ++i) {
    const GavelObservation& observation = table.observations[i];
    const double measured = observation.throughput();
    own.add(ours[i], measured);
    by_kind[{observation.model.name, observation.gpu_type}].add(ours[i], measured);
    const auto line = linear(table, observation);
    const auto ratio = by_ratio(table, observation);
    lines.add(line.value_or(ratio.value_or(0)), measured);
    ratios.add(ratio.value_or(line.value_or(0)), measured);
  }

  ValidateSection section;
  for (const auto& [kind, errors] : by_kind) {
    section.observations.push_back(
        {.source = "gavel",
         .model = kind.first,
         .plan = kind.second,
         .fit_samples = static_cast<int>(table.observations.size()) - 1,
         .test_rows = static_cast<int>(errors.all.size()),
         .mean_error = errors.mean(),
         .max_error = *std::max_element(errors.all.begin(), errors.all.end())});
  }
  section.summary = {{"cells", static_cast<double>(own.all.size())},
                     {"mean", own.mean()},
                     {"p90", own.p90()},
                     {"linear_mean", lines.mean()},
                     {"ratio_mean", ratios.mean()},
                     {"linear_p90", lines.p90()},
                     {"ratio_p90", ratios.p90()},
                     {"infeasible", static_cast<double>(infeasible)}};
  section.gates = {
      {"gavel_mean", own.mean() < lines.mean() && own.mean() < ratios.mean()},
      {"gavel_p90", own.p90() < lines.p90() && own.p90() < ratios.p90()},
  };
  section.notes.push_back(fmt::format(
      "gavel: {} cells in which a job does not fit (0 steps/s) are no target, since no error is "
      "relative to 0, and are in no fit; the model carries them as infeasible",
      infeasible));
  return section;
}

}  // namespace rubato
