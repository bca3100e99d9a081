// SPDX-License-Identifier: GPL-2.0-or-later
// Aggregates samples of one key by their further properties. Included by reader.cc only.
#pragma once

#include <SQLiteCpp/Statement.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lib/model/measured_rows.h"
#include "lib/store/records.h"

namespace rubato::store {

/// The columns of `samples AS s` that GroupBuilder reads; others start at kBehindGroup.
inline constexpr const char* kOfGroup =
    "s.nodes, s.plan, s.batch, s.cores, s.workers, s.servers, s.server_cores, s.job_id, s.submit, "
    "s.rate, s.flag, s.time, s.forward_time, s.sync_time, s.optimise_time, "
    "s.iteration_time, s.gradient_noise";
inline constexpr int kBehindGroup = 17;

/// Takes samples in the order of writing.
class GroupBuilder {
 public:
  void add(SQLite::Statement& row);
  /// Adds a row of another site; it counts only if this site has no measurements there.
  void add(const JobTypeGroup& imported) {
    groups_.try_emplace(configuration_of(imported), Building{imported});
  }
  /// Groups by nodes, plan, batch, cores, workers, servers, their cores.
  [[nodiscard]] std::vector<JobTypeGroup> take();

 private:
  using ConfigurationKey = std::tuple<int, std::string, std::int64_t, int, int, int, int>;
  struct Building {
    JobTypeGroup group;
    MeasuredMeans means{};
    Seconds last_used = 0;
    std::set<std::pair<std::int64_t, std::int64_t>> jobs = {};
  };

  static ConfigurationKey configuration_of(const JobTypeGroup& group) {
    return {group.nodes,   group.plan,    group.batch,       group.cores,
            group.workers, group.servers, group.server_cores};
  }
  static void finish(Building& building);

  std::map<ConfigurationKey, Building> groups_;
};

}  // namespace rubato::store
