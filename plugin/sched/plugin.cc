// SPDX-License-Identifier: GPL-2.0-or-later
// sched/backfill with Rubato's loop beside it: the symbols Slurm looks for, and the two threads.
#include <chrono>
#include <memory>

#include "lib/base/background_thread.h"
#include "lib/base/log.h"
#include "lib/base/mutex.h"
#include "plugin/common/exported.h"
#include "plugin/common/guard.h"
#include "plugin/common/host.h"
#include "plugin/sched/loop.h"
#include "plugin/sched/stock_backfill.h"
#include "plugin/slurm/release/slurm_headers.h"

// Slurm looks these up by name.
// NOLINTBEGIN(readability-identifier-naming,readability-redundant-declaration)
extern "C" {
RUBATO_EXPORTED extern const char plugin_name[];
RUBATO_EXPORTED extern const char plugin_type[];
RUBATO_EXPORTED extern const uint32_t plugin_version;
const char plugin_name[] = "Rubato beside sched/backfill";
const char plugin_type[] = "sched/backfill";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;
}
// NOLINTEND(readability-identifier-naming,readability-redundant-declaration)

namespace rubato {

namespace {

// The loop's thread. The destructor waits half a second for its end. A loop that hangs is left
// behind: loop and code stay in memory for it.
class LoopThread {
 public:
  explicit LoopThread(Pair& pair)
      : loop_(std::make_shared<Loop>(pair)),
        thread_({.name = "rubato"}, [loop = loop_] { loop->run(); }) {}

  ~LoopThread() {
    loop_->stop();
    const SystemClock clock;
    if (!thread_.wait_until(clock, clock.steady() + kMaxEnd))
      log().error("the scheduling loop did not end in time; leaving its thread behind");
  }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;

  Loop& loop() { return *loop_; }

 private:
  static constexpr auto kMaxEnd = std::chrono::milliseconds(500);

  std::shared_ptr<Loop> loop_;
  BackgroundThread thread_;
};

Mutex plugin_mutex;
std::unique_ptr<StockBackfill> stock RUBATO_GUARDED_BY(plugin_mutex);
std::unique_ptr<LoopThread> loop_thread RUBATO_GUARDED_BY(plugin_mutex);
Pair* pair RUBATO_GUARDED_BY(plugin_mutex) = nullptr;

int start_all() {
  if (scheduling_disabled()) return SLURM_SUCCESS;
  const MutexLock lock(plugin_mutex);
  (void)log();  // it needs memory when it is made, which handlers of exceptions may not have
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
  loop_thread = std::make_unique<LoopThread>(*pair);
  return SLURM_SUCCESS;
}

// Joins threads without the mutex: sched_p_reconfig() takes it under all of slurmctld's locks, for
// which these threads may wait.
void stop_all() {
  std::unique_ptr<LoopThread> loop;
  std::unique_ptr<StockBackfill> backfill;
  {
    const MutexLock lock(plugin_mutex);
    loop = std::move(loop_thread);
    backfill = std::move(stock);
  }
  loop.reset();
  backfill.reset();
}

}  // namespace

}  // namespace rubato

extern "C" {

// Rubato's part failing leaves stock backfill running; stock backfill missing is slurmctld's
// trouble, as it would be without Rubato.
RUBATO_EXPORTED int init() {
  static rubato::EntryPoint entry{"sched/backfill init"};
  return rubato::guard_start(
      entry, [] { return rubato::start_all(); },
      [] {
        const rubato::MutexLock lock(rubato::plugin_mutex);
        return rubato::stock != nullptr ? SLURM_SUCCESS : SLURM_ERROR;
      });
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
        const rubato::MutexLock lock(rubato::plugin_mutex);
        if (rubato::stock != nullptr) rubato::stock->reconfigure();
        if (rubato::loop_thread != nullptr) rubato::loop_thread->loop().reconfigure();
      },
      [] {});
  return SLURM_SUCCESS;
}

}  // extern "C"
