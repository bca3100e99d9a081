// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/trade.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "lib/core/resize_request.h"
#include "lib/policy/algorithms/bands.h"
#include "lib/policy/algorithms/configuration_table.h"
#include "lib/policy/algorithms/growth_cap.h"
#include "lib/policy/algorithms/guarantee.h"
#include "lib/policy/algorithms/overrun.h"
#include "lib/policy/algorithms/restarts.h"
#include "lib/policy/algorithms/size.h"
#include "lib/policy/market/allocation.h"
#include "lib/policy/market/change_value.h"
#include "lib/policy/market/closing.h"
#include "lib/policy/market/precedence.h"
#include "lib/policy/market/rank_value.h"
#include "lib/policy/memory.h"
#include "lib/policy/trade_exploration.h"
#include "lib/policy/trade_nodes.h"
#include "lib/policy/trade_stays.h"
#include "lib/policy/trade_trials.h"

namespace rubato {
namespace {

/// Share of the mean price that comes from the rounds before.
constexpr double kPriceMemory = .8;
/// Bounds on the price of a GPU, in mean GPUs.
constexpr double kMinPrice = .05;
constexpr double kMaxPrice = 20;
/// Of the value of the held row, that of a trial.
constexpr double kTrialWorth = .5;
/// How often a round decides again because of a cap before it changes no job at all.
constexpr int kCapPasses = 6;

double age_of(const RoundInput& input, const Job& job) {
  return static_cast<double>(input.waited(job));
}

/// The weight of the association of a job: half at fair-share factor 0, twice at 1.
double weight_of(const RoundInput& input, const Job& job) {
  if (!job.fair_share || input.config.off(Mechanism::kFairShare)) return 1;
  return std::exp2(2 * std::clamp(*job.fair_share, 0.0, 1.0) - 1);
}

/// What a GPU of each type is worth relative to the mean, by TypeId.
std::vector<double> relative_prices(const RoundInput& input, const Capacity& capacity) {
  std::vector<double> relative(capacity.types().size(), 1);
  if (input.config.off(Mechanism::kTypePrices)) return relative;
  for (const TypePrice& known : input.snapshot.memory.prices) {
    const TypeId type = capacity.type_id(known.gpu_type);
    if (type.valid()) relative[type] = std::clamp(known.price, kMinPrice, kMaxPrice);
  }
  return relative;
}

// GPUs that the market decides about, in mean GPUs.
double mean_gpus(const std::vector<int>& gpus, const std::vector<double>& relative) {
  double worth = 0;
  for (std::size_t type = 0; type < gpus.size(); ++type) worth += gpus[type] * relative[type];
  return worth;
}

ClosingJob closing_job(const ConfigurationTable& table, double area, double worth,
                       const std::vector<double>& relative) {
  double held = area;
  for (const NextConfiguration& row : table.rows) {
    if (row.trial || row.seconds > table.fastest) continue;
    held = row.seconds * row.gpus * relative[row.type];
    break;
  }
  return {table.fastest, held / worth, area / worth};
}

// The factor on the value of each job by which it goes before others in a queue that closes. How
// long jobs of unknown work are is a guess: each counts as the mean of the others.
std::vector<double> urgencies_of(const RoundInput& input, const Closing& closing, double worth,
                                 const std::vector<ConfigurationTable>& tables,
                                 const std::vector<RankedJob>& jobs,
                                 const std::vector<double>& relative) {
  std::vector<double> urgencies(jobs.size(), 1);
  if (!(worth > 0)) return urgencies;
  double sum = 0;
  int told = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    // A job whose stated work is not believed gains nothing by a long time limit.
    if (!tables[i].told || past_overrun(input, *tables[i].job) != nullptr) continue;
    urgencies[i] = closing_urgency(closing, closing_job(tables[i], jobs[i].area, worth, relative));
    sum += urgencies[i];
    ++told;
  }
  for (std::size_t i = 0; i < jobs.size(); ++i)
    if (!tables[i].told && told > 0) urgencies[i] = sum / told;
  return urgencies;
}

std::vector<double> values_of(const RoundInput& input,
                              const std::vector<ConfigurationTable>& tables,
                              const std::vector<int>& gpus, const std::vector<double>& relative) {
  std::vector<RankedJob> jobs;
  jobs.reserve(tables.size());
  double drain = 0;
  double area = 0;
  for (const ConfigurationTable& table : tables) {
    jobs.push_back({age_of(input, *table.job), table.fastest, least_area(table, relative),
                    weight_of(input, *table.job)});
    drain = std::max(drain, table.fastest);
    area += jobs.back().area;
  }
  const double worth = mean_gpus(gpus, relative);
  if (worth > 0) drain = std::max(drain, area / worth);
  std::vector<Seconds> arrivals;
  for (const ArrivalTime& arrival : last_arrivals(input)) arrivals.push_back(arrival.time);
  Closing closing = closing_of(arrivals, input.now, drain);
  if (input.config.off(Mechanism::kClosing)) closing.chance = 0;
  std::vector<double> values = rank_values(jobs, closing_power(closing, kRankPower));
  if (input.config.off(Mechanism::kRank)) {
    for (std::size_t i = 0; i < jobs.size(); ++i)
      values[i] = jobs[i].weight * std::pow(jobs[i].age + jobs[i].seconds, kAgePower);
  }
  const std::vector<double> urgencies = urgencies_of(input, closing, worth, tables, jobs, relative);
  for (std::size_t i = 0; i < jobs.size(); ++i) values[i] *= urgencies[i];
  return values;
}

// Prices follow those of the rounds slowly, since a single one says little; the first is all that
// is known.
std::vector<TypePrice> mean_prices_of(const RoundInput& input, const Capacity& capacity,
                                      const std::vector<double>& prices,
                                      const std::vector<double>& before) {
  double mean = 0;
  for (const double price : prices) mean += price / static_cast<double>(prices.size());
  std::vector<TypePrice> means;
  for (const auto type : indices<TypeId>(capacity.types())) {
    const double now = mean > 0 ? std::clamp(prices[type] / mean, kMinPrice, kMaxPrice) : 1;
    const double memory = input.snapshot.memory.prices.empty() ? 0 : kPriceMemory;
    means.push_back({capacity.types()[type], memory * before[type] + (1 - memory) * now});
  }
  return means;
}

ChangeTerms terms_of(const RoundInput& input, const ConfigurationTable& table, double value) {
  const Job& job = *table.job;
  ChangeTerms terms;
  terms.value = value;
  terms.held = seconds_now(table);
  terms.cost = change_cost(job, false);
  terms.stop_cost = job.costs.restart;
  terms.age = age_of(input, job);
  terms.restarts = job.restarts;
  if (input.config.off(Mechanism::kChangeCosts)) terms.cost = terms.stop_cost = 0;
  return terms;
}

// Of a job that runs without GPUs: against running on so.
MarketJob bids_of_one_on_cpus(const RoundInput& input, const ConfigurationTable& table,
                              double value) {
  MarketJob bids;
  const ChangeTerms terms = terms_of(input, table, value);
  const double stay = value_of_staying(terms);
  for (const NextConfiguration& row : table.rows) {
    const double noise = input.config.off(Mechanism::kNoise) ? 0 : row.stddev;
    const double then = sure_seconds(terms.held, row.seconds, noise);
    bids.rows.push_back({row.type.value(), row.gpus, value_of_change(terms, then) - stay});
  }
  return bids;
}

// The rows of a job with their values, each with its bonus. Those of a running job are against a
// stop.
MarketJob bids_of(const RoundInput& input, const ConfigurationTable& table, double value,
                  const std::vector<double>& bonus) {
  if (table.seconds_on_cpus > 0) return bids_of_one_on_cpus(input, table, value);
  MarketJob bids;
  bids.stays = table.held;
  if (table.held < 0) {
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const NextConfiguration& row = table.rows[i];
      bids.rows.push_back({row.type.value(), row.gpus, (value + bonus[i]) / row.seconds});
    }
    return bids;
  }
  const ChangeTerms terms = terms_of(input, table, value);
  ChangeTerms live = terms;
  live.cost = std::min(change_cost(*table.job, true), terms.cost);
  const double stop = value_of_stopping(terms);
  const NextConfiguration& held = table.rows[static_cast<std::size_t>(table.held)];
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const NextConfiguration& row = table.rows[i];
    const bool stays = static_cast<int>(i) == table.held;
    const double then = sure_seconds(held.seconds, row.seconds, noise_between(input, held, row));
    ChangeTerms change = row.live ? live : terms;
    change.value += bonus[i];
    const double worth = stays ? value_of_staying(terms) : value_of_change(change, then);
    // For more GPUs less than the held row: never bought.
    const double bid = row.trial ? std::min(worth, value_of_staying(terms) * kTrialWorth) : worth;
    bids.rows.push_back({row.type.value(), row.gpus, bid - stop});
  }
  return bids;
}

