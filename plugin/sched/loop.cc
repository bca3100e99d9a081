// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/loop.h"

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <utility>

#include "lib/core/json.h"
#include "lib/model/models.h"
#include "lib/round.h"
#include "plugin/pair/guard.h"
#include "plugin/pair/logger.h"
#include "plugin/slurm/records.h"

namespace rubato {

namespace {

using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

// A burst of submits wakes once: the first event waits this long for its companions.
constexpr auto kGather = milliseconds(5);
// The heartbeat must not hang on the length of RoundInterval.
constexpr auto kLongestWait = milliseconds(500);
// No event tells when an epilog ends, and its node takes jobs only then. Most end at once, some
// take their time: the looks after a job's end come at growing distances.
constexpr auto kFirstCompletingWait = milliseconds(5);
constexpr auto kLastCompletingWait = milliseconds(100);
constexpr double kStateInterval = 2.0;

double ms_since(Loop::Clock::time_point since) {
  return duration<double, std::milli>(Loop::Clock::now() - since).count();
}

double injected(const Config& config, const char* word) {
  const auto at = config.test_inject.find(word);
  return at != config.test_inject.end() ? at->second : -1;
}

Seconds unix_now() { return time(nullptr); }

Entry cycle_entry{"the loop"};
Entry config_entry{"reading rubato.conf"};

}  // namespace

Loop::Loop(Pair& pair) : pair_(pair), source_(config_folder() + "/rubato.conf") {
  state_dir_ = state_save_location() + "/rubato";
}

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
    const Look look = wait();
    if (stopping_) break;
    if (reconfigure_.exchange(false)) take_config_guarded();
    if (injected(*config_, "stop-loop") >= 0) continue;  // neither beats nor looks
    pair_.beat();
    // Between rounds, what nobody woke us for: a node that came back, an update by an admin.
    const bool due =
        look == Look::kLight || plan_ == nullptr || (look == Look::kFull && pending_ > 0);
    if (!due && change_mark() == seen_) continue;
    cycle_guarded();
    pair_.beat();
  }
  pair_.set_waker(nullptr);
  pair_.set_config(nullptr);  // nobody starts managed jobs any more: the gate opens
  if (!failing_) publish(true);
  publisher_.reset();
}

Loop::Look Loop::wait() {
  if (config_ == nullptr) return Look::kFull;
  std::unique_lock lock(mutex_);
  const auto interval = duration_cast<Clock::duration>(duration<double>(config_->round_interval));
  auto due = last_tick_ + interval;
  if (more_soon_) due = std::min(due, last_tick_ + completing_wait_);
  const auto until = std::min(due, Clock::now() + kLongestWait);
  changed_.wait_until(lock, until, [this] { return woken_ || stopping_; });
  event_.reset();
  if (woken_ && !stopping_) {
    // Half of the time at most with the locks held, however fast events come.
    const auto pause = duration_cast<Clock::duration>(duration<double, std::milli>(last_hold_ms_));
    const auto gathered = std::max(Clock::now() + kGather, last_end_ + pause);
    changed_.wait_until(lock, gathered, [this] { return stopping_.load(); });
    woken_ = false;
    event_ = woken_at_;
    return Look::kLight;
  }
  if (Clock::now() < due) return Look::kNothing;
  last_tick_ = Clock::now();
  return Look::kFull;
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
  if (placing_ && !places()) leave_place_mode();
  placing_ = places();
}

