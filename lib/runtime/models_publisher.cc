// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/models_publisher.h"

#include <pthread.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "lib/base/log.h"
#include "lib/json/forecasts.h"
#include "lib/json/models_table.h"
#include "lib/json/public_view.h"
#include "lib/runtime/files.h"
#include "lib/store/summary.h"

namespace rubato {

namespace {

using Steady = std::chrono::steady_clock;

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

struct ModelsPublisher::Shared {
  std::shared_ptr<const store::Clock> clock;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<ModelsOffer> next;  // under mutex
  bool stop = false;                // under mutex
  bool ended = false;               // under mutex

  // of the thread
  std::optional<store::Summary> summary;
  ModelsOffer done;
  Steady::time_point not_before{};
  Steady::time_point whole_at{};
  std::string last_error;
  WriteLog said;
  bool unwritten = false;  ///< what the file shows is older than the table

  void run();
  void work(const ModelsOffer& offer);
  [[nodiscard]] bool write(const ModelsOffer& offer);
  void report(const std::string& error);
};

void ModelsPublisher::Shared::report(const std::string& error) {
  if (error == last_error) return;
  last_error = error;
  if (error.empty())
    log().info("models.json follows the store again");
  else
    log().error("models.json is not up to date: {}", error);
}

bool ModelsPublisher::Shared::write(const ModelsOffer& offer) {
  ModelsTable table = table_of(*summary, clock->now());
  if (offer.models != nullptr && offer.models->throughput_model() != nullptr)
    table.forecasts = forecasts_of(table, *offer.models->throughput_model(), offer.gpu_types);
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
                        // Of the folders the other publisher speaks.
                        if (path == offer.publish_dir || path == offer.private_dir) return;
                        const WriteLog::Line line = said.note(path, error);
                        if (line.text.empty()) return;
                        log().log(line.trouble ? spdlog::level::err : spdlog::level::info, "{}",
                                  line.text);
                      });
}

void ModelsPublisher::Shared::work(const ModelsOffer& offer) {
  const auto began = Steady::now();
  if (!summary || done.database != offer.database || done.opened != offer.opened)
    summary.emplace(offer.database);
  const bool whole = whole_at == Steady::time_point{} || began - whole_at >= kWhole;
  const Result<bool> fresh = summary->refresh(offer.shared, whole);
  const auto took = Steady::now() - began;
  not_before = Steady::now() + std::max<Steady::duration>(kInterval, 20 * took);
  if (!fresh) return report(fresh.error().text);
  if (whole) whole_at = began;
  ModelsOffer same = offer;
  same.written = done.written;
  // Also when only the places or what is hidden changed.
  if (*fresh || unwritten || !(same == done)) unwritten = !write(offer);
  done = offer;
  report("");
}

void ModelsPublisher::Shared::run() {
  pthread_setname_np(pthread_self(), "rubato_models");
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return stop || (next && (unwritten || !(*next == done))); });
    // A burst of new samples is read once; what is hidden now is hidden at once.
    changed.wait_until(lock, not_before, [this] {
      return stop || next->hidden != done.hidden || next->publish_dir != done.publish_dir;
    });
    if (stop) break;
    const ModelsOffer offer = *next;
    lock.unlock();
    try {
      work(offer);
    } catch (const std::exception& e) {
      report(e.what());
    }
    lock.lock();
    if (next == offer) next.reset();
  }
  ended = true;
  changed.notify_all();
}

ModelsPublisher::ModelsPublisher(std::shared_ptr<const store::Clock> clock)
    : shared_(std::make_shared<Shared>()) {
  shared_->clock = std::move(clock);
  // Never joined: whether it ended is known from `ended`.
  std::thread([shared = shared_] { shared->run(); }).detach();
}

ModelsPublisher::~ModelsPublisher() { stop(); }

void ModelsPublisher::offer(ModelsOffer offer) {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->next == offer) return;
  shared_->next = std::move(offer);
  shared_->changed.notify_all();
}

void ModelsPublisher::stop() {
  const std::lock_guard lock(shared_->mutex);
  shared_->stop = true;
  shared_->changed.notify_all();
}

bool ModelsPublisher::wait(Steady::time_point deadline) {
  std::unique_lock lock(shared_->mutex);
  return shared_->changed.wait_until(lock, deadline, [this] { return shared_->ended; });
}

}  // namespace rubato