// GPUs of each type that are free or held by jobs of the market, on nodes where a job may start.
std::vector<int> pools_of(const RoundInput& input, const std::vector<ConfigurationTable>& tables,
                          const Capacity& capacity) {
  std::vector<int> gpus(capacity.types().size(), 0);
  const auto& nodes = input.snapshot.nodes;
  for (const NodeIndex node : indices<NodeIndex>(nodes)) {
    if (!nodes[node].usable) continue;
    for (const auto type : indices<TypeId>(capacity.types())) {
      if (!capacity.has_type(node, type)) continue;
      gpus[type] += std::max(capacity.room(node, type, input.now, input.now + 1).gpus, 0);
    }
  }
  for (const ConfigurationTable& table : tables) {
    if (table.held < 0) continue;
    for (const NodeShare& share : table.job->allocation) {
      if (!share.node.within(nodes.size()) || !nodes[share.node].usable) continue;
      for (const GpuCount& group : share.gpus) gpus[capacity.type_id(group.type)] += group.count;
    }
  }
  return gpus;
}

Market market_of(const RoundInput& input, const std::vector<ConfigurationTable>& tables,
                 const std::vector<ExplorationRow>& explored, const Capacity& capacity,
                 const std::vector<double>& relative) {
  Market market;
  market.gpus = pools_of(input, tables, capacity);
  const std::vector<double> values = values_of(input, tables, market.gpus, relative);
  auto next = explored.begin();
  for (std::size_t i = 0; i < tables.size(); ++i) {
    std::vector<double> bonus(tables[i].rows.size(), 0);
    for (; next != explored.end() && next->table == i; ++next) bonus[next->row] = next->bonus;
    market.jobs.push_back(bids_of(input, tables[i], values[i], bonus));
  }
  return market;
}

