// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/validate/validate_gavel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "lib/model/throughput/learn_prior.h"
#include "lib/model/throughput/throughput.h"
#include "lib/validate/data_gavel.h"

namespace rubato {
namespace {

constexpr int kFolds = 5;

/// Samples/s at (model, type, scale); only what fits.
struct Table {
  std::vector<GavelCell> cells;  ///< by rate
  std::map<std::tuple<std::string, std::string, int>, double> rates;
  std::vector<std::string> types;  ///< in the order of their numbers
  /// What stands for a name in the fit, so that another name changes nothing.
  std::map<std::string, std::string> app_numbers;
  std::map<std::string, std::string> type_numbers;

  [[nodiscard]] std::optional<double> at(const GavelCell& cell, const std::string& type,
                                         int scale) const {
    const auto found = rates.find({cell.model.name, type, scale});
    return found != rates.end() ? std::optional(found->second) : std::nullopt;
  }
};

/// Numbers names by the rates that stand under them, which come in order.
std::map<std::string, std::string> numbered(
    const std::map<std::string, std::vector<double>>& rates) {
  std::vector<std::pair<std::vector<double>, std::string>> order;
  order.reserve(rates.size());
  for (const auto& [name, own] : rates) order.emplace_back(own, name);
  std::sort(order.begin(), order.end());
  std::map<std::string, std::string> numbers;
  for (std::size_t i = 0; i < order.size(); ++i)
    numbers[order[i].second] = fmt::format("{:04d}", i);
  return numbers;
}

Table table_of(const GavelData& data) {
  Table table;
  for (const GavelCell& cell : data.cells) {
    if (!cell.consolidated || cell.steps <= 0) continue;
    table.rates[{cell.model.name, cell.gpu_type, cell.scale}] = cell.rate();
    table.cells.push_back(cell);
  }
  std::stable_sort(
      table.cells.begin(), table.cells.end(), [](const GavelCell& a, const GavelCell& b) {
        return std::tuple(a.rate(), a.steps, a.scale) < std::tuple(b.rate(), b.steps, b.scale);
      });
  std::map<std::string, std::vector<double>> apps;
  std::map<std::string, std::vector<double>> types;
  for (const GavelCell& cell : table.cells) {
    apps[cell.model.app].push_back(cell.rate());
    types[cell.gpu_type].push_back(cell.rate());
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

RateCell rate_cell(const Table& table, const GavelCell& cell) {
  RateCell made;
  made.profile.job_type = table.app_numbers.at(cell.model.app);
  made.gpu_type = table.type_numbers.at(cell.gpu_type);
  made.gpus = cell.scale;
  made.rate = cell.rate();
  made.samples = 1;
  made.batch = cell.model.batch * cell.scale;
  return made;
}

/// From the fewest GPUs of the type that are not the cell's own.
std::optional<double> linear(const Table& table, const GavelCell& cell) {
  for (const auto& [place, rate] : table.rates) {
    const auto& [model, type, scale] = place;  // by model, type, scale
    if (model == cell.model.name && type == cell.gpu_type && scale != cell.scale)
      return rate * cell.scale / scale;
  }
  return std::nullopt;
}

/// Mean of ln(rate on `type` / rate on `other`) over models and scales, without the cell's.
std::optional<double> log_ratio(const Table& table, const GavelCell& cell,
                                const std::string& other) {
  double sum = 0;
  int count = 0;
  for (const GavelCell& one : table.cells) {
    if (one.gpu_type != cell.gpu_type) continue;
    if (one.model == cell.model && one.scale == cell.scale) continue;
    const auto there = table.at(one, other, one.scale);
    if (!there) continue;
    sum += std::log(one.rate() / *there);
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

std::optional<double> by_ratio(const Table& table, const GavelCell& cell) {
  double sum = 0;
  int count = 0;
  for (const std::string& other : table.types) {
    if (other == cell.gpu_type) continue;
    const auto there = table.at(cell, other, cell.scale);
    const auto ratio = there ? log_ratio(table, cell, other) : std::nullopt;
    if (!ratio) continue;
    sum += std::log(*there) + *ratio;
    ++count;
  }
  return count > 0 ? std::optional(std::exp(sum / count)) : std::nullopt;
}

/// Forecasts of all cells, each without itself, in the order of `table.cells`.
std::vector<double> forecasts(const Table& table) {
  std::vector<RateCell> all;
  for (const GavelCell& cell : table.cells) all.push_back(rate_cell(table, cell));
  std::vector<double> result(all.size());
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    std::vector<RateCell> others;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (i % kFolds != fold) others.push_back(all[i]);
    const ThroughputModel model(TypeSpeeds(), all, learn_prior(TypeSpeeds(), others));
    const auto left_out = model.leave_one_out();
    for (std::size_t i = fold; i < all.size(); i += kFolds) {
      const auto at = std::lower_bound(model.cells().begin(), model.cells().end(), all[i], before);
      const auto& forecast = left_out[static_cast<std::size_t>(at - model.cells().begin())];
      if (forecast) result[i] = forecast->rate();
    }
  }
  return result;
}

struct Errors {
  std::vector<double> all;

  void add(double predicted, double measured) { all.push_back(std::abs(predicted / measured - 1)); }
  [[nodiscard]] double mean() const {
    double sum = 0;
    for (const double error : all) sum += error;
    return all.empty() ? 0 : sum / static_cast<double>(all.size());
  }
  /// The smallest error that nine of ten are not above.
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
  const auto infeasible =
      std::count_if(data->cells.begin(), data->cells.end(),
                    [](const GavelCell& cell) { return cell.consolidated && cell.steps <= 0; });
  if (table.cells.size() < kLeastCellsForPrior)
    return fail(fmt::format("{}/gavel: expected at least {} measured cells", data_dir,
                            kLeastCellsForPrior));
  const std::vector<double> ours = forecasts(table);
  Errors own;
  Errors lines;
  Errors ratios;
  std::map<std::pair<std::string, std::string>, Errors> by_kind;
  for (std::size_t i = 0; i < table.cells.size(); ++i) {
    const GavelCell& cell = table.cells[i];
    const double measured = cell.rate();
    own.add(ours[i], measured);
    by_kind[{cell.model.name, cell.gpu_type}].add(ours[i], measured);
    const auto line = linear(table, cell);
    const auto ratio = by_ratio(table, cell);
    lines.add(line.value_or(ratio.value_or(0)), measured);
    ratios.add(ratio.value_or(line.value_or(0)), measured);
  }

  ValidateSection section;
  for (const auto& [kind, errors] : by_kind) {
    section.cells.push_back({.source = "gavel",
                             .model = kind.first,
                             .plan = kind.second,
                             .fit_samples = static_cast<int>(table.cells.size()) - 1,
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
