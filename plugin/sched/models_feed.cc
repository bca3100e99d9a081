// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/models_feed.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "lib/store/summary.h"
#include "plugin/pair/logger.h"

namespace rubato {

namespace {

using Steady = std::chrono::steady_clock;
constexpr int kShareOfProcessor = 20;  // one in so many

}  // namespace

struct ModelsFeed::Shared {
  std::function<void()> wake;
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  FeedOffer next;                    // under mutex, as all up to `latest`
  std::set<RateBook::Place> places;  // of the last fit
  std::set<RateBook::Place> fresh;   // of urgent reports since
  std::uint64_t offered = 0;         // counts what is new
  std::uint64_t urgent = 0;          // the last one that was urgent
  std::uint64_t handled = 0;
  bool stop = false;
  bool ended = false;
  std::shared_ptr<const Models> latest;

  // of the thread
  RateBook book;
  std::optional<store::Summary> summary;
  std::string database;
  std::int64_t read_up_to = -1;
  std::set<std::string> shared;
  Steady::time_point whole_at{};
  std::map<std::string, double> speeds;
  std::vector<RateCell> cells;  // of the last fit
  Steady::time_point not_before{};
  Steady::time_point urgent_not_before{};
  std::string last_error;

  void take(FeedOffer& offer);
  void run();
  void wait_for_work(std::unique_lock<std::mutex>& lock);
  void work(FeedOffer offer);
  [[nodiscard]] std::string read_store(const FeedOffer& offer);
  void fit(const FeedOffer& offer);
  void finish(std::shared_ptr<const Models> made, bool decides);
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
  bool news = first || offer.settled != next.settled || offer.database != next.database ||
              offer.shared != next.shared;
  bool is_urgent = first || offer.speeds != next.speeds || offer.database != next.database;
  for (HeardSample& heard : offer.heard) {
    if (next.heard.size() >= kMostWaiting) break;
    news = true;
    RateBook::Place place = RateBook::place_of(heard.sample);
    if (!places.contains(place) && fresh.insert(std::move(place)).second) is_urgent = true;
    next.heard.push_back(std::move(heard));
  }
  if (!news && !is_urgent) return;
  offer.heard = std::move(next.heard);
  next = std::move(offer);
  ++offered;
  if (is_urgent) urgent = offered;
  changed.notify_all();
}

// What went wrong, "" if nothing.
std::string ModelsFeed::Shared::read_store(const FeedOffer& offer) {
  if (offer.database.empty()) return {};
  if (!summary || database != offer.database) {
    summary.emplace(offer.database);
    database = offer.database;
    read_up_to = -1;
    whole_at = {};
  }
  const auto began = Steady::now();
  const bool whole = whole_at == Steady::time_point{} || began - whole_at >= kWhole;
  if (!whole && offer.settled == read_up_to && offer.shared == shared) return {};
  const Result<bool> fresh_rows = summary->refresh(offer.shared, whole);
  if (!fresh_rows) return fresh_rows.error().text;
  if (whole) whole_at = began;
  read_up_to = offer.settled;
  shared = offer.shared;
  book.settle(offer.settled);
  if (*fresh_rows) book.summarised(summary->rows());
  return {};
}

void ModelsFeed::Shared::finish(std::shared_ptr<const Models> made, bool decides) {
  const std::lock_guard lock(mutex);
  latest = std::move(made);
  if (decides && !stop && wake) wake();
}

void ModelsFeed::Shared::fit(const FeedOffer& offer) {
  std::vector<RateCell> now = book.cells();
  const bool first = latest == nullptr;  // written by this thread alone
  RateChange change = rate_change(cells, now);
  if (offer.speeds != speeds) change = RateChange::kDecides;
  if (!first && change == RateChange::kSame) return;
  std::shared_ptr<const ThroughputModel> learnt;
  if (!now.empty()) learnt = std::make_shared<const ThroughputModel>(TypeSpeeds(offer.speeds), now);
  auto made = std::make_shared<const Models>(offer.speeds, std::move(learnt));
  speeds = offer.speeds;
  cells = std::move(now);
  finish(std::move(made), change == RateChange::kDecides);
}

void ModelsFeed::Shared::work(FeedOffer offer) {
  const auto began = Steady::now();
  try {
    for (HeardSample& heard : offer.heard) book.hear(std::move(heard));
    const std::string error = read_store(offer);
    fit(offer);
    report(error);
  } catch (const std::exception& e) {
    report(e.what());
  }
  const auto ended_at = Steady::now();
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
    lock.lock();
    for (const RateCell& cell : cells) places.emplace(cell.profile, cell.gpu_type, cell.gpus);
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
