// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/state_publisher.h"

#include <algorithm>
#include <bit>
#include <exception>
#include <utility>

#include "lib/base/log.h"
#include "plugin/sched/model_source.h"

namespace rubato {

namespace {

constexpr double kStateInterval = 2.0;  // seconds
// Files of a large cluster are written less often, so that each kind takes at most this part of the
// time of one core.
constexpr double kShare = 0.05;

}  // namespace

double write_interval(double interval, double needed) {
  return std::max(interval, needed / kShare);
}

void StatePublisher::try_open() noexcept {
  if (publisher_ != nullptr) return;
  try {
    publisher_ = std::make_unique<Publisher>(state_dir_, clock_);
  } catch (const std::exception& error) {
    if (std::has_single_bit(++open_failures_))
      log_failure("the thread that publishes cannot be started yet: %s", error.what());
  }
}

void StatePublisher::set_private_data(const PrivateData& hidden) {
  if (hidden == hidden_) return;
  hidden_ = hidden;
  hidden_changed_ = true;
}

void StatePublisher::set_round(RoundRecord round, bool full) {
  round_ = std::move(round);
  memory_ = nullptr;
  unpublished_ = true;
  if (!full) return;
  gpu_types_.clear();
  for (const Node& node : round_.snapshot->nodes)
    for (const GpuGroup& group : node.gpus) gpu_types_.insert(group.type);
}

std::string StatePublisher::publish_dir(const Config& config) const {
  return config.publish_dir.empty() ? state_dir_ + "/publish" : config.publish_dir;
}

void StatePublisher::publish(bool last, const Config& config, Recorder& recorder,
                             const StatsText& stats) {
  if (publisher_ == nullptr || round_.snapshot == nullptr || config.off(Mechanism::kPublish))
    return;
  const bool now = last || hidden_changed_;
  const bool due = now || seconds_since(*clock_, last_publish_) >= config.publish_interval;
  if (!due) return;
  const SteadyTime at = clock_->steady();
  const PublishTimes times = publisher_->times();
  const auto over = [&](SteadyTime since, double interval, double needed) {
    return seconds_since(*clock_, since) >= write_interval(interval, needed);
  };
  PublishedState published;
  published.write_state = last || over(last_state_, kStateInterval, times.state);
  published.write_round = now || over(last_round_, config.publish_interval, times.round);
  published.snapshot = round_.snapshot;
  published.plan = round_.plan;
  published.memory = memory_;
  published.models = round_.models;
  published.starts = recorder.starts();
  published.shared = shared_job_types(config);
  if (!config.off(Mechanism::kPrivateData)) published.hidden = hidden_;
  published.stats = stats(true);
  if (published.hidden.any()) published.open_stats = stats(false);
  published.publish_dir = publish_dir(config);
  published.report = recorder.take_report(last);
  const bool state = published.write_state;
  const bool round = published.write_round;
  publisher_->offer(std::move(published));
  // Only now: what failed above is offered again in the next cycle.
  hidden_changed_ = false;
  last_publish_ = at;
  if (state) last_state_ = at;
  if (round) {
    last_round_ = at;
    unpublished_ = false;
  }
}

void StatePublisher::publish_stats(const Config& config, const StatsText& stats) {
  if (publisher_ == nullptr || config.off(Mechanism::kPublish)) return;
  if (seconds_since(*clock_, last_publish_) < config.publish_interval) return;
  PublishedState published;
  published.write_round = false;
  if (!config.off(Mechanism::kPrivateData)) published.hidden = hidden_;
  published.stats = stats(true);
  if (published.hidden.any()) published.open_stats = stats(false);
  published.publish_dir = publish_dir(config);
  publisher_->offer(std::move(published));
  last_publish_ = clock_->steady();
}

void StatePublisher::offer_models(const Config& config, const Recorder& recorder,
                                  std::shared_ptr<const Learning> learning) {
  if (config.off(Mechanism::kPublish) || !recorder.ready()) return;
  if (models_ == nullptr) models_ = std::make_unique<ModelsPublisher>(clock_);
  ModelsOffer offer;
  offer.written = recorder.written();
  offer.database = recorder.database();
  offer.opened = recorder.opened();
  offer.shared = shared_job_types(config);
  offer.models = round_.models;
  offer.gpu_types = gpu_types_;
  offer.learning = std::move(learning);
  offer.publish_dir = publish_dir(config);
  offer.private_dir = state_dir_ + "/private";
  if (!config.off(Mechanism::kPrivateData)) offer.hidden = hidden_;
  models_->offer(std::move(offer));
}

void StatePublisher::stop() {
  if (publisher_ != nullptr) publisher_->stop();
  if (models_ != nullptr) models_->stop();
}

void StatePublisher::wait_models(SteadyTime deadline) {
  if (models_ != nullptr && !models_->wait(deadline))
    log().warn("the thread that writes models.json did not end in time; leaving it behind");
}

}  // namespace rubato
