// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/trade_exploration.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "lib/core/resize_request.h"
#include "lib/policy/algorithms/forecast.h"
#include "lib/policy/algorithms/job_forecast.h"

namespace rubato {
namespace {

using ProfileType = std::pair<ProfileName, std::string>;

// What is being explored, or was: jobs of the profile run on the GPU type, or one was sent there
// within the last day and is still in the cluster.
std::set<ProfileType> known_places(const RoundInput& input) {
  std::set<ProfileType> known;
  std::set<std::uint32_t> ids;
  for (const Job& job : input.snapshot.jobs) {
    ids.insert(job.key.id);
    if (job.state != JobState::kRunning) continue;
    for (const NodeShare& share : job.allocation) {
      for (const GpuCount& group : share.gpus)
        known.emplace(profile_of(job, input.config), group.type);
    }
  }
  for (const Exploration& one : input.snapshot.memory.explorations) {
    if (ids.contains(one.job.id))
      known.emplace(ProfileName{one.account, one.job_type}, one.gpu_type);
  }
  return known;
}

bool is_recent(const RoundInput& input, const Exploration& one) {
  return input.now - one.time < kExplorationTime;
}

// GPU-seconds of a mean GPU that exploration may still cost.
double budget_left(const RoundInput& input, const Capacity& capacity,
                   const std::vector<double>& relative) {
  double gpus = 0;
  for (const Node& node : input.snapshot.nodes) {
    if (!node.in_service()) continue;
    for (const GpuGroup& group : node.gpus)
      gpus += group.total * relative[capacity.type_id(group.type)];
  }
  double left = input.config.exploration_budget * gpus * static_cast<double>(kExplorationTime);
  for (const Exploration& one : input.snapshot.memory.explorations)
    if (is_recent(input, one)) left -= one.gpu_seconds;
  return left;
}

std::size_t ended_jobs(const Memory& memory, const ProfileName& profile) {
  for (const ProfileWork& work : memory.works) {
    if (work.account == profile.account && work.job_type == profile.job_type)
      return work.ended.size();
  }
  return 0;
}

bool waits(const ConfigurationTable& table) { return table.entry != nullptr; }

/// The jobs of one profile in the market.
class Profile {
 public:
  Profile(const std::vector<ConfigurationTable>& tables, const std::vector<double>& relative,
          std::vector<std::size_t> members)
      : tables_(tables), relative_(relative), members_(std::move(members)) {}

  // GPU-seconds of the jobs that wait and of as many as ended, each as long as the median one.
  [[nodiscard]] double future(std::size_t ended) const {
    std::vector<double> areas;
    std::size_t waiting = 0;
    for (const std::size_t at : members_) {
      areas.push_back(least_area(tables_[at], relative_));
      if (waits(tables_[at])) ++waiting;
    }
    const auto middle = areas.begin() + static_cast<std::ptrdiff_t>((areas.size() - 1) / 2);
    std::ranges::nth_element(areas, middle);
    return *middle * static_cast<double>(waiting + ended);
  }

  // The least certain row on a GPU type.
  [[nodiscard]] std::optional<ExplorationRow> row_on(TypeId type, double future) const {
    std::optional<ExplorationRow> best;
    double most = kExplorationStddev;
    for (const bool waiting : {true, false}) {
      for (const std::size_t at : members_) {
        const ConfigurationTable& table = tables_[at];
        if (waits(table) != waiting || !hints_change(*table.job)) continue;
        for (std::size_t i = 0; i < table.rows.size(); ++i) {
          const NextConfiguration& row = table.rows[i];
          if (row.type != type || row.trial || row.stddev <= most) continue;
          most = row.stddev;
          best = ExplorationRow{at, i, kKnowingGains * most * future, cost_of(table, row)};
        }
      }
      if (best) return best;
    }
    return best;
  }

