// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/configuration_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "lib/core/resize_request.h"
#include "lib/model/progress/ended_work.h"
#include "lib/policy/algorithms/change_bounds.h"
#include "lib/policy/algorithms/empty_fit.h"
#include "lib/policy/algorithms/forecast.h"
#include "lib/policy/algorithms/growth_cap.h"
#include "lib/policy/algorithms/guarantee.h"
#include "lib/policy/algorithms/job_forecast.h"
#include "lib/policy/algorithms/overrun.h"
#include "lib/policy/algorithms/restarts.h"
#include "lib/policy/algorithms/size.h"
#include "lib/policy/algorithms/stated_work.h"

namespace rubato {
namespace {

// Between one node and a few, sizes are tried in these steps; beyond, in whole nodes.
constexpr int kFineGpus = 16;
constexpr int kFineStep = 2;
// Standard deviations by which a job may be slower than forecast and still meet its time limit.
constexpr double kSureStddevs = 2;
// The same before the start of a job that may change once it runs: its first reports correct the
// forecast (docs/results/elastic.md).
constexpr double kCorrectedStddevs = 1;
// A job without a time limit, of which nothing is known, is ranked as one with this limit, seconds.
constexpr Seconds kNoLimit = 7 * 86400;

/// GPUs of one type that jobs may get.
struct TypeSize {
  int per_node = 1;  ///< of its largest node
  int total = 0;
};

/// Of the nodes in `set`; none without one.
std::vector<TypeSize> type_sizes(const Snapshot& snapshot, const Capacity& capacity,
                                 NodeSetIndex set) {
  std::vector<TypeSize> sizes(capacity.types().size());
  if (!set.within(snapshot.node_sets.size())) return sizes;
  for (const NodeIndex at : snapshot.node_sets[set]) {
    const Node& node = snapshot.nodes[at];
    if (!node.in_service()) continue;
    for (const GpuGroup& group : node.gpus) {
      TypeSize& size = sizes[capacity.type_id(group.type)];
      size.per_node = std::max(size.per_node, group.total);
      size.total += group.total;
    }
  }
  return sizes;
}

/// What the models say of a job at one configuration.
struct RowForecast {
  double goodput = 0;  ///< efficient samples/s; 0: it cannot run there
  double stddev = 0;
  std::string plan{};
  std::int64_t batch = 0;
  bool unproven = false;
};

/// Efficient samples that a job has left.
struct WorkLeft {
  double samples = 0;
  bool told = false;  ///< by the job or by ended jobs of its type; else a guess
};

bool resizes_live(const Job& job) { return job.hints && job.hints->resize == Resize::kLive; }

// A waiting job that can never change starts only where mode place would start it: it waits for the
// type that it is matched to, and has no size that costs more with the jobs that are expected to
// arrive. The market sees neither.
bool may_start_at(const ConfigurationTable& table, TypeId type, int gpus) {
  const Job& job = *table.job;
  const TypeChoice* const choice = table.entry != nullptr ? table.entry->types : nullptr;
  if (choice == nullptr || hints_change(job)) return true;
  if (std::ranges::find(choice->order, type) == choice->order.end()) return false;
  if (gpus == static_cast<int>(requested_gpus(job)) || choice->trials.empty()) return true;
  return std::ranges::any_of(choice->trials, [&](const SizeTrial& trial) {
    return trial.type == type && trial.gpus == gpus && trial.obstacle == SizeObstacle::kNone;
  });
}

double limit_of(const Job& job) {
  return static_cast<double>(job.time_limit < kForever ? job.time_limit : kNoLimit);
}

class TableMaker {
 public:
  TableMaker(const RoundInput& input, const Forecasts& forecasts, const Capacity& capacity)
      : input_(input),
        forecasts_(forecasts),
        capacity_(capacity),
        empty_fit_(capacity),
        caps_(input),
        growth_(input) {}

