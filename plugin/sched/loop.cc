// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/loop.h"

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <utility>

#include "lib/base/log.h"
#include "lib/core/memory_clock.h"
#include "lib/json/json.h"
#include "lib/model/models.h"
#include "lib/model/progress/predictability.h"
#include "lib/policy/round.h"
#include "plugin/common/guard.h"
#include "plugin/slurm/read/records.h"
#include "plugin/slurm/write/job_rewrite.h"

namespace rubato {

namespace {

using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

// The heartbeat must not hang on the length of RoundInterval.
constexpr auto kMaxWait = milliseconds(500);
// No event tells when an epilog ends, and its node takes jobs only then. Most end at once, some
// take their time: the looks after a job's end come at growing distances.
constexpr auto kFirstCompletingWait = milliseconds(5);
constexpr auto kLastCompletingWait = milliseconds(100);
constexpr double kFullLookInterval = 10.0;        // seconds
constexpr double kUpdatedLookInterval = 1.0;      // of them, where the hints of a job were changed
constexpr double kSettle = 3.0;                   // seconds from our begin; nodes register at once
constexpr auto kIdlePublish = milliseconds(333);  // for each second of HeartbeatTimeout
// A cycle lets requests that slurmctld is serving go first, if that does not take long.
constexpr auto kQuietForLook = milliseconds(10);
constexpr auto kQuietForStart = milliseconds(5);
constexpr auto kQuietStep = std::chrono::microseconds(200);

double ms_since(Loop::Clock::time_point since) {
  return duration<double, std::milli>(Loop::Clock::now() - since).count();
}

EntryPoint cycle_entry{"the loop"};
EntryPoint config_entry{"reading rubato.conf"};
EntryPoint record_entry{"recording reports"};

}  // namespace

Loop::Loop(Pair& pair)
    : pair_(pair),
      source_(config_folder() + "/rubato.conf"),
      recorder_(state_save_location() + "/rubato", std::make_shared<store::SystemClock>()),
      state_dir_(state_save_location() + "/rubato") {}

void Loop::stop() noexcept {
  stopping_ = true;
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

void Loop::reconfigure() noexcept {
  reconfigure_ = true;
  wake();
}

void Loop::wake() noexcept {
  const std::lock_guard lock(mutex_);
  if (!woken_) woken_at_ = Clock::now();
  woken_ = true;
  changed_.notify_all();
}

void Loop::run() noexcept {
  pair_.set_waker(this);
  while (!stopping_) {
    const Wake woken = wait();
    if (stopping_) break;
    if (reconfigure_.exchange(false)) take_config_guarded();
    if (config_->injected(Fault::kStopLoop)) continue;  // neither beats nor looks
    pair_.beat();
    tend_guarded();
    if (!is_due(woken)) continue;
    cycle_guarded();
    pair_.beat();
  }
  pair_.set_waker(nullptr);
  pair_.set_config(nullptr);  // nobody starts managed jobs any more: the gate opens
  tend_guarded();
  if (!failing_) publish(true);
  end_threads();
}

void Loop::tend_guarded() noexcept {
  guard(
      record_entry,
      [this] {
        if (config_ == nullptr) return;
        recorder_.process_messages(pair_.take_job_messages(), memory_);
        feed_models();
        offer_models();
        // A round that came too soon after the last files, and no other behind it.
        if (unpublished_ && !failing_) publish(false);
      },
      [] {});
}

Loop::Wake Loop::wait() {
  if (config_ == nullptr) return Wake::kTick;
  std::unique_lock lock(mutex_);
  const auto interval = duration_cast<Clock::duration>(duration<double>(config_->round_interval));
  const auto tick = last_tick_ + interval;
  const auto due = more_soon_ ? std::min(tick, last_peek_ + completing_wait_) : tick;
  const auto until = std::min(due, Clock::now() + kMaxWait);
  changed_.wait_until(lock, until, [this] { return woken_ || stopping_; });
  event_.reset();
  if (woken_ && !stopping_) {
    const auto earliest = pace_.earliest(woken_at_);
    changed_.wait_until(lock, earliest, [this] { return stopping_.load(); });
    woken_ = false;
    event_ = woken_at_;
    return Wake::kEvent;
  }
  const auto now = Clock::now();
  if (now < due) return Wake::kNothing;
  last_peek_ = now;
  if (now < tick) return Wake::kPeek;
  last_tick_ = now;
  return Wake::kTick;
}

bool Loop::is_due(Wake woken) {
  const bool busy = pending_ > 0 || recorder_.news();
  if (woken == Wake::kEvent || plan_ == nullptr || (woken == Wake::kTick && busy)) return true;
  // Nothing happens, and people who read the files must still see the heart beat.
  if (woken == Wake::kTick &&
      Clock::now() - last_publish_ >= config_->heartbeat_timeout * kIdlePublish)
    return true;
  // Between rounds, what nobody woke us for: a node that came back, an update by an admin.
  if (woken != Wake::kPeek) return change_mark() != seen_;
  const HeldLocks locks(LockKind::kNodes, LockUse::kPeek, times_,
                        !config_->off(Mechanism::kServerCount));
  if (locks.held() && coming_nodes() != coming_) return true;
  completing_wait_ = std::min<Clock::duration>(2 * completing_wait_, kLastCompletingWait);
  return false;
}

void Loop::wait_for_quiet(Clock::duration longest) {
  if (config_->off(Mechanism::kQuiet)) return;
  const auto until = Clock::now() + longest;
  while (!quiet() && !stopping_ && Clock::now() < until) std::this_thread::sleep_for(kQuietStep);
}

void Loop::take_config_guarded() noexcept {
  guard(
      config_entry, [this] { take_config(); },
      [this] {
        if (config_ == nullptr) config_ = std::make_shared<const Config>();
      });
}

void Loop::take_config() {
  config_ = source_.read();
  pair_.set_config(config_);
  set_log_level(config_->log_level);
  last_full_look_ = {};
  recorder_.configure(config_);
  await_models_ = true;
  if (placing_ && !places()) leave_place_mode();
  placing_ = places();
  PrivateData hidden;
  {
    const HeldLocks locks(LockKind::kConf, LockUse::kPeek, times_);
    if (!locks.held()) return;
    hidden = private_data();
  }
  update_private_data(hidden);
  // Whatever becomes of the next round, what is hidden now must not stay readable.
  if (hidden_changed_) publish(false);
}

void Loop::leave_place_mode() {
  {
    const HeldLocks locks(LockKind::kAct, LockUse::kWrite, times_);
    if (locks.held()) write_back_.clear(pair_);
  }
  segments_.clear(*config_, times_);
}

void Loop::cycle_guarded() noexcept {
  const bool ok = guard(
      cycle_entry,
      [this] {
        try {
          cycle();
        } catch (const std::exception& e) {
          if (!failing_) failure_ = e.what();
          throw;
        }
        return true;
      },
      [] { return false; });
  pace_.ended(Clock::now(), duration_cast<Clock::duration>(
                                duration<double, std::milli>(times_.all.total_ms - held_before_)));
  if (stopping_) return;
  if (ok) {
    if (std::exchange(failing_, false)) {
      pair_.hand_over(false);
      log().info("the loop is well again: managed jobs are its own");
    }
    return;
  }
  ++stats_.failed_rounds;
  if (!std::exchange(failing_, true))
    log().error("a cycle failed ({}): stock Slurm starts all jobs meanwhile", failure_);
  pair_.hand_over(true);
  wake_stock_scheduler();
}

bool Loop::check_records_once() {
  if (records_checked_) return records_fit_;
  const Result<void> rc = check_records();
  records_checked_ = true;
  records_fit_ = rc.has_value();
  if (!rc) log().error("{}; everything is left to stock Slurm", rc.error().text);
  pair_.set_records_checked(records_fit_);
  return records_fit_;
}

// A light look sees what starts and ends change, and most of what is updated; a full one also what
// shows in no field that a light look compares, such as other hints.
Depth Loop::look_depth() {
  const ChangeMark mark = change_mark();
  const bool same = mark.partitions == seen_.partitions && mark.config == seen_.config;
  const std::uint64_t updates = pair_.hint_stats().updates;
  const double interval = updates == updates_seen_ ? kFullLookInterval : kUpdatedLookInterval;
  if (same && plan_ != nullptr && ms_since(last_full_look_) < interval * 1000) return Depth::kLight;
  last_full_look_ = Clock::now();
  updates_seen_ = updates;
  return Depth::kFull;
}

std::optional<Snapshot> Loop::take_snapshot() {
  const bool write = places();
  const Depth depth = look_depth();
  wait_for_quiet(kQuietForLook);
  {
    const HeldLocks locks(write ? LockKind::kAct : LockKind::kLook,
                          depth == Depth::kFull ? LockUse::kFullLook : LockUse::kLightLook, times_,
                          !config_->off(Mechanism::kServerCount));
    if (!locks.held() || !check_records_once()) return std::nullopt;
    seen_ = change_mark();
    reader_.gather(*config_, write, depth);
    coming_ = coming_nodes();
  }
  if (!reader_.owed().empty()) {
    const HeldLocks locks(LockKind::kAct, LockUse::kWrite, times_,
                          !config_->off(Mechanism::kServerCount));
    if (locks.held()) restore_requests(reader_.owed());
    if (!config_->off(Mechanism::kSave)) save_soon();
  }
  Snapshot snapshot = reader_.take();
  update_private_data(snapshot.private_data);
  return snapshot;
}

void Loop::load_state(const Snapshot& snapshot) {
  if (std::exchange(state_loaded_, true)) return;
  const std::string text = Publisher::read_state(state_dir_);
  if (!text.empty()) {
    auto memory = memory_from_json(text, snapshot);
    if (memory) {
      memory_ = std::move(*memory);
      const int later = set_back(memory_, snapshot.taken);
      if (later > 0)
        log().error("{}/state.json has {} times that are later than now; they count as now",
                    state_dir_, later);
    } else {
      log().error("{}/state.json is not used: {}", state_dir_, memory.error().text);
    }
  }
  recorder_.restore(Publisher::read_state(state_dir_, "report.json"),
                    Publisher::read_state(state_dir_, "decisions.json"));
  publisher_ = std::make_unique<Publisher>(state_dir_);
}

std::optional<Plan> Loop::decide(const Snapshot& snapshot, const Models& models) {
  const auto began = Clock::now();
  if (config_->injected(Fault::kThrowRound)) throw std::runtime_error("injected in a round");
  inject_sleep(config_->injected(Fault::kHangRound).value_or(0));
  // At the time of the snapshot, so that its replay gives the same plan.
  Plan plan = round(snapshot, models, *config_, snapshot.taken, Fingerprint::kLeave);
  inject_sleep(config_->injected(Fault::kSlowRound).value_or(0) / 1000);
  const double ms = ms_since(began);
  ++stats_.rounds;
  stats_.round_ms_total += ms;
  stats_.round_ms_longest = std::max(stats_.round_ms_longest, ms);
  if (stopping_) return std::nullopt;
  if (ms > config_->round_deadline * 1000) {
    ++stats_.late_rounds;
    throw std::runtime_error("a round took longer than RoundDeadline; its plan was dropped");
  }
  return plan;
}

// A job that waits by what slurmctld recovered may be running all the same, if its start was saved
// nowhere. Its node tells when it registers, and is told to end it: until that is done slurmd takes
// a second launch for a duplicate and drains the node.
void Loop::wait_until_settled(Plan& plan) const {
  if (ms_since(began_) >= kSettle * 1000 || config_->off(Mechanism::kSettle)) return;
  std::erase_if(plan.starts, [this](const Start& start) { return start.job.submit < began_time_; });
}

void Loop::act(const Snapshot& snapshot, Plan& plan) {
  if (full_) busy_.clear();
  wait_until_settled(plan);
  if (!plan.starts.empty()) wait_for_quiet(kQuietForStart);
  const CommitCount count = commit(snapshot, plan, *config_, pair_, times_, busy_);
  if (count.started + count.started_unmanaged > 0 && !config_->off(Mechanism::kSave)) save_soon();
  stats_.commits.started += count.started;
  stats_.commits.started_unmanaged += count.started_unmanaged;
  stats_.commits.elsewhere += count.elsewhere;
  stats_.commits.refused += count.refused;
  // What stands in the jobs is for people; the reservations are for the gate and go out at once.
  if (!full_) {
    if (plan.memory.reservations == memory_.reservations) return;
    const HeldLocks locks(LockKind::kNodes, LockUse::kWrite, times_,
                          !config_->off(Mechanism::kServerCount));
    if (locks.held()) WriteBack::reserve(snapshot, plan, pair_);
    return;
  }
  wait_for_quiet(kQuietForStart);
  {
    const HeldLocks locks(LockKind::kAct, LockUse::kWrite, times_,
                          !config_->off(Mechanism::kServerCount));
    if (locks.held()) write_back_.write(snapshot, plan, pair_);
  }
  segments_.write(snapshot, plan, *config_, times_);
}

void Loop::cycle() {
  if (shutting_down() || scheduling_disabled()) return;
  held_before_ = times_.all.total_ms;
  full_ = plan_ == nullptr || ms_since(last_full_) >= config_->round_interval * 1000;
  if (full_) last_full_ = Clock::now();
  if (std::exchange(await_models_, false)) await_models();
  std::optional<Snapshot> seen = take_snapshot();
  if (!seen) return;
  load_state(*seen);
  if (full_) promote_all(memory_.progress_histories);
  seen->memory = memory_;
  const auto snapshot = std::make_shared<const Snapshot>(std::move(*seen));
  const std::shared_ptr<const Models> models = models_now();
  std::optional<Plan> decided = decide(*snapshot, *models);
  if (stopping_ || !decided) return;
  auto plan = std::make_shared<Plan>(std::move(*decided));
  const std::uint64_t started_before = stats_.commits.started;
  if (places()) act(*snapshot, *plan);
  memory_ = plan->memory;
  recorder_.record_round(*snapshot, *plan, memory_, stats_.commits.started - started_before);

  pending_ = plan->explanations.size();
  managed_pending_ = 0;
  for (const Job& job : snapshot->jobs)
    if (job.state == JobState::kPending && job.managed) ++managed_pending_;
  more_soon_ = pending_ > 0 && std::any_of(snapshot->nodes.begin(), snapshot->nodes.end(),
                                           [](const Node& node) { return node.coming; });
  completing_wait_ = event_ ? Clock::duration(kFirstCompletingWait)
                            : std::min<Clock::duration>(2 * completing_wait_, kLastCompletingWait);
  if (event_) {
    ++stats_.wakes;
    const double ms = ms_since(*event_);
    ++stats_.wake_rounds;
    stats_.wake_ms_total += ms;
    stats_.wake_ms_longest = std::max(stats_.wake_ms_longest, ms);
  }
  snapshot_ = snapshot;
  plan_ = plan;
  used_ = models;
  if (full_) {
    gpu_types_.clear();
    for (const Node& node : snapshot->nodes)
      for (const GpuGroup& group : node.gpus) gpu_types_.insert(group.type);
  }
  unpublished_ = true;
  publish(false);
}

void Loop::inject_sleep(double seconds) {
  const auto until =
      Clock::now() + duration_cast<Clock::duration>(duration<double>(std::max(seconds, 0.0)));
  while (!stopping_ && Clock::now() < until) std::this_thread::sleep_for(milliseconds(20));
}

}  // namespace rubato
