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
#include "lib/policy/algorithms/guarantee.h"
#include "lib/policy/algorithms/job_forecast.h"
#include "lib/policy/algorithms/restarts.h"

namespace rubato {
namespace {

using ProfileType = std::pair<ProfileName, std::string>;

/// Where profiles are being measured.
struct Explored {
  /// Jobs of the profile run on the GPU type, or one that was sent there left it within the day.
  std::set<ProfileType> by_running;
  std::map<ProfileType, JobId> by_sent{};  ///< a job was sent there, and does not run there yet
};

Explored explored_now(const RoundInput& input) {
  Explored explored;
  std::map<JobId, bool> runs;  // and is not about to restart
  for (const Job& job : input.snapshot.jobs) {
    runs[job.key.id] = job.state == JobState::kRunning && !is_changing(input, job);
    if (job.state != JobState::kRunning) continue;
    for (const NodeShare& share : job.allocation) {
      for (const GpuCount& group : share.gpus)
        explored.by_running.emplace(profile_of(job, input.config), group.type);
    }
  }
  for (const Exploration& one : input.snapshot.memory.explorations) {
    const auto job = runs.find(one.job.id);
    if (job == runs.end()) continue;
    const ProfileType place{ProfileName{one.account, one.job_type}, one.gpu_type};
    if (job->second)
      explored.by_running.insert(place);
    else
      explored.by_sent[place] = one.job.id;
  }
  return explored;
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
  for (const Exploration& one : recent_explorations(input.snapshot.memory, input.now))
    left -= one.gpu_seconds;
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

bool is_unsure(const NextConfiguration& row) { return row.stddev > kExplorationStddev; }

// A job leaves by a restart what turns out to be slow.
bool may_explore(const RoundInput& input, const RestartCaps& caps,
                 const ConfigurationTable& table) {
  const Job& job = *table.job;
  return hints_change(job) && consents_to_restart(job) && !is_guaranteed(input.config, job) &&
         !(table.seconds_on_cpus > 0) && !caps.reached(job);
}

/// The jobs of one profile in the market.
class Profile {
 public:
  Profile(const std::vector<ConfigurationTable>& tables, const std::vector<double>& relative,
          std::vector<std::size_t> members, std::size_t ended)
      : tables_(tables), relative_(relative), members_(std::move(members)) {
    std::vector<double> areas;
    jobs_ = static_cast<double>(ended);
    for (const std::size_t at : members_) {
      areas.push_back(least_area(tables_[at], relative_));
      if (waits(tables_[at])) ++jobs_;
    }
    const auto middle = areas.begin() + static_cast<std::ptrdiff_t>((areas.size() - 1) / 2);
    std::ranges::nth_element(areas, middle);
    area_ = *middle;
  }

  // The unsure row on a GPU type that promises the most; of the job `only`, if that is not 0.
  template <typename MayExplore>
  [[nodiscard]] std::optional<ExplorationRow> row_on(TypeId type, JobId only,
                                                     const MayExplore& may_explore) const {
    std::optional<ExplorationRow> best;
    for (const bool waiting : {true, false}) {
      for (const std::size_t at : members_) {
        const ConfigurationTable& table = tables_[at];
        if (waits(table) != waiting || (only != 0 && table.job->key.id != only)) continue;
        if (!may_explore(table)) continue;
        for (std::size_t i = 0; i < table.rows.size(); ++i) {
          const NextConfiguration& row = table.rows[i];
          if (row.type != type || row.trial || !is_unsure(row)) continue;
          const ExplorationRow found{at, i, bonus_of(table, row), cost_of(table, row)};
          if (!(found.bonus > found.cost)) continue;
          if (!best || found.bonus - found.cost > best->bonus - best->cost) best = found;
        }
      }
      if (best) return best;
    }
    return best;
  }

 private:
  // What the other jobs gain, each as long as the median one.
  [[nodiscard]] double bonus_of(const ConfigurationTable& table,
                                const NextConfiguration& row) const {
    const double others = jobs_ - (waits(table) ? 1 : 0);
    return kKnowingGains * row.stddev * area_ * others;
  }
  [[nodiscard]] double cost_of(const ConfigurationTable& table,
                               const NextConfiguration& row) const {
    const double change = waits(table) ? 0 : change_cost(*table.job, row.live);
    const double area = (row.seconds + change) * row.gpus * relative_[row.type];
    return std::max(area - least_area(table, relative_), 0.0);
  }

  const std::vector<ConfigurationTable>& tables_;
  const std::vector<double>& relative_;
  std::vector<std::size_t> members_;
  double jobs_ = 0;  ///< that wait, and as many as have ended
  double area_ = 0;  ///< GPU-seconds of the median job
};

// The jobs in the market of each profile that has an unsure row.
std::map<ProfileName, std::vector<std::size_t>> unsure_profiles(
    const RoundInput& input, const std::vector<ConfigurationTable>& tables) {
  std::map<ProfileName, std::vector<std::size_t>> members;
  std::vector<ProfileName> profiles;
  for (const ConfigurationTable& table : tables) {
    profiles.push_back(profile_of(*table.job, input.config));
    if (!profiles.back().job_type.empty() && std::ranges::any_of(table.rows, is_unsure))
      members.try_emplace(profiles.back());
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const auto at = members.find(profiles[i]);
    if (at != members.end()) at->second.push_back(i);
  }
  return members;
}

// Those that promise the most first, until the budget is used up.
std::vector<ExplorationRow> within_budget(std::vector<ExplorationRow> rows, double left) {
  std::ranges::sort(rows, [](const ExplorationRow& a, const ExplorationRow& b) {
    return std::tuple(b.bonus - b.cost, a.table, a.row) <
           std::tuple(a.bonus - a.cost, b.table, b.row);
  });
  std::vector<ExplorationRow> kept;
  for (const ExplorationRow& row : rows) {
    if (row.cost > left) continue;
    left -= row.cost;
    kept.push_back(row);
  }
  std::ranges::sort(kept, {},
                    [](const ExplorationRow& row) { return std::pair(row.table, row.row); });
  return kept;
}

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
  std::map<ProfileName, std::vector<std::size_t>> profiles = unsure_profiles(input, tables);
  if (profiles.empty()) return rows;
  const Explored explored = explored_now(input);
  const RestartCaps caps(input);
  const auto may = [&](const ConfigurationTable& table) { return may_explore(input, caps, table); };
  for (auto& [name, members] : profiles) {
    const Profile profile(tables, relative, std::move(members),
                          ended_jobs(input.snapshot.memory, name));
    for (const auto type : indices<TypeId>(capacity.types())) {
      const ProfileType place{name, capacity.types()[type]};
      if (explored.by_running.contains(place)) continue;
      const auto sent = explored.by_sent.find(place);
      const JobId only = sent != explored.by_sent.end() ? sent->second : 0;
      if (const auto row = profile.row_on(type, only, may)) rows.push_back(*row);
    }
  }
  return within_budget(std::move(rows), budget_left(input, capacity, relative));
}

std::vector<Exploration> explorations_after(const RoundInput& input,
                                            const std::vector<ConfigurationTable>& tables,
                                            const Capacity& capacity,
                                            const std::vector<ExplorationRow>& rows,
                                            const Trades& trades) {
  std::vector<Exploration> all = recent_explorations(input.snapshot.memory, input.now);
  for (const ExplorationRow& at : rows) {
    const ConfigurationTable& table = tables[at.table];
    const NextConfiguration& row = table.rows[at.row];
    const std::string& type = capacity.types()[row.type];
    // What costs no more than its other rows needs no account.
    if (!(at.cost > 0) || !has_row(trades, table, row, type)) continue;
    const ProfileName profile = profile_of(*table.job, input.config);
    std::erase_if(all, [&](const Exploration& one) {
      return one.job.id == table.job->key.id && one.gpu_type == type;
    });
    all.push_back(
        {table.job->key, profile.account, profile.job_type, type, row.gpus, input.now, at.cost});
  }
  std::ranges::stable_sort(all, {},
                           [](const Exploration& one) { return std::pair(one.time, one.job); });
  return all;
}

std::vector<Exploration> recent_explorations(const Memory& memory, Seconds now) {
  std::vector<Exploration> recent = memory.explorations;
  std::erase_if(recent, [&](const Exploration& one) { return now - one.time >= kExplorationTime; });
  return recent;
}

}  // namespace rubato
