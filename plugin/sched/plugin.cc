// SPDX-License-Identifier: GPL-2.0-or-later
// sched/backfill with Rubato's loop beside it: the symbols Slurm looks for, and the two threads.
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "lib/base/log.h"
#include "plugin/common/exported.h"
#include "plugin/common/guard.h"
#include "plugin/common/host.h"
#include "plugin/sched/loop.h"
#include "plugin/sched/stock_backfill.h"
#include "plugin/slurm/stock/slurm_headers.h"

extern "C" {
RUBATO_EXPORTED extern const char plugin_name[];
RUBATO_EXPORTED extern const char plugin_type[];
RUBATO_EXPORTED extern const uint32_t plugin_version;
const char plugin_name[] = "Rubato beside sched/backfill";
const char plugin_type[] = "sched/backfill";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;
}

namespace rubato {

namespace {

// The loop's thread. It is joined at fini if it ends within half a second; one that hangs is left
// alone: loop and code stay in memory for it.
class LoopThread {
 public:
  explicit LoopThread(Pair& pair) : state_(std::make_shared<State>(pair)) {
    thread_ = std::thread([state = state_] {
      pthread_setname_np(pthread_self(), "rubato");
      state->loop.run();
      const std::lock_guard lock(state->mutex);
      state->ended = true;
      state->changed.notify_all();
    });
  }

  ~LoopThread() {
    state_->loop.stop();
    std::unique_lock lock(state_->mutex);
    const bool ended = state_->changed.wait_for(lock, std::chrono::milliseconds(500),
                                                [this] { return state_->ended; });
    lock.unlock();
    if (ended) {
      thread_.join();
      return;
    }
    log().error("the loop does not end; it is left behind");
    thread_.detach();
  }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  Loop& loop() { return state_->loop; }

 private:
  struct State {
    explicit State(Pair& pair) : loop(pair) {}
    Loop loop;
    std::mutex mutex;
    std::condition_variable changed;
    bool ended = false;
  };

  std::shared_ptr<State> state_;
  std::thread thread_;
};

std::mutex plugin_mutex;
std::unique_ptr<StockBackfill> stock;
std::unique_ptr<LoopThread> loop_thread;
Pair* pair = nullptr;

// slurmctld handles its signals in a thread of its own; ours must not take one.
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

int start_all() {
  if (scheduling_disabled()) return SLURM_SUCCESS;
  const std::lock_guard lock(plugin_mutex);
  pin(plugin_type);
  pair = find_pair(plugin_type);
  if (stock == nullptr) {
    auto opened = StockBackfill::open(directory_of(plugin_type), plugin_dir(), pair);
    if (!opened) {
      log().error("{}", opened.error().text);
      return SLURM_ERROR;
    }
    stock = std::move(*opened);
  }
  stock->start();
  if (pair == nullptr || loop_thread != nullptr) return SLURM_SUCCESS;
  const SignalsBlocked blocked;
  loop_thread = std::make_unique<LoopThread>(*pair);
  return SLURM_SUCCESS;
}

void stop_all() {
  const std::lock_guard lock(plugin_mutex);
  loop_thread.reset();
  stock.reset();
}

}  // namespace

}  // namespace rubato

extern "C" {

// Rubato's part failing leaves stock backfill running; stock backfill missing is slurmctld's
// trouble, as it would be without Rubato.
RUBATO_EXPORTED int init() {
  static rubato::EntryPoint entry{"sched/backfill init"};
  return rubato::guard(
      entry, [] { return rubato::start_all(); },
      [] { return rubato::stock != nullptr ? SLURM_SUCCESS : SLURM_ERROR; });
}

RUBATO_EXPORTED void fini() {
  static rubato::EntryPoint entry{"sched/backfill fini"};
  rubato::guard(
      entry, [] { rubato::stop_all(); }, [] {});
}

// Called with slurmctld's write locks held.
RUBATO_EXPORTED int sched_p_reconfig() {
  static rubato::EntryPoint entry{"sched_p_reconfig"};
  rubato::guard(
      entry,
      [] {
        const std::lock_guard lock(rubato::plugin_mutex);
        if (rubato::stock != nullptr) rubato::stock->reconfigure();
        if (rubato::loop_thread != nullptr) rubato::loop_thread->loop().reconfigure();
      },
      [] {});
  return SLURM_SUCCESS;
}

}  // extern "C"
