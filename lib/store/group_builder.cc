// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/group_builder.h"

#include <SQLiteCpp/Column.h>

#include <algorithm>
#include <optional>

namespace rubato::store {

namespace {

std::optional<double> value_of(const SQLite::Column& column) {
  return column.isNull() ? std::nullopt : std::optional(column.getDouble());
}

}  // namespace

void GroupBuilder::add(SQLite::Statement& row) {
  JobTypeGroup key;
  key.nodes = row.getColumn(0).getInt();
  key.plan = row.getColumn(1).getString();
  key.batch = row.getColumn(2).getInt64();
  key.cores = row.getColumn(3).getInt();
  key.workers = row.getColumn(4).getInt();
  key.servers = row.getColumn(5).getInt();
  key.server_cores = row.getColumn(6).getInt();
  const Seconds time = row.getColumn(11).getInt64();
  const auto configuration = configuration_of(key);
  Building& building = groups_.try_emplace(configuration, Building{std::move(key)}).first->second;
  JobTypeGroup& group = building.group;
  ++group.samples;
  building.jobs.emplace(row.getColumn(7).getInt64(), row.getColumn(8).getInt64());
  group.last = std::max(group.last, time);
  if (const std::string flag = row.getColumn(10).getString(); !flag.empty()) {
    ++group.flagged;
    ++group.flags[flag];
    return;
  }
  const double throughput = row.getColumn(9).getDouble();
  const bool first = group.samples - group.flagged == 1;
  group.min_throughput = first ? throughput : std::min(group.min_throughput, throughput);
  group.max_throughput = first ? throughput : std::max(group.max_throughput, throughput);
  if (time >= building.last_used) group.last_throughput = throughput;
  building.last_used = std::max(building.last_used, time);
  building.means.add(throughput, {.forward = value_of(row.getColumn(12)),
                                  .sync = value_of(row.getColumn(13)),
                                  .optimise = value_of(row.getColumn(14)),
                                  .iteration = value_of(row.getColumn(15)),
                                  .noise = value_of(row.getColumn(16))});
}

std::vector<JobTypeGroup> GroupBuilder::take() {
  std::vector<JobTypeGroup> groups;
  for (auto& [key, building] : groups_) {
    JobTypeGroup& group = building.group;
    if (!group.imported) finish(building);
    groups.push_back(std::move(group));
  }
  return groups;
}

void GroupBuilder::finish(Building& building) {
  JobTypeGroup& group = building.group;
  group.jobs = static_cast<std::int64_t>(building.jobs.size());
  const MeasuredParts parts = building.means.parts();
  group.mean_throughput = building.means.throughput();
  group.forward_time = parts.forward;
  group.sync_time = parts.sync;
  group.optimise_time = parts.optimise;
  group.iteration_time = parts.iteration;
  group.gradient_noise = parts.noise;
}

}  // namespace rubato::store
