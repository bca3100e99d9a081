// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/models_feed.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "lib/base/log.h"
#include "lib/model/throughput/error_replay.h"
#include "lib/store/measured.h"
#include "lib/store/profiles.h"
#include "lib/store/reader.h"
#include "lib/store/summary.h"

namespace rubato {

namespace {

using Steady = std::chrono::steady_clock;
constexpr int kShareOfProcessor = 20;  // one in so many

constexpr double kMovedThroughput = 0.01;
constexpr double kMoreSamples = 1.5;

/// Whether models of steps made of `now` would say something else: as throughput_change() has it.
bool tells_more(const std::vector<MeasuredRow>& before, const std::vector<MeasuredRow>& now) {
  if (before.size() != now.size()) return true;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (row_before(before[i], now[i]) || row_before(now[i], before[i])) return true;
    const auto more = static_cast<double>(now[i].samples);
    if (more >= kMoreSamples * static_cast<double>(before[i].samples)) return true;
    if (std::abs(std::log(now[i].throughput / before[i].throughput)) >= kMovedThroughput)
      return true;
  }
  return false;
}

bool same_bits(double a, double b) { return !(a < b) && !(b < a); }

}  // namespace

struct ModelsFeed::Shared {
  std::function<void()> wake;
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  FeedOffer next;                                            // under mutex, as all up to `latest`
  std::set<ThroughputLog::ConfigurationKey> configurations;  // of the last fit
  std::set<ThroughputLog::ConfigurationKey> fresh;           // of urgent reports since
  std::uint64_t offered = 0;                                 // counts what is new
  std::uint64_t urgent = 0;                                  // the last one that was urgent
  std::uint64_t handled = 0;
  bool stop = false;
  bool ended = false;
  std::shared_ptr<const Models> latest;
  std::shared_ptr<const Learning> learning = std::make_shared<const Learning>();

  // of the thread
  ThroughputLog throughput_log;
  std::optional<store::Summary> summary;
  std::string database;
  std::int64_t opened = 0;
  std::int64_t read_up_to = -1;
  std::int64_t changes = 0;  // of profiles, by hand
  std::int64_t orders_seen = 0;
  std::shared_ptr<const StepTimeModels> step_time_models;  // null while nothing was measured
  std::set<std::string> shared;
  Steady::time_point whole_at{};
  std::map<std::string, double> speeds;
  std::map<std::string, std::int64_t> gpu_memory;
  bool rows_news = false;  // rows that no version of Models has yet
  bool errors_known = false;
  LearnerRules rules;
  Steady::time_point not_before{};
  Steady::time_point urgent_not_before{};
  std::string last_error;

  void take(FeedOffer& offer);
  void run();
  void wait_for_work(std::unique_lock<std::mutex>& lock);
  void work(FeedOffer offer);
  [[nodiscard]] std::string read_store(const FeedOffer& offer);
  [[nodiscard]] Result<void> restore(const FeedOffer& offer, const store::Reader& reader);
  void take_rules(const FeedOffer& offer);
  void take_rows(const FeedOffer& offer);
  void fit(const FeedOffer& offer);
  void fit_hyperparameters(const FeedOffer& offer);
  void publish(const FeedOffer& offer, bool decides);
  void measure_errors(const FeedOffer& offer);
  void note_learning();
  void report(const std::string& error);
};

void ModelsFeed::Shared::report(const std::string& error) {
  if (error == last_error) return;
  last_error = error;
  if (error.empty())
    log().info("what jobs measure is learnt from again");
  else
    log().error("what jobs measured is not learnt from: {}; the last fit stays", error);
}

// Under the mutex.
void ModelsFeed::Shared::take(FeedOffer& offer) {
  const bool first = offered == 0;
  bool news = first || offer.settled != next.settled || offer.orders != next.orders ||
              offer.database != next.database || offer.opened != next.opened ||
              offer.shared != next.shared || offer.warm_up != next.warm_up ||
              !same_bits(offer.half_life, next.half_life);
  bool is_urgent = first || offer.speeds != next.speeds || offer.gpu_memory != next.gpu_memory ||
                   offer.database != next.database;
  for (PendingSample& heard : offer.heard) {
    if (next.heard.size() >= kMaxWaiting) break;
    news = true;
    ThroughputLog::ConfigurationKey configuration = ThroughputLog::configuration_of(heard.sample);
    const bool on_gpus = heard.sample.gpus > 0;  // others are learnt from the store
    if (on_gpus && !configurations.contains(configuration) &&
        fresh.insert(std::move(configuration)).second)
      is_urgent = true;
    next.heard.push_back(std::move(heard));
  }
  if (!news && !is_urgent) return;
  offer.heard = std::move(next.heard);
  next = std::move(offer);
  ++offered;
  if (is_urgent) urgent = offered;
  changed.notify_all();
}

