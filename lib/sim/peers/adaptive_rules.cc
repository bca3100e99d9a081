// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/adaptive_rules.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

namespace rubato::sim {
namespace {

/// An application of the artifacts' tables, identified by its training: the smallest and the
/// largest trained batch, and its epochs.
struct TableRow {
  std::int64_t first_batch;
  std::int64_t most_batch;
  std::size_t epochs;
  AppRules rules;
};

const AppRules& find_row(std::span<const TableRow> rows, const AdaptiveApp& app) {
  static const AppRules usual;
  const auto at = std::ranges::find_if(rows, [&](const TableRow& row) {
    return row.first_batch == app.first_batch() && row.most_batch == app.most_batch() &&
           row.epochs == app.epochs();
  });
  return at == rows.end() ? usual : at->rules;
}

const AppRules& pollux_app(const AdaptiveApp& app) {
  static const std::array<TableRow, 2> rows{{
      {8, 512, 50, {.max_local = 8}},
      {256, 32'768, 10, {.only_batch = 32'768}},
  }};
  return find_row(rows, app);
}

const AppRules& sia_app(const AdaptiveApp& app) {
  static const std::array<TableRow, 6> rows{{
      {8, 512, 50, {.restart = 80, .policy_restart = 45, .slowdown = 1.2}},
      {12, 384, 2, {.restart = 120, .policy_restart = 120, .slowdown = 1.2}},
      {20, 640, 80, {.restart = 25, .policy_restart = 25, .slowdown = 1.2, .less = {8, 80, 57}}},
      {128, 4096, 100, {.restart = 50, .policy_restart = 30, .slowdown = 1.8}},
      {200, 12'800, 90, {.restart = 250, .policy_restart = 250, .slowdown = 1.2}},
      {256, 32'768, 10, {.only_batch = 32'768}},
  }};
  return find_row(rows, app);
}

}  // namespace

std::int64_t AdaptiveRules::fits(const AdaptiveApp& app, TypeIndex type,
                                 const std::vector<int>& placement) const {
  if (by_placement) return app.table(type).fits(placement);
  return planned(app, type);
}

std::int64_t AdaptiveRules::planned(const AdaptiveApp& app, TypeIndex type) const {
  const AppRules& rules = of(app);
  const StepTable& table = app.table(type);
  const LessPlanned& less = rules.less;
  if (less.planned > 0 && table.most() == less.measured && table.measured({less.node_gpus})) {
    return less.planned;
  }
  return rules.max_local > 0 ? rules.max_local : table.most();
}

BatchSplit AdaptiveRules::fixed(const AdaptiveApp& app, TypeIndex type,
                                const std::vector<int>& placement, double batch) const {
  const int gpus = std::accumulate(placement.begin(), placement.end(), 0);
  const bool apart = gpus == 1 && batch > static_cast<double>(app.first_batch());
  BatchSplit split = split_batch(batch, gpus, fits(app, type, placement), app.most_batch(), apart);
  if (!by_placement) return split;
  if (const auto most = app.table(type).fits_gpus(gpus); most > 0) {
    split.local = std::min(split.local, most);
  }
  return split;
}

BatchSplit AdaptiveRules::bounded(const AdaptiveApp& app, TypeIndex type, int gpus,
                                  BatchSplit split) const {
  if (!by_placement) return split;
  if (const auto most = app.table(type).fits_gpus(gpus); most > 0) {
    split.local = std::min(split.local, most);
  }
  split.local = std::min(split.local, app.most_batch() / (gpus * (split.passes + 1)));
  split.local = std::max<std::int64_t>(split.local, 1);
  return split;
}

const AdaptiveRules& pollux_rules() {
  static const AdaptiveRules rules{true, false, &pollux_app};
  return rules;
}

const AdaptiveRules& sia_rules() {
  static const AdaptiveRules rules{false, true, &sia_app};
  return rules;
}

}  // namespace rubato::sim
