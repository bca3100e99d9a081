// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/throughput_log.h"

#include <algorithm>
#include <utility>

#include "lib/store/measured.h"

namespace rubato {

namespace {

// The judge remembers the last report of every job: rebuilt after a fixed number of reports.
constexpr std::size_t kMaxScored = 200'000;

/// What tells reports apart.
using Mark = std::tuple<JobKey, int, Seconds, std::int64_t, double>;

Mark mark_of(const store::Sample& sample) {
  return {sample.job, sample.restarts, sample.time, sample.samples_done, sample.throughput};
}

}  // namespace

ThroughputLog::ConfigurationKey ThroughputLog::configuration_of(const store::Sample& sample) {
  const store::JobType& type = sample.type;
  return {{.account = type.shared ? "" : type.account, .job_type = type.name},
          sample.gpu_type,
          sample.gpus};
}

void ThroughputLog::rebuild_filter_when_due() {
  if (++judged_ < kMaxScored) return;
  judge_ = store::Plausibility();
  judged_ = 0;
}

void ThroughputLog::add_sample(PendingSample heard) {
  store::Sample& sample = heard.sample;
  if (!store::storable(sample)) return;
  rebuild_filter_when_due();
  sample.flag = judge_.judge(sample);
  judge_.remember(sample);
  learner_.take(store::measured(sample));
  if (heard.number == 0) return keep(std::move(sample));
  waiting_.push_back(std::move(heard));
  if (waiting_.size() <= kMaxWaiting) return;
  keep(std::move(waiting_.front().sample));
  waiting_.pop_front();
}

void ThroughputLog::keep(store::Sample sample) {
  kept_.push_back(std::move(sample));
  if (kept_.size() > kMaxKept) kept_.pop_front();
}

void ThroughputLog::mark_stored(std::int64_t number) {
  std::erase_if(waiting_, [&](const PendingSample& heard) { return heard.number <= number; });
}

Result<void> ThroughputLog::restore(const store::Reader& reader,
                                    const std::set<std::string>& shared) {
  // The store may have taken in the meantime what still counts as waiting.
  std::set<Mark> awaited;
  for (const PendingSample& heard : waiting_) awaited.insert(mark_of(heard.sample));
  std::set<Mark> arrived;
  Learner fresh(rules_);
  const Result<void> read = reader.each_sample([&](store::Sample sample) {
    if (awaited.contains(mark_of(sample))) arrived.insert(mark_of(sample));
    sample.type.shared = shared.contains(sample.type.name);
    if (!sample.type.name.empty()) fresh.remember(store::measured(sample));
  });
  if (!read) return read;
  for (const store::Sample& sample : kept_) fresh.remember(store::measured(sample));
  for (const PendingSample& heard : waiting_)
    if (!arrived.contains(mark_of(heard.sample))) fresh.remember(store::measured(heard.sample));
  fresh.go_on_from(learner_);
  learner_ = std::move(fresh);
  return {};
}

void ThroughputLog::set_imported(const std::vector<store::SummaryRow>& rows) {
  std::vector<ThroughputObservation> observations;
  for (const store::SummaryRow& row : rows) {
    const store::JobTypeGroup& group = row.group;
    const std::int64_t good = group.samples - group.flagged;
    if (!group.imported || row.job_type.empty() || good <= 0 || row.gpus <= 0) continue;
    ThroughputObservation observation;
    observation.profile = {row.shared ? "" : row.account, row.job_type};
    observation.gpu_type = row.gpu_type;
    observation.gpus = row.gpus;
    observation.throughput = group.mean_throughput;
    observation.samples = good;
    observation.nodes = group.nodes;
    observation.batch = group.batch;
    observation.plan = canonical_plan(group.plan, row.gpus);
    // Another site's machines are not ours: as much as one report.
    observation.weight = 1;
    observations.push_back(std::move(observation));
  }
  learner_.set_imported(std::move(observations));
}

}  // namespace rubato
