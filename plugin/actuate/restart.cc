// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/actuate/restart.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "lib/base/log.h"
#include "lib/policy/algorithms/growth_cap.h"
#include "lib/policy/asked_restart.h"
#include "plugin/slurm/write/running_job.h"

namespace rubato {

namespace {

// How long the place of a requeued job is kept, seconds: longer than an epilog usually takes, since
// the nodes are free after it.
constexpr Seconds kPlaceKept = 120;

AskedRestart* restart_of(Memory& memory, JobId job) {
  const auto at = std::ranges::find_if(memory.asked_restarts, [&](const AskedRestart& restart) {
    return restart.job.id == job && !restart.over();
  });
  return at != memory.asked_restarts.end() ? &*at : nullptr;
}

const Job* running_job(const Snapshot& snapshot, const JobKey& key) {
  const auto at = std::ranges::find(snapshot.jobs, key, &Job::key);
  return at != snapshot.jobs.end() ? &*at : nullptr;
}

}  // namespace

void Restarter::hear(std::vector<JobMessage>& messages) {
  for (const JobMessage& one : messages) {
    if (const auto* const resize = std::get_if<ResizeRequest>(&one.message))
      asked_.push_back({one.job, one.uid, resize->gpus});
    if (const auto* const ack = std::get_if<Ack>(&one.message))
      answers_.emplace_back(one.job, ack->ready);
  }
  std::erase_if(messages, [](const JobMessage& one) {
    return std::holds_alternative<ResizeRequest>(one.message) ||
           std::holds_alternative<Ack>(one.message);
  });
}

bool Restarter::due(const Memory& memory, Seconds now) const {
  if (!asked_.empty() || !answers_.empty()) return true;
  return std::ranges::any_of(memory.asked_restarts, [&](const AskedRestart& restart) {
    return restart.step == RestartStep::kRequeued ||
           (restart.step == RestartStep::kSaving && now >= restart.due);
  });
}

void Restarter::act(const Snapshot& snapshot, const Models& models, const Config& config,
                    Memory& memory) {
  const Seconds now = snapshot.taken;
  for (const AskedRestart& closed : follow_restarts(memory, snapshot)) note(closed);
  for (const auto& [job, ready] : std::exchange(answers_, {})) {
    AskedRestart* const restart = restart_of(memory, job.id);
    if (restart == nullptr || restart->step != RestartStep::kSaving) continue;
    if (ready)
      restart->due = now;
    else
      fail(*restart, "the job refused", now);
  }
  for (AskedRestart& restart : memory.asked_restarts) {
    if (restart.step == RestartStep::kRequeued) wait_for_nodes(restart);
    if (restart.step == RestartStep::kSaving && now >= restart.due)
      requeue(restart, snapshot, models, config);
  }
  for (const Asked& asked : std::exchange(asked_, {}))
    begin(asked, snapshot, models, config, memory);
}

void Restarter::give_up(Memory& memory, Seconds now) {
  asked_.clear();
  answers_.clear();
  for (AskedRestart& restart : memory.asked_restarts) {
    if (restart.over()) continue;
    if (restart.step == RestartStep::kRequeued) {
      const HeldLocks locks(LockKind::kAct, LockUse::kStart, times_);
      if (!locks.held()) return;
      make_eligible(restart.job.id);
    }
    fail(restart, "the mode does not resize running jobs", now);
  }
}

void Restarter::begin(const Asked& asked, const Snapshot& snapshot, const Models& models,
                      const Config& config, Memory& memory) {
  const Seconds now = snapshot.taken;
  AskedRestart restart;
  restart.job = asked.job;
  restart.uid = asked.uid;
  restart.gpus = asked.gpus;
  restart.asked = now;
  if (restart_of(memory, asked.job.id) != nullptr) {
    restart.since = now;
    restart.step = RestartStep::kFailed;
    restart.words = "another restart of the job is under way";
    return note(restart);  // the memory keeps the first
  }
  const auto refused = [&](std::string words) {
    fail(restart, std::move(words), now);
    keep_restart(memory, restart);
  };
  const Job* const job = running_job(snapshot, asked.job);
  if (job == nullptr) return refused("the job is not there, or too new");
  restart.from = held_gpus(*job);
  restart.runs = job->restarts;
  if (const std::string why = why_never_restarted(*job); !why.empty()) return refused(why);
  if (restart.from == restart.gpus)
    return refused(fmt::format("it has {} GPUs already", restart.gpus));
  const auto start = start_after_restart(snapshot, models, config, asked.job,
                                         {.gpus = asked.gpus, .gpu_type = {}}, now);
  if (!start) return refused(start.error().text);
  restart.gpu_type = start->gpu_type;
  {
    const HeldLocks locks(LockKind::kAct, LockUse::kStart, times_);
    if (!locks.held()) return;
    const auto running = RunningJob::find(asked.job);
    if (!running) return refused("the job does not run any more");
    if (const char* why = running->why_not_requeued()) return refused(why);
    if (const auto told = running->signal(job->hints->checkpoint); !told)
      return refused("its signal: " + told.error().text);
  }
  enter(restart, RestartStep::kSaving, now, now + job->hints->checkpoint.lead);
  keep_restart(memory, restart);
}

// Everything is tested again: the lead time is over, and the cluster has changed.
void Restarter::requeue(AskedRestart& restart, const Snapshot& snapshot, const Models& models,
                        const Config& config) {
  const Seconds now = snapshot.taken;
  const Job* const job = running_job(snapshot, restart.job);
  if (job == nullptr) return fail(restart, "the job does not run any more", now);
  // An update of the comment may have withdrawn its consent.
  if (const std::string why = why_never_restarted(*job); !why.empty())
    return fail(restart, why, now);
  const auto start = start_after_restart(snapshot, models, config, restart.job,
                                         {.gpus = restart.gpus, .gpu_type = restart.gpu_type}, now);
  if (!start) return fail(restart, "after its lead time: " + start.error().text, now);
  {
    const HeldLocks locks(LockKind::kAct, LockUse::kStart, times_);
    if (!locks.held()) return;
    auto running = RunningJob::find(restart.job);
    if (!running) return fail(restart, "the job does not run any more", now);
    if (const char* why = running->why_not_requeued()) return fail(restart, why, now);
    if (const auto done = running->requeue(kPlaceKept); !done)
      return fail(restart, "Slurm does not requeue it: " + done.error().text, now);
  }
  restart.requeued = now;
  restart.shares = start->shares;
  enter(restart, RestartStep::kRequeued, now, now + kPlaceKept);
}

void Restarter::wait_for_nodes(AskedRestart& restart) {
  const HeldLocks locks(LockKind::kAct, LockUse::kStart, times_);
  if (!locks.held()) return;
  if (requeue_state(restart.job.id, restart.runs) == RequeueState::kFree)
    make_eligible(restart.job.id);
}

void Restarter::enter(AskedRestart& restart, RestartStep step, Seconds now, Seconds due) {
  restart.step = step;
  restart.since = now;
  restart.due = due;
  note(restart);
}

void Restarter::fail(AskedRestart& restart, std::string words, Seconds now) {
  restart.words = std::move(words);
  restart.shares.clear();
  enter(restart, RestartStep::kFailed, now, now);
}

void Restarter::note(const AskedRestart& restart) {
  const std::string line = audit_line(restart);
  audit_.add(line);
  log().info("{}", line);
}

}  // namespace rubato
