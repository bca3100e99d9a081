// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/engine/native_truth.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "lib/base/csv.h"
#include "lib/base/nearest.h"

namespace rubato::sim {
namespace {

constexpr std::int64_t kMaxGpus = 65536;
constexpr double kMinThroughput = 1e-9;  // jobs below this throughput would never end
constexpr double kMaxThroughput = 1e12;

}  // namespace

double NativeTruth::throughput(const SimJob& job, const Setting& setting, double done) const {
  if (!setting.type.valid()) return 0;
  if (job.step) return StepTruth::throughput(job, setting, done);
  const int gpus = setting.gpus();
  if (!knows(job.model)) return static_cast<double>(gpus) / job.gpus;
  const auto& of_type = throughputs_[setting.type];
  const auto curve = of_type.find(job.model);
  if (curve == of_type.end()) return 0;
  const auto above = curve->second.lower_bound(gpus);
  if (above == curve->second.end()) return 0;
  if (above->first == gpus) return above->second;
  if (above == curve->second.begin()) return 0;
  const auto below = std::prev(above);
  const double part = static_cast<double>(gpus - below->first) / (above->first - below->first);
  return below->second + part * (above->second - below->second);
}

Result<void> read_speeds(const std::string& file, const ClusterShape& cluster, NativeTruth& truth) {
  const auto table = CsvTable::read(file);
  if (!table) return tl::unexpected(table.error());
  std::array<std::size_t, 4> at{};
  const std::array<const char*, 4> names{"model", "gpu_type", "gpus", "rate"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto column = table->column(names[i]);
    if (!column) return tl::unexpected(column.error());
    at[i] = *column;
  }
  std::map<std::tuple<std::string, std::string, std::int64_t>, std::size_t> seen;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const auto gpus = table->whole(row, at[2]);
    if (!gpus) return tl::unexpected(gpus.error());
    if (*gpus < 1 || *gpus > kMaxGpus) return table->error(row, at[2], "expected 1 or more");
    const auto throughput = table->amount(row, at[3]);
    if (!throughput) return tl::unexpected(throughput.error());
    if ((*throughput > 0 && *throughput < kMinThroughput) || *throughput > kMaxThroughput) {
      return table->error(
          row, at[3],
          fmt::format("expected 0, or a number from {} to {}", kMinThroughput, kMaxThroughput));
    }
    const std::string& model = table->text(row, at[0]);
    // A row for a type applies to all interconnects that have no row of their own.
    const std::string& name = table->text(row, at[1]);
    if (const auto [one, fresh] = seen.try_emplace({model, name, *gpus}, table->line(row));
        !fresh) {
      return table->error(
          row, at[2],
          fmt::format("model '{}' on these GPUs is on line {} too", model, one->second));
    }
    truth.mention(model, name);
    for (const TypeIndex type : cluster.type_indices()) {
      const NodeGroup& group = cluster.groups[type];
      if (group.type != name && group.gpu != name) continue;
      truth.add(model, type, static_cast<int>(*gpus), *throughput, group.type == name);
    }
  }
  return {};
}

std::vector<std::string> type_names(const ClusterShape& cluster) {
  std::vector<std::string> names;
  for (const NodeGroup& group : cluster.groups) {
    names.push_back(group.type);
    if (!group.gpu.empty()) names.push_back(group.gpu);
  }
  return names;
}

std::string no_speed(const NativeTruth& truth, const ClusterShape& cluster,
                     const std::string& model, bool profiles) {
  if (!profiles) return "no speed of this model; --profiles FILE says how fast it is";
  const auto of = truth.said().find(model);
  if (of == truth.said().end()) {
    std::vector<std::string> models;
    for (const auto& [name, types] : truth.said()) models.push_back(name);
    return "no speed of this model in the profiles" + did_you_mean(model, models);
  }
  const std::vector<std::string> has(of->second.begin(), of->second.end());
  const std::vector<std::string> wanted = type_names(cluster);
  std::string mean;
  for (const std::string& type : wanted) {
    if (mean.empty()) mean = did_you_mean(type, has);
  }
  return fmt::format("no speed of this model on GPUs of the cluster ({}); the profiles have {}{}",
                     fmt::join(wanted, ", "), fmt::join(has, ", "), mean);
}

}  // namespace rubato::sim
