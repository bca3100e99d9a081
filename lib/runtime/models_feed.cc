// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/models_feed.h"

#include <algorithm>
#include <utility>

#include "lib/base/background_worker.h"
#include "lib/runtime/models_feed_task.h"

namespace rubato {

void ModelsFeed::FeedInbox::put(FeedOffer offer) {
  const bool first = offered_ == 0;
  bool news = first || offer.settled != next_.settled || offer.orders != next_.orders ||
              offer.database != next_.database || offer.opened != next_.opened ||
              offer.shared != next_.shared || offer.warm_up != next_.warm_up ||
              !same_value(offer.half_life, next_.half_life) ||
              offer.bounds_unproven != next_.bounds_unproven;
  const bool new_shapes = !std::includes(next_.shapes.begin(), next_.shapes.end(),
                                         offer.shapes.begin(), offer.shapes.end());
  bool is_urgent = first || offer.speeds != next_.speeds || offer.gpu_memory != next_.gpu_memory ||
                   offer.gpu_links != next_.gpu_links || offer.database != next_.database ||
                   new_shapes;
  for (PendingSample& heard : offer.heard) {
    if (next_.heard.size() >= kMaxWaiting) break;
    news = true;
    ConfigurationKey configuration = ThroughputLog::configuration_of(heard.sample);
    const bool on_gpus = heard.sample.gpus > 0;  // others are learnt from the store
    if (on_gpus && !configurations_.contains(configuration) &&
        fresh_.insert(std::move(configuration)).second)
      is_urgent = true;
    next_.heard.push_back(std::move(heard));
  }
  if (!news && !is_urgent) return;
  offer.heard = std::move(next_.heard);
  next_ = std::move(offer);
  ++offered_;
  if (is_urgent) urgent_ = offered_;
}

// A burst of reports is read once. A report of a new configuration does not wait for it.
std::optional<SteadyTime> ModelsFeed::FeedInbox::due() const {
  if (offered_ <= handled_) return std::nullopt;
  return urgent_ > handled_ ? urgent_not_before_ : std::max(not_before_, urgent_not_before_);
}

FeedOffer ModelsFeed::FeedInbox::take() {
  taken_ = offered_;
  FeedOffer offer = next_;
  next_.heard.clear();
  return offer;
}

void ModelsFeed::FeedInbox::finish(Outcome outcome) {
  configurations_.merge(outcome.configurations);
  fresh_.clear();
  handled_ = taken_;
  not_before_ = outcome.not_before;
  urgent_not_before_ = outcome.urgent_not_before;
}

ModelsFeed::ModelsFeed(std::shared_ptr<const Clock> clock, std::function<void()> wake)
    : outbox_(std::make_shared<Outbox>()) {
  {
    const MutexLock lock(outbox_->mutex);
    outbox_->wake = std::move(wake);
  }
  constexpr int kNiceness = 10;
  auto task = std::make_unique<Task>(clock, outbox_);
  worker_ = std::make_unique<BackgroundWorker<Task>>(
      ThreadOptions{.name = "rubato_learn", .niceness = kNiceness}, std::move(clock),
      std::move(task));
}

ModelsFeed::~ModelsFeed() { stop(); }

void ModelsFeed::offer(FeedOffer offer) { worker_->offer(std::move(offer)); }

std::shared_ptr<const Models> ModelsFeed::latest() const {
  const MutexLock lock(outbox_->mutex);
  return outbox_->latest;
}

std::shared_ptr<const Learning> ModelsFeed::learning() const {
  const MutexLock lock(outbox_->mutex);
  return outbox_->learning;
}

bool ModelsFeed::wait_urgent(SteadyTime deadline) const {
  return worker_->wait_done(
      deadline, [](const FeedInbox& inbox) { return inbox.urgent(); },
      [](const FeedInbox& inbox, std::uint64_t mark) { return inbox.handled() >= mark; });
}

void ModelsFeed::stop() {
  {
    const MutexLock lock(outbox_->mutex);
    outbox_->wake = nullptr;
  }
  worker_->stop();
}

bool ModelsFeed::wait(SteadyTime deadline) { return worker_->wait(deadline); }

}  // namespace rubato
