// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/store_worker.h"

#include <fmt/format.h>

#include <utility>

#include "lib/base/log.h"
#include "lib/store/orders.h"

namespace rubato::store {
namespace {

constexpr auto kLookForOrders = std::chrono::seconds(1);

}  // namespace

Store::Worker::Worker(std::shared_ptr<Shared> shared)
    : shared_(std::move(shared)), options_(shared_->options) {}

void Store::Worker::run() noexcept {
  while (!try_work()) continue;
  session_.reset();  // releases the lock before `stop` returns
  end(StoreState::kStopped);
}

bool Store::Worker::try_work() noexcept {
  try {
    work();
    return true;
  } catch (const std::exception& error) {
    recover(error.what());
  } catch (...) {
    recover("not a std::exception");
  }
  return false;
}

void Store::Worker::work() {
  if (!begun_) {
    if (!may_begin()) return;
    batch_.reserve(options_.queue_capacity);
    begun_ = true;
    open();
  }
  while (next()) {
    if (!session_) open();
    if (session_) keep_lock();
    if (session_) reopen_if_replaced();
    if (session_) write();
    if (session_) retain_if_due();
    if (session_) copy_if_asked();
    if (session_) follow_orders();
  }
}

// After a failure it rests, and at a stop it tries once more.
bool Store::Worker::may_begin() {
  Shared& s = *shared_;
  MutexLock lock(s.mutex);
  while (!s.stopping && s.clock->steady() < retry_at_) s.clock->wait_until(s.work, lock, retry_at_);
  return !std::exchange(stop_seen_, s.stopping);
}

void Store::Worker::recover(const char* what) noexcept {
  session_.reset();
  retry_at_ = shared_->clock->steady() + options_.retry_interval;
  {
    const MutexLock lock(shared_->mutex);
    shared_->stats.state = StoreState::kOff;
  }
  try {
    turn_off({FailureKind::kTransient, what});
  } catch (const std::exception&) {
    log_failure("running without the store: %s", what);
  }
}

bool Store::Worker::next() {
  Shared& s = *shared_;
  MutexLock lock(s.mutex);
  if (stop_seen_ && !session_) return false;
  if (!session_) {
    while (!s.stopping && !s.hurry && s.clock->steady() < retry_at_)
      s.clock->wait_until(s.work, lock, retry_at_);
  } else if (batch_.empty()) {
    s.wait_for_batch(lock);
  }
  if (s.stopping && batch_.empty() && s.queue.empty()) return false;
  if (batch_.empty()) batch_.swap(s.queue);
  s.hurry = s.hurry && session_ && !s.queue.empty();
  stop_seen_ = s.stopping;
  return true;
}

void Store::Shared::wait_for_batch(MutexLock& lock) {
  const SteadyTime look_at = clock->steady() + kLookForOrders;
  while (!is_urgent() && queue.empty() && clock->steady() < look_at)
    clock->wait_until(work, lock, look_at);
  if (queue.empty()) return;
  const SteadyTime due = first_at + options.batch_interval;
  while (!is_urgent() && queue.size() < options.batch_size && clock->steady() < due)
    clock->wait_until(work, lock, due);
}

void Store::Worker::open() {
  std::vector<std::string> notes;
  watch_.now = shared_->clock->steady();
  auto opened = Session::open(options_, shared_->clock->now(), notes, &watch_);
  for (std::string& note : notes) shared_->tell(std::move(note));
  if (!opened) {
    turn_off(opened.error());
    return;
  }
  session_ = std::move(*opened);
  const auto orders = OrderFolder(options_.folder).prepare(shared_->clock->now());
  if (!orders) shared_->tell(orders.error().text);
  retained_at_.reset();
  set_ready();
}

void Store::Worker::reopen_if_replaced() {
  const StoreResult<void> found = session_->in_place();
  if (found) return;
  const auto now = shared_->clock->steady();
  // Without this, a file system that never reports stable file identities would cause endless
  // reopening.
  const bool again = replaced_at_ != SteadyTime{} && now - replaced_at_ < options_.retry_interval;
  replaced_at_ = now;
  if (again) {
    turn_off(found.error());
    return;
  }
  shared_->tell(found.error().text + "; opened anew, without what was written before");
  session_.reset();
  {
    const MutexLock lock(shared_->mutex);
    ++shared_->stats.failures;
  }
  open();
}

void Store::Worker::write() {
  if (batch_.empty()) return;
  // Checks again after the commit: records written to a removed file are written again.
  const StoreResult<WriteCounts> outcome =
      session_->write(batch_).and_then([&](const WriteCounts& done) -> StoreResult<WriteCounts> {
        return session_->in_place().map([&] { return done; });
      });
  if (!outcome) {
    // Keeps the batch; the next session writes it.
    turn_off(outcome.error());
    return;
  }
  since_retained_ += outcome->written;
  batch_.clear();
  const MutexLock lock(shared_->mutex);
  StoreStats& stats = shared_->stats;
  stats.written += outcome->written;
  stats.flagged += outcome->flagged;
  stats.rejected += outcome->rejected;
  ++stats.batches;
  shared_->done.notify_all();
}

void Store::Worker::retain_if_due() {
  const Seconds now = shared_->clock->now();
  const Retention& bounds = options_.retention;
  const bool due = !retained_at_ || now - *retained_at_ >= bounds.every || now < *retained_at_ ||
                   since_retained_ >= bounds.after;
  if (!due) return;
  const StoreResult<std::int64_t> removed = session_->retain(now);
  if (!removed) {
    turn_off(removed.error());
    return;
  }
  retained_at_ = now;
  since_retained_ = 0;
  // Not at a shutdown, which waits half a second.
  const auto backup = stop_seen_ ? StoreResult<bool>(false) : session_->back_up(now);
  if (!backup) shared_->tell("backup of the store: " + backup.error().text);
  const MutexLock lock(shared_->mutex);
  shared_->stats.removed += *removed;
}

void Store::Worker::keep_lock() {
  const StoreResult<void> kept = session_->keep_lock(shared_->clock->steady());
  if (!kept) turn_off(kept.error());
}

void Store::Worker::copy_if_asked() {
  std::optional<std::pair<std::string, unsigned>> copy;
  {
    const MutexLock lock(shared_->mutex);
    copy.swap(shared_->copy);
  }
  if (!copy) return;
  const StoreResult<void> made = session_->copy_to(copy->first, copy->second);
  if (!made) shared_->tell("copy of the store: " + made.error().text);
  const MutexLock lock(shared_->mutex);
  shared_->stats.copies += made ? 1 : 0;
}

void Store::Worker::follow_orders() {
  if (!options_.orders) return;
  const OrderFolder orders(options_.folder);
  while (const auto taken = orders.take()) {
    Result<OrderDone> answer = taken->order.and_then([&](const Order& order) -> Result<OrderDone> {
      auto done = session_->apply(order);
      if (!done) return fail(done.error().text);
      return *done;
    });
    shared_->tell(answer ? fmt::format("order {}: {} rows imported, {} samples, {} imported rows "
                                       "and {} fits forgotten",
                                       taken->name, answer->imported, answer->samples, answer->rows,
                                       answer->fits)
                         : fmt::format("order {} is refused: {}", taken->name, answer.error().text),
                  !answer.has_value());
    if (const auto left = orders.answer(taken->name, answer); !left) {
      shared_->tell(left.error().text);
    }
    const MutexLock lock(shared_->mutex);
    ++shared_->stats.orders;
  }
}

void Store::Worker::set_ready() {
  const MutexLock lock(shared_->mutex);
  StoreStats& stats = shared_->stats;
  const bool again = !stats.trouble.empty();
  stats.state = StoreState::kReady;
  stats.trouble.clear();
  ++stats.opened;
  stats.journal_mode = session_->journal_mode();
  if (again && shared_->messages.size() < Shared::kMaxMessages) {
    shared_->messages.push_back({"the store is open again", false});
  }
}

void Store::Worker::turn_off(const StoreFailure& failure) {
  session_.reset();
  retry_at_ = shared_->clock->steady() + options_.retry_interval;
  const MutexLock lock(shared_->mutex);
  StoreStats& stats = shared_->stats;
  ++stats.failures;
  stats.state = StoreState::kOff;
  // Logged once, not at every retry.
  if (stats.trouble != failure.text && shared_->messages.size() < Shared::kMaxMessages) {
    shared_->messages.push_back(
        {fmt::format("running without the store: {}; trying again every {} s", failure.text,
                     static_cast<double>(options_.retry_interval.count()) / 1000),
         true});
  }
  stats.trouble = failure.text;
}

void Store::Worker::end(StoreState state) {
  Shared& s = *shared_;
  const MutexLock lock(s.mutex);
  s.stats.lost += static_cast<std::int64_t>(batch_.size() + s.queue.size());
  s.queue.clear();
  s.stats.state = state;
  s.stopping = true;
  s.ended = true;
  s.done.notify_all();
}

}  // namespace rubato::store
