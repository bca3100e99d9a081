// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/snapshot_source.h"

#include <chrono>

#include "lib/base/log.h"
#include "plugin/slurm/read/records.h"
#include "plugin/slurm/write/job_rewrite.h"

namespace rubato {

namespace {

constexpr double kFullLookInterval = 10.0;    // seconds
constexpr double kUpdatedLookInterval = 1.0;  // seconds, when hints of a job were updated
constexpr auto kQuietForLook = std::chrono::milliseconds(10);

}  // namespace

bool SnapshotSource::check_records_once() {
  if (records_checked_) return records_fit_;
  const Result<void> rc = check_records();
  records_checked_ = true;
  records_fit_ = rc.has_value();
  if (!rc) log().error("{}; everything is left to stock Slurm", rc.error().text);
  pair_.set_records_checked(records_fit_);
  return records_fit_;
}

// A light look sees what starts and ends change, and most updates. A full one also sees what is in
// no field that a light look compares, such as other hints.
Depth SnapshotSource::look_depth(bool first) {
  const ChangeMark mark = change_mark();
  const bool same = mark.partitions == seen_.partitions && mark.config == seen_.config;
  const std::uint64_t updates = pair_.hint_stats().updates;
  const double interval = updates == updates_seen_ ? kFullLookInterval : kUpdatedLookInterval;
  if (same && !first && seconds_since(*clock_, last_full_look_) < interval) return Depth::kLight;
  last_full_look_ = clock_->steady();
  updates_seen_ = updates;
  return Depth::kFull;
}

std::optional<Snapshot> SnapshotSource::take(const Config& config, bool first) {
  const bool write = config.mode == Mode::kPlace;
  const Depth depth = look_depth(first);
  reader_.read_plans_of(pair_.asked());
  if (!config.off(Mechanism::kQuiet)) pacer_.wait_for_quiet(kQuietForLook);
  {
    const HeldLocks locks(write ? LockKind::kAct : LockKind::kLook,
                          depth == Depth::kFull ? LockUse::kFullLook : LockUse::kLightLook, times_,
                          !config.off(Mechanism::kServerCount));
    if (!locks.held() || !check_records_once()) return std::nullopt;
    seen_ = change_mark();
    reader_.gather(config, write, depth, &restore_request);
    coming_ = coming_nodes();
  }
  if (!reader_.owed().empty()) {
    const HeldLocks locks(LockKind::kAct, LockUse::kWrite, times_,
                          !config.off(Mechanism::kServerCount));
    if (locks.held()) restore_requests(reader_.owed());
    if (!config.off(Mechanism::kSave)) save_soon();
  }
  Snapshot snapshot = reader_.take();
  names_.fill(snapshot.jobs);
  return snapshot;
}

bool SnapshotSource::completing_changed(const Config& config) {
  const HeldLocks locks(LockKind::kNodes, LockUse::kPeek, times_,
                        !config.off(Mechanism::kServerCount));
  return locks.held() && coming_nodes() != coming_;
}

}  // namespace rubato
