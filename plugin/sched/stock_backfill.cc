// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/stock_backfill.h"

namespace rubato {

namespace {

template <typename Function>
Result<void> load(const StockPlugin& plugin, const char* symbol, Function& into) {
  const Result<void*> address = plugin.find(symbol);
  if (!address) return tl::unexpected(address.error());
  into = reinterpret_cast<Function>(*address);
  return {};
}

}  // namespace

Result<std::unique_ptr<StockBackfill>> StockBackfill::open(const std::string& own_directory,
                                                           const std::string& plugin_dir,
                                                           Pair* pair) {
  const auto path = find_stock(plugin_dir, own_directory, "sched_backfill.so");
  if (!path) return tl::unexpected(path.error());
  const auto plugin = StockPlugin::open(*path);
  if (!plugin) return tl::unexpected(plugin.error());
  std::unique_ptr<StockBackfill> stock(new StockBackfill(*plugin, pair));
  Result<void> rc = load(*plugin, "backfill_agent", stock->agent_);
  if (rc) rc = load(*plugin, "stop_backfill_agent", stock->stop_agent_);
  if (rc) rc = load(*plugin, "backfill_reconfig", stock->reconfigure_agent_);
  if (!rc) return tl::unexpected(rc.error());
  return stock;
}

void StockBackfill::start() {
  if (thread_.joinable()) return;
  thread_ = Thread([agent = agent_, pair = pair_] {
    if (pair != nullptr) pair->mark_backfill_thread(true);
    agent(nullptr);
  });
}

StockBackfill::~StockBackfill() {
  if (thread_.joinable()) {
    stop_agent_();
    thread_.join();
  }
  plugin_.close();
}

void StockBackfill::reconfigure() { reconfigure_agent_(); }

}  // namespace rubato