// The classes of jobs by partition tier, priority band and guarantee: those of the waiting jobs,
// and where the running jobs come among them. The bands are those of running and waiting jobs: if
// a stop changed who goes before whom, two jobs could take each other's GPUs in turn.
std::vector<ClassedJob> classes_of(const RoundInput& input,
                                   const std::vector<ConfigurationTable>& tables) {
  std::vector<ClassedJob> jobs(tables.size());
  std::vector<const Job*> all;
  for (const Job& job : input.snapshot.jobs) all.push_back(&job);
  const Bands bands(all, input.config);
  using Class = std::tuple<int, double, bool>;
  const bool bands_count = !input.config.off(Mechanism::kBands);
  const auto class_of = [&](const Job& job) {
    const bool guaranteed = is_guaranteed(input.config, job);
    return bands_count ? Class(job.tier, bands.of(job), guaranteed) : Class(0, 0, guaranteed);
  };
  std::set<Class, std::greater<>> waiting;
  for (const ConfigurationTable& table : tables) {
    if (table.entry != nullptr) waiting.insert(class_of(*table.job));
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const Class own = class_of(*tables[i].job);
    const auto at = waiting.lower_bound(own);
    const bool among = at != waiting.end() && *at == own;
    const auto before = 2 * static_cast<int>(std::distance(waiting.begin(), at));
    const bool runs = tables[i].entry == nullptr;
    const Job& job = *tables[i].job;
    const bool keeps = is_guaranteed(input.config, job) || !consents_to_restart(job);
    jobs[i] = {before + (among ? 1 : 0), runs, runs && keeps};
  }
  return jobs;
}

std::vector<TypePrice> prices_of(const Capacity& capacity, const std::vector<double>& prices) {
  std::vector<TypePrice> named;
  for (const auto type : indices<TypeId>(capacity.types()))
    named.push_back({capacity.types()[type], prices[type]});
  return named;
}

// How near a job that waits came to a GPU: its best value a GPU over the price.
void note_worth(const MarketJob& bids, const std::vector<double>& prices, TradedEntry& entry) {
  for (const MarketRow& row : bids.rows) {
    const double price = prices[static_cast<std::size_t>(row.pool)];
    if (!(price > 0)) continue;
    const double worth = row.value / row.gpus / price;
    if (worth <= entry.worth || worth >= 1) continue;
    entry.worth = worth;
    entry.type = TypeId{row.pool};
  }
}

// The jobs that may not change now leave the market: their GPUs are no more in it than those of
// jobs without consent.
std::vector<ConfigurationTable> take_bound(std::vector<ConfigurationTable>& tables) {
  const auto bound = std::ranges::stable_partition(
      tables, [](const ConfigurationTable& table) { return !table.bound; });
  std::vector<ConfigurationTable> taken(std::make_move_iterator(bound.begin()),
                                        std::make_move_iterator(bound.end()));
  tables.erase(bound.begin(), bound.end());
  return taken;
}

