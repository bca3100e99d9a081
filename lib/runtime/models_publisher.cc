// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/models_publisher.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lib/base/background_worker.h"
#include "lib/base/log.h"
#include "lib/json/forecasts.h"
#include "lib/json/models_table.h"
#include "lib/json/public_view.h"
#include "lib/runtime/files.h"
#include "lib/store/summary.h"

namespace rubato {

namespace {

ModelsTable table_of(const store::Summary& summary, Seconds now) {
  ModelsTable table;
  table.generated = now;
  for (const store::SummaryRow& row : store::joined(summary.rows())) {
    if (row.job_type.empty()) continue;  // jobs without a type have no profile
    const store::JobTypeGroup& group = row.group;
    table.rows.push_back({.account = row.account,
                          .job_type = row.job_type,
                          .shared = row.shared,
                          .gpu_type = row.gpu_type,
                          .gpus = row.gpus,
                          .nodes = group.nodes,
                          .plan = group.plan,
                          .batch = group.batch,
                          .samples = group.samples,
                          .flagged = group.flagged,
                          .flags = {group.flags.begin(), group.flags.end()},
                          .jobs = group.jobs,
                          .throughput_mean = group.mean_throughput,
                          .throughput_min = group.min_throughput,
                          .throughput_max = group.max_throughput,
                          .throughput_last = group.last_throughput,
                          .last = group.last});
  }
  std::sort(table.rows.begin(), table.rows.end());
  return table;
}

}  // namespace

// Keeps the latest offer until models.json shows it.
class ModelsPublisher::OfferInbox {
 public:
  using Offer = ModelsOffer;
  static constexpr bool kDrain = false;

  struct Outcome {
    ModelsOffer done;        ///< the last offer that was read
    bool unwritten = false;  ///< the file is older than the table
    SteadyTime not_before{};
  };

  void put(ModelsOffer offer) {
    if (next_ == offer) return;
    next_ = std::move(offer);
  }

  // A burst of new samples is read once. A change of what is hidden does not wait.
  [[nodiscard]] std::optional<SteadyTime> due() const {
    if (!next_ || (!last_.unwritten && *next_ == last_.done)) return std::nullopt;
    const bool urgent =
        next_->hidden != last_.done.hidden || next_->publish_dir != last_.done.publish_dir;
    return urgent ? SteadyTime{} : last_.not_before;
  }

  [[nodiscard]] ModelsOffer take() {
    taken_ = *next_;
    return taken_;
  }

  void finish(Outcome outcome) {
    last_ = std::move(outcome);
    if (next_ == taken_) next_.reset();
  }

 private:
  std::optional<ModelsOffer> next_;
  ModelsOffer taken_;
  Outcome last_;
};

// Reads the database and writes the file. Used by its thread alone.
class ModelsPublisher::Task {
 public:
  using Inbox = OfferInbox;
  using Outcome = OfferInbox::Outcome;

  explicit Task(std::shared_ptr<const Clock> clock) : clock_(std::move(clock)) {}

  [[nodiscard]] Outcome work(const ModelsOffer& offer);
  [[nodiscard]] Outcome failed(const char* what) {
    last_.unwritten = true;  // what the summary had read as new may not be in the file
    report(what);
    return last_;
  }

 private:
  [[nodiscard]] bool write(const ModelsOffer& offer);
  void report(const std::string& error);

  const std::shared_ptr<const Clock> clock_;
  std::optional<store::Summary> summary_;
  Outcome last_;
  SteadyTime whole_at_{};
  std::string last_error_;
  WriteLog write_log_;
};

void ModelsPublisher::Task::report(const std::string& error) {
  if (error == last_error_) return;
  last_error_ = error;
  if (error.empty())
    log().info("models.json is up to date again");
  else
    log().error("models.json is not up to date: {}", error);
}

bool ModelsPublisher::Task::write(const ModelsOffer& offer) {
  ModelsTable table = table_of(*summary_, clock_->now());
  if (offer.models != nullptr && offer.models->throughput_model() != nullptr)
    table.forecasts = forecasts_of(table, *offer.models->throughput_model(), offer.gpu_types);
  if (offer.models != nullptr && offer.models->throughput_model() != nullptr) {
    table.merged = static_cast<std::int64_t>(offer.models->throughput_model()->merged());
    table.dropped = static_cast<std::int64_t>(offer.models->throughput_model()->dropped());
  }
  if (offer.models != nullptr && offer.models->throughput_model() != nullptr)
    table.most_informative =
        most_informative_of(*offer.models->throughput_model(), offer.gpu_types, offer.shared);
  if (offer.learning != nullptr) {
    table.errors = errors_of(offer.learning->errors, offer.shared);
    table.refusals = refusals_of(offer.learning->refusals, offer.shared);
  }
  return publish_file("models.json", to_json(public_view(table, offer.hidden)) + "\n",
                      offer.hidden.any() ? to_json(table) + "\n" : "", offer.publish_dir,
                      offer.private_dir, [&](const std::string& path, const std::string& error) {
                        // The other publisher logs errors of folders.
                        if (path == offer.publish_dir || path == offer.private_dir) return;
                        const WriteLog::Line line = write_log_.note(path, error, clock_->steady());
                        if (line.text.empty()) return;
                        log().log(line.trouble ? spdlog::level::err : spdlog::level::info, "{}",
                                  line.text);
                      });
}

ModelsPublisher::Task::Outcome ModelsPublisher::Task::work(const ModelsOffer& offer) {
  const auto began = clock_->steady();
  ModelsOffer& done = last_.done;
  if (!summary_ || done.database != offer.database || done.opened != offer.opened)
    summary_.emplace(offer.database);
  const bool whole = whole_at_ == SteadyTime{} || began - whole_at_ >= kWhole;
  const Result<bool> fresh = summary_->refresh(offer.shared, whole);
  const auto read_at = clock_->steady();
  last_.not_before = read_at + std::max<SteadyDuration>(kInterval, 20 * (read_at - began));
  if (!fresh) {
    report(fresh.error().text);
    return last_;
  }
  if (whole) whole_at_ = began;
  ModelsOffer same = offer;
  same.written = done.written;
  // Also when only the configurations or what is hidden changed.
  if (*fresh || last_.unwritten || !(same == done)) last_.unwritten = !write(offer);
  done = offer;
  report("");
  return last_;
}

ModelsPublisher::ModelsPublisher(std::shared_ptr<const Clock> clock) {
  auto task = std::make_unique<Task>(clock);
  worker_ = std::make_unique<BackgroundWorker<Task>>(ThreadOptions{.name = "rubato_models"},
                                                     std::move(clock), std::move(task));
}

ModelsPublisher::~ModelsPublisher() = default;

void ModelsPublisher::offer(ModelsOffer offer) { worker_->offer(std::move(offer)); }

void ModelsPublisher::stop() { worker_->stop(); }

bool ModelsPublisher::wait(SteadyTime deadline) { return worker_->wait(deadline); }

}  // namespace rubato
