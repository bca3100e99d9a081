// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/changes_to_begin.h"

#include <algorithm>
#include <set>

#include "lib/policy/algorithms/growth_cap.h"
#include "lib/policy/algorithms/size_history.h"
#include "lib/policy/asked_growth.h"

namespace rubato {
namespace {

const Job* job_in(const Snapshot& snapshot, const JobKey& key, JobState state) {
  const auto at = std::ranges::find_if(
      snapshot.jobs, [&](const Job& job) { return job.key == key && job.state == state; });
  return at != snapshot.jobs.end() ? &*at : nullptr;
}

bool under_way(const Memory& memory, const JobKey& job) {
  return std::ranges::any_of(memory.asked_resizes, [&](const AskedResize& one) {
    return one.job.id == job.id && !one.over();
  });
}

// When a notice was shown to the job last. The next one takes its place, so that a job might miss
// the end of a change.
Seconds last_told(const Memory& memory, const JobKey& job) {
  Seconds last = told_at(memory, job);
  for (const AskedResize& one : memory.asked_resizes)
    if (one.job.id == job.id) last = std::max(last, one.since);
  return last;
}

/// Changes and starts that belong together.
class Together {
 public:
  Together(const Snapshot& snapshot, const Plan& plan);

  [[nodiscard]] const std::vector<const Change*>& changes() const { return changes_; }
  [[nodiscard]] const std::vector<const Start*>& starts() const { return starts_; }

 private:
  [[nodiscard]] bool frees(const JobKey& job) const { return begins_.contains(job); }
  [[nodiscard]] bool complete(const std::vector<JobKey>& after) const {
    return std::ranges::all_of(after, [this](const JobKey& job) { return frees(job); });
  }
  void drop_incomplete();
  void drop_idle_stops();

  std::vector<const Change*> changes_;
  std::vector<const Start*> starts_;  ///< those whose nodes others free
  std::set<JobKey> begins_;           ///< the jobs of changes_
};

Together::Together(const Snapshot& snapshot, const Plan& plan) {
  for (const Change& change : plan.changes) {
    if (change.action == ChangeAction::kNotify || under_way(plan.memory, change.job)) continue;
    if (job_in(snapshot, change.job, JobState::kRunning) == nullptr) continue;
    changes_.push_back(&change);
    begins_.insert(change.job);
  }
  for (const Start& start : plan.starts)
    if (!start.after.empty() && !start.shares.empty() && !under_way(plan.memory, start.job) &&
        job_in(snapshot, start.job, JobState::kPending) != nullptr)
      starts_.push_back(&start);
  drop_incomplete();
  drop_idle_stops();
}

// A change that is dropped may leave others without their nodes.
void Together::drop_incomplete() {
  for (bool again = true; again;) {
    again = std::erase_if(changes_, [this](const Change* change) {
              if (complete(change->after)) return false;
              begins_.erase(change->job);
              return true;
            }) > 0;
  }
  std::erase_if(starts_, [this](const Start* start) { return !complete(start->after); });
}

// Nothing follows a stop, so that no other change is left alone by this.
void Together::drop_idle_stops() {
  std::set<JobKey> used;
  for (const Change* change : changes_) used.insert(change->after.begin(), change->after.end());
  for (const Start* start : starts_) used.insert(start->after.begin(), start->after.end());
  std::erase_if(changes_, [&](const Change* change) {
    return change->action == ChangeAction::kStop && !used.contains(change->job);
  });
}

AskedResize record_of(const Change& change, const Job& job, Seconds now) {
  AskedResize resize;
  resize.job = change.job;
  resize.by_round = true;
  resize.live = change.action == ChangeAction::kShrink || change.action == ChangeAction::kGrow;
  resize.from = held_gpus(job);
  resize.gpus = change.gpus;
  resize.gpu_type = change.gpu_type;
  if (resize.live) {
    if (change.plan != job.plan) resize.plan = change.plan;
    resize.batch = change.batch;
  }
  resize.runs = job.restarts;
  resize.shares =
      change.action == ChangeAction::kGrow ? beside_held(job, change.shares) : change.shares;
  resize.after = change.after;
  resize.asked = resize.since = now;
  if (change.seconds_then > 0)
    resize.gain = std::max(0.0, change.seconds_left - change.seconds_then);
  return resize;
}

AskedResize record_of(const Start& start, const Job& job, Seconds now) {
  AskedResize place;
  place.job = start.job;
  place.by_round = place.starts = true;
  place.step = ResizeStep::kRequeued;
  for (const NodeShare& share : start.shares) place.gpus += share.gpu_count();
  place.gpu_type = start.gpu_type;
  place.runs = job.restarts;
  place.shares = start.shares;
  place.after = start.after;
  place.asked = place.since = place.requeued = now;
  return place;
}

}  // namespace

std::vector<AskedResize> changes_to_begin(const Snapshot& snapshot, const Plan& plan) {
  const Together together(snapshot, plan);
  std::vector<AskedResize> records;
  for (const Change* change : together.changes())
    records.push_back(
        record_of(*change, *job_in(snapshot, change->job, JobState::kRunning), snapshot.taken));
  for (const Start* start : together.starts())
    records.push_back(
        record_of(*start, *job_in(snapshot, start->job, JobState::kPending), snapshot.taken));
  std::ranges::sort(records, {}, &AskedResize::job);
  return records;
}

std::vector<const Change*> changes_to_tell(const Snapshot& snapshot, const Plan& plan) {
  const Memory& memory = plan.memory;
  std::vector<const Change*> tell;
  for (const Change& change : plan.changes) {
    if (change.action != ChangeAction::kNotify || under_way(memory, change.job)) continue;
    const Job* const job = job_in(snapshot, change.job, JobState::kRunning);
    const Progress* const report = progress_of(memory, change.job);
    if (job == nullptr || report == nullptr || report->restarts != job->restarts) continue;
    if (report->time > last_told(memory, change.job)) tell.push_back(&change);
  }
  return tell;
}

bool may_follow(const AskedResize& change, const Memory& memory, Seconds now) {
  return std::ranges::all_of(change.after, [&](const JobKey& job) {
    return std::ranges::none_of(memory.asked_resizes, [&](const AskedResize& one) {
      return one.job.id == job.id && one.step == ResizeStep::kSaving && now < one.due;
    });
  });
}

}  // namespace rubato
