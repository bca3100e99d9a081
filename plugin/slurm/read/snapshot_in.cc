// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/read/snapshot_in.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "plugin/common/release.h"
#include "plugin/slurm/read/kept_request.h"
#include "plugin/slurm/read/node_view.h"
#include "plugin/slurm/read/records.h"
#include "plugin/slurm/read/singletons.h"
#include "plugin/slurm/read/snapshot_look.h"
#include "plugin/slurm/release/lists.h"
#include "plugin/slurm/stock/controller.h"

namespace rubato {

namespace {

std::string text(const char* words) { return words != nullptr ? words : ""; }

// Job records are scattered in memory, and a look spends most of its time on cache misses. Records
// are therefore prefetched this many jobs ahead.
constexpr std::size_t kRecordsAhead = 16;
constexpr std::size_t kDetailsAhead = 8;

void fetch_record(const job_record_t& job) {
  __builtin_prefetch(&job.comment);
  __builtin_prefetch(&job.details);
  __builtin_prefetch(&job.gres_list_req);
  __builtin_prefetch(&job.job_id);
  __builtin_prefetch(&job.job_state);
  __builtin_prefetch(&job.part_ptr);
  __builtin_prefetch(&job.priority);
  __builtin_prefetch(&job.time_limit);
}

void fetch_details(const job_record_t& job) {
  const job_details_t* details = job.details;
  if (details == nullptr) return;
  __builtin_prefetch(&details->begin_time);
  __builtin_prefetch(&details->depend_list);
  __builtin_prefetch(&details->exc_node_bitmap);
  __builtin_prefetch(&details->max_nodes);
  __builtin_prefetch(&details->pn_min_memory);
  __builtin_prefetch(&details->submit_time);
  __builtin_prefetch(&details->whole_node);
}

}  // namespace

void SnapshotPass::cluster() {
  Snapshot& snapshot = reader_.snapshot_;
  snapshot = {};
  snapshot.cluster = text(slurm_conf.cluster_name);
  snapshot.slurm_version = kSlurmRelease;
  snapshot.taken = time(nullptr);
  snapshot.private_data = private_data();
  NodeNumbers index;
  snapshot.nodes = read_nodes(index);
  if (index.of_slurm != reader_.index_.of_slurm) {
    // Cached jobs refer to nodes by these indices.
    reader_.cache_.clear();
    for (auto& [id, plan] : reader_.stock_plans_) plan.current = false;
    full_ = true;
  }
  reader_.index_ = std::move(index);
  if (reader_.classes_.begin(reader_.index_, snapshot.node_sets)) reader_.cache_.forget_classes();
}

void SnapshotPass::partitions() {
  std::vector<Partition>& partitions = reader_.snapshot_.partitions;
  ListWalk<part_record_t> i(part_list);
  while (const auto* part = i.next())
    partitions.push_back({.name = text(part->name),
                          .tier = part->priority_tier,
                          .managed = config_.manages(part->name),
                          .node_set = reader_.classes_.set_index(part->node_bitmap)});
  std::sort(partitions.begin(), partitions.end(),
            [](const Partition& a, const Partition& b) { return a.name < b.name; });
}

// Slurm moves a recurring one on by itself; its next window is in the record.
void SnapshotPass::windows() {
  std::vector<ReservationWindow>& windows = reader_.snapshot_.windows;
  if (resv_list == nullptr) return;
  ListWalk<slurmctld_resv_t> i(resv_list);
  while (const auto* one = i.next()) {
    if (one->node_bitmap == nullptr || (one->flags & RESERVE_FLAG_FLEX) != 0) continue;
    windows.push_back({.name = text(one->name),
                       .start = one->start_time,
                       .end = one->end_time,
                       .node_set = reader_.classes_.set_index(one->node_bitmap)});
  }
  std::sort(windows.begin(), windows.end(),
            [](const ReservationWindow& a, const ReservationWindow& b) { return a.name < b.name; });
}

void SnapshotPass::walk() {
  std::vector<job_record_t*> jobs;
  jobs.reserve(static_cast<std::size_t>(list_count(job_list)));
  const auto collect = [](void* job, void* into) {
    static_cast<std::vector<job_record_t*>*>(into)->push_back(static_cast<job_record_t*>(job));
    return 0;
  };
  (void)list_for_each_ro(job_list, collect, &jobs);
  pending_.reserve(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (i + kRecordsAhead < jobs.size()) fetch_record(*jobs[i + kRecordsAhead]);
    if (i + kDetailsAhead < jobs.size()) fetch_details(*jobs[i + kDetailsAhead]);
    note_victim(*jobs[i]);
    if (is_running(*jobs[i])) {
      if (waits_without_slurmdbd(*jobs[i])) repair(*jobs[i], Mechanism::kShrinkRepair);
      running_.push_back(jobs[i]);
    } else if (is_pending(*jobs[i])) {
      if (owes_request(*jobs[i]) || keeps_resize_time(*jobs[i]))
        repair(*jobs[i], Mechanism::kRestore);
      pending_.push_back({jobs[i], full_ ? nullptr : reader_.cache_.find(*jobs[i])});
    }
  }
}

// What a resize leaves in a requeued or running job, before it is read (repair_record()).
void SnapshotPass::repair(job_record_t& job, Mechanism mechanism) {
  if (config_.off(mechanism)) return;
  if (may_write_)
    (void)repair_(job);
  else
    reader_.owed_.push_back(job.job_id);
}

std::vector<SlurmQueueEntry> SnapshotPass::full_queue() {
  return may_write_ ? build_queue() : peek_queue();
}

// The records of `entry`'s job for magnetic reservations; Slurm's order has them before all others.
void SnapshotPass::append_magnetic(const SlurmQueueEntry& entry,
                                   std::vector<SlurmQueueEntry>& entries) {
  CachedJob& cached = *entry.known;
  if (cached.magnetic_state != magnetic_state_) {
    cached.magnetic.clear();
    for (slurmctld_resv_t* one : magnetic_of(*entry.job))
      cached.magnetic.push_back({.reservation = one, .class_id = {}});
    cached.magnetic_state = magnetic_state_;
  }
  for (const MagneticAccess& access : cached.magnetic) {
    entries.push_back(entry);
    entries.back().reservation = access.reservation;
  }
}

Singletons SnapshotPass::singletons() const {
  std::vector<job_record_t*> pending;
  pending.reserve(pending_.size());
  for (const auto& [job, cached] : pending_) pending.push_back(job);
  return {pending, running_};
}

// Unchanged jobs of the last queue are still in it; the others are tested as in schedule(), but for
// those that surely wait for a singleton dependency.
std::vector<SlurmQueueEntry> SnapshotPass::light_queue() {
  const time_t now = time(nullptr);
  const Singletons waits = singletons();
  std::vector<std::pair<int, SlurmQueueEntry>> known;
  std::vector<SlurmQueueEntry> changed;
  for (const auto& [job, cached] : pending_) {
    if (cached == nullptr || !cached->plain || cached->rank < 0) {
      const bool dependent = cached != nullptr && waits.surely_waits(*job);
      if (job->priority != 0 && !dependent) append_entries(*job, may_write_, changed);
    } else if (still_queued(*job, now)) {
      if (may_write_) job->preempt_in_progress = false;
      known.emplace_back(cached->rank, SlurmQueueEntry{.job = job,
                                                       .part = job->part_ptr,
                                                       .reservation = nullptr,
                                                       .priority = job->priority,
                                                       .array_task_id = job->array_task_id,
                                                       .use_prefer = false,
                                                       .known = cached,
                                                       .may_borrow = false});
    }
  }
  std::sort(known.begin(), known.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<SlurmQueueEntry> entries;
  entries.reserve(known.size() + changed.size());
  if (may_write_ && magnetic_state_ != 0)
    for (const auto& [rank, entry] : known) append_magnetic(entry, entries);
  for (const auto& [rank, entry] : known) entries.push_back(entry);
  const std::size_t sorted = entries.size();
  entries.insert(entries.end(), changed.begin(), changed.end());
  sort_entries(entries, sorted);
  return entries;
}

void SnapshotPass::run() {
  reader_.cache_.begin(time(nullptr));
  reader_.hints_.begin(config_);
  reader_.lines_.clear();
  reader_.fresh_.clear();
  reader_.owed_.clear();
  reader_.rooms_.begin();
  magnetic_state_ = magnetic_state();
  cluster();
  partitions();
  windows();
  std::vector<SlurmQueueEntry> entries;
  const bool light = depth_ == Depth::kLight && !full_;
  if (!light) entries = full_queue();
  walk();  // after the queue is built, which may split arrays
  if (light) entries = light_queue();
  reader_.lines_.reserve(pending_.size() + running_.size() + 64);
  std::vector<const job_record_t*> queued;
  queued.reserve(entries.size());
  for (const SlurmQueueEntry& entry : entries) {
    queued.push_back(entry.job);
    if (is_pending(*entry.job) && entry.part->node_bitmap != nullptr) pending(entry);
  }
  std::sort(queued.begin(), queued.end());
  for (const auto& [job, known] : pending_)
    if (!std::binary_search(queued.begin(), queued.end(), job)) waiting(*job);
  std::sort(running_.begin(), running_.end(), [](const job_record_t* a, const job_record_t* b) {
    return std::tie(a->job_id, a->details->submit_time) <
           std::tie(b->job_id, b->details->submit_time);
  });
  for (job_record_t* job : running_) running(*job);
}

void SnapshotReader::gather(const Config& config, bool may_write, Depth depth,
                            RepairRecord repair) {
  if (!known_) {
    // A look that failed may have left jobs in the cache that it had not read to the end.
    depth = Depth::kFull;
    cache_.clear();
  }
  known_ = false;
  SnapshotPass(*this, config, may_write, depth, repair).run();
  known_ = true;
}

Snapshot SnapshotReader::take() {
  snapshot_.jobs.reserve(lines_.size());
  for (JobLine& line : lines_) {
    Job& job = snapshot_.jobs.emplace_back(*line.job);
    job.priority = line.priority;
    job.priority_set = line.priority_set;
    job.niced = line.niced;
    job.fair_share = line.fair_share;
    if (job.state == JobState::kRunning) {
      job.end_limit = line.end_limit;
      job.exempt_until = line.exempt_until;
      job.without_step = line.without_step;
      job.node_set = line.sets.now;
      job.later_set = line.sets.later;
      continue;
    }
    job.rank = line.rank;
    job.eligible = line.eligible;
    job.preempting = line.preempting;
    job.may_preempt = line.may_preempt;
    job.node_set = line.sets.now;
    job.later_set = line.sets.later;
    job.block = line.block;
    if (!line.block_text.empty()) job.block_text = std::move(line.block_text);
    if (!line.magnetic.empty()) job.reservation = std::move(line.magnetic);
    if (line.stock != nullptr) {
      job.stock_start = line.stock->start;
      job.stock_nodes = line.stock->nodes;
    }
  }
  lines_.clear();
  cache_.end();
  hints_.apply(snapshot_);
  std::set<JobId> planned;
  for (const Job& job : snapshot_.jobs)
    if (job.stock_start != 0) planned.insert(job.key.id);
  std::erase_if(stock_plans_, [&](const auto& one) { return !planned.contains(one.first); });
  return std::exchange(snapshot_, {});
}

}  // namespace rubato