  [[nodiscard]] std::optional<ConfigurationTable> of(const Job& job, const PendingEntry* entry);
  [[nodiscard]] std::optional<ConfigurationTable> of_one_on_cpus(const Job& job);

 private:
  [[nodiscard]] RowForecast forecast(const Job& job, const Resources& at) const;
  [[nodiscard]] Resources held_by(const Job& job) const;
  [[nodiscard]] double since_report(const Job& job, const Progress& progress) const;
  [[nodiscard]] std::optional<double> told_work(const Job& job, double goodput) const;
  [[nodiscard]] std::optional<double> attained_work(const Job& job, double goodput) const;
  [[nodiscard]] std::optional<double> stated_left(const Job& job) const;
  [[nodiscard]] std::optional<double> usual_work(const Job& job, double goodput) const;
  [[nodiscard]] WorkLeft work_of(const Job& job, double goodput) const;
  [[nodiscard]] double time_left(const Job& job) const;
  [[nodiscard]] const std::vector<TypeSize>& sizes_for(const Job& job);
  [[nodiscard]] bool fits_as_requested(const Job& job, const PendingEntry& entry,
                                       TypeId type) const;
  [[nodiscard]] bool is_known(const Job& job) const;
  [[nodiscard]] std::optional<ConfigurationTable> as_requested(const Job& job,
                                                               const PendingEntry& entry) const;
  [[nodiscard]] double expected_seconds(const Job& job) const;
  [[nodiscard]] double promised_to(const Job& job) const;
  [[nodiscard]] bool may_be_tried(const Job& job, const std::string& type,
                                  const NextConfiguration& row) const;
  void add_rows(const Job& job, double work, TypeId type, ConfigurationTable& table) const;
  void add_held(const Job& job, double work, const RowForecast& reference,
                ConfigurationTable& table) const;

