// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/restarts.h"

#include <algorithm>
#include <tuple>

namespace rubato {
namespace {

constexpr Seconds kHour = 3600;

bool has_cap(const Config& config) {
  return config.mode == Mode::kElastic &&
         (config.restarts_per_job > 0 || config.restarts_per_job_day > 0 ||
          config.restarts_per_user_day > 0);
}

const JobRestarts* record_of(const Memory& memory, const JobKey& job) {
  const auto at = std::ranges::lower_bound(memory.restarts, job, {}, &JobRestarts::job);
  return at != memory.restarts.end() && at->job == job ? &*at : nullptr;
}

JobRestarts& record_for(Memory& memory, const JobKey& job) {
  auto at = std::ranges::lower_bound(memory.restarts, job, {}, &JobRestarts::job);
  if (at == memory.restarts.end() || at->job != job) {
    at = memory.restarts.insert(at, JobRestarts{});
    at->job = job;
  }
  return *at;
}

UserRestarts& record_for(Memory& memory, std::uint32_t uid) {
  auto at = std::ranges::lower_bound(memory.user_restarts, uid, {}, &UserRestarts::uid);
  if (at == memory.user_restarts.end() || at->uid != uid) {
    at = memory.user_restarts.insert(at, UserRestarts{});
    at->uid = uid;
  }
  return *at;
}

// Those of one hour are one record, so that a day has 25 at most. It counts until the last of them
// is over.
void add(std::vector<RestartHour>& hours, Seconds time) {
  if (!hours.empty() && hours.back().last / kHour >= time / kHour) {
    ++hours.back().count;
    hours.back().last = std::max(hours.back().last, time);
  } else {
    hours.push_back({time, 1});
  }
}

void forget_old(std::vector<RestartHour>& hours, Seconds now) {
  std::erase_if(hours, [&](const RestartHour& one) { return one.last <= now - kRestartWindow; });
}

int count_in_day(const std::vector<RestartHour>& hours, Seconds now) {
  int count = 0;
  for (const RestartHour& one : hours) count += one.last > now - kRestartWindow ? one.count : 0;
  return count;
}

// When fewer than `cap` are left in the window.
Seconds falls_below(const std::vector<RestartHour>& hours, int cap, Seconds now) {
  int count = count_in_day(hours, now);
  for (const RestartHour& one : hours) {
    if (one.last <= now - kRestartWindow) continue;
    count -= one.count;
    if (count < cap) return one.last + kRestartWindow;
  }
  return 0;
}

bool still_planned(const JobRestarts& record, Seconds now) {
  return record.planned > 0 && now - record.planned < kRestartDelay;
}

const std::vector<RestartHour>& hours_of(const Memory& memory, std::uint32_t uid) {
  static const std::vector<RestartHour> none;
  const auto at = std::ranges::lower_bound(memory.user_restarts, uid, {}, &UserRestarts::uid);
  return at != memory.user_restarts.end() && at->uid == uid ? at->hours : none;
}

}  // namespace

bool requeues(const Change& change) {
  return change.action == ChangeAction::kRestart || change.action == ChangeAction::kStop;
}

bool count_requeues(const Snapshot& snapshot, Memory& memory) {
  bool any = false;
  for (const Job& job : snapshot.jobs) {
    const JobRestarts* const known = record_of(memory, job.key);
    if (known == nullptr || known->planned == 0 || job.restarts <= known->restarts) continue;
    JobRestarts& record = record_for(memory, job.key);
    record.planned = 0;
    ++record.count;
    add(record.hours, snapshot.taken);
    add(record_for(memory, job.uid).hours, snapshot.taken);
    any = true;
  }
  return any;
}

void note_restarts(const RoundInput& input, const std::vector<Change>& changes,
                   const std::set<JobKey>& remembered, Memory& memory) {
  if (!has_cap(input.config)) return;
  memory.restarts = input.snapshot.memory.restarts;
  memory.user_restarts = input.snapshot.memory.user_restarts;
  std::map<JobKey, int> restarts;
  for (const Job& job : input.snapshot.jobs) restarts[job.key] = job.restarts;
  for (const Change& change : changes) {
    if (!requeues(change)) continue;
    JobRestarts& record = record_for(memory, change.job);
    record.planned = input.now;
    record.restarts = restarts[change.job];
  }
  for (JobRestarts& record : memory.restarts) {
    forget_old(record.hours, input.now);
    if (!still_planned(record, input.now)) record.planned = 0;
  }
  for (UserRestarts& record : memory.user_restarts) forget_old(record.hours, input.now);
  std::erase_if(memory.restarts, [&](const JobRestarts& record) {
    return !remembered.contains(record.job) || (record.count == 0 && record.planned == 0);
  });
  std::erase_if(memory.user_restarts,
                [](const UserRestarts& record) { return record.hours.empty(); });
}

RestartCaps::RestartCaps(const RoundInput& input) : input_(input) {
  if (input.config.restarts_per_user_day <= 0) return;
  for (const Job& job : input.snapshot.jobs) {
    if (job.state == JobState::kRunning && is_planned(job.key)) ++planned_[job.uid];
  }
}

bool RestartCaps::is_planned(const JobKey& job) const {
  const JobRestarts* const record = record_of(input_.snapshot.memory, job);
  return record != nullptr && still_planned(*record, input_.now);
}

std::optional<int> RestartCaps::left_for(std::uint32_t uid) const {
  const int cap = input_.config.restarts_per_user_day;
  if (cap <= 0) return std::nullopt;
  const auto planned = planned_.find(uid);
  const int used = count_in_day(hours_of(input_.snapshot.memory, uid), input_.now) +
                   (planned != planned_.end() ? planned->second : 0);
  return std::max(cap - used, 0);
}

std::optional<ChangeBound> RestartCaps::reached(const Job& job) const {
  const Config& config = input_.config;
  const Memory& memory = input_.snapshot.memory;
  const JobRestarts* const own = record_of(memory, job.key);
  if (own != nullptr && config.restarts_per_job > 0 && own->count >= config.restarts_per_job)
    return ChangeBound{StayReason::kCap, "RestartsPerJob", 0};
  std::optional<ChangeBound> last;
  const auto test = [&](const char* name, const std::vector<RestartHour>& hours, int cap) {
    if (cap <= 0 || count_in_day(hours, input_.now) < cap) return;
    const Seconds until = falls_below(hours, cap, input_.now);
    if (!last || until > last->until) last = ChangeBound{StayReason::kCap, name, until};
  };
  if (own != nullptr) test("RestartsPerJobDay", own->hours, config.restarts_per_job_day);
  test("RestartsPerUserDay", hours_of(memory, job.uid), config.restarts_per_user_day);
  if (!last && left_for(job.uid) == 0 && !is_planned(job.key))
    last = ChangeBound{StayReason::kCap, "RestartsPerUserDay", 0};
  return last;
}

}  // namespace rubato
