// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/store.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "lib/store/orders.h"
#include "lib/store/session.h"

namespace rubato::store {
namespace {

using Steady = std::chrono::steady_clock;
constexpr std::size_t kMostMessages = 64;
constexpr auto kLookForOrders = std::chrono::seconds(1);

/// slurmctld handles signals in a thread of its own: none must be delivered to a thread made here.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

const char* to_string(StoreState state) {
  switch (state) {
    case StoreState::kStarting:
      return "starting";
    case StoreState::kReady:
      return "ready";
    case StoreState::kOff:
      return "off";
    case StoreState::kStopped:
      return "stopped";
    case StoreState::kAbandoned:
      return "abandoned";
  }
  return "unknown";
}

/// What owner and thread share. The mutex is held for a few instructions at a time, never over I/O
/// and never while memory is asked for, except for a message.
struct Store::Shared {
  Shared(StoreOptions given, std::shared_ptr<const Clock> time)
      : options(std::move(given)), clock(std::move(time)) {
    queue.reserve(options.queue_capacity);
  }

  void tell(std::string text, bool trouble = true) {
    const std::lock_guard lock(mutex);
    if (messages.size() < kMostMessages) messages.push_back({std::move(text), trouble});
  }

  const StoreOptions options;
  const std::shared_ptr<const Clock> clock;

  mutable std::mutex mutex;
  std::condition_variable work;  ///< for the thread
  std::condition_variable done;  ///< for flush and stop
  std::vector<Entry> queue;
  Steady::time_point first_at;  ///< when the oldest of the queue came
  StoreStats stats;
  std::vector<StoreMessage> messages;
  std::optional<std::pair<std::string, unsigned>> copy;
  bool hurry = false;  ///< do not wait for a fuller batch or for the next try
  bool stopping = false;
  bool ended = false;
};

/// The thread.
class Store::Worker {
 public:
  explicit Worker(std::shared_ptr<Shared> shared)
      : shared_(std::move(shared)), options_(shared_->options) {
    batch_.reserve(options_.queue_capacity);
  }

  /// Nothing leaves it: an exception here would end the process.
  void run() noexcept {
    ::pthread_setname_np(::pthread_self(), "rubato_store");  // for `top -H` and debuggers
    try {
      work();
      session_.reset();  // the lock is free before `stop` returns
      end(StoreState::kStopped);
    } catch (const std::exception& error) {
      give_up(error.what());
    }
  }

 private:
  void work() {
    open();
    while (next()) {
      if (!session_) open();
      if (session_) reopen_if_replaced();
      if (session_) write();
      if (session_) retain_if_due();
      if (session_) copy_if_asked();
      if (session_) follow_orders();
    }
  }

  /// Out of memory, or an error in this code: the store stays off.
  void give_up(const char* what) noexcept {
    session_.reset();
    try {
      std::string text = fmt::format("the thread of the store ended: {}", what);
      shared_->tell("running without the store: " + text);
      const std::lock_guard lock(shared_->mutex);
      shared_->stats.trouble = std::move(text);
    } catch (const std::exception&) {
      // No memory for the reason either; the state says enough.
    }
    end(StoreState::kOff);
  }

  /// Waits for something to do and takes the queue if nothing is in hand. False: it is over. After
  /// `stopping` everything is tried once more, but not again what fails then.
  bool next() {
    std::unique_lock lock(shared_->mutex);
    Shared& s = *shared_;
    if (stop_seen_ && !session_) return false;
    if (!session_) {
      s.work.wait_until(lock, retry_at_, [&] { return s.stopping || s.hurry; });
    } else if (batch_.empty()) {
      wait_for_batch(lock);
    }
    if (s.stopping && batch_.empty() && s.queue.empty()) return false;
    if (batch_.empty()) batch_.swap(s.queue);
    s.hurry = s.hurry && session_ && !s.queue.empty();
    stop_seen_ = s.stopping;
    return true;
  }

  void wait_for_batch(std::unique_lock<std::mutex>& lock) {
    Shared& s = *shared_;
    const auto urgent = [&] { return s.stopping || s.hurry || s.copy.has_value(); };
    s.work.wait_for(lock, kLookForOrders, [&] { return urgent() || !s.queue.empty(); });
    if (s.queue.empty()) return;
    s.work.wait_until(lock, s.first_at + options_.batch_interval,
                      [&] { return urgent() || s.queue.size() >= options_.batch_size; });
  }