void Loop::leave_place_mode() {
  const HeldLocks locks(LockKind::kAct, times_);
  if (locks.held()) write_back_.clear(pair_);
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
  last_end_ = Clock::now();
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

std::optional<Snapshot> Loop::look() {
  const bool write = places();
  const HeldLocks locks(write ? LockKind::kAct : LockKind::kLook, times_,
                        !config_->off("server-count"));
  if (!locks.held() || !check_records_once()) return std::nullopt;
  seen_ = change_mark();
  return reader_.read(*config_, write);
}

void Loop::load_state(const Snapshot& snapshot) {
  if (std::exchange(state_loaded_, true)) return;
  const std::string text = Publisher::read_state(state_dir_);
  if (!text.empty()) {
    auto memory = memory_from_json(text, snapshot);
    if (memory)
      memory_ = std::move(*memory);
    else
      log().error("{}/state.json is not used: {}", state_dir_, memory.error().text);
  }
  publisher_ = std::make_unique<Publisher>(state_dir_);
}

std::optional<Plan> Loop::decide(const Snapshot& snapshot) {
  const auto began = Clock::now();
  if (injected(*config_, "throw-round") >= 0) throw std::runtime_error("injected in a round");
  inject_sleep(injected(*config_, "hang-round"));
  std::map<std::string, double> speeds;
  for (const GpuTypeConfig& type : config_->gpu_types) speeds[type.name] = type.speed;
  Plan plan = round(snapshot, Models(std::move(speeds)), *config_, unix_now());
  inject_sleep(injected(*config_, "slow-round") / 1000);
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

void Loop::act(const Snapshot& snapshot, Plan& plan) {
  const CommitCount count = commit(snapshot, plan, *config_, pair_, times_);
  stats_.commits.started += count.started;
  stats_.commits.started_unmanaged += count.started_unmanaged;
  stats_.commits.elsewhere += count.elsewhere;
  stats_.commits.refused += count.refused;
  const bool full = ms_since(last_full_) >= config_->round_interval * 1000;
  // What stands in the jobs is for people; the reservations are for the gate and go out at once.
  if (!full && plan.reservations == memory_.reservations) return;
  const HeldLocks locks(LockKind::kAct, times_, !config_->off("server-count"));
  if (!locks.held()) return;
  write_back_.write(snapshot, plan, pair_);
  last_full_ = Clock::now();
}

void Loop::cycle() {
  if (shutting_down() || scheduling_disabled()) return;
  const double held_before = times_.total_ms;
  std::optional<Snapshot> seen = look();
  if (!seen) return;
  load_state(*seen);
  seen->memory = memory_;
  const auto snapshot = std::make_shared<const Snapshot>(std::move(*seen));
  std::optional<Plan> decided = decide(*snapshot);
  if (stopping_ || !decided) return;
  auto plan = std::make_shared<Plan>(std::move(*decided));
  if (places()) act(*snapshot, *plan);
  memory_ = plan->memory;

  pending_ = plan->explanations.size();
  managed_pending_ = 0;
  for (const Job& job : snapshot->jobs)
    if (job.state == JobState::kPending && job.managed) ++managed_pending_;
  more_soon_ = pending_ > 0 && std::any_of(snapshot->nodes.begin(), snapshot->nodes.end(),
                                           [](const Node& node) { return node.coming; });
  last_hold_ms_ = times_.total_ms - held_before;
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
  publish(false);
}

void Loop::publish(bool last) {
  if (publisher_ == nullptr || snapshot_ == nullptr || config_->off("publish")) return;
  if (!last && ms_since(last_publish_) < config_->publish_interval * 1000) return;
  last_publish_ = Clock::now();
  Published published;
  published.write_state = last || ms_since(last_state_) >= kStateInterval * 1000;
  if (published.write_state) last_state_ = last_publish_;
  published.snapshot = snapshot_;
  published.plan = plan_;
  published.stats = stats_json();
  published.publish_dir =
      config_->publish_dir.empty() ? state_dir_ + "/publish" : config_->publish_dir;
  publisher_->offer(std::move(published));
}

void Loop::inject_sleep(double seconds) {
  const auto until =
      Clock::now() + duration_cast<Clock::duration>(duration<double>(std::max(seconds, 0.0)));
  while (!stopping_ && Clock::now() < until) std::this_thread::sleep_for(milliseconds(20));
}

}  // namespace rubato
