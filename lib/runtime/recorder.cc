// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/recorder.h"

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <exception>
#include <utility>
#include <variant>

#include "lib/base/json_value.h"
#include "lib/base/log.h"
#include "lib/json/json.h"
#include "lib/json/statistics_table.h"
#include "lib/policy/memory.h"
#include "lib/store/folder.h"

namespace rubato {

namespace {

constexpr std::size_t kMaxHeld = 4096;
constexpr auto kReportEvery = std::chrono::seconds(10);
constexpr Seconds kDaySeconds = 86400;

Progress progress_from(const JobMessage& message_in, const Report& report, const RunFacts& facts) {
  return {.job = message_in.job,
          .restarts = message_in.restarts,
          .time = message_in.time,
          .samples = report.samples,
          .throughput = report.throughput,
          .batch = report.batch,
          .gpus = facts.held.gpus,
          .loss = report.loss,
          .noise = report.noise};
}

ProgressReport progress_report_from(const JobMessage& message_in, const Report& report,
                                    const RunFacts& facts) {
  return {.time = message_in.time,
          .samples = report.samples,
          .throughput = report.throughput,
          .batch = report.batch,
          .loss = report.loss,
          .restarts = message_in.restarts,
          .gpus = facts.held.gpus,
          .start = facts.start};
}

}  // namespace

Recorder::Recorder(std::string state_dir, std::shared_ptr<const Clock> clock)
    : state_dir_(std::move(state_dir)), clock_(std::move(clock)) {}

void Recorder::configure(std::shared_ptr<const Config> config) {
  config_ = std::move(config);
  try_open_store();
}

void Recorder::try_open_store() noexcept {
  try {
    open_store();
  } catch (const std::exception& error) {
    if (std::has_single_bit(++open_failures_))
      log_failure("the thread of the store cannot be started yet: %s", error.what());
  }
}

void Recorder::open_store() {
  if (store_ != nullptr || config_ == nullptr || config_->off(Mechanism::kStore)) return;
  store::StoreOptions options;
  options.folder = config_->store_dir.empty() ? state_dir_ : config_->store_dir;
  options.orders = !config_->off(Mechanism::kOrders);
  options.retention.max_age = config_->store_retention_days * kDaySeconds;
  folder_ = options.folder;
  // Readable for all: the published files lie below it. The store would make it private.
  if (config_->store_dir.empty()) (void)mkdir(state_dir_.c_str(), 0755);
  store_ = std::make_unique<store::Store>(std::move(options), clock_);
}

void Recorder::restore(const std::string& report, const std::string& decisions) {
  if (!decisions.empty()) {
    auto records = decisions_from_json(decisions);
    if (records)
      starts_.restore(std::move(*records));
    else
      log().error("{}/decisions.json is not used: {}", state_dir_, records.error().text);
  }
  if (report.empty()) return;
  auto periods = Periods::from_json(report);
  if (periods)
    periods_ = std::move(*periods);
  else
    log().error("{}/report.json is not used: {}", state_dir_, periods.error().text);
}

bool Recorder::storing() const { return store_ != nullptr && !config_->off(Mechanism::kStore); }

std::int64_t Recorder::push(store::AnyRecord entry) {
  // What is dropped is counted there.
  return storing() && store_->push(std::move(entry)) ? ++accepted_ : 0;
}

std::int64_t Recorder::written() const {
  if (!storing()) return 0;
  const store::StoreStats stats = store_->stats();
  return stats.written + stats.orders;
}

std::int64_t Recorder::orders() const { return storing() ? store_->stats().orders : 0; }

bool Recorder::ready() const {
  return storing() && store_->stats().state == store::StoreState::kReady;
}

std::string Recorder::database() const { return folder_ + "/" + store::kDatabaseName; }

std::int64_t Recorder::opened() const { return storing() ? store_->stats().opened : 0; }

bool Recorder::opening() const {
  return storing() && store_->stats().state == store::StoreState::kStarting;
}

std::int64_t Recorder::settled() const {
  if (!storing()) return 0;
  const store::StoreStats stats = store_->stats();
  return stats.written + stats.rejected + stats.lost;
}

void Recorder::log_messages() {
  if (store_ == nullptr) return;
  for (const store::StoreMessage& message : store_->take_messages())
    log().log(message.trouble ? spdlog::level::warn : spdlog::level::info, "{}", message.text);
}

void Recorder::process_messages(std::vector<JobMessage> job_messages, Memory& memory) {
  try_open_store();  // if that failed before
  for (JobMessage& message_in : job_messages) {
    if (!std::holds_alternative<Report>(message_in.message)) {
      ++stats_.other;
    } else if (!deliver(message_in, memory)) {
      // The job started after the last snapshot; the next will show it.
      if (held_.size() < kMaxHeld)
        held_.push_back(std::move(message_in));
      else
        ++stats_.unknown;
    }
  }
  log_messages();
}

void Recorder::restore_waiting(std::vector<JobMessage> messages) {
  for (JobMessage& one : messages)
    if (held_.size() < kMaxHeld) held_.push_back(std::move(one));
}

bool Recorder::deliver(const JobMessage& message_in, Memory& memory) {
  RunFacts* facts = running_jobs_.find(message_in.job);
  if (facts == nullptr) return false;
  const Report& report = std::get<Report>(message_in.message);
  ++stats_.reports;
  news_ = true;
  if (facts->managed) ++periods_.at(message_in.time, to_string(config_->mode)).reports;
  const store::JobType type = type_of(*facts);
  fold_report(progress_from(message_in, report, *facts), memory,
              {.profile = {type.shared ? "" : type.account, type.name},
               .batch = facts->batch,
               .work = facts->work});
  if (!config_->off(Mechanism::kPredictability))
    fold_forecast(message_in.job, progress_report_from(message_in, report, *facts), facts->work,
                  memory);
  facts->samples = report.samples;
  facts->throughput = report.throughput;
  if (facts->left != 0) starts_.report_last(message_in.job, *facts);
  if (facts->job_type.empty()) {
    ++stats_.untyped;
  } else {
    if (facts->held.gpus == 0) ++stats_.without_gpu;
    store_report(message_in, report, *facts);
  }
  if (facts->managed) store_job(message_in.job, *facts, message_in.time);
  return true;
}

store::JobType Recorder::type_of(const RunFacts& facts) const {
  const JobTypeConfig* line = config_->job_type(facts.job_type);
  return {
      .account = facts.account, .name = facts.job_type, .shared = line != nullptr && line->shared};
}

void Recorder::store_report(const JobMessage& message_in, const Report& report,
                            const RunFacts& facts) {
  store::Sample sample;
  sample.job = message_in.job;
  sample.restarts = message_in.restarts;
  sample.time = message_in.time;
  sample.run_start = facts.start;
  sample.type = type_of(facts);
  sample.gpu_type = facts.held.type;
  sample.gpus = facts.held.gpus;
  sample.nodes = facts.nodes;
  sample.plan = starts_.plan_told(message_in.job);
  if (sample.plan.empty()) sample.plan = facts.plan;
  sample.batch = report.batch;
  sample.samples_done = report.samples;
  sample.throughput = report.throughput;
  sample.loss = report.loss;
  sample.forward_time = report.forward;
  sample.iteration_time = report.iteration;
  sample.gradient_noise = report.noise;
  sample.sync_time = report.sync;
  sample.optimise_time = report.optimise;
  sample.cores = facts.cores;
  sample.memory = facts.memory;
  sample.workers = static_cast<int>(report.workers.value_or(0));
  sample.servers = static_cast<int>(report.servers.value_or(0));
  sample.server_cores = static_cast<int>(report.server_cores.value_or(0));
  if (storing()) ++stats_.stored;
  const std::int64_t number = push(sample);
  if (number > 0) stats_.last_stored = std::max(stats_.last_stored, sample.time);
  pending_samples_.push_back({.sample = std::move(sample), .number = number});
}

void Recorder::store_job(const JobKey& key, RunFacts& facts, Seconds now) {
  facts.recorded = std::max<Seconds>(now, 1);
  store::JobRecord record;
  record.job = key;
  record.type = type_of(facts);
  record.attained = facts.attained;
  record.samples_done = facts.samples;
  record.restarts = facts.restarts;
  record.updated = now;
  push(std::move(record));
}

JsonValue Recorder::report_json(bool breakdown) const { return periods_.json(breakdown); }

void Recorder::put_store(JsonValue& out) const {
  if (!storing()) {
    put(out, "store.state", "off");
    put(out, "store.trouble",
        config_ != nullptr && config_->off(Mechanism::kStore) ? "TestOff=store"
                                                              : "its thread could not be started");
    return;
  }
  const store::StoreStats stats = store_->stats();
  put(out, "store.state", to_string(stats.state));
  put(out, "store.trouble", stats.trouble);
  put(out, "store.journal_mode", stats.journal_mode);
  put(out, "store.accepted", stats.accepted);
  put(out, "store.dropped", stats.dropped);
  put(out, "store.written", stats.written);
  put(out, "store.flagged", stats.flagged);
  put(out, "store.rejected", stats.rejected);
  put(out, "store.waiting", stats.waiting);
  put(out, "store.batches", stats.batches);
  put(out, "store.failures", stats.failures);
  put(out, "store.removed", stats.removed);
  put(out, "store.orders", stats.orders);
  put(out, "store.reports", stats_.reports);
  put(out, "store.reports_stored", stats_.stored);
  if (stats_.last_stored > 0) put(out, "store.last_report", stats_.last_stored);
  put(out, "store.reports_untyped", stats_.untyped);
  put(out, "store.reports_without_gpu", stats_.without_gpu);
  put(out, "store.reports_unknown", stats_.unknown);
  put(out, "store.other_messages", stats_.other);
}

std::string Recorder::take_report(bool last) {
  const auto now = clock_->steady();
  if (!last && now - report_at_ < kReportEvery) return {};
  report_at_ = now;
  std::string text = periods_.text();
  if (text == last_report_) return {};
  last_report_ = text;
  return text;
}

void Recorder::stop(SteadyTime deadline) {
  if (store_ == nullptr) return;
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - clock_->steady());
  const bool ended = store_->stop(std::max(left, std::chrono::milliseconds(0)));
  log_messages();
  if (ended) return;
  const store::StoreStats stats = store_->stats();
  log().warn("the store did not end in time; leaving its thread behind with {} records",
             stats.waiting);
}

}  // namespace rubato