void ModelsFeed::Shared::take_rules(const FeedOffer& offer) {
  LearnerRules now;
  now.use.warm_up = offer.warm_up;
  now.history.half_life = offer.half_life;
  if (now.use.warm_up == rules.use.warm_up &&
      same_bits(now.history.half_life, rules.history.half_life))
    return;
  rules = now;
  if (read_up_to < 0) throughput_log = ThroughputLog(rules);
  throughput_log.set_rules(rules);
  whole_at = {};
}

// What was learnt so far is made anew from the file: at the start, when it is another file or
// profiles were changed by hand, and sometimes, for what the store has forgotten.
Result<void> ModelsFeed::Shared::restore(const FeedOffer& offer, const store::Reader& reader) {
  throughput_log.mark_stored(offer.settled);
  return throughput_log.restore(reader, offer.shared);
}

// The models of step times are made of the sums of the store; what they expect enters the fit.
void ModelsFeed::Shared::take_rows(const FeedOffer& offer) {
  std::vector<MeasuredRow> rows;
  for (const store::SummaryRow& row : summary->rows()) {
    if (row.job_type.empty()) continue;  // jobs without a type have no profile
    rows.push_back(store::measured_row(
        {{row.account, row.job_type, row.shared}, row.gpu_type, row.gpus, row.group}));
  }
  auto made = std::make_shared<const StepTimeModels>(std::move(rows), offer.gpu_memory);
  if (step_time_models != nullptr && step_time_models->rows() == made->rows() &&
      step_time_models->memory() == made->memory()) {
    return;
  }
  static const std::vector<MeasuredRow> none;
  rows_news = rows_news || tells_more(step_time_models != nullptr ? step_time_models->rows() : none,
                                      made->rows());
  step_time_models = made->rows().empty() ? nullptr : std::move(made);
  throughput_log.learner().set_curves(step_time_models != nullptr ? step_time_models->curve_points()
                                                                  : std::vector<CurvePoint>());
}

// What went wrong, "" if nothing.
std::string ModelsFeed::Shared::read_store(const FeedOffer& offer) {
  if (offer.database.empty()) return {};
  if (!summary || database != offer.database || opened != offer.opened) {
    summary.emplace(offer.database);
    database = offer.database;
    opened = offer.opened;
    read_up_to = -1;
    whole_at = {};
  }
  const auto began = Steady::now();
  const bool whole = whole_at == Steady::time_point{} || began - whole_at >= kWhole;
  if (!whole && offer.settled == read_up_to && offer.orders == orders_seen &&
      offer.shared == shared)
    return {};
  const Result<bool> fresh_rows = summary->refresh(offer.shared, whole);
  if (!fresh_rows) return fresh_rows.error().text;
  const Result<store::Reader> reader = store::Reader::open(offer.database);
  if (!reader) return reader.error().text;
  const Result<std::int64_t> changed_now = reader->profile_changes();
  if (!changed_now) return changed_now.error().text;
  if (whole || *changed_now != changes || offer.shared != shared) {
    if (const Result<void> read = restore(offer, *reader); !read) return read.error().text;
    changes = *changed_now;
  }
  if (*fresh_rows) {
    throughput_log.set_imported(summary->rows());
    take_rows(offer);
  }
  if (whole) whole_at = began;
  read_up_to = offer.settled;
  orders_seen = offer.orders;
  shared = offer.shared;
  throughput_log.mark_stored(offer.settled);
  return {};
}

void ModelsFeed::Shared::publish(const FeedOffer& offer, bool decides) {
  const auto& throughput_model = throughput_log.learner().model();
  const auto before = latest;  // written by this thread alone
  // What rounds asked the last version they will ask this one: made here, they need not wait.
  if (throughput_model != nullptr && before != nullptr && before->throughput_model() != nullptr &&
      before->throughput_model() != throughput_model.get()) {
    throughput_model->warm(*before->throughput_model());
  }
  auto made = std::make_shared<const Models>(offer.speeds, throughput_model, step_time_models);
  const std::lock_guard lock(mutex);
  latest = std::move(made);
  if (decides && !stop && wake) wake();
}

void ModelsFeed::Shared::fit(const FeedOffer& offer) {
  const bool first = latest == nullptr;
  const Learner::News news = throughput_log.learner().refit(TypeSpeeds(offer.speeds));
  for (const std::string& words : news.said)
    log().warn("a new fit foresees recent reports worse than the one before, which stays: {}",
               words);
  const bool others = offer.speeds != speeds || offer.gpu_memory != gpu_memory;
  speeds = offer.speeds;
  if (step_time_models != nullptr && step_time_models->memory() != offer.gpu_memory)
    step_time_models =
        std::make_shared<const StepTimeModels>(step_time_models->rows(), offer.gpu_memory);
  gpu_memory = offer.gpu_memory;
  const bool same = news.change == ThroughputChange::kSame || news.kept_old;
  if (!first && !others && same && !rows_news) return;
  rows_news = false;
  publish(offer, first || others || news.change == ThroughputChange::kDecides);
}

