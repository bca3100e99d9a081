// SPDX-License-Identifier: GPL-2.0-or-later
// A thread that works on what its owner offers.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "lib/base/background_thread.h"
#include "lib/base/clock.h"
#include "lib/base/mutex.h"

namespace rubato {

/// One thread with one task and one inbox. All calls are safe from any thread.
///
/// `Inbox` is a value that the worker guards with its mutex; its functions take few instructions:
///   using Offer;                          what the owner hands over
///   static constexpr bool kDrain;         whether stop() lets the thread take what is due first
///   void put(Offer);                      adds or replaces, as the inbox is bounded or keeps the
///   latest std::optional<SteadyTime> due() const;  when take() may be called; empty: nothing to do
///   Offer take();
///   void finish(Outcome);                 the work on the last taken offer is done
///
/// `Task` belongs to the thread alone:
///   using Inbox;
///   Outcome work(Offer);                  may throw
///   Outcome failed(const char* what);     after an exception of work()
///
/// The thread goes on after every exception. If failed() or the inbox throws too, the offer has no
/// outcome, and the thread rests for kRest.
template <typename Task>
class BackgroundWorker {
 public:
  using Inbox = typename Task::Inbox;
  using Offer = typename Inbox::Offer;
  static constexpr std::chrono::milliseconds kRest{100};

  BackgroundWorker(ThreadOptions options, std::shared_ptr<const Clock> clock,
                   std::unique_ptr<Task> task)
      : shared_(std::make_shared<Shared>(std::move(clock), std::move(task))),
        thread_(std::move(options), [shared = shared_] { shared->run(); }) {}
  /// Asks the thread to end and does not wait.
  ~BackgroundWorker() { stop(); }
  BackgroundWorker(const BackgroundWorker&) = delete;
  BackgroundWorker& operator=(const BackgroundWorker&) = delete;

  void offer(Offer offer) {
    const MutexLock lock(shared_->mutex);
    shared_->inbox.put(std::move(offer));
    shared_->changed.notify_all();
  }

  /// Asks the thread to end, and does not wait.
  void stop() {
    const MutexLock lock(shared_->mutex);
    shared_->stopping = true;
    shared_->changed.notify_all();
  }

  /// Waits until the thread has ended. False at `deadline`: the thread is left behind with what it
  /// uses.
  bool wait(SteadyTime deadline) { return thread_.wait_until(*shared_->clock, deadline); }

  /// Waits until all that was in the inbox at the time of `mark(inbox)` is `done(inbox, mark)`, or
  /// stop(). False at `deadline`.
  template <typename Mark, typename Done>
  bool wait_done(SteadyTime deadline, Mark mark, Done done) const {
    Shared& s = *shared_;
    MutexLock lock(s.mutex);
    const auto marked = mark(std::as_const(s.inbox));
    while (!s.stopping && !done(std::as_const(s.inbox), marked)) {
      if (s.clock->steady() >= deadline) return false;
      s.clock->wait_until(s.changed, lock, deadline);
    }
    return true;
  }

  /// Exceptions of the task and the inbox so far.
  [[nodiscard]] std::uint64_t failures() const {
    const MutexLock lock(shared_->mutex);
    return shared_->failures;
  }

 private:
  using Outcome = decltype(std::declval<Task&>().work(std::declval<Offer>()));

  struct Shared {
    Shared(std::shared_ptr<const Clock> given_clock, std::unique_ptr<Task> given_task)
        : clock(std::move(given_clock)), task(std::move(given_task)) {}

    void run() {
      MutexLock lock(mutex);
      while (wait_for_offer(lock)) {
        std::optional<Offer> offer = take();
        lock.unlock();
        std::optional<Outcome> outcome = offer ? attempt(std::move(*offer)) : std::nullopt;
        lock.lock();
        const bool done = outcome && finish(std::move(*outcome));
        changed.notify_all();
        if (!done && stopping) return;
        if (!done) clock->wait_until(changed, lock, clock->steady() + kRest);
      }
    }

    std::optional<Offer> take() RUBATO_REQUIRES(mutex) {
      try {
        return inbox.take();
      } catch (const std::exception& error) {
        note_failure(error.what());
        return std::nullopt;
      }
    }

    bool finish(Outcome outcome) RUBATO_REQUIRES(mutex) {
      try {
        inbox.finish(std::move(outcome));
        return true;
      } catch (const std::exception& error) {
        note_failure(error.what());
        return false;
      }
    }

    void note_failure(const char* what) RUBATO_REQUIRES(mutex) {
      log_task_failure(++failures, what);
    }

    /// False: stop() was called, and nothing is to be drained.
    bool wait_for_offer(MutexLock& lock) RUBATO_REQUIRES(mutex) {
      while (true) {
        const std::optional<SteadyTime> due = inbox.due();
        if (stopping) return Inbox::kDrain && due.has_value();
        if (!due)
          changed.wait(lock.native());
        else if (clock->steady() >= *due)
          return true;
        else
          clock->wait_until(changed, lock, *due);
      }
    }

    std::optional<Outcome> attempt(Offer offer) RUBATO_EXCLUDES(mutex) {
      try {
        try {
          return task->work(std::move(offer));
        } catch (const std::exception& error) {
          {
            const MutexLock lock(mutex);
            ++failures;
          }
          return task->failed(error.what());
        }
      } catch (const std::exception& error) {
        const MutexLock lock(mutex);
        note_failure(error.what());
        return std::nullopt;
      }
    }

    const std::shared_ptr<const Clock> clock;
    const std::unique_ptr<Task> task;  ///< of the thread
    Mutex mutex;
    std::condition_variable changed;
    Inbox inbox RUBATO_GUARDED_BY(mutex);
    bool stopping RUBATO_GUARDED_BY(mutex) = false;
    std::uint64_t failures RUBATO_GUARDED_BY(mutex) = 0;
  };

  std::shared_ptr<Shared> shared_;
  BackgroundThread thread_;
};

}  // namespace rubato
