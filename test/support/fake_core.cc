// SPDX-License-Identifier: GPL-2.0-or-later
#include "test/support/fake_core.h"

#include "plugin/actuate/commit.h"
#include "plugin/slurm/controller.h"
#include "plugin/slurm/locks.h"
#include "plugin/slurm/records.h"
#include "plugin/slurm/release.h"
#include "plugin/slurm/snapshot_in.h"
#include "plugin/slurm/write_back.h"

namespace rubato {

namespace test {
FakeCore& core() {
  static FakeCore one;
  return one;
}
}  // namespace test

const char* const kSlurmRelease = "0.0.0";
const char* const kPluginMarker = "test";

std::string state_save_location() { return test::core().folder; }
std::string config_folder() { return test::core().folder; }
std::string plugin_dir() { return test::core().folder; }
bool scheduling_disabled() { return false; }
bool shutting_down() { return test::core().shutting_down; }
ChangeMark change_mark() { return {}; }
void wake_stock_scheduler() { ++test::core().stock_woken; }

HeldLocks::HeldLocks(LockKind kind, LockTimes& times, bool count)
    : locks_{}, times_(times), count_(count) {
  if (test::core().shutting_down) return;
  ++(kind == LockKind::kLook ? test::core().looks_reading : test::core().looks_writing);
  since_ = std::chrono::steady_clock::now();
  held_ = true;
}

HeldLocks::~HeldLocks() {
  if (!held_) return;
  ++times_.holds;
  times_.total_ms += held_ms();
}

double HeldLocks::held_ms() const {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - since_)
      .count();
}

Result<void> check_records() {
  if (test::core().records_fit) return {};
  return fail("slurmctld's job record has 8 bytes more");
}

Snapshot SnapshotReader::read(const Config&, bool) {
  const std::lock_guard lock(test::core().mutex);
  return test::core().snapshot;
}

CommitCount commit(const Snapshot&, Plan& plan, const Config&, Pair&, LockTimes&) {
  ++test::core().commits;
  test::core().starts += static_cast<int>(plan.starts.size());
  CommitCount count;
  count.started = plan.starts.size();
  return count;
}

void WriteBack::write(const Snapshot&, const Plan&, Pair&) { ++test::core().writes_back; }
void WriteBack::clear(Pair&) { ++test::core().clears; }

}  // namespace rubato
