// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/background_thread.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <bit>
#include <exception>
#include <utility>

#include "lib/base/log.h"

namespace rubato {

namespace {

class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

void run(const ThreadOptions& options, const std::function<void()>& body) noexcept {
  if (!options.name.empty()) pthread_setname_np(pthread_self(), options.name.c_str());
  // On Linux the niceness is that of the calling thread.
  if (options.niceness != 0) {
    [[maybe_unused]] const int level = nice(options.niceness);
  }
  try {
    body();
  } catch (const std::exception& error) {
    log_failure("thread %s ended: %s", options.name.c_str(), error.what());
  } catch (...) {
    log_failure("thread %s ended: not a std::exception", options.name.c_str());
  }
}

}  // namespace

BackgroundThread::BackgroundThread(ThreadOptions options, std::function<void()> body)
    : ending_(std::make_shared<Ending>()) {
  const SignalsBlocked blocked;
  thread_ = Thread([ending = ending_, options = std::move(options), body = std::move(body)]() {
    run(options, body);
    const MutexLock lock(ending->mutex);
    ending->ended = true;
    ending->changed.notify_all();
  });
}

BackgroundThread::~BackgroundThread() {
  bool ended = false;
  {
    const MutexLock lock(ending_->mutex);
    ended = ending_->ended;
  }
  if (ended)
    thread_.join();
  else
    thread_.detach();
}

bool BackgroundThread::wait_until(const Clock& clock, SteadyTime deadline) {
  MutexLock lock(ending_->mutex);
  while (!ending_->ended && clock.steady() < deadline)
    clock.wait_until(ending_->changed, lock, deadline);
  return ending_->ended;
}

void log_task_failure(std::uint64_t failures, const char* what) noexcept {
  if (std::has_single_bit(failures))
    log_failure("a background task failed (%llu times): %s",
                static_cast<unsigned long long>(failures), what);
}

}  // namespace rubato