// Rows for the jobs of the market, and nodes for the rows.
void decide(const RoundInput& input, const Forecasts& forecasts, const PendingQueue& queue,
            const ExistingReservations& existing, const std::vector<ConfigurationTable>& tables,
            Trades& trades) {
  trades.mean_prices = input.snapshot.memory.prices;
  trades.explorations = recent_explorations(input.snapshot.memory, input.now);
  if (tables.empty()) return;
  const std::vector<double> relative = relative_prices(input, existing.capacity);
  const std::vector<ExplorationRow> explored =
      exploration_rows(input, tables, existing.capacity, relative);
  const Market market = market_of(input, tables, explored, existing.capacity, relative);
  const std::vector<ClassedJob> classes = classes_of(input, tables);
  Allocation allocation =
      allocate_by_class(market, classes, input.config.off(Mechanism::kSearch) ? 0 : kSearchPasses);
  if (!input.config.off(Mechanism::kTrial)) try_idle_gpus(input, tables, market, allocation);
  trades.prices = prices_of(existing.capacity, allocation.price);
  trades.mean_prices = mean_prices_of(input, existing.capacity, allocation.price, relative);
  const MarketOutcome outcome{input,  forecasts, queue,   existing,
                              tables, market,    classes, allocation};
  place_trades(outcome, trades);
  trades.explorations = explorations_after(input, tables, existing.capacity, explored, trades);
  trades.stays = stays_of(outcome, trades.changes);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (tables[i].entry == nullptr) continue;
    TradedEntry& entry = trades.entries[tables[i].job->key];
    if (allocation.row[i] == kNoRow) note_worth(market.jobs[i], allocation.price, entry);
  }
}

// Of jobs with their gains, those beyond the first `left`: the ones with the least gain.
void keep_best(std::vector<std::pair<double, JobKey>> jobs, int left, std::set<JobKey>& excess) {
  if (static_cast<int>(jobs.size()) <= left) return;
  std::ranges::sort(jobs, [](const auto& a, const auto& b) {
    return std::tuple(-a.first, a.second) < std::tuple(-b.first, b.second);
  });
  for (std::size_t i = static_cast<std::size_t>(left); i < jobs.size(); ++i)
    excess.insert(jobs[i].second);
}

// Jobs whose restarts exceed RestartsPerUserDay.
std::set<JobKey> restarts_beyond_caps(const RestartCaps& caps,
                                      const std::vector<ConfigurationTable>& tables,
                                      const Trades& trades) {
  std::map<JobKey, std::uint32_t> users;
  for (const ConfigurationTable& table : tables) users[table.job->key] = table.job->uid;
  std::map<std::uint32_t, std::vector<std::pair<double, JobKey>>> restarts;
  for (const Change& change : trades.changes) {
    if (!requeues(change) || caps.is_planned(change.job)) continue;
    restarts[users.at(change.job)].emplace_back(trades.gains.at(change.job), change.job);
  }
  std::set<JobKey> excess;
  for (auto& [uid, jobs] : restarts) {
    if (const auto left = caps.left_for(uid)) keep_best(std::move(jobs), *left, excess);
  }
  return excess;
}

/// GPUs beyond the requests that the jobs of a QOS hold after a round.
struct QosGrowth {
  int kept = 0;  ///< of jobs that get no more of them
  struct Grower {
    double gain = 0;
    JobKey job;
    int beyond = 0;
  };
  std::vector<Grower> growers;
};

// GPUs that a job has after the round.
int gpus_then(const ConfigurationTable& table, const Trades& trades) {
  const JobKey& key = table.job->key;
  if (table.entry != nullptr) {
    const TradedEntry* const entry = trades.of(key);
    if (entry == nullptr || !entry->placement) return 0;
    return entry->as.gpus > 0 ? entry->as.gpus : static_cast<int>(requested_gpus(*table.job));
  }
  const auto change = std::ranges::lower_bound(trades.changes, key, {}, &Change::job);
  const bool changes = change != trades.changes.end() && change->job == key;
  return changes ? change->gpus : held_gpus(*table.job);
}

