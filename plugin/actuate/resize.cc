// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/actuate/resize.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "lib/base/log.h"
#include "lib/hints/values.h"
#include "lib/policy/algorithms/growth_cap.h"
#include "lib/policy/algorithms/size_history.h"
#include "lib/policy/algorithms/size_holds.h"
#include "lib/policy/asked_growth.h"
#include "lib/policy/asked_resize.h"
#include "lib/policy/asked_shrink.h"
#include "lib/policy/changes_to_begin.h"
#include "lib/policy/kept_place.h"
#include "lib/runtime/restart_record.h"
#include "plugin/actuate/grow.h"
#include "plugin/actuate/resize_notice.h"
#include "plugin/slurm/read/node_slots.h"
#include "plugin/slurm/write/job_notice.h"
#include "plugin/slurm/write/live_shrink.h"
#include "plugin/slurm/write/running_job.h"

namespace rubato {

namespace {

// As a hint that reaches a program which the batch script starts by itself.
std::string with_batch_shell(Checkpoint checkpoint) {
  checkpoint.batch_only = true;
  return "checkpoint=" + to_text(checkpoint);
}

AskedResize* resize_of(Memory& memory, JobId job) {
  const auto at = std::ranges::find_if(memory.asked_resizes, [&](const AskedResize& resize) {
    return resize.job.id == job && !resize.over();
  });
  return at != memory.asked_resizes.end() ? &*at : nullptr;
}

const Job* running_job(const Snapshot& snapshot, const JobKey& key) {
  const auto at = std::ranges::find(snapshot.jobs, key, &Job::key);
  return at != snapshot.jobs.end() ? &*at : nullptr;
}

// Seconds in which the last run of a job has ended, where nothing waits until it has.
constexpr Seconds kCompletes = 2;

// A restart of the round has the place of its plan.
bool has_planned_place(const AskedResize& resize) {
  return resize.by_round && !resize.live && !resize.shares.empty();
}

bool grows(const AskedResize& resize) { return resize.live && resize.gpus > resize.from; }

// The nodes that were chosen are still those of the job, with the same GPUs.
bool are_held(const std::vector<NodeShare>& kept, const Job& job) {
  return std::ranges::all_of(kept, [&](const NodeShare& share) {
    return std::ranges::find(job.allocation, share) != job.allocation.end();
  });
}

// The job may have been told which nodes go, so others never do.
Result<std::vector<NodeShare>> nodes_to_keep(const AskedResize& resize, const Job& job,
                                             const Snapshot& snapshot) {
  if (std::string why = why_never_live(job); !why.empty()) return fail(std::move(why));
  if (resize.shares.empty()) return nodes_kept(snapshot, job, resize.gpus);
  if (are_held(resize.shares, job)) return resize.shares;
  return fail("the nodes that it was to keep have changed");
}

// The nodes that it keeps, what it gets beside its own, or its place after a restart; the error
// says why it must stay as it is. The nodes of a growth of the round are of its plan.
Result<std::vector<NodeShare>> nodes_for(AskedResize& resize, const Job& job,
                                         const Snapshot& snapshot, const Models& models,
                                         const Config& config) {
  if (resize.gpus == 0) {
    if (std::string why = why_never_restarted(job); !why.empty()) return fail(std::move(why));
    return std::vector<NodeShare>();
  }
  if (grows(resize) && resize.by_round) return resize.shares;
  if (grows(resize)) return nodes_added(snapshot, models, config, job, resize.gpus, snapshot.taken);
  if (resize.live) return nodes_to_keep(resize, job, snapshot);
  if (std::string why = why_never_restarted(job); !why.empty()) return fail(std::move(why));
  if (has_planned_place(resize) && has_place(resize, snapshot, snapshot.memory))
    return resize.shares;
  if (!resize.after.empty()) return fail("the GPUs of its place did not become free");
  auto start =
      start_after_restart(snapshot, models, config, job.key,
                          {.gpus = resize.gpus, .gpu_type = resize.gpu_type}, snapshot.taken);
  if (!start) return tl::unexpected(start.error());
  resize.gpu_type = start->gpu_type;
  return std::move(start->shares);
}

// The jobs before it have changed, but their nodes are not free yet.
bool waits_to_grow(const AskedResize& resize, const Snapshot& snapshot, const Memory& memory) {
  if (!grows(resize) || resize.shares.empty() || is_free(resize.shares, snapshot)) return false;
  return has_place(resize, snapshot, memory) && snapshot.taken < resize.due + kPlaceKept;
}

// What the job gets, by slurmctld's node table; nullopt if a node is gone.
std::optional<std::vector<AddedShare>> added_shares(const Snapshot& snapshot,
                                                    const std::vector<NodeShare>& added) {
  const NodeSlots slots(snapshot);
  std::vector<AddedShare> shares;
  for (const NodeShare& share : added) {
    const auto slot = slots.of(std::vector<NodeIndex>{share.node});
    if (!slot) return std::nullopt;
    shares.push_back({.node = slot->front(),
                      .cores = share.cores,
                      .memory = share.memory,
                      .gpus = share.gpu_count()});
  }
  return shares;
}

}  // namespace

void Resizer::hear(std::vector<JobMessage>& messages) {
  for (const JobMessage& one : messages) {
    if (const auto* const request = std::get_if<ResizeRequest>(&one.message))
      asked_.push_back({one.job, one.uid, *request});
    if (const auto* const hold = std::get_if<HoldSize>(&one.message))
      holds_.push_back({one.job, one.uid, *hold});
    if (const auto* const ack = std::get_if<Ack>(&one.message))
      answers_.emplace_back(one.job, *ack);
  }
  std::erase_if(messages,
                [](const JobMessage& one) { return !std::holds_alternative<Report>(one.message); });
}

bool Resizer::due(const Memory& memory, Seconds now) const {
  if (!asked_.empty() || !answers_.empty() || !holds_.empty()) return true;
  // A round before then would not start what becomes eligible at that time.
  const bool looks = !looks_soon() || now >= *look_at_;
  return std::ranges::any_of(memory.asked_resizes, [&](const AskedResize& resize) {
    return (resize.step == ResizeStep::kRequeued && looks) ||
           (resize.step == ResizeStep::kSaving && now >= resize.due);
  });
}

void Resizer::act(const Snapshot& snapshot, const Models& models, const Config& config,
                  Plan& plan) {
  Memory& memory = plan.memory;
  const Seconds now = snapshot.taken;
  if (looks_soon() && now >= *look_at_) look_at_.reset();
  tells_ = !config.off(Mechanism::kNotice);
  for (const AskedResize& closed : follow_resizes(memory, snapshot)) {
    note(closed);
    if (closed.notice > 0) notices_.emplace_back(closed.job.id, std::nullopt);
  }
  for (const AskedResize& change : measure_changes(memory, snapshot, config)) note(change);
  hear_answers(memory, now);
  take_holds(memory, now);
  for (const auto& asked : std::exchange(asked_, {}))
    begin(asked, snapshot, models, config, memory);
  for (AskedResize& change : changes_to_begin(snapshot, plan)) {
    // A hold that came since the round began.
    const bool held = !change.starts && hold_of(memory, change.job, now) != nullptr;
    if (!held || config.off(Mechanism::kHoldSize)) begin(std::move(change), snapshot, memory);
  }
  tell(snapshot, plan);
  bool placed = false;  // the next round sees this place; two restarts must not get the same
  for (AskedResize& resize : memory.asked_resizes) {
    if (resize.step == ResizeStep::kRequeued) wait_for_nodes(resize, now);
    const bool planned = has_planned_place(resize);
    if (resize.step != ResizeStep::kSaving || now < resize.due || (placed && !planned)) continue;
    if (!may_follow(resize, memory, now) || waits_to_grow(resize, snapshot, memory)) continue;
    carry_out(resize, snapshot, models, config, memory);
    if (resize.step == ResizeStep::kDone && tells_) note_told_with(resize, memory, now);
    placed = placed || (!planned && !resize.shares.empty() && resize.step == ResizeStep::kRequeued);
  }
  show_notices();
}

// The job does with it what it wants: it is not interrupted, and its reports show what it did.
void Resizer::tell(const Snapshot& snapshot, Plan& plan) {
  if (!tells_) return;
  for (const Change* const change : changes_to_tell(snapshot, plan)) {
    const Job* const job = running_job(snapshot, change->job);
    const Notice notice = told_notice(*change, *job);
    notices_.emplace_back(change->job.id, notice);
    note_told(plan.memory, change->job, change->plan, change->batch, snapshot.taken);
    log().info("JobId={} is told batch {}{}", change->job.id, change->batch,
               notice.plan.empty() ? "" : " and plan " + notice.plan);
  }
}

// A hold ends a change that the round has only told the job.
void Resizer::take_holds(Memory& memory, Seconds now) {
  for (const auto& [job, uid, asked] : std::exchange(holds_, {})) {
    fold_hold(job, uid, asked, now, memory);
    log().info("JobId={} {} uid={}", job.id, asked.on ? "keeps its size" : "may change again", uid);
    AskedResize* const change = resize_of(memory, job.id);
    const bool told = change != nullptr && change->by_round && !change->starts &&
                      change->step == ResizeStep::kSaving;
    if (asked.on && told) fail(*change, "somebody asked that it keeps its size", now);
  }
}

// An answer to an earlier notice must not end the lead time of the next change.
void Resizer::hear_answers(Memory& memory, Seconds now) {
  for (const auto& [job, ack] : std::exchange(answers_, {})) {
    AskedResize* const resize = resize_of(memory, job.id);
    if (resize == nullptr || resize->step != ResizeStep::kSaving) continue;
    if (ack.notice != 0 && resize->notice != 0 && ack.notice != resize->notice) {
      log().info("JobId={} answers notice {}, but the last one is {}", job.id, ack.notice,
                 resize->notice);
      continue;
    }
    if (!ack.ready) {
      fail(*resize, "the job refused", now);
      continue;
    }
    if (resize->answered == 0) resize->answered = now;
    resize->due = now;
  }
}

void Resizer::give_up(Memory& memory, Seconds now) {
  asked_.clear();
  answers_.clear();
  look_at_.reset();
  take_holds(memory, now);
  for (AskedResize& restart : memory.asked_resizes) {
    if (restart.over()) continue;
    if (restart.step == ResizeStep::kRequeued && !restart.starts) {
      const HeldLocks locks(LockKind::kAct, LockUse::kRequeue, times_);
      if (!locks.held()) return;
      (void)make_eligible(restart.job.id, kCompletes);
    }
    fail(restart, "the mode does not resize running jobs", now);
  }
  show_notices();
}

// The state file may be two seconds older than the end of slurmctld: it may call a job "saving"
// that was requeued since. It may also be hours old, if Rubato was switched off meanwhile: what the
// job saved at its signal is then as old.
void Resizer::resume(Memory& memory, Seconds now) {
  if (std::exchange(resumed_, true)) return;
  for (AskedResize& resize : memory.asked_resizes) {
    if (resize.step != ResizeStep::kSaving) continue;
    if (!resize.live && !goes_on_requeued(resize, now)) return;
    if (resize.step == ResizeStep::kSaving && now > resize.due + kPlaceKept)
      fail(resize, "Rubato did not run when its lead time ended", now);
  }
}

// False if slurmctld ends.
bool Resizer::goes_on_requeued(AskedResize& resize, Seconds now) {
  const HeldLocks locks(LockKind::kAct, LockUse::kRequeue, times_);
  if (!locks.held()) return false;
  const RequeueState state = requeue_state(resize.job.id, resize.runs);
  if (state != RequeueState::kFree && state != RequeueState::kCompleting) return true;
  resize.requeued = now;
  resize.notice = 0;
  notices_.emplace_back(resize.job.id, std::nullopt);
  enter(resize, ResizeStep::kRequeued, now, now + kPlaceKept);
  return true;
}

void Resizer::begin(const Asked<ResizeRequest>& asked, const Snapshot& snapshot,
                    const Models& models, const Config& config, Memory& memory) {
  const Seconds now = snapshot.taken;
  AskedResize resize;
  resize.job = asked.job;
  resize.uid = asked.uid;
  resize.gpus = asked.request.gpus;
  resize.live = asked.request.live.value_or(false);
  resize.rehearsal = asked.request.rehearsal;
  resize.asked = now;
  if (resize_of(memory, asked.job.id) != nullptr) {
    resize.since = now;
    resize.step = ResizeStep::kFailed;
    resize.words = "another change of its size is under way";
    return note(resize);  // the memory keeps the first
  }
  const auto refused = [&](std::string words) {
    fail(resize, std::move(words), now);
    keep_resize(memory, resize);
  };
  const Job* const job = running_job(snapshot, asked.job);
  if (job == nullptr) return refused("the job is not there, or too new");
  resize.from = held_gpus(*job);
  resize.runs = job->restarts;
  resize.live =
      asked.request.live.value_or(shrinks_live(*job, resize.gpus) || grows_live(*job, resize.gpus));
  if (resize.rehearsal && resize.from != resize.gpus)
    return refused(fmt::format("it has {} GPUs, and a rehearsal keeps them", resize.from));
  if (resize.from == resize.gpus && !resize.rehearsal)
    return refused(fmt::format("it has {} GPUs already", resize.gpus));
  auto nodes = nodes_for(resize, *job, snapshot, models, config);
  if (!nodes) return refused(nodes.error().text);
  if (!grows(resize)) resize.shares = *std::move(nodes);
  save(std::move(resize), *job, snapshot, memory);
}

// Of a waiting job only the place is kept, for as long as those before it save, and then as long as
// after a requeue.
void Resizer::begin(AskedResize change, const Snapshot& snapshot, Memory& memory) {
  if (!change.starts) {
    const Job* const job = running_job(snapshot, change.job);
    if (job != nullptr) save(std::move(change), *job, snapshot, memory);
    return;
  }
  change.due = snapshot.taken;
  for (const JobKey& job : change.after)
    if (const AskedResize* const before = resize_of(memory, job.id))
      change.due = std::max(change.due, before->due);
  change.due += kPlaceKept;
  keep_resize(memory, std::move(change));
}

// Tells the job, and gives it its lead time. A job that gets GPUs loses nothing, so it has none.
void Resizer::save(AskedResize resize, const Job& job, const Snapshot& snapshot, Memory& memory) {
  const Seconds now = resize.asked;
  resize.due = now;
  // The job is to have its lead time at least: the round took a while, and times have whole
  // seconds.
  if (!grows(resize) && job.hints->checkpoint.consents())
    resize.due = add_seconds(std::max(now, times_.clock->now()), job.hints->checkpoint.lead + 1);
  if (!grows(resize) && !signal(resize, job, snapshot)) {
    if (!resize.over()) return;
    return keep_resize(memory, std::move(resize));
  }
  enter(resize, ResizeStep::kSaving, now, resize.due);
  keep_resize(memory, std::move(resize));
}

// Sends the checkpoint signal, if the job asks for one, and shows what comes. Both happen in one
// hold of the locks, so the job finds the notice when it has the signal. False: not sent; the
// reason is in `resize` unless slurmctld ends.
bool Resizer::signal(AskedResize& resize, const Job& job, const Snapshot& snapshot) {
  const HeldLocks locks(LockKind::kAct, LockUse::kSignal, times_);
  if (!locks.held()) return false;
  const auto refused = [&](std::string words) {
    fail(resize, std::move(words), resize.asked);
    return false;
  };
  const auto running = RunningJob::find(resize.job);
  if (!running) return refused(running.error().text);
  const char* const why = resize.live ? nullptr : running->why_not_requeued();
  if (why != nullptr) return refused(why);
  const Checkpoint& checkpoint = job.hints->checkpoint;
  if (!checkpoint.consents()) return true;
  if (!resize.live && !resize.by_round && !running->is_reached(checkpoint))
    return refused("no step of it runs, and without B: its signal goes to steps only; write " +
                   with_batch_shell(checkpoint) + ", or start the program with srun");
  const auto told = running->signal(checkpoint);
  if (!told) return refused("its signal: " + told.error().text);
  if (tells_)
    resize.notice = show_notice(job.key.id, coming_notice(resize, job, resize.due, snapshot));
  return true;
}

// Everything is tested again: the lead time is over, and the cluster has changed. An update of the
// comment may have withdrawn the job's consent.
void Resizer::carry_out(AskedResize& resize, const Snapshot& snapshot, const Models& models,
                        const Config& config, const Memory& memory) {
  const Seconds now = snapshot.taken;
  const Job* const job = running_job(snapshot, resize.job);
  if (job == nullptr) return fail(resize, "the job does not run any more", now);
  auto nodes = nodes_for(resize, *job, snapshot, models, config);
  if (!nodes)
    return fail(resize, (grows(resize) ? "" : "after its lead time: ") + nodes.error().text, now);
  if (grows(resize)) return grow(resize, *job, *nodes, snapshot, config);
  if (resize.live) return shrink(resize, *job, *nodes, snapshot, config);
  write_ahead(resize, *nodes, memory, snapshot);
  requeue(resize, *std::move(nodes), *job, now);
}

// slurmctld may end between the requeue and the next state.json. Without this record the job would
// then lose its size and its place.
void Resizer::write_ahead(AskedResize restart, const std::vector<NodeShare>& place,
                          const Memory& memory, const Snapshot& snapshot) {
  restart.shares = place;
  const std::string trouble = keep_restarts(state_dir_, restart, memory, snapshot);
  if (!trouble.empty())
    log().warn("JobId={}: a kill of slurmctld now would lose the size of its restart: {}",
               restart.job.id, trouble);
}

void Resizer::requeue(AskedResize& restart, std::vector<NodeShare> place, const Job& job,
                      Seconds now) {
  {
    const HeldLocks locks(LockKind::kAct, LockUse::kRequeue, times_);
    if (!locks.held()) return;
    auto running = RunningJob::find(restart.job);
    if (!running) return fail(restart, running.error().text, now);
    if (const char* why = running->why_not_requeued()) return fail(restart, why, now);
    if (const auto done = running->requeue(kPlaceKept); !done)
      return fail(restart, "Slurm does not requeue it: " + done.error().text, now);
    remove_notice(restart.job.id);
  }
  restart.notice = 0;
  restart.requeued = now;
  restart.elsewhere = !place.empty() && std::ranges::none_of(place, [&](const NodeShare& share) {
    return share_on(job.allocation, share.node) != nullptr;
  });
  restart.shares = std::move(place);
  enter(restart, ResizeStep::kRequeued, now, now + kPlaceKept);
}

void Resizer::shrink(AskedResize& resize, const Job& job, const std::vector<NodeShare>& kept,
                     const Snapshot& snapshot, const Config& config) {
  const Seconds now = snapshot.taken;
  {
    const HeldLocks locks(LockKind::kAct, LockUse::kShrink, times_);
    if (!locks.held()) return;
    const auto slots = NodeSlots(snapshot).of(kept);
    if (!slots) return fail(resize, "a node that it keeps is gone", now);
    const auto done = shrink_job(resize.job, *slots, !config.off(Mechanism::kShrinkRepair));
    if (!done) return fail(resize, "Slurm does not take its nodes: " + done.error().text, now);
  }
  notices_.emplace_back(resize.job.id, shrunk_notice(resize, job, kept, snapshot));
  enter(resize, ResizeStep::kDone, now, now);
}

void Resizer::grow(AskedResize& resize, const Job& job, const std::vector<NodeShare>& added,
                   const Snapshot& snapshot, const Config& config) {
  const Seconds now = snapshot.taken;
  if (config.off(Mechanism::kGrow)) return fail(resize, "TestOff=grow", now);
  {
    const HeldLocks locks(LockKind::kAct, LockUse::kGrow, times_);
    if (!locks.held()) return;
    const auto shares = added_shares(snapshot, added);
    if (!shares) return fail(resize, "a node for it is gone", now);
    const std::string type = added.empty() ? "" : added.front().gpus.front().type;
    const auto done = grow_job(resize.job, *shares, type, pair_);
    if (!done) return fail(resize, "Slurm gives it no more: " + done.error().text, now);
  }
  notices_.emplace_back(resize.job.id, grown_notice(resize, job, added, snapshot));
  resize.shares.clear();
  enter(resize, ResizeStep::kDone, now, now);
}

// A job that was stopped has no place, so that nothing is left to do once it waits.
void Resizer::wait_for_nodes(AskedResize& restart, Seconds now) {
  if (restart.starts) return;
  RequeueState state = RequeueState::kCompleting;
  {
    const HeldLocks locks(LockKind::kAct, LockUse::kRequeue, times_);
    if (!locks.held()) return;
    state = requeue_state(restart.job.id, restart.runs);
    if (state == RequeueState::kFree) {
      const auto eligible = make_eligible(restart.job.id, restart.elsewhere ? 0 : 1);
      if (eligible) look_at_ = std::min(look_at_.value_or(*eligible), *eligible);
    }
  }
  if (state == RequeueState::kEnded) return fail(restart, "the job is not there any more", now);
  if (state == RequeueState::kFree && restart.gpus == 0)
    enter(restart, ResizeStep::kDone, now, now);
}

void Resizer::enter(AskedResize& resize, ResizeStep step, Seconds now, Seconds due) {
  resize.step = step;
  resize.since = now;
  resize.due = due;
  note(resize);
}

void Resizer::fail(AskedResize& resize, std::string words, Seconds now) {
  resize.words = std::move(words);
  resize.shares.clear();
  if (resize.notice > 0) notices_.emplace_back(resize.job.id, failed_notice(resize));
  enter(resize, ResizeStep::kFailed, now, now);
}

void Resizer::show_notices() {
  if (!tells_) notices_.clear();
  if (notices_.empty()) return;
  const HeldLocks locks(LockKind::kAct, LockUse::kWrite, times_);
  if (!locks.held()) return;
  for (const auto& [job, notice] : std::exchange(notices_, {})) {
    if (notice)
      show_notice(job, *notice);
    else
      remove_notice(job);
  }
}

void Resizer::note(const AskedResize& resize) {
  if (resize.starts) return;  // it interrupts nothing
  const std::string line = audit_line(resize);
  audit_.add(line);
  log().info("{}", line);
  steps_.push_back(resize);
}

}  // namespace rubato
