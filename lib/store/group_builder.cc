// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/group_builder.h"

#include <algorithm>

namespace rubato::store {

void ReportedMean::add(const SQLite::Column& column) {
  if (column.isNull()) return;
  total_ += column.getDouble();
  ++count_;
}

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
  building.total += throughput;
  group.min_throughput = first ? throughput : std::min(group.min_throughput, throughput);
  group.max_throughput = first ? throughput : std::max(group.max_throughput, throughput);
  if (time >= building.last_used) group.last_throughput = throughput;
  building.last_used = std::max(building.last_used, time);
  for (std::size_t i = 0; i < building.told.size(); ++i) {
    building.told[i].add(row.getColumn(12 + static_cast<int>(i)));
  }
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
  const std::int64_t used = group.samples - group.flagged;
  if (used > 0) group.mean_throughput = building.total / static_cast<double>(used);
  group.forward_time = building.told[0].mean();
  group.sync_time = building.told[1].mean();
  group.optimise_time = building.told[2].mean();
  group.iteration_time = building.told[3].mean();
  group.gradient_noise = building.told[4].mean();
}

}  // namespace rubato::store
