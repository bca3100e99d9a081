// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/select/gate.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "plugin/common/slurm_log.h"

namespace rubato {

namespace {

// A submit call and its placement test run in one thread within this time.
constexpr Gate::Nanoseconds kSecond = 1'000'000'000;
constexpr Gate::Nanoseconds kSubmitWindow = 5 * kSecond;

struct SubmitNote {
  bool immediate = false;
  std::uint32_t uid = 0;
  Gate::Nanoseconds at = 0;
  std::optional<JobId> job = {};  // the one that asked first
};

thread_local const StartScope* this_start = nullptr;
thread_local bool this_is_backfill = false;
thread_local SubmitNote this_submit;

Gate::Nanoseconds steady_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Gate::Gate(Nanoseconds (*clock)()) : clock_(clock != nullptr ? clock : steady_now) {}

void Gate::set_config(std::shared_ptr<const Config> config) {
  const std::lock_guard lock(mutex_);
  config_ = std::move(config);
}

std::shared_ptr<const Config> Gate::config() const {
  const std::lock_guard lock(mutex_);
  return config_;
}

void Gate::beat() noexcept { beat_.store(clock_(), std::memory_order_release); }

std::optional<double> Gate::beat_age() const noexcept {
  const Nanoseconds last = beat_.load(std::memory_order_acquire);
  if (last == 0) return std::nullopt;
  return static_cast<double>(clock_() - last) * 1e-9;
}

void Gate::hand_over(bool on) noexcept { handed_over_.store(on); }

void Gate::set_records_checked(bool ok) noexcept { records_ok_.store(ok); }

void Gate::set_waker(Waker* waker) noexcept {
  const std::lock_guard lock(waker_mutex_);
  waker_ = waker;
}

void Gate::wake() noexcept {
  if (const auto config = this->config(); config != nullptr && config->off(Mechanism::kWake))
    return;
  const std::lock_guard lock(waker_mutex_);
  if (waker_ != nullptr) waker_->wake();
}

void Gate::set_reserved(std::vector<ReservedNodes> reserved) {
  const std::lock_guard lock(mutex_);
  reserved_ = std::move(reserved);
}

void Gate::set_asked(std::vector<AskedJob> jobs) {
  std::ranges::sort(jobs, {}, &AskedJob::job);
  const std::lock_guard lock(mutex_);
  asked_ = std::move(jobs);
}

std::vector<JobId> Gate::asked() const {
  const std::lock_guard lock(mutex_);
  std::vector<JobId> jobs;
  for (const AskedJob& one : asked_) jobs.push_back(one.job);
  return jobs;
}

bool Gate::asks_backfill(JobId job) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::binary_search(asked_, job, {}, &AskedJob::job);
}

void Gate::forget_nodes() noexcept {
  const std::lock_guard lock(mutex_);
  reserved_.clear();
  asked_.clear();
}

void Gate::enter_start(const StartScope* scope) noexcept { this_start = scope; }

bool Gate::in_start() noexcept { return this_start != nullptr; }

void Gate::mark_backfill_thread(bool on) noexcept { this_is_backfill = on; }

void Gate::note_submit(std::uint32_t uid, bool immediate) noexcept {
  this_submit = {.immediate = immediate, .uid = uid, .at = clock_()};
}

// Slurm 24.11 answers the next request in the same thread, so the note is for one job: the first of
// this user that was submitted after the note. Slurm's times have whole seconds.
bool Gate::asked_immediately(const GateQuestion& question) const noexcept {
  if (!this_submit.immediate || this_submit.uid != question.uid) return false;
  const Nanoseconds age = clock_() - this_submit.at;
  if (age >= kSubmitWindow) return false;
  if (!this_submit.job) {
    if (question.now - question.submit > age / kSecond + 1) return false;
    this_submit.job = question.job;
  }
  return this_submit.job == question.job;
}

PostResult Gate::post(JobMessage job_message) {
  const std::shared_ptr<const Config> config = this->config();
  if (config == nullptr || !beat_age()) return message_queue_.refuse_off();
  return message_queue_.post(job_message,
                             config->off(Mechanism::kMessageRate) ? 0 : config->message_interval);
}

std::vector<JobMessage> Gate::take_job_messages() { return message_queue_.take(); }

std::vector<JobMessage> Gate::take_last_reports(const std::vector<JobKey>& ended) {
  return message_queue_.take_last_reports(ended);
}

std::vector<JobMessage> Gate::take_late_reports() { return message_queue_.take_late_reports(); }

void Gate::count_message_fault(MessageFault fault) noexcept { message_queue_.note(fault); }

MessageStats Gate::message_stats() const { return message_queue_.stats(); }

void Gate::note_hints(const HintStats& more) noexcept {
  const std::lock_guard lock(hints_mutex_);
  hints_.jobs += more.jobs;
  hints_.refused += more.refused;
  hints_.updates += more.updates;
  hints_.updates_refused += more.updates_refused;
}

HintStats Gate::hint_stats() const {
  const std::lock_guard lock(hints_mutex_);
  return hints_;
}

GateStats Gate::stats() const {
  const std::shared_ptr<const Config> config = this->config();
  return {.refused_run_now = refused_run_now_,
          .refused_will_run = refused_will_run_,
          .masked = masked_,
          .immediate = immediate_,
          .opened = opened_,
          .open = config == nullptr || !closed(*config)};
}

bool Gate::closed(const Config& config) const noexcept {
  if (config.mode == Mode::kObserve || !records_ok_ || handed_over_ || config.off(Mechanism::kGate))
    return false;
  return beats(config);
}

bool Gate::beats(const Config& config) const noexcept {
  const std::optional<double> age = beat_age();
  if (!age) return false;
  return config.off(Mechanism::kHeartbeat) || *age <= static_cast<double>(config.heartbeat_timeout);
}

// Logs only a stopped heartbeat: the loop itself logs a missing configuration and a failed cycle.
void Gate::note_open(bool open) noexcept {
  if (said_open_.exchange(open) == open) return;
  const std::optional<double> age = beat_age();
  if (open && age) {
    opened_.fetch_add(1);
    slurm_log(LogLevel::kInfo,
              "rubato: the gate is open (last heartbeat %.1f s ago): stock Slurm starts all jobs",
              *age);
  } else if (!open) {
    slurm_log(LogLevel::kInfo, "rubato: the gate is closed: Rubato starts the managed jobs");
  }
}

GateAnswer Gate::answer(const GateQuestion& question) {
  using Kind = GateQuestion::Kind;
  const std::shared_ptr<const Config> config = this->config();
  if (config == nullptr) return {};
  if (this_start != nullptr) {
    if (question.kind != Kind::kRunNow) return {};
    return {.kind = GateAnswer::Kind::kNarrow, .scope = this_start, .masked = {}};
  }
  if (!question.real_job || question.zero_nodes || question.kind == Kind::kOther) return {};
  if (config->injected(Fault::kThrowGate)) throw std::runtime_error("injected at the gate");

  const bool is_closed = closed(*config);
  note_open(!is_closed);
  if (!this_is_backfill && question.kind != Kind::kWillRun) wake();
  if (question.owed && question.kind == Kind::kRunNow && beats(*config))
    return {.kind = GateAnswer::Kind::kRefuse, .scope = nullptr, .masked = {}};
  if (!is_closed) return {};
  return question.managed ? answer_managed(question, *config) : answer_masked(question, *config);
}

GateAnswer Gate::answer_managed(const GateQuestion& question, const Config& config) {
  if (question.kind == GateQuestion::Kind::kTestOnly) return {};
  if (this_is_backfill && asks_backfill(question.job)) return answer_masked(question, config);
  if (question.kind == GateQuestion::Kind::kWillRun) {
    // In stock backfill this test would reserve whole nodes for the job; elsewhere a user asks.
    if (!this_is_backfill || config.off(Mechanism::kWillrun)) return {};
    refused_will_run_.fetch_add(1, std::memory_order_relaxed);
    return {.kind = GateAnswer::Kind::kRefuse,
            .scope = nullptr,
            .masked = {},
            .backfill_test = !config.off(Mechanism::kDepth)};
  }
  if (asked_immediately(question) && !config.off(Mechanism::kImmediate)) {
    immediate_.fetch_add(1, std::memory_order_relaxed);
    return answer_masked(question, config);
  }
  refused_run_now_.fetch_add(1, std::memory_order_relaxed);
  return {.kind = GateAnswer::Kind::kRefuse, .scope = nullptr, .masked = {}};
}

GateAnswer Gate::answer_masked(const GateQuestion& question, const Config& config) {
  if (question.kind == GateQuestion::Kind::kTestOnly) return {};
  // Outside of backfill a user asks when the job would start (sbatch --test-only).
  if (question.kind == GateQuestion::Kind::kWillRun && !this_is_backfill) return {};
  if (config.off(Mechanism::kResvMask)) return {};
  GateAnswer answer;
  const std::lock_guard lock(mutex_);
  for (const ReservedNodes& reserved : reserved_) {
    const bool ends_before = question.end <= reserved.start && question.end < kForever;
    // Slurm's priority orders the jobs that Rubato does not order itself.
    const bool above = !question.managed && question.priority > reserved.priority;
    const bool goes_first =
        question.tier > reserved.tier || (question.tier == reserved.tier && above);
    if (ends_before || goes_first || reserved.job == question.job) continue;
    answer.masked.insert(answer.masked.end(), reserved.nodes.begin(), reserved.nodes.end());
  }
  const auto asked = std::ranges::lower_bound(asked_, question.job, {}, &AskedJob::job);
  if (question.managed && asked != asked_.end() && asked->job == question.job)
    answer.masked.insert(answer.masked.end(), asked->closed.begin(), asked->closed.end());
  if (answer.masked.empty()) return answer;
  std::sort(answer.masked.begin(), answer.masked.end());
  answer.masked.erase(std::unique(answer.masked.begin(), answer.masked.end()), answer.masked.end());
  answer.kind = GateAnswer::Kind::kMask;
  masked_.fetch_add(1, std::memory_order_relaxed);
  return answer;
}

}  // namespace rubato