  void open() {
    std::vector<std::string> notes;
    auto opened = Session::open(options_, shared_->clock->now(), notes);
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

  /// Looked at before each batch, and each time that orders are looked for. What was in the old
  /// file is gone with it, so the new one is open before the next record comes.
  void reopen_if_replaced() {
    const Outcome<void> found = session_->in_place();
    if (found) return;
    const auto now = Steady::now();
    // On a file system that never names a file twice alike it would else be opened all the time.
    const bool again =
        replaced_at_ != Steady::time_point{} && now - replaced_at_ < options_.retry_interval;
    replaced_at_ = now;
    if (again) {
      turn_off(found.error());
      return;
    }
    shared_->tell(found.error().text + "; opened anew, without what was written before");
    session_.reset();
    {
      const std::lock_guard lock(shared_->mutex);
      ++shared_->stats.failures;
    }
    open();
  }

  void write() {
    if (batch_.empty()) return;
    // Looked at again behind the commit: what reached a file that has gone is written once more.
    const Outcome<Written> outcome =
        session_->write(batch_).and_then([&](const Written& done) -> Outcome<Written> {
          return session_->in_place().map([&] { return done; });
        });
    if (!outcome) {
      // The batch stays in hand and is written by the next session.
      turn_off(outcome.error());
      return;
    }
    since_retained_ += outcome->written;
    batch_.clear();
    const std::lock_guard lock(shared_->mutex);
    StoreStats& stats = shared_->stats;
    stats.written += outcome->written;
    stats.flagged += outcome->flagged;
    stats.rejected += outcome->rejected;
    ++stats.batches;
    shared_->done.notify_all();
  }

  void retain_if_due() {
    const Seconds now = shared_->clock->now();
    const Retention& bounds = options_.retention;
    const bool due = !retained_at_ || now - *retained_at_ >= bounds.every || now < *retained_at_ ||
                     since_retained_ >= bounds.after;
    if (!due) return;
    const Outcome<std::int64_t> removed = session_->retain(now);
    if (!removed) {
      turn_off(removed.error());
      return;
    }
    retained_at_ = now;
    since_retained_ = 0;
    const std::lock_guard lock(shared_->mutex);
    shared_->stats.removed += *removed;
  }

  void copy_if_asked() {
    std::optional<std::pair<std::string, unsigned>> copy;
    {
      const std::lock_guard lock(shared_->mutex);
      copy.swap(shared_->copy);
    }
    if (!copy) return;
    const Outcome<void> made = session_->copy_to(copy->first, copy->second);
    if (!made) shared_->tell("copy of the store: " + made.error().text);
    const std::lock_guard lock(shared_->mutex);
    shared_->stats.copies += made ? 1 : 0;
  }

  /// Those that stand in the folder.
  void follow_orders() {
    if (!options_.orders) return;
    const OrderFolder orders(options_.folder);
    while (const auto taken = orders.take()) {
      Result<OrderDone> answer =
          taken->order.and_then([&](const Order& order) -> Result<OrderDone> {
            auto done = session_->apply(order);
            if (!done) return fail(done.error().text);
            return *done;
          });
      shared_->tell(answer
                        ? fmt::format("order {}: {} rows imported, {} samples, {} imported rows "
                                      "and {} fits forgotten",
                                      taken->name, answer->imported, answer->samples, answer->rows,
                                      answer->fits)
                        : fmt::format("order {} is refused: {}", taken->name, answer.error().text),
                    !answer.has_value());
      if (const auto left = orders.answer(taken->name, answer); !left) {
        shared_->tell(left.error().text);
      }
      const std::lock_guard lock(shared_->mutex);
      ++shared_->stats.orders;
    }
  }

  void set_ready() {
    const std::lock_guard lock(shared_->mutex);
    StoreStats& stats = shared_->stats;
    const bool again = !stats.trouble.empty();
    stats.state = StoreState::kReady;
    stats.trouble.clear();
    ++stats.opened;
    stats.journal_mode = session_->journal_mode();
    if (again && shared_->messages.size() < kMostMessages) {
      shared_->messages.push_back({"the store is open again", false});
    }
  }

  void turn_off(const Failure& failure) {
    session_.reset();
    retry_at_ = Steady::now() + options_.retry_interval;
    const std::lock_guard lock(shared_->mutex);
    StoreStats& stats = shared_->stats;
    ++stats.failures;
    // Said once, not at every try.
    if (stats.trouble != failure.text && shared_->messages.size() < kMostMessages) {
      shared_->messages.push_back(
          {fmt::format("running without the store: {}; trying again every {} s", failure.text,
                       static_cast<double>(options_.retry_interval.count()) / 1000),
           true});
    }
    stats.state = StoreState::kOff;
    stats.trouble = failure.text;
  }

  void end(StoreState state) {
    const std::lock_guard lock(shared_->mutex);
    Shared& s = *shared_;
    s.stats.lost += static_cast<std::int64_t>(batch_.size() + s.queue.size());
    s.queue.clear();
    s.stats.state = state;
    s.stopping = true;
    s.ended = true;
    s.done.notify_all();
  }

  const std::shared_ptr<Shared> shared_;
  const StoreOptions& options_;
  std::unique_ptr<Session> session_;
  std::vector<Entry> batch_;  ///< in hand: taken from the queue, not yet committed
  Steady::time_point retry_at_;
  Steady::time_point replaced_at_{};
  std::optional<Seconds> retained_at_;
  std::int64_t since_retained_ = 0;
  bool stop_seen_ = false;
};

Store::Store(StoreOptions options, std::shared_ptr<const Clock> clock)
    : shared_(std::make_shared<Shared>(std::move(options), std::move(clock))) {
  try {
    const SignalsBlocked blocked;
    // Detached from the start: whether it ended is known from `ended`, and nobody ever joins.
    std::thread([shared = shared_] { Worker(shared).run(); }).detach();
  } catch (const std::system_error& error) {
    const std::lock_guard lock(shared_->mutex);
    shared_->stats.state = StoreState::kOff;
    shared_->stats.trouble = fmt::format("no thread for the store: {}", error.what());
    shared_->messages.push_back({"running without the store: " + shared_->stats.trouble, true});
    shared_->stopping = shared_->ended = true;
  }
}

Store::~Store() { stop(); }

bool Store::push(Entry entry) {
  bool wake = false;
  {
    const std::lock_guard lock(shared_->mutex);
    Shared& s = *shared_;
    if (s.stopping || s.queue.size() >= s.options.queue_capacity) {
      ++s.stats.dropped;
      return false;
    }
    if (s.queue.empty()) s.first_at = Steady::now();
    s.queue.push_back(std::move(entry));  // within what was reserved: no memory is asked for
    ++s.stats.accepted;
    wake = s.queue.size() == 1 || s.queue.size() == s.options.batch_size;
  }
  if (wake) shared_->work.notify_one();
  return true;
}

StoreStats Store::stats() const {
  const std::lock_guard lock(shared_->mutex);
  StoreStats stats = shared_->stats;
  stats.waiting = stats.accepted - stats.written - stats.rejected - stats.lost;
  return stats;
}

std::vector<StoreMessage> Store::take_messages() {
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->messages, {});
}

void Store::request_copy(std::string path, unsigned mode) {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->copy.emplace(std::move(path), mode);
  }
  shared_->work.notify_one();
}

bool Store::flush(std::chrono::milliseconds at_most) {
  std::unique_lock lock(shared_->mutex);
  Shared& s = *shared_;
  const std::int64_t target = s.stats.accepted;
  const auto settled = [&] { return s.stats.written + s.stats.rejected >= target; };
  s.hurry = true;
  s.work.notify_one();
  s.done.wait_for(lock, at_most, [&] { return settled() || s.ended; });
  return settled();
}

bool Store::stop(std::chrono::milliseconds at_most) {
  std::unique_lock lock(shared_->mutex);
  Shared& s = *shared_;
  if (s.stopping) return s.ended;
  s.stopping = true;
  s.work.notify_one();
  if (s.done.wait_for(lock, at_most, [&] { return s.ended; })) return true;
  s.stats.state = StoreState::kAbandoned;
  return false;
}

}  // namespace rubato::store
