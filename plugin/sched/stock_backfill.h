// SPDX-License-Identifier: GPL-2.0-or-later
// Stock backfill, hosted: opened from its own file and run in a thread that the gate can tell from
// others.
#pragma once

#include <memory>
#include <string>

#include "lib/base/error.h"
#include "lib/base/thread.h"
#include "plugin/common/host.h"
#include "plugin/common/pair.h"

namespace rubato {

class StockBackfill {
 public:
  /// Finds sched_backfill.so behind `own_directory` in `plugin_dir`. With a `pair`, the thread is
  /// marked there.
  [[nodiscard]] static Result<std::unique_ptr<StockBackfill>> open(const std::string& own_directory,
                                                                   const std::string& plugin_dir,
                                                                   Pair* pair);

  /// What the stock plugin's init, fini and reconfig do (backfill_wrapper.c), but that the thread
  /// is ours and marked.
  void start();
  void reconfigure();
  /// Stops the agent and closes the file: its agent can be stopped only once.
  ~StockBackfill();
  StockBackfill(const StockBackfill&) = delete;
  StockBackfill& operator=(const StockBackfill&) = delete;

 private:
  StockBackfill(const StockPlugin& plugin, Pair* pair) : plugin_(plugin), pair_(pair) {}

  void* (*agent_)(void*) = nullptr;
  void (*stop_agent_)() = nullptr;
  void (*reconfigure_agent_)() = nullptr;
  StockPlugin plugin_;
  Pair* pair_;
  Thread thread_;
};

}  // namespace rubato