void ModelsFeed::Shared::fit_hyperparameters(const FeedOffer& offer) {
  if (throughput_log.learner().fit_hyperparameters_when_due(TypeSpeeds(offer.speeds))) fit(offer);
}

// Once: how well the reports of the store would have been foreseen.
void ModelsFeed::Shared::measure_errors(const FeedOffer& offer) {
  if (errors_known || read_up_to < 0) return;
  errors_known = true;
  const Result<store::Reader> reader = store::Reader::open(offer.database);
  if (!reader) return;
  ErrorReplay replay(TypeSpeeds(offer.speeds), rules);
  const Result<void> read = reader->each_sample([&](store::Sample sample) {
    sample.type.shared = offer.shared.contains(sample.type.name);
    if (!sample.type.name.empty()) replay.take(store::measured(sample));
  });
  if (read) throughput_log.learner().set_errors(replay.finish());
}

void ModelsFeed::Shared::note_learning() {
  const Learner& learner = throughput_log.learner();
  auto made = std::make_shared<Learning>();
  made->errors = learner.errors();
  for (const auto& [use, count] : learner.uses()) made->uses[to_string(use)] = count;
  made->refused_fits = learner.refused_fits();
  made->refusals = learner.refusals();
  const std::lock_guard lock(mutex);
  learning = std::move(made);
}

void ModelsFeed::Shared::work(FeedOffer offer) {
  const auto began = Steady::now();
  auto ended_at = began;
  try {
    take_rules(offer);
    for (PendingSample& heard : offer.heard) throughput_log.add_sample(std::move(heard));
    const std::string error = read_store(offer);
    fit(offer);
    ended_at = Steady::now();
    // Rare, and longer the less often it comes.
    fit_hyperparameters(offer);
    measure_errors(offer);
    note_learning();
    report(error);
  } catch (const std::exception& e) {
    ended_at = Steady::now();
    report(e.what());
  }
  const auto rest = kShareOfProcessor * (ended_at - began);
  not_before = ended_at + std::max<Steady::duration>(kInterval, rest);
  urgent_not_before = ended_at + std::max<Steady::duration>(kUrgentInterval, rest);
}

// A burst of reports is read once; a place never seen does not wait for it.
void ModelsFeed::Shared::wait_for_work(std::unique_lock<std::mutex>& lock) {
  changed.wait(lock, [this] { return stop || offered > handled; });
  changed.wait_until(lock, not_before, [this] { return stop || urgent > handled; });
  changed.wait_until(lock, urgent_not_before, [this] { return stop; });
}

void ModelsFeed::Shared::run() {
  constexpr int kNiceness = 10;
  [[maybe_unused]] const int level = nice(kNiceness);  // of this thread alone, on Linux
  pthread_setname_np(pthread_self(), "rubato_learn");
  std::unique_lock lock(mutex);
  while (true) {
    wait_for_work(lock);
    if (stop) break;
    const std::uint64_t now = offered;
    FeedOffer offer = next;
    next.heard.clear();
    lock.unlock();
    work(std::move(offer));
    const std::vector<ThroughputObservation> fitted = throughput_log.observations();
    lock.lock();
    for (const ThroughputObservation& observation : fitted)
      configurations.emplace(observation.profile, observation.gpu_type, observation.gpus);
    fresh.clear();
    handled = now;
    changed.notify_all();
  }
  ended = true;
  changed.notify_all();
}

ModelsFeed::ModelsFeed(std::function<void()> wake) : shared_(std::make_shared<Shared>()) {
  shared_->wake = std::move(wake);
  // Never joined: whether it ended is known from `ended`.
  std::thread([shared = shared_] { shared->run(); }).detach();
}

ModelsFeed::~ModelsFeed() { stop(); }

void ModelsFeed::offer(FeedOffer offer) {
  const std::lock_guard lock(shared_->mutex);
  shared_->take(offer);
}

std::shared_ptr<const Models> ModelsFeed::latest() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->latest;
}

std::shared_ptr<const Learning> ModelsFeed::learning() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->learning;
}

bool ModelsFeed::wait_urgent(Steady::time_point deadline) const {
  std::unique_lock lock(shared_->mutex);
  const std::uint64_t mark = shared_->urgent;
  return shared_->changed.wait_until(lock, deadline,
                                     [&] { return shared_->stop || shared_->handled >= mark; });
}

void ModelsFeed::stop() {
  const std::lock_guard lock(shared_->mutex);
  shared_->stop = true;
  shared_->wake = nullptr;
  shared_->changed.notify_all();
}

bool ModelsFeed::wait(Steady::time_point deadline) {
  std::unique_lock lock(shared_->mutex);
  return shared_->changed.wait_until(lock, deadline, [this] { return shared_->ended; });
}

}  // namespace rubato
