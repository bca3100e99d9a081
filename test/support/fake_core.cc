// SPDX-License-Identifier: GPL-2.0-or-later
#include "test/support/fake_core.h"

#include <numeric>

#include "plugin/actuate/commit.h"
#include "plugin/actuate/grow.h"
#include "plugin/actuate/test_actions.h"
#include "plugin/common/release.h"
#include "plugin/slurm/read/job_ends.h"
#include "plugin/slurm/read/node_slots.h"
#include "plugin/slurm/read/records.h"
#include "plugin/slurm/read/snapshot_in.h"
#include "plugin/slurm/stock/controller.h"
#include "plugin/slurm/stock/locks.h"
#include "plugin/slurm/write/admin_comment.h"
#include "plugin/slurm/write/ask_nodes.h"
#include "plugin/slurm/write/job_notice.h"
#include "plugin/slurm/write/live_shrink.h"
#include "plugin/slurm/write/running_job.h"
#include "plugin/slurm/write/system_comment.h"
#include "plugin/slurm/write/write_back.h"

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
bool reconfigured() { return test::core().reconfigured; }
bool shutting_down() {
  ++test::core().cycles;
  return test::core().shutting_down;
}
ChangeMark change_mark() {
  return {.jobs = 0, .nodes = 0, .partitions = test::core().partitions_changed, .config = 0};
}
void save_soon() {}
std::optional<LaunchTimes> launch_times(LockTimes&) {
  return LaunchTimes{.start = 20, .registration = 2000};
}
std::optional<std::vector<std::string>> ask_nodes_for_their_jobs(
    const std::vector<std::string>& nodes, LockTimes& /*times*/) {
  if (test::core().shutting_down) return std::nullopt;
  std::vector<std::string> silent;
  for (const std::string& name : nodes)
    (test::core().silent_nodes.contains(name) ? silent : test::core().asked_nodes).push_back(name);
  return silent;
}

void wake_stock_scheduler() { ++test::core().stock_woken; }

Result<RunningJob> RunningJob::find(const JobKey& /*key*/) { return RunningJob(nullptr); }
const char* RunningJob::why_not_requeued() const { return nullptr; }
Result<void> RunningJob::signal(const Checkpoint& /*checkpoint*/) const {
  ++test::core().signals;
  return {};
}
bool RunningJob::is_reached(const Checkpoint& checkpoint) const {
  return checkpoint.batch_only || test::core().has_steps;
}
Result<void> RunningJob::requeue(Seconds /*ahead*/) {
  if (!test::core().requeue_error.empty()) return fail(test::core().requeue_error);
  ++test::core().requeues;
  return {};
}
std::int64_t show_notice(JobId /*job*/, Notice notice) {
  notice.number = static_cast<std::int64_t>(test::core().notices.size()) + 1;
  test::core().notices.push_back(notice);
  return notice.number;
}
void remove_notice(JobId /*job*/) { test::core().notices.clear(); }
Result<void> shrink_job(const JobKey& /*key*/, const std::vector<int>& keep, bool /*repair*/) {
  test::core().shrunk_to = keep;
  return {};
}
Result<void> grow_job(const JobKey& /*job*/, const std::vector<AddedShare>& shares,
                      const std::string& gpu_type, Pair& /*pair*/) {
  if (!test::core().growth_error.empty()) return fail(test::core().growth_error);
  test::core().grown_by = shares;
  test::core().grown_type = gpu_type;
  return {};
}
NodeSlots::NodeSlots(const Snapshot& snapshot) : slots_(snapshot.nodes.size()) {
  std::iota(slots_.begin(), slots_.end(), 0);
}
std::optional<std::vector<int>> NodeSlots::of(const std::vector<NodeShare>& shares) const {
  std::vector<int> slots;
  for (const NodeShare& share : shares) slots.push_back(slots_[share.node]);
  return slots;
}
std::optional<std::vector<int>> NodeSlots::of(const std::vector<NodeIndex>& nodes) const {
  std::vector<int> slots;
  for (const NodeIndex node : nodes) slots.push_back(slots_[node]);
  return slots;
}
std::string hostlist_of(const Snapshot& snapshot, const std::vector<NodeShare>& shares) {
  std::string names;
  for (const NodeShare& share : shares)
    names += (names.empty() ? "" : ",") + snapshot.nodes[share.node].name;
  return names;
}
std::vector<JobKey> completed_jobs(const std::vector<JobKey>& ended) {
  return test::core().ends_well ? ended : std::vector<JobKey>();
}
RequeueState requeue_state(JobId /*id*/, int /*runs*/) {
  if (test::core().has_ended) return RequeueState::kEnded;
  return test::core().runs_on ? RequeueState::kGone : RequeueState::kFree;
}
std::optional<Seconds> make_eligible(JobId /*id*/, Seconds /*ahead*/) {
  ++test::core().made_eligible;
  const Seconds at = test::core().eligible_at;
  return at > 0 ? std::optional(at) : std::nullopt;
}