 private:
  [[nodiscard]] double cost_of(const ConfigurationTable& table,
                               const NextConfiguration& row) const {
    const double change = waits(table) ? 0 : change_cost(*table.job, row.live);
    const double area = (row.seconds + change) * row.gpus * relative_[row.type];
    return std::max(area - least_area(table, relative_), 0.0);
  }

  const std::vector<ConfigurationTable>& tables_;
  const std::vector<double>& relative_;
  std::vector<std::size_t> members_;
};

// The change or the start that gives a job this row.
bool has_row(const Trades& trades, const ConfigurationTable& table, const NextConfiguration& row,
             const std::string& type) {
  const JobKey& key = table.job->key;
  if (waits(table)) {
    const TradedEntry* const entry = trades.of(key);
    return entry != nullptr && entry->placement && entry->placement->type == row.type &&
           (entry->as.gpus > 0 ? entry->as.gpus : static_cast<int>(requested_gpus(*table.job))) ==
               row.gpus;
  }
  const auto change = std::ranges::lower_bound(trades.changes, key, {}, &Change::job);
  return change != trades.changes.end() && change->job == key && change->gpu_type == type &&
         change->gpus == row.gpus;
}

}  // namespace

std::vector<ExplorationRow> exploration_rows(const RoundInput& input,
                                             const std::vector<ConfigurationTable>& tables,
                                             const Capacity& capacity,
                                             const std::vector<double>& relative) {
  std::vector<ExplorationRow> rows;
  if (!(input.config.exploration_budget > 0) || input.config.off(Mechanism::kExploration))
    return rows;
  std::map<ProfileName, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const bool unsure = std::ranges::any_of(tables[i].rows, [](const NextConfiguration& row) {
      return row.stddev > kExplorationStddev;
    });
    const ProfileName profile = profile_of(*tables[i].job, input.config);
    if (!profile.job_type.empty() && (unsure || members.contains(profile)))
      members[profile].push_back(i);
  }
  if (members.empty()) return rows;
  const std::set<ProfileType> known = known_places(input);
  for (auto& [name, tables_of] : members) {
    const Profile profile(tables, relative, std::move(tables_of));
    const double future = profile.future(ended_jobs(input.snapshot.memory, name));
    for (const auto type : indices<TypeId>(capacity.types())) {
      if (known.contains({name, capacity.types()[type]})) continue;
      if (const auto row = profile.row_on(type, future)) rows.push_back(*row);
    }
  }
  // Those that promise the most first, until the budget is used up.
  std::ranges::sort(rows, [](const ExplorationRow& a, const ExplorationRow& b) {
    return std::tuple(b.bonus - b.cost, a.table, a.row) <
           std::tuple(a.bonus - a.cost, b.table, b.row);
  });
  double left = budget_left(input, capacity, relative);
  std::erase_if(rows, [&](const ExplorationRow& row) {
    if (row.cost > left) return true;
    left -= row.cost;
    return false;
  });
  std::ranges::sort(rows, {},
                    [](const ExplorationRow& row) { return std::pair(row.table, row.row); });
  return rows;
}

std::vector<Exploration> explorations_after(const RoundInput& input,
                                            const std::vector<ConfigurationTable>& tables,
                                            const Capacity& capacity,
                                            const std::vector<ExplorationRow>& rows,
                                            const Trades& trades) {
  std::vector<Exploration> all = input.snapshot.memory.explorations;
  std::erase_if(all, [&](const Exploration& one) { return !is_recent(input, one); });
  for (const ExplorationRow& at : rows) {
    const ConfigurationTable& table = tables[at.table];
    const NextConfiguration& row = table.rows[at.row];
    const std::string& type = capacity.types()[row.type];
    if (!has_row(trades, table, row, type)) continue;
    const ProfileName profile = profile_of(*table.job, input.config);
    all.push_back(
        {table.job->key, profile.account, profile.job_type, type, row.gpus, input.now, at.cost});
  }
  std::ranges::stable_sort(all, {},
                           [](const Exploration& one) { return std::pair(one.time, one.job); });
  return all;
}

}  // namespace rubato
