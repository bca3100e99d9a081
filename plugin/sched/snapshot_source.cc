// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/snapshot_source.h"

#include <chrono>
#include <utility>

#include "lib/base/log.h"
#include "plugin/slurm/read/job_ends.h"
#include "plugin/slurm/read/records.h"
#include "plugin/slurm/write/job_rewrite.h"

namespace rubato {

namespace {

constexpr double kQueueInterval = 10.0;  // seconds
constexpr auto kQuietForLook = std::chrono::milliseconds(10);

}  // namespace

// Compares again until a job was there. What does not fit once never fits.
bool SnapshotSource::check_records_once() {
  if (records_.jobs || (!records_.text.empty() && !records_.fit)) return records_.fit;
  records_ = check_records();
  if (!records_.fit) log().error("{}; everything is left to stock Slurm", records_.text);
  pair_.set_records_checked(records_.fit);
  return records_.fit;
}

void SnapshotSource::check_records_early(const Config& config) {
  if (!records_.text.empty()) return;
  const HeldLocks locks(LockKind::kLook, LockUse::kPeek, times_,
                        !config.off(Mechanism::kServerCount));
  if (locks.held()) (void)check_records_once();
}

// A light look sees what starts and ends change, other hints, and most updates. It sees the rest
// when it reads a job again, some seconds later.
Depth SnapshotSource::look_depth(bool first) {
  const ChangeMark mark = change_mark();
  const bool same = mark.partitions == seen_.partitions && mark.config == seen_.config;
  const bool all = std::exchange(read_all_, false) || first || !same;
  if (!all && seconds_since(*clock_, last_queue_) < kQueueInterval) return Depth::kLight;
  last_queue_ = clock_->steady();
  return all ? Depth::kFull : Depth::kQueue;
}

std::optional<Snapshot> SnapshotSource::take(const Config& config, bool first) {
  const bool write = config.mode != Mode::kObserve;
  const Depth depth = look_depth(first);
  reader_.read_plans_of(pair_.asked());
  if (!config.off(Mechanism::kQuiet)) pacer_.wait_for_quiet(kQuietForLook);
  {
    const HeldLocks locks(write ? LockKind::kAct : LockKind::kLook,
                          depth == Depth::kLight ? LockUse::kLightLook : LockUse::kFullLook, times_,
                          !config.off(Mechanism::kServerCount));
    if (!locks.held()) return std::nullopt;
    if (!check_records_once()) return std::nullopt;
    seen_ = change_mark();
    reader_.gather(config, write, depth, &repair_record);
    coming_ = coming_nodes();
  }
  if (!reader_.owed().empty()) {
    const HeldLocks locks(LockKind::kAct, LockUse::kWrite, times_,
                          !config.off(Mechanism::kServerCount));
    if (locks.held()) repair_records(reader_.owed());
    if (!config.off(Mechanism::kSave)) save_soon();
  }
  Snapshot snapshot = reader_.take();
  names_.fill(snapshot.jobs);
  return snapshot;
}

std::vector<JobKey> SnapshotSource::completed(const std::vector<JobKey>& ended,
                                              const Config& config) {
  if (ended.empty()) return {};
  const HeldLocks locks(LockKind::kLook, LockUse::kPeek, times_,
                        !config.off(Mechanism::kServerCount));
  return locks.held() ? completed_jobs(ended) : std::vector<JobKey>();
}

bool SnapshotSource::completing_changed(const Config& config) {
  const HeldLocks locks(LockKind::kNodes, LockUse::kPeek, times_,
                        !config.off(Mechanism::kServerCount));
  return locks.held() && coming_nodes() != coming_;
}

}  // namespace rubato
