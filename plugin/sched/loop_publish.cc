// SPDX-License-Identifier: GPL-2.0-or-later
// What the loop hands to the threads that write files, and how those end.
#include <utility>

#include "lib/store/folder.h"
#include "plugin/pair/logger.h"
#include "plugin/sched/loop.h"

namespace rubato {

namespace {

constexpr double kStateInterval = 2.0;  // seconds
constexpr auto kLongestEnd = std::chrono::milliseconds(450);

double seconds_since(Loop::Clock::time_point since) {
  return std::chrono::duration<double>(Loop::Clock::now() - since).count();
}

}  // namespace

void Loop::publish(bool last) {
  if (publisher_ == nullptr || snapshot_ == nullptr || config_->off("publish")) return;
  const bool due = last || std::exchange(hidden_changed_, false) ||
                   seconds_since(last_publish_) >= config_->publish_interval;
  if (!due) return;
  last_publish_ = Clock::now();
  Published published;
  published.write_state = last || seconds_since(last_state_) >= kStateInterval;
  if (published.write_state) last_state_ = last_publish_;
  published.snapshot = snapshot_;
  published.plan = plan_;
  if (!config_->off("private-data")) published.hidden = hidden_;
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
  if (config_->off("publish") || !recorder_.ready()) return;
  if (models_ == nullptr)
    models_ = std::make_unique<ModelsPublisher>(std::make_shared<store::SystemClock>());
  ModelsOffer offer;
  offer.written = recorder_.written();
  offer.database = recorder_.folder() + "/" + store::kDatabaseName;
  for (const JobTypeConfig& type : config_->job_types)
    if (type.shared) offer.shared.insert(type.name);
  offer.publish_dir = publish_dir();
  offer.private_dir = state_dir_ + "/private";
  if (!config_->off("private-data")) offer.hidden = hidden_;
  models_->offer(std::move(offer));
}

void Loop::see_private_data(const PrivateData& hidden) {
  if (hidden == hidden_) return;
  hidden_ = hidden;
  hidden_changed_ = true;
}

// The threads end side by side; one whose disk hangs is left behind.
void Loop::end_threads() {
  const auto deadline = Clock::now() + kLongestEnd;
  if (publisher_ != nullptr) publisher_->stop();
  if (models_ != nullptr) models_->stop();
  recorder_.stop(deadline);
  if (models_ != nullptr && !models_->wait(deadline))
    log().warn("the thread that writes models.json is left behind");
  publisher_.reset();
}

}  // namespace rubato