  const RoundInput& input_;
  const Forecasts& forecasts_;
  const Capacity& capacity_;
  EmptyFit empty_fit_;
  RestartCaps caps_;
  GrowthCaps growth_;
  std::map<NodeSetIndex, std::vector<TypeSize>> sizes_of_set_;  ///< each by TypeId
  // Of the job that a table is made for:
  const std::vector<TypeSize>* sizes_ = nullptr;  ///< of the nodes where it could run
  JobSpec spec_;
  bool chooses_ = false;      ///< its hints leave plan or batch open
  TypeId own_type_ = kNoGpu;  ///< where it is the fastest at the size that it requests
  double promised_ = 0;       ///< rows below this goodput are left out
};

RowForecast TableMaker::forecast(const Job& job, const Resources& at) const {
  const ThroughputForecasts& forecasts = input_.models.forecasts();
  if (chooses_) {
    const std::optional<Prediction> found = forecasts.choice(job.key, spec_, at);
    if (found) {
      if (!found->feasible || !(found->goodput > 0)) return {};
      return {found->goodput, found->stddev, found->plan_chosen ? found->plan : "",
              found->batch_chosen ? found->batch : 0};
    }
  }
  const Forecast plain = forecasts.throughput(job.key, spec_, at);
  if (!plain.known_profile || !plain.feasible) return {};
  return {plain.goodput(), plain.stddev, "", 0, unproven(plain, input_.config)};
}

Resources TableMaker::held_by(const Job& job) const {
  const NodeShare& first = job.allocation.front();
  return resources_of(first.gpus.empty() ? "" : first.gpus.front().type, job.allocation);
}

// Since when a running job works. Its start does no work.
double works_since(const Job& job) {
  const double starts = job.restarts > 0 ? job.costs.restart : job.costs.start;
  return static_cast<double>(job.start) + starts;
}

// Seconds that a job has worked since its last report, which may be of an earlier run: then it
// waited in between.
double TableMaker::since_report(const Job& job, const Progress& progress) const {
  if (job.state != JobState::kRunning) return 0;
  const double from = std::max(static_cast<double>(progress.time), works_since(job));
  return std::max(static_cast<double>(input_.now) - from, 0.0);
}

// Efficient samples that are left by what the job states, where that counts.
std::optional<double> TableMaker::stated_left(const Job& job) const {
  if (!believed(forecasts_.service, job.key)) return std::nullopt;
  return work_left(input_.snapshot, job);
}

// Efficient samples that are left, by what ended jobs of its type did; none without such jobs, or
// if the job tells its work.
std::optional<double> TableMaker::usual_work(const Job& job, double goodput) const {
  const Snapshot& snapshot = input_.snapshot;
  if (input_.config.off(Mechanism::kUsualWork) || stated_left(job)) return std::nullopt;
  double done = work_done(snapshot, job);
  const Progress* const progress = progress_of(snapshot.memory, job.key);
  if (progress != nullptr) done += progress->goodput() * since_report(job, *progress);
  const auto left = usual_work_left(snapshot.memory.works, spec_.profile, done);
  if (!left) return std::nullopt;
  return std::min(*left, goodput * time_left(job));
}

// Efficient samples that a running job has left, by the work that it tells and what it did since
// its last report; none if it does not tell, its forecasts are bad, or it should have ended.
std::optional<double> TableMaker::told_work(const Job& job, double goodput) const {
  const Snapshot& snapshot = input_.snapshot;
  const std::optional<double> left = stated_left(job);
  if (!left || !predictability(snapshot, job, spec_.profile, true).predictable) return std::nullopt;
  const Progress* const progress = progress_of(snapshot.memory, job.key);
  const double rate = progress != nullptr ? progress->goodput() : goodput;
  const double since = progress != nullptr
                           ? since_report(job, *progress)
                           : std::max(static_cast<double>(input_.now) - works_since(job), 0.0);
  const double rest = *left - rate * since;
  return rest > 0 ? std::optional(rest) : std::nullopt;
}

// Efficient samples that a job did until now: it is taken to be half done, in whatever
// configuration it ran, and whether it runs now. Without reports, what it takes its GPUs as long
// again, at this goodput. None before its first start.
std::optional<double> TableMaker::attained_work(const Job& job, double goodput) const {
  double done = 0;
  const Progress* const progress = progress_of(input_.snapshot.memory, job.key);
  const Service* const service = service_of(forecasts_.service, job.key);
  if (progress != nullptr)
    done = progress->done() + progress->goodput() * since_report(job, *progress);
  if (!(done > 0) && service != nullptr) {
    const double asked = std::max(1.0, static_cast<double>(requested_gpus(job)));
    const double seconds = service->attained / (service->held > 0 ? service->held : asked);
    done = goodput * std::min(seconds, time_left(job));
  }
  return done > 0 ? std::optional(std::max(done, goodput * job.costs.restart)) : std::nullopt;
}

// Efficient samples that are left. Where the job does not tell, what is expected of it takes it
// `goodput` a second.
WorkLeft TableMaker::work_of(const Job& job, double goodput) const {
  const Snapshot& snapshot = input_.snapshot;
  if (const auto exact = input_.models.forecasts().work_left(job.key)) return {*exact, true};
  if (const auto usual = usual_work(job, goodput)) return {*usual, true};
  const std::optional<double> left = stated_left(job);
  if (job.state == JobState::kRunning) {
    if (const auto told = told_work(job, goodput)) return {*told, true};
    // Its history has the remaining time by its own statement or loss; that must count.
    const ProgressHistory* const history = progress_history_of(snapshot.memory, job.key);
    const bool judged = left && history != nullptr && history->left >= 0;
    const auto done = judged ? std::nullopt : attained_work(job, goodput);
    if (done) return {*done};
    return {goodput * seconds_left(snapshot, job, input_.models.forecasts(), input_.now)};
  }
  if (left) return {past_overrun(input_, job) == nullptr ? *left : goodput * limit_of(job), true};
  if (const auto done = attained_work(job, goodput)) return {*done};
  const JobNeed* const need = need_of(forecasts_.needs, job.key);
  const double gpus = std::max(1.0, static_cast<double>(requested_gpus(job)));
  if (need != nullptr) return {goodput * need->gpu_seconds / gpus};
  return {goodput * limit_of(job)};
}

double TableMaker::time_left(const Job& job) const {
  if (job.time_limit >= kForever) return std::numeric_limits<double>::infinity();
  const bool runs = job.state == JobState::kRunning;
  return static_cast<double>(
      std::max<Seconds>(runs ? job.end_limit - input_.now : job.time_limit, 1));
}

const std::vector<TypeSize>& TableMaker::sizes_for(const Job& job) {
  const bool waits = job.state == JobState::kPending;
  const bool later = job.later_set.within(input_.snapshot.node_sets.size());
  const NodeSetIndex set = later || !waits ? job.later_set : job.node_set;
  const auto [at, fresh] = sizes_of_set_.try_emplace(set);
  if (fresh) at->second = type_sizes(input_.snapshot, capacity_, set);
  return at->second;
}

// Of the types with enough GPUs where the job may run.
double TableMaker::promised_to(const Job& job) const {
  std::vector<std::string> types;
  for (const TypeId type : forecasts_.fastest) {
    if ((*sizes_)[type].total >= requested_gpus(job)) types.push_back(capacity_.types()[type]);
  }
  return promised_goodput(input_, job, types);
}

// Whether the nodes of the job carry its request on this type if they are empty.
bool TableMaker::fits_as_requested(const Job& job, const PendingEntry& entry, TypeId type) const {
  return accepts_type(job, capacity_.types()[type]) &&
         empty_fit_.types(*entry.later, job.request)[type];
}

// Whether the models know the profile of the job, on any type that it accepts.
bool TableMaker::is_known(const Job& job) const {
  const auto own = static_cast<int>(requested_gpus(job));
  return std::ranges::any_of(capacity_.types(), [&](const std::string& type) {
    if (!accepts_type(job, type)) return false;
    return input_.models.forecasts()
        .throughput(job.key, spec_, asked_of(job, type, own))
        .known_profile;
  });
}

// A job of which nothing is known runs as requested, on each type as much faster than on others as
// the jobs of which something is known.
std::optional<ConfigurationTable> TableMaker::as_requested(const Job& job,
                                                           const PendingEntry& entry) const {
  const auto own = static_cast<int>(requested_gpus(job));
  ConfigurationTable table;
  table.job = &job;
  table.entry = &entry;
  double best = 0;
  for (const TypeId type : forecasts_.fastest) {
    const std::string& name = capacity_.types()[type];
    if (own < 1 || !fits_as_requested(job, entry, type)) continue;
    if (!may_start_at(table, type, own)) continue;
    const double speed = input_.models.forecasts().speed(name);
    best = std::max(best, speed);
    table.rows.push_back({type, own, speed});
  }
  if (table.rows.empty()) return std::nullopt;
  table.fastest = expected_seconds(job);
  for (NextConfiguration& row : table.rows) row.seconds = table.fastest * best / row.seconds;
  return table;
}

// On the type where it is the fastest.
double TableMaker::expected_seconds(const Job& job) const {
  const JobNeed* const need = need_of(forecasts_.needs, job.key);
  const double limit = limit_of(job);
  const double gpus = std::max(1.0, static_cast<double>(requested_gpus(job)));
  return std::max(need != nullptr ? std::min(limit, need->gpu_seconds / gpus) : limit, 1e-3);
}

// More GPUs of the type that a job holds, while it runs.
bool TableMaker::may_be_tried(const Job& job, const std::string& type,
                              const NextConfiguration& row) const {
  if (job.state != JobState::kRunning || input_.config.off(Mechanism::kTrial)) return false;
  if (held_gpus(job) == 0) return false;
  const Resources held = held_by(job);
  return resizes_live(job) && type == held.gpu_type && row.gpus > held.gpus &&
         row.stddev >= kTrialStddev;
}

// Sizes come ascending, so each is compared with those below it.
void TableMaker::add_rows(const Job& job, double work, TypeId type,
                          ConfigurationTable& table) const {
  const TypeSize& size = (*sizes_)[type];
  const std::string& name = capacity_.types()[type];
  const auto own = static_cast<int>(requested_gpus(job));
  const double limit = time_left(job);
  const double change = table.entry == nullptr ? change_cost(job, resizes_live(job)) : 0;
  const std::optional<int> most = growth_.left_for(job);
  std::vector<NextConfiguration> rows;
  const double least = input_.config.off(Mechanism::kElasticity) ? 0 : input_.config.min_scaling;
  const bool corrected = table.entry != nullptr && hints_change(job);
  const double stddevs = corrected ? kCorrectedStddevs : kSureStddevs;
  for (const int gpus : sizes_on(job, size.per_node, size.total)) {
    if (gpus != own && input_.config.off(Mechanism::kResize)) continue;
    const bool asked = table.entry != nullptr && gpus == own;
    if (asked && !fits_as_requested(job, *table.entry, type)) continue;
    if (!may_start_at(table, type, gpus)) continue;
    const RowForecast found = forecast(job, asked_of(job, name, gpus));
    if (!(found.goodput > 0) || found.goodput < promised_) continue;
    const double seconds = std::max(work / found.goodput, 1e-3);
    const double slow = seconds * std::exp(stddevs * found.stddev);
    const bool starts_smaller = table.entry != nullptr && gpus < own;
    if (starts_smaller && found.unproven) continue;
    // A waiting job may always run as requested on its fastest type.
    const double longest = (slow + change) * (starts_smaller ? kSmallerSlack : 1);
    const bool late = !(asked && type == own_type_) && longest > limit;
    const bool useless = std::ranges::any_of(rows, [&](const NextConfiguration& less) {
      return std::log(less.seconds / seconds) <
             least * std::log(static_cast<double>(gpus) / less.gpus);
    });
    NextConfiguration row{type, gpus, seconds, found.plan, found.batch, found.stddev};
    row.trial = late || useless;
    if (row.trial && !may_be_tried(job, name, row)) continue;
    if (most && beyond_request(job, gpus) > *most)
      note_capped(table, row);
    else
      rows.push_back(row);
  }
  std::ranges::move(rows, std::back_inserter(table.rows));
}

// The rows of a running job: how it gets to each, and last the one that it holds.
void TableMaker::add_held(const Job& job, double work, const RowForecast& reference,
                          ConfigurationTable& table) const {
  const Resources held = held_by(job);
  const TypeId type = capacity_.type_id(held.gpu_type);
  std::vector<NextConfiguration> rows;
  for (NextConfiguration& row : table.rows) {
    if (row.type == type && row.gpus == held.gpus) continue;
    const bool stays = row.type == type;
    const bool possible = row.gpus > held.gpus || job.allocation.size() > 1;
    row.live = stays && possible && job.hints->resize == Resize::kLive;
    if (row.live) rows.push_back(row);
    row.live = false;
    if (consents_to_restart(job) && !row.trial) rows.push_back(std::move(row));
  }
  table.rows = std::move(rows);
  table.held = static_cast<int>(table.rows.size());
  table.rows.push_back({type, held.gpus, std::max(work / reference.goodput, 1e-3), reference.plan,
                        reference.batch, reference.stddev});
}

std::optional<ConfigurationTable> TableMaker::of(const Job& job, const PendingEntry* entry) {
  spec_ = spec_of(input_, job);
  sizes_ = &sizes_for(job);
  own_type_ = kNoGpu;
  promised_ = promised_to(job);
  chooses_ = has_choice(spec_) && !input_.config.off(Mechanism::kPlans);
  ConfigurationTable table;
  table.job = &job;
  table.entry = entry;
  table.promised = promised_;
  const bool runs = entry == nullptr;
  RowForecast reference;
  if (runs) {
    reference = forecast(job, held_by(job));
  } else {
    for (const TypeId type : forecasts_.fastest) {
      if (!fits_as_requested(job, *entry, type)) continue;
      const auto own = static_cast<int>(requested_gpus(job));
      const RowForecast found = forecast(job, asked_of(job, capacity_.types()[type], own));
      if (!(found.goodput > reference.goodput)) continue;
      reference = found;
      own_type_ = type;
    }
  }
  if (!(reference.goodput > 0)) {
    // One that may preempt stays in the queue, where Slurm is asked.
    if (runs || job.may_preempt || is_known(job)) return std::nullopt;
    return as_requested(job, *entry);
  }
  const auto [work, told] = work_of(job, reference.goodput);
  table.told = told;
  if (runs) table.bound = change_bound(input_, job);
  if (runs && !table.bound) table.bound = caps_.reached(job);
  for (const TypeId type : forecasts_.fastest) {
    if (table.bound) break;
    if (accepts_type(job, capacity_.types()[type])) add_rows(job, work, type, table);
  }
  if (runs) add_held(job, work, reference, table);
  if (table.rows.empty()) return std::nullopt;
  table.fastest = std::numeric_limits<double>::infinity();
  for (const NextConfiguration& row : table.rows)
    if (!row.trial) table.fastest = std::min(table.fastest, row.seconds);
  return table;
}

// Its last report tells how fast it is where it runs.
std::optional<ConfigurationTable> TableMaker::of_one_on_cpus(const Job& job) {
  const Progress* const report = progress_of(input_.snapshot.memory, job.key);
  const bool reported = report != nullptr && report->restarts == job.restarts;
  if (!reported || !(report->goodput() > 0)) return std::nullopt;
  if (change_bound(input_, job) || caps_.reached(job)) return std::nullopt;
  spec_ = spec_of(input_, job);
  sizes_ = &sizes_for(job);
  own_type_ = kNoGpu;
  promised_ = 0;
  chooses_ = has_choice(spec_) && !input_.config.off(Mechanism::kPlans);
  ConfigurationTable table;
  table.job = &job;
  const auto [work, told] = work_of(job, report->goodput());
  table.told = told;
  table.seconds_on_cpus = std::max(work / report->goodput(), 1e-3);
  for (const TypeId type : forecasts_.fastest)
    if (accepts_type(job, capacity_.types()[type])) add_rows(job, work, type, table);
  if (table.rows.empty()) return std::nullopt;
  table.fastest = table.seconds_on_cpus;
  for (const NextConfiguration& row : table.rows)
    table.fastest = std::min(table.fastest, row.seconds);
  return table;
}

bool left_gpus_for_cpus(const RoundInput& input, const Job& job) {
  return held_gpus(job) == 0 && job.request.wants_gpus() && consents_to_restart(job) &&
         job.hints->device == Device::kAny && !is_guaranteed(input.config, job) &&
         !input.config.off(Mechanism::kCpus);
}

/// Its GPUs are of one type, on nodes of the cluster that are up.
bool holds_usable_gpus(const Snapshot& snapshot, const Capacity& capacity, const Job& job) {
  if (job.allocation.empty() || job.allocation.front().gpus.size() != 1) return false;
  const std::string& type = job.allocation.front().gpus.front().type;
  if (!capacity.type_id(type).valid()) return false;
  return std::ranges::all_of(job.allocation, [&](const NodeShare& share) {
    return share.node.within(snapshot.nodes.size()) && snapshot.nodes[share.node].usable &&
           share.gpus.size() == 1 && share.gpus.front().type == type &&
           share.gpus.front().count > 0;
  });
}

bool in_market(const PendingEntry& entry, const PendingQueue& queue, const JobHistory& history,
               Seconds now) {
  const Job& job = *entry.job;
  return job.managed && !job.het && job.block == Block::kNone && job.request.wants_gpus() &&
         !job.preempting && !entry.on_cpus && entry.gpus == 0 && job.reservation.empty() &&
         queue.entries_of(job.key).size() == 1 && history.next_try(entry) <= now;
}

}  // namespace

std::vector<int> sizes_on(const Job& job, int per_node, int most) {
  const auto own = static_cast<int>(requested_gpus(job));
  std::vector<int> sizes;
  if (own >= 1 && own <= most) sizes.push_back(own);
  if (!job.batch || !job.hints || job.array_id != 0 || !job.size_bound.empty()) return sizes;
  const auto tried = [&](int gpus) {
    if (gpus <= per_node) return true;
    return gpus <= kFineGpus ? gpus % kFineStep == 0 : gpus % per_node == 0;
  };
  for (const auto& [from, to] : job.hints->sizes.ranges()) {
    for (int gpus = from; gpus <= std::min(to, most); ++gpus) {
      if (gpus == from || gpus == to || tried(gpus)) sizes.push_back(gpus);
    }
  }
  std::erase_if(sizes, [&](int gpus) { return gpus != own && gpus % job.hints->unit != 0; });
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

double seconds_now(const ConfigurationTable& table) {
  return table.held < 0 ? table.seconds_on_cpus
                        : table.rows[static_cast<std::size_t>(table.held)].seconds;
}

double least_area(const ConfigurationTable& table, const std::vector<double>& relative) {
  double least = std::numeric_limits<double>::infinity();
  for (const NextConfiguration& row : table.rows)
    if (!row.trial) least = std::min(least, row.seconds * row.gpus * relative[row.type]);
  return least;
}

void note_capped(ConfigurationTable& table, const NextConfiguration& row) {
  if (table.capped.gpus == 0 || row.seconds < table.capped.seconds) table.capped = row;
}

bool consents_to_restart(const Job& job) { return hints_consent(job) && !is_unreached(job); }

bool may_change(const Job& job) {
  return job.state == JobState::kRunning && !job.allocation.empty() && !(job.starting > 0) &&
         hints_change(job);
}

double change_cost(const Job& job, bool live) {
  return live ? job.costs.resize : job.costs.restart;
}

std::vector<ConfigurationTable> configuration_tables(const RoundInput& input,
                                                     const Forecasts& forecasts,
                                                     const PendingQueue& queue,
                                                     const JobHistory& history,
                                                     const Capacity& capacity) {
  std::vector<ConfigurationTable> tables;
  if (!input.models.forecasts().measured()) return tables;
  TableMaker maker(input, forecasts, capacity);
  const auto add = [&](const Job& job, const PendingEntry* entry) {
    if (auto table = maker.of(job, entry)) tables.push_back(std::move(*table));
  };
  // A job that is pending while its allocation still runs is about to be requeued by slurmctld.
  std::set<JobKey> running;
  for (const Job& job : input.snapshot.jobs) {
    if (job.state != JobState::kRunning) continue;
    running.insert(job.key);
    const bool changes =
        may_change(job) && !is_changing(input, job) && queue.entries_of(job.key).empty();
    if (!changes) continue;
    if (holds_usable_gpus(input.snapshot, capacity, job)) {
      add(job, nullptr);
    } else if (left_gpus_for_cpus(input, job)) {
      if (auto table = maker.of_one_on_cpus(job)) tables.push_back(std::move(*table));
    }
  }
  std::vector<const PendingEntry*> waiting;
  for (const PendingEntry& entry : queue.entries) {
    const bool fresh = !running.contains(entry.job->key);
    if (fresh && in_market(entry, queue, history, input.now)) waiting.push_back(&entry);
  }
  std::ranges::sort(waiting, {}, [](const PendingEntry* entry) {
    return std::pair(entry->job->rank, entry->job->key);
  });
  for (const PendingEntry* entry : waiting) add(*entry->job, entry);
  return tables;
}

}  // namespace rubato
