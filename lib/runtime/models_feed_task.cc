// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/models_feed_task.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "lib/base/log.h"
#include "lib/model/throughput/error_replay.h"
#include "lib/store/measured.h"
#include "lib/store/profiles.h"

namespace rubato {

namespace {

constexpr int kShareOfProcessor = 20;  // one in so many

GpuTypeFacts types_of(const FeedOffer& offer) {
  return {offer.speeds, offer.gpu_memory, offer.gpu_links};
}

}  // namespace

void ModelsFeed::Task::report(const std::string& error) {
  if (error == last_error_) return;
  last_error_ = error;
  if (error.empty())
    log().info("learning from job reports again");
  else
    log().error("cannot learn from job reports: {}; keeping the last model fit", error);
}

void ModelsFeed::Task::take_rules(const FeedOffer& offer) {
  LearnerRules now;
  now.use.warm_up = offer.warm_up;
  now.history.half_life = offer.half_life;
  now.bounds_unproven = offer.bounds_unproven;
  if (now.use.warm_up == rules_.use.warm_up &&
      same_value(now.history.half_life, rules_.history.half_life) &&
      now.bounds_unproven == rules_.bounds_unproven)
    return;
  rules_ = now;
  if (read_up_to_ < 0) throughput_log_ = ThroughputLog(rules_);
  throughput_log_.set_rules(rules_);
  whole_at_ = {};
}

// Rebuilds the observations from the file: at the start, for another file, after an admin changed
// profiles, and once an hour, since the store forgets old samples.
Result<void> ModelsFeed::Task::restore(const FeedOffer& offer, const store::Reader& reader) {
  throughput_log_.mark_stored(offer.settled);
  return throughput_log_.restore(reader, offer.shared);
}

// Fits the step-time models to the sums of the store. Their forecasts enter the throughput fit.
void ModelsFeed::Task::take_rows(const FeedOffer& offer) {
  std::vector<MeasuredRow> rows;
  for (const store::SummaryRow& row : summary_->rows()) {
    if (row.job_type.empty()) continue;  // jobs without a type have no profile
    rows.push_back(store::measured_row(
        {{row.account, row.job_type, row.shared}, row.gpu_type, row.gpus, row.group}));
  }
  versions_.set_rows(std::move(rows), types_of(offer), throughput_log_.learner());
}

std::string ModelsFeed::Task::read_store(const FeedOffer& offer) {
  if (offer.database.empty()) return {};
  if (!summary_ || database_ != offer.database || opened_ != offer.opened) {
    summary_.emplace(offer.database);
    database_ = offer.database;
    opened_ = offer.opened;
    read_up_to_ = -1;
    whole_at_ = {};
  }
  const auto began = clock_->steady();
  const bool whole = whole_at_ == SteadyTime{} || began - whole_at_ >= kWhole;
  if (!whole && offer.settled == read_up_to_ && offer.orders == orders_seen_ &&
      offer.shared == shared_)
    return {};
  const Result<bool> fresh_rows = summary_->refresh(offer.shared, whole);
  if (!fresh_rows) return fresh_rows.error().text;
  const Result<store::Reader> reader = store::Reader::open(offer.database);
  if (!reader) return reader.error().text;
  const Result<std::int64_t> changed_now = reader->profile_changes();
  if (!changed_now) return changed_now.error().text;
  if (whole || *changed_now != changes_ || offer.shared != shared_) {
    if (const Result<void> read = restore(offer, *reader); !read) return read.error().text;
    changes_ = *changed_now;
  }
  if (*fresh_rows) {
    throughput_log_.set_imported(summary_->rows());
    take_rows(offer);
  }
  if (whole) whole_at_ = began;
  read_up_to_ = offer.settled;
  orders_seen_ = offer.orders;
  shared_ = offer.shared;
  throughput_log_.mark_stored(offer.settled);
  return {};
}

void ModelsFeed::Task::publish(const ModelVersions::News& news) {
  for (const std::string& words : news.said)
    log().warn("rejected new model fit: it predicts recent reports worse than the current one: {}",
               words);
  if (!news.made) return;
  note_merged();
  const MutexLock lock(outbox_->mutex);
  outbox_->latest = versions_.latest();
  if (news.decides && outbox_->wake) outbox_->wake();
}

// Once for each doubling, since the number grows with each new configuration.
void ModelsFeed::Task::note_merged() {
  const ThroughputModel* model = versions_.latest()->throughput_model();
  const std::size_t merged = model != nullptr ? model->merged() + model->dropped() : 0;
  if (merged < 2 * merged_said_ + 1) return;
  merged_said_ = merged;
  log().info(
      "the model fit uses at most {} configurations: {} are merged with similar ones, {} of those "
      "with the fewest reports are left out",
      ThroughputModel::kMaxObservations, model->merged(), model->dropped());
}

void ModelsFeed::Task::fit(const FeedOffer& offer) {
  publish(versions_.fit(throughput_log_.learner(), types_of(offer), offer.shapes));
}

void ModelsFeed::Task::fit_hyperparameters(const FeedOffer& offer) {
  publish(versions_.fit_hyperparameters(throughput_log_.learner(), types_of(offer), offer.shapes));
}

// Once: the forecast errors on the reports of the store.
void ModelsFeed::Task::measure_errors(const FeedOffer& offer) {
  if (errors_known_ || read_up_to_ < 0) return;
  const Result<store::Reader> reader = store::Reader::open(offer.database);
  if (!reader) {
    errors_known_ = true;
    return;
  }
  ErrorReplay replay(TypeSpeeds(offer.speeds), rules_);
  const Result<void> read = reader->each_sample([&](store::Sample sample) {
    sample.type.shared = offer.shared.contains(sample.type.name);
    if (!sample.type.name.empty()) replay.take(store::measured(sample));
  });
  if (read) throughput_log_.learner().set_errors(replay.finish());
  errors_known_ = true;
}

void ModelsFeed::Task::note_learning() {
  const Learner& learner = throughput_log_.learner();
  auto made = std::make_shared<Learning>();
  made->errors = learner.errors();
  for (const auto& [use, count] : learner.uses()) made->uses[to_string(use)] = count;
  made->refused_fits = learner.refused_fits();
  made->refusals = learner.refusals();
  const MutexLock lock(outbox_->mutex);
  outbox_->learning = std::move(made);
}

ModelsFeed::Task::Outcome ModelsFeed::Task::work(FeedOffer offer) {
  began_ = ended_at_ = clock_->steady();
  take_rules(offer);
  for (PendingSample& heard : offer.heard) throughput_log_.add_sample(std::move(heard));
  const std::string error = read_store(offer);
  fit(offer);
  ended_at_ = clock_->steady();
  // Rare: its interval grows with its duration.
  fit_hyperparameters(offer);
  measure_errors(offer);
  note_learning();
  report(error);
  return outcome();
}

ModelsFeed::Task::Outcome ModelsFeed::Task::failed(const char* what) {
  // A part of what was new may be missing in the fit: everything is read again.
  whole_at_ = {};
  summary_.reset();
  versions_.drop_rows();
  ended_at_ = clock_->steady();
  report(what);
  return outcome();
}

ModelsFeed::Task::Outcome ModelsFeed::Task::outcome() const {
  const auto rest = kShareOfProcessor * (ended_at_ - began_);
  Outcome made;
  made.not_before = ended_at_ + std::max<SteadyDuration>(kInterval, rest);
  made.urgent_not_before = ended_at_ + std::max<SteadyDuration>(kUrgentInterval, rest);
  for (const ThroughputObservation& observation : throughput_log_.observations())
    made.configurations.emplace(observation.profile, observation.gpu_type, observation.gpus);
  return made;
}

}  // namespace rubato