std::map<std::string, QosGrowth> growth_after(const RoundInput& input,
                                              const std::vector<ConfigurationTable>& tables,
                                              const Trades& trades) {
  std::map<std::string, QosGrowth> growth;
  std::set<JobKey> traded;
  for (const ConfigurationTable& table : tables) {
    traded.insert(table.job->key);
    const Job& job = *table.job;
    const int beyond = beyond_request(job, gpus_then(table, trades));
    if (beyond > beyond_request(job, held_gpus(job)))
      growth[job.qos].growers.push_back({trades.gains.at(job.key), job.key, beyond});
    else
      growth[job.qos].kept += beyond;
  }
  for (const Job& job : input.snapshot.jobs) {
    if (traded.insert(job.key).second)
      growth[job.qos].kept += beyond_request(job, claimed_gpus(input.snapshot.memory, job));
  }
  return growth;
}

// Jobs that grow beyond GrowthCap.
std::set<JobKey> growth_beyond_caps(const RoundInput& input, const GrowthCaps& caps,
                                    const std::vector<ConfigurationTable>& tables,
                                    const Trades& trades) {
  std::set<JobKey> excess;
  if (input.config.growth_caps.empty()) return excess;
  for (auto& [qos, growth] : growth_after(input, tables, trades)) {
    const auto cap = caps.of(qos);
    if (!cap) continue;
    std::ranges::sort(growth.growers, [](const auto& a, const auto& b) {
      return std::tuple(-a.gain, a.job) < std::tuple(-b.gain, b.job);
    });
    int left = *cap - growth.kept;
    for (const QosGrowth::Grower& one : growth.growers) {
      if (one.beyond > left)
        excess.insert(one.job);
      else
        left -= one.beyond;
    }
  }
  return excess;
}

// Leaves out the rows with which a job would grow beyond its request.
void forbid_growth(const std::set<JobKey>& jobs, std::vector<ConfigurationTable>& tables) {
  for (ConfigurationTable& table : tables) {
    const Job& job = *table.job;
    if (!jobs.contains(job.key)) continue;
    const int most = beyond_request(job, held_gpus(job));
    std::erase_if(table.rows, [&](const NextConfiguration& row) {
      const bool grows = beyond_request(job, row.gpus) > most;
      if (grows) note_capped(table, row);
      return grows;
    });
    if (table.held >= 0) table.held = static_cast<int>(table.rows.size()) - 1;
    table.fastest = std::numeric_limits<double>::infinity();
    for (const NextConfiguration& row : table.rows)
      if (!row.trial) table.fastest = std::min(table.fastest, row.seconds);
  }
  // A waiting job without a row left starts as requested, in the stage place.
  std::erase_if(tables, [](const ConfigurationTable& table) { return table.rows.empty(); });
}

// The running jobs among them have their present row alone from here on.
void forbid_changes(const std::set<JobKey>& jobs, std::vector<ConfigurationTable>& tables) {
  for (ConfigurationTable& table : tables) {
    if (jobs.contains(table.job->key))
      table.bound = ChangeBound{StayReason::kCap, "RestartsPerUserDay", 0};
  }
}

}  // namespace

Trades trade(const RoundInput& input, const Forecasts& forecasts, const PendingQueue& queue,
             const JobHistory& history, const ExistingReservations& existing) {
  std::vector<ConfigurationTable> tables =
      configuration_tables(input, forecasts, queue, history, existing.capacity);
  std::erase_if(tables, [&](const ConfigurationTable& table) {
    return table.entry != nullptr && (reservation_of(existing.booked, table.job->key) != nullptr ||
                                      existing.yielding.contains(table.job->key));
  });
  const RestartCaps caps(input);
  const GrowthCaps growth_caps(input);
  std::vector<ConfigurationTable> bound = take_bound(tables);
  for (int pass = 0;; ++pass) {
    Trades trades;
    decide(input, forecasts, queue, existing, tables, trades);
    std::set<JobKey> excess = restarts_beyond_caps(caps, tables, trades);
    std::set<JobKey> growing = growth_beyond_caps(input, growth_caps, tables, trades);
    if (excess.empty() && growing.empty()) {
      for (const ConfigurationTable& table : bound) trades.stays.push_back(stay_of_bound(table));
      std::ranges::sort(trades.stays, {}, &Stay::job);
      return trades;
    }
    for (const ConfigurationTable& table : tables) {
      if (pass < kCapPasses) break;
      growing.insert(table.job->key);
      if (!excess.empty() && table.entry == nullptr) excess.insert(table.job->key);
    }
    forbid_growth(growing, tables);
    forbid_changes(excess, tables);
    std::ranges::move(take_bound(tables), std::back_inserter(bound));
  }
}

}  // namespace rubato
