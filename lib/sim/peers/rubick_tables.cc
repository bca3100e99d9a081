// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/rubick_tables.h"

#include <fmt/format.h>

#include <cstdlib>

#include "lib/base/nearest.h"

namespace rubato::sim {
namespace {

constexpr std::array<int, 9> kUsed{0, 1, 2, 2, 4, 4, 4, 4, 8};

const std::vector<RubickKind>& kinds() {
  // For the two largest models the published performance model predicts plain data parallelism,
  // which they cannot run. The policy still orders jobs by these predictions.
  static const std::vector<RubickKind> kinds = {
      {"vit", 64, 64 / .049219, {557.148479, 903.187666, 1155.440361, 1227.421624}, {}},
      {"roberta", 64, 64 / .234, {47.213357, 89.530942, 160.354521, 261.882437}, {}},
      {"bert", 32, 32 / .15768, {48.038255, 81.087239, 129.451827, 196.669085}, {}},
      {"t5", 16, 16 / .3207, {15.901039, 28.111836, 45.633303, 66.292652}, {}},
      {"gpt2", 16, 16 / .62556, {4.260039, 8.400913, 16.344620, 31.002006}, {}},
      {"llama7",
       8,
       8 / 9.4,
       {.138999052, .273240291, 4.446147107, 5.499873600},
       {{2, 8}, {4, 4}, {8, 2}, {8, 8}, {4, 8}, {8, 4}, {1, 8}, {1, 4}, {1, 2}, {1, 1}}},
      {"llama30",
       4,
       4 / 2.759,
       {.069499526, 1.539975925, 2.223073554, 2.223073554},
       {{6, 8}, {5, 8}, {4, 8}, {6, 4}}},
  };
  return kinds;
}

}  // namespace

int rubick_used(int gpus) {
  return gpus < 0 || gpus > 8 ? 0 : kUsed[static_cast<std::size_t>(gpus)];
}

double RubickKind::throughput(int gpus) const {
  switch (rubick_used(gpus)) {
    case 1:
      return believed[0];
    case 2:
      return believed[1];
    case 4:
      return believed[2];
    case 8:
      return believed[3];
    default:
      return -1;
  }
}

Result<const RubickKind*> rubick_kind(const std::string& name) {
  std::vector<std::string> names;
  for (const RubickKind& kind : kinds()) {
    if (kind.name == name) return &kind;
    names.emplace_back(kind.name);
  }
  return fail(fmt::format("unknown application '{}' of Rubick{}", name, did_you_mean(name, names)));
}

RubickTimes::RubickTimes(const RubickData& data) {
  for (const RubickProfile& profile : data.profiles) {
    for (const RubickProfileRow& row : profile.rows) {
      const PlanSample& sample = row.sample;
      Cell& cell = cells_[{profile.name, {sample.configuration.nodes, sample.configuration.gpus}}];
      cell.sum += sample.step_seconds;
      ++cell.rows;
      if (sample.configuration.nodes == 1) {
        plans_.try_emplace({profile.name, row.plan_name, sample.configuration.gpus},
                           sample.step_seconds);
      }
      const ExecutionPlan& plan = sample.plan;
      const bool sharded = plan.zero == Zero::kSharded && !plan.checkpointing;
      if (sharded && sample.configuration.nodes == 1) cell.sharded = sample.step_seconds;
    }
  }
}

Result<double> RubickTimes::seconds(const std::string& app, const RubickShape& shape) const {
  const auto at = cells_.find({app, {shape.nodes, shape.nodes * shape.gpus}});
  if (at == cells_.end()) {
    return fail(fmt::format("profiles/{}/placements.csv: nothing measured on {} nodes with {} GPUs",
                            app, shape.nodes, shape.gpus));
  }
  return at->second.seconds();
}

std::optional<double> RubickTimes::nearest(const std::string& app, int nodes, int gpus) const {
  const Cell* best = nullptr;
  int least = 0;
  for (const auto& [key, cell] : cells_) {  // sorted by nodes
    if (key.first != app || key.second.second != gpus) continue;
    const int away = std::abs(key.second.first - nodes);
    if (best != nullptr && away > least) continue;
    best = &cell;
    least = away;
  }
  return best == nullptr ? std::nullopt : std::optional(best->seconds());
}

std::optional<double> RubickTimes::asked(const std::string& app, const std::string& plan,
                                         int gpus) const {
  for (const std::string& name : {plan, std::string("ga")}) {
    if (const auto at = plans_.find({app, name, gpus}); at != plans_.end()) return at->second;
  }
  const auto cell = cells_.find({app, {1, gpus}});
  if (cell == cells_.end()) return std::nullopt;
  return cell->second.sum / cell->second.rows;
}

}  // namespace rubato::sim
