// SPDX-License-Identifier: GPL-2.0-or-later
// What the loop hands to the threads that write files, and how those end.
#include <algorithm>
#include <thread>
#include <utility>

#include "lib/base/log.h"
#include "lib/store/folder.h"
#include "plugin/sched/loop.h"

namespace rubato {

namespace {

constexpr double kStateInterval = 2.0;  // seconds
constexpr double kDaySeconds = 86400;
constexpr auto kMaxEnd = std::chrono::milliseconds(450);
constexpr auto kMaxModelsWait = std::chrono::milliseconds(2000);
constexpr auto kLook = std::chrono::milliseconds(10);  // at whether the loop is to stop

double seconds_since(Loop::Clock::time_point since) {
  return std::chrono::duration<double>(Loop::Clock::now() - since).count();
}

}  // namespace

void Loop::publish(bool last) {
  if (publisher_ == nullptr || snapshot_ == nullptr || config_->off(Mechanism::kPublish)) return;
  const bool due = last || std::exchange(hidden_changed_, false) ||
                   seconds_since(last_publish_) >= config_->publish_interval;
  if (!due) return;
  last_publish_ = Clock::now();
  unpublished_ = false;
  PublishedState published;
  published.write_state = last || seconds_since(last_state_) >= kStateInterval;
  if (published.write_state) last_state_ = last_publish_;
  published.snapshot = snapshot_;
  published.plan = plan_;
  published.models = used_;
  published.starts = recorder_.starts();
  published.shared = shared_types();
  if (!config_->off(Mechanism::kPrivateData)) published.hidden = hidden_;
  published.stats = stats_json(true);
  if (published.hidden.any()) published.open_stats = stats_json(false);
  published.report = recorder_.take_report(last);
  published.publish_dir = publish_dir();
  publisher_->offer(std::move(published));
}

std::string Loop::publish_dir() const {
  return config_->publish_dir.empty() ? state_dir_ + "/publish" : config_->publish_dir;
}

void Loop::offer_models() {
  if (config_->off(Mechanism::kPublish) || !recorder_.ready()) return;
  if (models_ == nullptr)
    models_ = std::make_unique<ModelsPublisher>(std::make_shared<SystemClock>());
  ModelsOffer offer;
  offer.written = recorder_.written();
  offer.database = recorder_.folder() + "/" + store::kDatabaseName;
  offer.opened = recorder_.opened();
  offer.shared = shared_types();
  offer.models = used_;
  offer.gpu_types = gpu_types_;
  if (feed_ != nullptr) offer.learning = feed_->learning();
  offer.publish_dir = publish_dir();
  offer.private_dir = state_dir_ + "/private";
  if (!config_->off(Mechanism::kPrivateData)) offer.hidden = hidden_;
  models_->offer(std::move(offer));
}

std::size_t Loop::learnt_observations() const {
  const auto latest = feed_ == nullptr ? nullptr : feed_->latest();
  return latest == nullptr || latest->throughput_model() == nullptr
             ? 0
             : latest->throughput_model()->observations().size();
}

nlohmann::ordered_json Loop::learning_json() const {
  nlohmann::ordered_json out{{"cells", learnt_observations()}};
  if (feed_ == nullptr) return out;
  const std::shared_ptr<const Learning> learning = feed_->learning();
  out["refused_fits"] = learning->refused_fits;
  out["reports"] = nlohmann::ordered_json::object();
  for (const auto& [use, count] : learning->uses) out["reports"][use] = count;
  return out;
}

std::set<std::string> Loop::shared_types() const {
  std::set<std::string> names;
  for (const JobTypeConfig& type : config_->job_types)
    if (type.shared) names.insert(type.name);
  return names;
}

void Loop::feed_models() {
  if (feed_ == nullptr)
    feed_ = std::make_unique<ModelsFeed>(std::make_shared<SystemClock>(), [this] { wake(); });
  FeedOffer offer;
  offer.speeds = config_->speeds();
  offer.gpu_memory = config_->gpu_memory();
  offer.shared = shared_types();
  if (recorder_.ready()) offer.database = recorder_.folder() + "/" + store::kDatabaseName;
  offer.settled = recorder_.settled();
  offer.orders = recorder_.orders();
  offer.opened = recorder_.opened();
  offer.heard = recorder_.take_pending_samples();
  offer.warm_up = config_->off(Mechanism::kWarmUp) ? 0 : config_->warm_up;
  offer.half_life = config_->model_half_life_days * kDaySeconds;
  feed_->offer(std::move(offer));
}

// What is on the disk counts from the first round on, and other speeds from the first round after
// `scontrol reconfigure`: both take a moment, which this waits for, holding nothing.
void Loop::await_models() {
  if (config_->off(Mechanism::kLearning)) return;
  const auto deadline = Clock::now() + kMaxModelsWait;
  while (recorder_.opening() && !stopping_ && Clock::now() < deadline)
    std::this_thread::sleep_for(kLook);
  tend_guarded();
  while (feed_ != nullptr && !stopping_ && Clock::now() < deadline)
    if (feed_->wait_urgent(std::min(deadline, Clock::now() + kLook))) return;
}

std::shared_ptr<const Models> Loop::models_now() const {
  if (feed_ != nullptr && !config_->off(Mechanism::kLearning))
    if (auto throughput_model = feed_->latest()) return throughput_model;
  return std::make_shared<const Models>(config_->speeds());
}

void Loop::update_private_data(const PrivateData& hidden) {
  if (hidden == hidden_) return;
  hidden_ = hidden;
  hidden_changed_ = true;
}

// The threads end side by side; one whose disk hangs is left behind.
void Loop::end_threads() {
  const auto deadline = Clock::now() + kMaxEnd;
  if (publisher_ != nullptr) publisher_->stop();
  if (models_ != nullptr) models_->stop();
  if (feed_ != nullptr) feed_->stop();
  recorder_.stop(deadline);
  if (models_ != nullptr && !models_->wait(deadline))
    log().warn("the thread that writes models.json is left behind");
  if (feed_ != nullptr && !feed_->wait(deadline))
    log().warn("the thread that learns from reports is left behind");
  publisher_.reset();
}

}  // namespace rubato
