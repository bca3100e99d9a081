// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/model_source.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "lib/base/json_value.h"
#include "lib/base/log.h"
#include "lib/json/statistics_table.h"
#include "lib/model/model_versions.h"
#include "lib/policy/algorithms/forecast.h"

namespace rubato {

namespace {

// Maximum number of model shapes, whose fits take about a millisecond per GPU type.
constexpr std::size_t kMaxShapes = 256;
constexpr auto kLook = std::chrono::milliseconds(10);  // interval of looks at stopping()

}  // namespace

std::set<std::string> shared_job_types(const Config& config) {
  std::set<std::string> names;
  for (const JobTypeConfig& type : config.job_types)
    if (type.shared) names.insert(type.name);
  return names;
}

void ModelSource::feed(const Config& config, Recorder& recorder) {
  if (feed_ == nullptr) feed_ = std::make_unique<ModelsFeed>(clock_, wake_);
  FeedOffer offer;
  offer.speeds = config.speeds();
  offer.gpu_memory = config.gpu_memory();
  offer.gpu_links = config.gpu_links();
  offer.shared = shared_job_types(config);
  if (recorder.ready()) offer.database = recorder.database();
  offer.settled = recorder.settled();
  offer.orders = recorder.orders();
  offer.opened = recorder.opened();
  offer.heard = recorder.take_pending_samples();
  const LearnerRules rules = learner_rules(config);
  offer.warm_up = rules.use.warm_up;
  offer.half_life = rules.history.half_life;
  offer.bounds_unproven = rules.bounds_unproven;
  offer.shapes = shapes_;
  feed_->offer(std::move(offer));
}

bool ModelSource::note_jobs(const Snapshot& snapshot, const Config& config) {
  const std::set<ProfileShape> before = std::exchange(shapes_, {});
  for (const Job& job : snapshot.jobs) {
    if (shapes_.size() >= kMaxShapes) break;
    if (!job.hints || !job.hints->model || !job.hints->plans) continue;
    const ProfileName profile = profile_of(job, config);
    if (!profile.job_type.empty()) shapes_.insert({profile, *job.hints->model});
  }
  return !std::includes(before.begin(), before.end(), shapes_.begin(), shapes_.end());
}

void ModelSource::await_fit(SteadyTime deadline, const Pacer& pacer) const {
  while (feed_ != nullptr && !pacer.stopping() && clock_->steady() < deadline)
    if (feed_->wait_urgent(std::min<SteadyTime>(deadline, clock_->steady() + kLook))) return;
}

std::shared_ptr<const Models> ModelSource::models(const Config& config) const {
  if (feed_ != nullptr && !config.off(Mechanism::kLearning))
    if (auto latest = feed_->latest()) return latest;
  return std::make_shared<const Models>(config.speeds());
}

std::shared_ptr<const Learning> ModelSource::learning() const {
  return feed_ == nullptr ? nullptr : feed_->learning();
}

std::size_t ModelSource::learnt_observations() const {
  const auto latest = feed_ == nullptr ? nullptr : feed_->latest();
  return latest == nullptr || latest->throughput_model() == nullptr
             ? 0
             : latest->throughput_model()->observations().size();
}

void ModelSource::put_learning(JsonValue& out) const {
  put(out, "learning.cells", learnt_observations());
  const std::shared_ptr<const Learning> learning = this->learning();
  if (learning == nullptr) return;
  put(out, "learning.refused_fits", learning->refused_fits);
  put_all(out, "learning.reports.*", learning->uses);
}

void ModelSource::stop() {
  if (feed_ != nullptr) feed_->stop();
}

void ModelSource::wait(SteadyTime deadline) {
  if (feed_ != nullptr && !feed_->wait(deadline))
    log().warn("the thread that learns from reports did not end in time; leaving it behind");
}

}  // namespace rubato
