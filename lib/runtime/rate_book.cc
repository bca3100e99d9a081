// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/rate_book.h"

#include <algorithm>
#include <utility>

#include "lib/store/measured.h"

namespace rubato {

namespace {

// The judge remembers the last report of every job: begun anew after so many reports.
constexpr std::size_t kMostJudged = 200'000;

/// What tells reports apart.
using Mark = std::tuple<JobKey, int, Seconds, std::int64_t, double>;

Mark mark_of(const store::Sample& sample) {
  return {sample.job, sample.restarts, sample.time, sample.samples_done, sample.rate};
}

}  // namespace

RateBook::Place RateBook::place_of(const store::Sample& sample) {
  const store::JobType& type = sample.type;
  return {{.account = type.shared ? "" : type.account, .job_type = type.name},
          sample.gpu_type,
          sample.gpus};
}

void RateBook::judge_anew_sometimes() {
  if (++judged_ < kMostJudged) return;
  judge_ = store::Plausibility();
  judged_ = 0;
}

void RateBook::hear(HeardSample heard) {
  store::Sample& sample = heard.sample;
  if (!store::storable(sample)) return;
  judge_anew_sometimes();
  sample.flag = judge_.judge(sample);
  judge_.remember(sample);
  learner_.take(store::measured(sample));
  if (heard.number == 0) return keep(std::move(sample));
  waiting_.push_back(std::move(heard));
  if (waiting_.size() <= kMostWaiting) return;
  keep(std::move(waiting_.front().sample));
  waiting_.pop_front();
}

void RateBook::keep(store::Sample sample) {
  kept_.push_back(std::move(sample));
  if (kept_.size() > kMostKept) kept_.pop_front();
}

void RateBook::settle(std::int64_t number) {
  std::erase_if(waiting_, [&](const HeardSample& heard) { return heard.number <= number; });
}

Result<void> RateBook::restore(const store::Reader& reader, const std::set<std::string>& shared) {
  // The store may have taken in the meantime what still counts as waiting.
  std::set<Mark> awaited;
  for (const HeardSample& heard : waiting_) awaited.insert(mark_of(heard.sample));
  std::set<Mark> arrived;
  Learner fresh(rules_);
  const Result<void> read = reader.each_sample([&](store::Sample sample) {
    if (awaited.contains(mark_of(sample))) arrived.insert(mark_of(sample));
    sample.type.shared = shared.contains(sample.type.name);
    if (!sample.type.name.empty()) fresh.remember(store::measured(sample));
  });
  if (!read) return read;
  for (const store::Sample& sample : kept_) fresh.remember(store::measured(sample));
  for (const HeardSample& heard : waiting_)
    if (!arrived.contains(mark_of(heard.sample))) fresh.remember(store::measured(heard.sample));
  fresh.go_on_from(learner_);
  learner_ = std::move(fresh);
  return {};
}

void RateBook::set_imported(const std::vector<store::SummaryRow>& rows) {
  std::vector<RateCell> cells;
  for (const store::SummaryRow& row : rows) {
    const store::KindGroup& group = row.group;
    const std::int64_t good = group.samples - group.flagged;
    if (!group.imported || row.job_type.empty() || good <= 0 || row.gpus <= 0) continue;
    RateCell cell;
    cell.profile = {row.shared ? "" : row.account, row.job_type};
    cell.gpu_type = row.gpu_type;
    cell.gpus = row.gpus;
    cell.rate = group.mean_rate;
    cell.samples = good;
    cell.nodes = group.nodes;
    cell.batch = group.batch;
    cell.plan = group.plan;
    // Another site's machines are not ours: as much as one report.
    cell.weight = 1;
    cells.push_back(std::move(cell));
  }
  learner_.set_imported(std::move(cells));
}

}  // namespace rubato
