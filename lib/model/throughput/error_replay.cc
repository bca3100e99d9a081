// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/throughput/error_replay.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace rubato {
namespace {

constexpr double kMostWork = 2e10;
// For a person who waits.
constexpr double kMostWorkOfBoth = 3e11;

double cube(const std::shared_ptr<const ThroughputModel>& model) {
  const auto n = model != nullptr ? static_cast<double>(model->cells().size()) : 0.0;
  return n * n * n;
}

/// The mean of the logarithms at each profile, GPU type and size, and the process over them.
class Plain {
 public:
  explicit Plain(TypeSpeeds speeds) : speeds_(std::move(speeds)) {}

  [[nodiscard]] const std::shared_ptr<const ThroughputModel>& model() const { return model_; }

  void take(const MeasuredRate& report) {
    if (report.flagged || !std::isfinite(report.rate) || report.rate <= 0) return;
    RateCell& cell = cells_[{report.profile, {report.place.gpu_type, report.place.gpus}}];
    cell.profile = report.profile;
    cell.gpu_type = report.place.gpu_type;
    cell.gpus = report.place.gpus;
    const auto n = static_cast<double>(++cell.samples);
    const double mean = n > 1 ? std::log(cell.rate) : 0;
    cell.rate = std::exp(mean + (std::log(report.rate) - mean) / n);
  }

  /// What that cost.
  double refit() {
    std::vector<RateCell> now;
    for (const auto& [unused, cell] : cells_) now.push_back(cell);
    std::sort(now.begin(), now.end(), before);
    if (rate_change(fitted_, now) == RateChange::kSame) return 0;
    fitted_ = now;
    model_ =
        std::make_shared<const ThroughputModel>(speeds_, std::move(now), ThroughputPrior::plain());
    return cube(model_);
  }

 private:
  TypeSpeeds speeds_;
  std::map<std::pair<ProfileName, std::pair<std::string, int>>, RateCell> cells_;
  std::vector<RateCell> fitted_;
  std::shared_ptr<const ThroughputModel> model_;
};

double error_of(double forecast, double rate) {
  return std::min(std::abs(forecast / rate - 1), ForecastErrors::kMost);
}

/// What both models expected of a report when it came.
struct BothRates {
  double present = 0;
  double plain = 0;
  bool measured = false;  ///< the place had been before
};

/// Reports whose use is open, of each job the last ones. One that is held back while its job warms
/// up is judged by what was expected when it came: the plain model, which holds nothing back, knows
/// it by the time it is used.
class Foreseen {
 public:
  void push(const MeasuredRate& report, BothRates rates) {
    auto& of_job = jobs_[report.job];
    if (of_job.size() >= kMostOpen) of_job.pop_front();
    of_job.emplace_back(report, rates);
  }
  /// And forgets those of the job before it, which will not be used.
  [[nodiscard]] std::optional<BothRates> pop(const MeasuredRate& report) {
    const auto job = jobs_.find(report.job);
    if (job == jobs_.end()) return std::nullopt;
    auto& open = job->second;
    const auto found = std::find_if(open.begin(), open.end(),
                                    [&](const auto& one) { return one.first == report; });
    if (found == open.end()) return std::nullopt;
    const BothRates rates = found->second;
    open.erase(open.begin(), found + 1);
    if (open.empty()) jobs_.erase(job);
    return rates;
  }

 private:
  static constexpr std::size_t kMostOpen = 64;
  std::map<JobKey, std::deque<std::pair<MeasuredRate, BothRates>>> jobs_;
};

}  // namespace

std::vector<ReplayError> replay_both(const std::vector<MeasuredRate>& reports,
                                     const TypeSpeeds& speeds, const LearnerRules& rules) {
  Learner present(rules);
  Plain plain(speeds);
  std::map<ForecastErrors::Key, ReplayError> errors;
  std::map<ForecastErrors::Key, double> squares;  // of distances from the mean difference
  std::set<std::pair<ProfileName, RatePlace>> measured;
  Foreseen foreseen;
  present.set_seen([&](const MeasuredRate& report, const Forecast& /*now*/) {
    const std::optional<BothRates> rates = foreseen.pop(report);
    if (!rates) return;
    ReplayError& row = errors[{report.profile, report.place.gpu_type}];
    row.profile = report.profile;
    row.gpu_type = report.place.gpu_type;
    const double own = error_of(rates->present, report.rate);
    const double theirs = error_of(rates->plain, report.rate);
    const auto n = static_cast<double>(++row.reports);
    const double step = own - theirs - (row.present - row.plain);
    squares[{report.profile, report.place.gpu_type}] += step * step * (1 - 1 / n);
    if (rates->measured) {
      const auto repeats = static_cast<double>(++row.repeats);
      row.present_repeats += (own - row.present_repeats) / repeats;
      row.plain_repeats += (theirs - row.plain_repeats) / repeats;
    }
    row.present += (own - row.present) / n;
    row.plain += (theirs - row.plain) / n;
    row.present_most = std::max(row.present_most, own);
    row.plain_most = std::max(row.plain_most, theirs);
  });
  double work = 0;
  for (const MeasuredRate& report : reports) {
    if (present.model() != nullptr && plain.model() != nullptr) {
      const Forecast own = present.model()->predict(report.profile, report.place);
      const Forecast other =
          plain.model()->predict(report.profile, report.place.gpu_type, report.place.gpus);
      if (own.known_profile && other.known_profile)
        foreseen.push(report, {.present = own.rate(),
                               .plain = other.rate(),
                               .measured = measured.contains({report.profile, report.place})});
    }
    present.take(report);
    plain.take(report);
    if (!report.flagged) measured.emplace(report.profile, report.place);
    if (work > kMostWorkOfBoth) continue;
    if (present.refit(speeds).change != RateChange::kSame) {
      work += cube(present.model());
      if (present.learn_prior_sometimes(speeds)) (void)present.refit(speeds);
    }
    work += plain.refit();
  }
  std::vector<ReplayError> rows;
  for (auto& [key, row] : errors) {
    if (row.reports < 2) continue;
    const auto n = static_cast<double>(row.reports);
    row.doubt = std::sqrt(squares[key] / (n - 1) / n);
    rows.push_back(std::move(row));
  }
  return rows;
}

void ErrorReplay::take(MeasuredRate report) {
  last_.push_back(std::move(report));
  if (last_.size() <= measured_) return;
  learner_.remember(last_.front());
  last_.pop_front();
}

void ErrorReplay::fit_if_due() {
  if (work_ > kMostWork) return;
  const Learner::News news = learner_.refit(speeds_);
  if (news.change == RateChange::kSame || learner_.model() == nullptr) return;
  const auto n = static_cast<double>(learner_.model()->cells().size());
  work_ += n * n * n;
  if (learner_.learn_prior_sometimes(speeds_)) (void)learner_.refit(speeds_);
}

const ForecastErrors& ErrorReplay::finish() {
  fit_if_due();
  for (const MeasuredRate& report : last_) {
    learner_.take(report);
    fit_if_due();
  }
  last_.clear();
  return learner_.errors();
}

}  // namespace rubato
