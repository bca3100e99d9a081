// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/loop.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "lib/base/log.h"
#include "lib/base/nearest.h"
#include "lib/json/json.h"
#include "lib/model/models.h"
#include "lib/policy/algorithms/change_costs.h"
#include "lib/policy/algorithms/size_history.h"
#include "lib/policy/memory.h"
#include "lib/policy/round.h"
#include "lib/runtime/restart_record.h"
#include "lib/runtime/waiting_messages.h"
#include "plugin/common/guard.h"
#include "plugin/slurm/write/admin_comment.h"

namespace rubato {

namespace {

using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr auto kIdlePublish = milliseconds(333);  // for each second of HeartbeatTimeout
// Jobs that start without models may run for weeks at a bad size or plan. So a new process waits
// for the models on the disk, and a round waits for the fit of a new model shape. Each wait is at
// most half of HeartbeatTimeout and ends with a heartbeat, so that the gate stays closed.
constexpr auto kMaxModelsWait = milliseconds(5000);
constexpr auto kMaxShapesWait = milliseconds(2000);
constexpr double kHeartbeatShare = 0.5;
constexpr auto kStoreLook = milliseconds(10);
constexpr auto kMaxEnd = milliseconds(450);
constexpr double kFailedRest = 0.1;  // seconds after a failed step, which is tried again

double ms_since(const Clock& clock, SteadyTime since) {
  return duration<double, std::milli>(clock.steady() - since).count();
}

milliseconds at_most_a_heartbeat(milliseconds wait, const Config& config) {
  const auto share = static_cast<double>(config.heartbeat_timeout) * 1000 * kHeartbeatShare;
  return std::min(wait, milliseconds(static_cast<std::int64_t>(share)));
}

EntryPoint step_entry{"a step of the loop"};
EntryPoint end_entry{"the end of the loop"};
EntryPoint cycle_entry{"the loop"};
EntryPoint config_entry{"reading rubato.conf"};
EntryPoint record_entry{"recording reports"};

// A misspelt name would leave its jobs to stock Slurm in silence.
void log_unknown_partitions(const Config& config, const Snapshot& snapshot) {
  for (const std::string& name : config.managed_partitions) {
    const bool known = std::ranges::any_of(snapshot.partitions,
                                           [&](const Partition& one) { return one.name == name; });
    if (known) continue;
    std::vector<std::string> names;
    for (const Partition& one : snapshot.partitions) names.push_back(one.name);
    log().error("ManagedPartitions of rubato.conf names {}, which slurm.conf does not have{}", name,
                did_you_mean(name, names));
  }
}

// In a pause everything is as with Mode=observe in rubato.conf.
std::shared_ptr<const Config> in_effect(std::shared_ptr<const Config> config, bool paused) {
  if (!paused || config->mode == Mode::kObserve) return config;
  auto observing = std::make_shared<Config>(*config);
  observing->mode = Mode::kObserve;
  return observing;
}

}  // namespace

Loop::Loop(Pair& pair, std::shared_ptr<const Clock> clock)
    : pair_(pair),
      clock_(std::move(clock)),
      state_dir_(state_save_location() + "/rubato"),
      config_source_(config_folder() + "/rubato.conf", state_dir_ + "/rubato.conf", reconfigured()),
      times_(clock_),
      pacer_(clock_),
      snapshots_(pair, clock_, pacer_, times_),
      committer_(pair, clock_, pacer_, times_),
      audit_(state_dir_ + "/interruptions.log", clock_),
      resizer_(pair, audit_, times_, state_dir_),
      recorder_(state_dir_, clock_),
      models_(clock_, [this] { wake(); }),
      publisher_(state_dir_, clock_) {}

void Loop::reconfigure() noexcept {
  reconfigure_ = true;
  wake();
}

void Loop::run() noexcept {
  pair_.set_waker(this);
  while (!pacer_.stopping())
    guard(
        step_entry, [this] { step(); }, [this] { pacer_.sleep(kFailedRest); });
  pair_.set_waker(nullptr);
  pair_.set_config(nullptr);  // the gate opens: stock Slurm starts managed jobs
  finish();
}

void Loop::step() {
  const WakeReason reason = config_ == nullptr
                                ? WakeReason::kTick
                                : pacer_.wait(config_->round_interval, resizer_.looks_soon());
  if (pacer_.stopping()) return;
  const bool paused = pause_changed();
  if (reconfigure_.exchange(false) || paused) take_config_guarded();
  if (config_ == nullptr) return pacer_.sleep(kFailedRest);
  if (config_->injected(Fault::kStopLoop)) return;  // neither beats nor looks
  pair_.beat();
  tend_guarded();
  if (!is_due(reason)) return;
  cycle_guarded();
  pair_.beat();
}

void Loop::finish() noexcept {
  tend_guarded();
  guard(
      end_entry,
      [this] {
        // Since 24.11 a reconfigure ends this process, and these reports with it.
        recorder_.process_messages(pair_.take_late_reports(), memory_);
        keep_waiting();
        if (state_loaded_) publisher_.set_memory(memory_);
        if (!failing_) publish(true);
      },
      [] {});
  guard(
      end_entry, [this] { end_threads(); }, [] {});
}

// A reconfigure may end this process before its first snapshot, which shows whose reports they are.
void Loop::keep_waiting() {
  const std::string trouble = keep_waiting_messages(waiting_path(), recorder_.waiting());
  if (!trouble.empty()) log().warn("reports that wait are lost: {}", trouble);
}

void Loop::tend_guarded() noexcept {
  guard(
      record_entry,
      [this] {
        if (config_ == nullptr) return;
        std::vector<JobMessage> messages = pair_.take_job_messages();
        resizer_.hear(messages);
        recorder_.process_messages(std::move(messages), memory_);
        models_.feed(*config_, recorder_);
        launch_check_.act(*config_, times_, clock_->now());
        publisher_.offer_models(*config_, recorder_, models_.learning());
        // The last round came within PublishInterval of the one before.
        if (publisher_.unpublished() && !failing_) publish(false);
      },
      [] {});
}

bool Loop::is_due(WakeReason reason) {
  const bool busy = stats_.pending > 0 || recorder_.news();
  if (resizer_.due(memory_, clock_->now())) return true;
  if (reason == WakeReason::kEvent || !has_plan_ || (reason == WakeReason::kTick && busy))
    return true;
  // While nothing happens, readers of the files must still see the heartbeat.
  if (reason == WakeReason::kTick &&
      publisher_.since_publish() >= config_->heartbeat_timeout * kIdlePublish)
    return true;
  // Some changes come without a wake: a node that came back, an update by an admin.
  if (reason != WakeReason::kPeek) return snapshots_.is_outdated();
  if (snapshots_.completing_changed(*config_)) return true;
  pacer_.peek_later();
  return false;
}

bool Loop::pause_changed() {
  const std::optional<Pause> pause = read_pause(state_dir_, clock_->now());
  if (pause == pause_) return false;
  const bool changed = pause.has_value() != pause_.has_value();
  pause_ = pause;
  if (changed && pause) log().warn("paused by rubato pause: stock Slurm starts all jobs");
  if (changed && !pause) log().info("the pause has ended: rubato.conf says the mode again");
  return changed;
}

void Loop::take_config_guarded() noexcept {
  guard(
      config_entry, [this] { take_config(); },
      [this] { reconfigure_ = true; });  // it is read again in the next step
}

void Loop::take_config() {
  config_ = in_effect(config_source_.read(), pause_.has_value());
  pair_.set_config(config_);
  set_log_level(config_->log_level);
  snapshots_.read_all_next();
  recorder_.configure(config_);
  if (!waiting_restored_) recorder_.restore_waiting(take_waiting_messages(waiting_path()));
  waiting_restored_ = true;
  await_models_ = true;
  new_config_ = true;
  launch_check_.reconfigured(clock_->now());
  if (placing_ && !places()) committer_.withdraw(*config_);
  if (reconfigured_first_ && !places()) committer_.withdraw_of_others(*config_);
  reconfigured_first_ = false;
  placing_ = places();
  // The gate closes with the configuration, not with the first cycle: since 24.11 a reconfigure
  // starts a new process, and stock Slurm must not start managed jobs in between.
  pair_.beat();
  snapshots_.check_records_early(*config_);
  PrivateData hidden;
  {
    const HeldLocks locks(LockKind::kConf, LockUse::kPeek, times_);
    if (!locks.held()) return;
    hidden = private_data();
    max_rpcs_ = max_rpc_count();
  }
  publisher_.set_private_data(hidden);
  // Even if the next round fails, what is hidden now must not stay readable.
  if (publisher_.private_data_changed()) publish(false);
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
  pacer_.cycle_ended(duration_cast<SteadyDuration>(
                         duration<double, std::milli>(times_.all.total_ms - held_before_)),
                     std::exchange(round_took_, {}));
  if (pacer_.stopping()) return;
  if (ok) {
    if (std::exchange(failing_, false)) {
      pair_.hand_over(false);
      log().info("scheduling loop recovered; managing jobs again");
    }
    return;
  }
  ++stats_.failed_rounds;
  snapshots_.read_all_next();  // what the failed cycle had read may be lost
  if (!std::exchange(failing_, true))
    log().error("scheduling cycle failed ({}); stock Slurm starts all jobs until it recovers",
                failure_);
  pair_.hand_over(true);
  wake_stock_scheduler();
}

void Loop::load_state(const Snapshot& snapshot) {
  if (state_loaded_) return;
  const std::string text = Publisher::read_state(state_dir_);
  if (!text.empty()) {
    std::string left_out;
    auto memory = memory_from_json(text, snapshot, &left_out);
    if (memory) {
      if (!left_out.empty()) log().warn("{}/state.json: {}", state_dir_, left_out);
      memory_ = std::move(*memory);
      const int later = set_back(memory_, snapshot.taken);
      if (later > 0)
        log().error("{}/state.json has {} times that are later than now; they count as now",
                    state_dir_, later);
    } else {
      log().error("{}/state.json is not used: {}; {}", state_dir_, memory.error().text,
                  Publisher::set_state_aside(state_dir_));
    }
  }
  recall_restarts(state_dir_, snapshot, memory_);
  recorder_.restore(Publisher::read_state(state_dir_, "report.json"),
                    Publisher::read_state(state_dir_, "decisions.json"));
  state_loaded_ = true;  // only now: a failure above is tried again
}

void Loop::notice_clock_step(Seconds taken) {
  const Seconds before = std::exchange(last_taken_, taken);
  if (taken >= before) return;
  const int later = set_back(memory_, taken);
  log().warn("the clock was set back by {} s; {} later times in memory count as now",
             before - taken, later);
}

// What is on the disk counts from the first round on, and other speeds from the first round after
// `scontrol reconfigure`. Both take a moment. This waits for it and holds no lock.
void Loop::await_models() {
  if (config_->off(Mechanism::kLearning)) return;
  const SteadyTime deadline = clock_->steady() + at_most_a_heartbeat(kMaxModelsWait, *config_);
  while (recorder_.opening() && !pacer_.stopping() && clock_->steady() < deadline)
    clock_->sleep_for(kStoreLook);
  tend_guarded();
  models_.await_fit(deadline, pacer_);
  pair_.beat();
}

// Rounds that pass their deadline consider fewer jobs, until they have time to spare.
void Loop::shorten(Snapshot& snapshot) {
  const std::size_t limit =
      config_->off(Mechanism::kRoundSize) ? RoundSize::kAll : round_size_.limit();
  waiting_ = leave_out(snapshot, RoundSize::kAll);
  considered_ = leave_out(snapshot, limit);
  if (std::exchange(shortened_, considered_ < waiting_) == (considered_ < waiting_)) return;
  if (shortened_)
    log().warn("rounds pass RoundDeadline; considering the first {} of {} pending jobs",
               considered_, waiting_);
  else
    log().info("rounds consider all pending jobs again");
}

std::optional<Plan> Loop::decide(const Snapshot& snapshot, const Models& models) {
  const SteadyTime began = clock_->steady();
  if (config_->injected(Fault::kThrowRound)) throw std::runtime_error("injected in a round");
  pacer_.sleep(config_->injected(Fault::kHangRound).value_or(0));
  // At the time of the snapshot, so that its replay gives the same plan.
  Plan plan = round(snapshot, models, *config_, snapshot.taken);
  pacer_.sleep(config_->injected(Fault::kSlowRound).value_or(0) / 1000);
  pacer_.sleep(config_->injected(Fault::kSlowJob).value_or(0) / 1000 *
               static_cast<double>(considered_));
  round_took_ = clock_->steady() - began;
  const double ms = ms_since(*clock_, began);
  round_size_.ended(considered_, waiting_, ms, config_->round_deadline * 1000);
  ++stats_.rounds;
  stats_.round_ms_total += ms;
  stats_.round_ms_longest = std::max(stats_.round_ms_longest, ms);
  if (pacer_.stopping()) return std::nullopt;
  if (ms > config_->round_deadline * 1000) {
    ++stats_.late_rounds;
    throw std::runtime_error("a round took longer than RoundDeadline; its plan was dropped");
  }
  return plan;
}

// A plan of a job with a new model shape needs a fit, which takes milliseconds.
void Loop::await_shapes() {
  if (config_->off(Mechanism::kLearning)) return;
  models_.feed(*config_, recorder_);
  models_.await_fit(clock_->steady() + at_most_a_heartbeat(kMaxShapesWait, *config_), pacer_);
  pair_.beat();
}

void Loop::cycle() {
  if (shutting_down() || scheduling_disabled()) return;
  // As in stock schedule(): requests go first when there are many.
  if (max_rpcs_ > 0 && rpc_count() >= max_rpcs_ && !config_->off(Mechanism::kQuiet)) return;
  held_before_ = times_.all.total_ms;
  full_ = !has_plan_ || seconds_since(*clock_, last_full_) >= config_->round_interval;
  if (full_) last_full_ = clock_->steady();
  if (await_models_) await_models();
  await_models_ = false;
  std::optional<Snapshot> seen = snapshots_.take(*config_, !has_plan_);
  if (!seen) return report_misfit();
  launch_check_.look(*seen, times_);
  publisher_.set_private_data(seen->private_data);
  load_state(*seen);
  resizer_.resume(memory_, seen->taken);
  publisher_.try_open();
  if (new_config_) log_unknown_partitions(*config_, *seen);
  new_config_ = false;
  notice_clock_step(seen->taken);
  if (full_) promote_predictable(memory_);
  seen->memory = memory_;
  if (config_->mode == Mode::kElastic) {
    fill_change_costs(*seen, *config_);
    fill_told(*seen);
  }
  shorten(*seen);
  const auto snapshot = std::make_shared<const Snapshot>(std::move(*seen));
  if (models_.note_jobs(*snapshot, *config_)) await_shapes();
  const std::shared_ptr<const Models> models = models_.models(*config_);
  std::optional<Plan> decided = decide(*snapshot, *models);
  if (pacer_.stopping() || !decided) return;
  auto plan = std::make_shared<Plan>(std::move(*decided));
  const std::uint64_t started_before = committer_.counts().started;
  if (places()) committer_.commit(*snapshot, *plan, *config_, memory_, full_);
  if (places())
    resizer_.act(*snapshot, *models, *config_, *plan);
  else
    resizer_.give_up(plan->memory, snapshot->taken);
  Memory left = plan->memory;  // an assignment that fails would leave a part of it
  memory_ = std::move(left);
  recorder_.record_round(*snapshot, *plan, memory_, committer_.counts().started - started_before);
  recorder_.process_messages(pair_.take_last_reports(recorder_.ended()), memory_);
  recorder_.record_changes(resizer_.take_steps(), snapshot->taken);
  record_ends(*models);
  note_round({.snapshot = snapshot, .plan = plan, .models = models});
  publish(false);
}

void Loop::record_ends(const Models& models) {
  const std::vector<JobKey> completed = snapshots_.completed(recorder_.ended(), *config_);
  if (config_->mode == Mode::kElastic && !config_->off(Mechanism::kUsualWork))
    recorder_.record_works(completed, memory_);
  if (!config_->off(Mechanism::kStatements)) recorder_.record_statements(completed, memory_);
  const auto summaries = recorder_.summarise(completed, models);
  if (!places() || config_->job_summary != "admin-comment") return;
  write_admin_comments(summaries, *config_, times_);
}

// rubato doctor names the record, although no round is made.
void Loop::report_misfit() {
  if (snapshots_.records().text.empty() || snapshots_.records().fit) return;
  publisher_.try_open();
  publisher_.publish_stats(*config_, [this](bool breakdown) { return stats_text(breakdown); });
}

void Loop::note_round(const RoundRecord& round) {
  stats_.pending = round.plan->explanations.size();
  stats_.managed_pending = 0;
  for (const Job& job : round.snapshot->jobs)
    if (job.state == JobState::kPending && job.managed) ++stats_.managed_pending;
  const auto& nodes = round.snapshot->nodes;
  pacer_.round_ended(
      stats_.pending > 0 &&
      std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.coming; }));
  if (const auto event = pacer_.event()) {
    ++stats_.wakes;
    const double ms = ms_since(*clock_, *event);
    ++stats_.wake_rounds;
    stats_.wake_ms_total += ms;
    stats_.wake_ms_longest = std::max(stats_.wake_ms_longest, ms);
  }
  has_plan_ = true;
  publisher_.set_round(round, full_);
}

void Loop::publish(bool last) {
  if (config_ == nullptr) return;
  publisher_.publish(last, *config_, recorder_,
                     [this](bool breakdown) { return stats_text(breakdown); });
}

std::string Loop::stats_text(bool breakdown) const {
  return stats_json({.config = *config_,
                     .pair = pair_,
                     .loop = stats_,
                     .locks = times_,
                     .commits = committer_.counts(),
                     .recorder = recorder_,
                     .models = models_,
                     .pause = pause_,
                     .now = clock_->now(),
                     .records = snapshots_.records(),
                     .config_good = config_source_.good()},
                    breakdown);
}

// The threads end side by side; one whose disk hangs is left behind.
void Loop::end_threads() {
  const SteadyTime deadline = clock_->steady() + kMaxEnd;
  publisher_.stop();
  models_.stop();
  audit_.stop(deadline);
  recorder_.stop(deadline);
  publisher_.wait_models(deadline);
  models_.wait(deadline);
  publisher_.close();
}

}  // namespace rubato
