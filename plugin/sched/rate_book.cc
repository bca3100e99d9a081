// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/rate_book.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rubato {

namespace {

// The judge remembers the last report of every job: begun anew after so many reports.
constexpr std::size_t kMostJudged = 200'000;
constexpr double kSomeChange = 0.01;
constexpr double kDecidingChange = 0.05;
constexpr double kMoreSamples = 1.5;

}  // namespace

RateBook::Place RateBook::place_of(const store::Sample& sample) {
  const store::JobType& type = sample.type;
  return {{.account = type.shared ? "" : type.account, .job_type = type.name},
          sample.gpu_type,
          sample.gpus};
}

void RateBook::add(Sums& sums, const Place& place, std::int64_t samples, double rate) {
  Sum& sum = sums[place];
  sum.samples += samples;
  sum.logs += static_cast<double>(samples) * std::log(rate);
}

void RateBook::judge_anew_sometimes() {
  if (++judged_ < kMostJudged) return;
  judge_ = store::Plausibility();
  judged_ = 0;
}

void RateBook::hear(HeardSample heard) {
  store::Sample& sample = heard.sample;
  if (!store::storable(sample) || sample.rate <= 0) return;
  judge_anew_sometimes();
  sample.flag = judge_.judge(sample);
  judge_.remember(sample);
  if (sample.flag != store::Flag::kNone) return;
  if (heard.number == 0) return keep(sample);
  waiting_.push_back(std::move(heard));
  if (waiting_.size() <= kMostWaiting) return;
  keep(waiting_.front().sample);
  waiting_.pop_front();
}

void RateBook::keep(const store::Sample& sample) {
  const Place place = place_of(sample);
  if (kept_.size() >= kMostPlaces && !kept_.contains(place)) {
    kept_.erase(std::min_element(kept_.begin(), kept_.end(), [](const auto& a, const auto& b) {
      return a.second.samples < b.second.samples;
    }));
  }
  add(kept_, place, 1, sample.rate);
}

void RateBook::settle(std::int64_t number) {
  std::erase_if(waiting_, [&](const HeardSample& heard) { return heard.number <= number; });
}

void RateBook::summarised(const std::vector<store::SummaryRow>& rows) {
  stored_.clear();
  for (const store::SummaryRow& row : rows) {
    const std::int64_t good = row.group.samples - row.group.flagged;
    if (row.job_type.empty() || good <= 0 || row.group.mean_rate <= 0) continue;
    const Place place{{row.shared ? "" : row.account, row.job_type}, row.gpu_type, row.gpus};
    add(stored_, place, good, row.group.mean_rate);
  }
}

std::vector<RateCell> RateBook::cells() const {
  Sums all = stored_;
  for (const auto& [place, sum] : kept_) {
    Sum& into = all[place];
    into.samples += sum.samples;
    into.logs += sum.logs;
  }
  for (const HeardSample& heard : waiting_) add(all, place_of(heard.sample), 1, heard.sample.rate);
  std::vector<RateCell> cells;
  cells.reserve(all.size());
  for (const auto& [place, sum] : all) {
    const auto& [profile, gpu_type, gpus] = place;
    cells.push_back({.profile = profile,
                     .gpu_type = gpu_type,
                     .gpus = gpus,
                     .rate = std::exp(sum.logs / static_cast<double>(sum.samples)),
                     .samples = sum.samples});
  }
  return cells;
}

RateChange rate_change(const std::vector<RateCell>& before, const std::vector<RateCell>& now) {
  if (before.size() != now.size()) return RateChange::kDecides;
  RateChange change = RateChange::kSame;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const RateCell& a = before[i];
    const RateCell& b = now[i];
    if (a.profile != b.profile || a.gpu_type != b.gpu_type || a.gpus != b.gpus)
      return RateChange::kDecides;
    const double moved = std::abs(std::log(b.rate / a.rate));
    if (moved >= kDecidingChange) return RateChange::kDecides;
    const auto fewer = static_cast<double>(std::min(a.samples, b.samples));
    const auto more = static_cast<double>(std::max(a.samples, b.samples));
    if (moved >= kSomeChange || more >= kMoreSamples * fewer) change = RateChange::kSome;
  }
  return change;
}

}  // namespace rubato