int coming_nodes() { return test::core().coming; }
bool quiet() { return test::core().quiet; }
int max_rpc_count() { return test::core().max_rpcs; }
int rpc_count() { return test::core().rpcs; }

HeldLocks::HeldLocks(LockKind kind, LockUse use, LockTimes& times, bool count)
    : locks_{}, use_(use), times_(times), count_(count) {
  if (test::core().shutting_down) return;
  if (kind == LockKind::kLook) ++test::core().looks_reading;
  if (kind == LockKind::kAct) ++test::core().looks_writing;
  if (use == LockUse::kPeek) ++test::core().peeks;
  since_ = times_.clock->steady();
  held_ = true;
}

HeldLocks::~HeldLocks() {
  if (!held_) return;
  times_.add(use_, held_ms(), 0);
}

double HeldLocks::held_ms() const {
  return std::chrono::duration<double, std::milli>(times_.clock->steady() - since_).count();
}

RecordCheck check_records() {
  if (test::core().records_fit)
    return {.fit = true, .jobs = test::core().has_jobs, .text = "8 bytes"};
  return {.fit = false, .jobs = true, .text = "slurmctld's job record has 8 bytes more"};
}

void repair_records(const std::vector<JobId>&) {}

bool repair_record(job_record_t&) { return false; }

void SnapshotReader::gather(const Config&, bool, Depth depth, RepairRecord) {
  if (depth == Depth::kFull) ++test::core().full_looks;
}

Snapshot SnapshotReader::take() {
  const std::lock_guard lock(test::core().mutex);
  return test::core().snapshot;
}

void commit(const Snapshot&, Plan& plan, const Config&, Pair&, LockTimes&, BusyTries&,
            CommitCount& count) {
  ++test::core().commits;
  test::core().starts += static_cast<int>(plan.starts.size());
  count.started += plan.starts.size();
}

void act_for_tests(const Snapshot&, const Config&, LockTimes&) {}

void WriteBack::write(const Snapshot&, const Plan&, const Config&, Pair&, LockTimes&) {
  ++test::core().writes_back;
}
void WriteBack::reserve(const Snapshot&, const Plan&, const Config&, Pair&, LockTimes&) {
  ++test::core().reserves;
}
void WriteBack::clear(const Config&, Pair&, LockTimes&) { ++test::core().clears; }

void write_admin_comments(const std::vector<std::shared_ptr<const StartRecord>>& ended,
                          const Config&, LockTimes&) {
  test::core().summaries += static_cast<int>(ended.size());
}

void SystemComments::write(const Snapshot&, const Plan&, const Config&, LockTimes&) {
  ++test::core().segments;
}
void SystemComments::clear_all(const Config&, LockTimes&) { ++test::core().segment_clears; }
void SystemComments::clear(const Config&, LockTimes&) { ++test::core().segment_clears; }

PrivateData private_data() {
  const std::lock_guard lock(test::core().mutex);
  return test::core().snapshot.private_data;
}

}  // namespace rubato
