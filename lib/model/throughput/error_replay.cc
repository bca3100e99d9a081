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

constexpr double kMaxWork = 2e10;
// Limits the work, because a user waits.
constexpr double kMaxWorkOfBoth = 3e11;

double cube(const std::shared_ptr<const ThroughputModel>& model) {
  const auto n = model != nullptr ? static_cast<double>(model->observations().size()) : 0.0;
  return n * n * n;
}

/// Means of logarithms per profile, GPU type and size, and the Gaussian process over them.
class Plain {
 public:
  explicit Plain(TypeSpeeds speeds) : speeds_(std::move(speeds)) {}

  [[nodiscard]] const std::shared_ptr<const ThroughputModel>& model() const { return model_; }

  void take(const ThroughputReport& report) {
    if (report.flagged || !std::isfinite(report.throughput) || report.throughput <= 0) return;
    ThroughputObservation& observation =
        observations_[{report.profile, {report.configuration.gpu_type, report.configuration.gpus}}];
    observation.profile = report.profile;
    observation.gpu_type = report.configuration.gpu_type;
    observation.gpus = report.configuration.gpus;
    const auto n = static_cast<double>(++observation.samples);
    const double mean = n > 1 ? std::log(observation.throughput) : 0;
    observation.throughput = std::exp(mean + (std::log(report.throughput) - mean) / n);
  }

  /// Returns the cost of the fit.
  double refit() {
    std::vector<ThroughputObservation> now;
    for (const auto& [unused, observation] : observations_) now.push_back(observation);
    std::sort(now.begin(), now.end(), before);
    if (throughput_change(fitted_, now) == ThroughputChange::kSame) return 0;
    fitted_ = now;
    model_ =
        std::make_shared<const ThroughputModel>(speeds_, std::move(now), ThroughputPrior::plain());
    return cube(model_);
  }

 private:
  TypeSpeeds speeds_;
  std::map<std::pair<ProfileName, std::pair<std::string, int>>, ThroughputObservation>
      observations_;
  std::vector<ThroughputObservation> fitted_;
  std::shared_ptr<const ThroughputModel> model_;
};

double error_of(double forecast, double throughput) {
  return std::min(std::abs(forecast / throughput - 1), ForecastErrors::kMaxError);
}

/// Forecasts of both models at the arrival of a report.
struct BothThroughputs {
  double present = 0;
  double plain = 0;
  bool measured = false;  ///< the configuration had been measured before
};

/// Reports whose use is undecided: the last ones of each job. A report held back during warm-up is
/// scored by the forecast at its arrival. By then, the plain model, which holds back nothing, has
/// already used it.
class Foreseen {
 public:
  void push(const ThroughputReport& report, BothThroughputs throughputs) {
    auto& of_job = jobs_[report.job];
    if (of_job.size() >= kMaxOpen) of_job.pop_front();
    of_job.emplace_back(report, throughputs);
  }
  /// Also forgets earlier reports of the job, which will not be used.
  [[nodiscard]] std::optional<BothThroughputs> pop(const ThroughputReport& report) {
    const auto job = jobs_.find(report.job);
    if (job == jobs_.end()) return std::nullopt;
    auto& open = job->second;
    const auto found = std::find_if(open.begin(), open.end(),
                                    [&](const auto& one) { return one.first == report; });
    if (found == open.end()) return std::nullopt;
    const BothThroughputs throughputs = found->second;
    open.erase(open.begin(), found + 1);
    if (open.empty()) jobs_.erase(job);
    return throughputs;
  }

 private:
  static constexpr std::size_t kMaxOpen = 64;
  std::map<JobKey, std::deque<std::pair<ThroughputReport, BothThroughputs>>> jobs_;
};

}  // namespace

std::vector<ReplayError> replay_both(const std::vector<ThroughputReport>& reports,
                                     const TypeSpeeds& speeds, const LearnerRules& rules) {
  Learner present(rules);
  Plain plain(speeds);
  std::map<ForecastErrors::Key, ReplayError> errors;
  std::map<ForecastErrors::Key, double> squares;  // of distances from the mean difference
  std::set<std::pair<ProfileName, JobConfiguration>> measured;
  Foreseen foreseen;
  present.set_seen([&](const ThroughputReport& report, const Forecast& /*now*/) {
    const std::optional<BothThroughputs> throughputs = foreseen.pop(report);
    if (!throughputs) return;
    ReplayError& row = errors[{report.profile, report.configuration.gpu_type}];
    row.profile = report.profile;
    row.gpu_type = report.configuration.gpu_type;
    const double own = error_of(throughputs->present, report.throughput);
    const double theirs = error_of(throughputs->plain, report.throughput);
    const auto n = static_cast<double>(++row.reports);
    const double step = own - theirs - (row.present - row.plain);
    squares[{report.profile, report.configuration.gpu_type}] += step * step * (1 - 1 / n);
    if (throughputs->measured) {
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
  for (const ThroughputReport& report : reports) {
    if (present.model() != nullptr && plain.model() != nullptr) {
      const Forecast own = present.model()->predict(report.profile, report.configuration);
      const Forecast other = plain.model()->predict(report.profile, report.configuration.gpu_type,
                                                    report.configuration.gpus);
      if (own.known_profile && other.known_profile)
        foreseen.push(report,
                      {.present = own.throughput(),
                       .plain = other.throughput(),
                       .measured = measured.contains({report.profile, report.configuration})});
    }
    present.take(report);
    plain.take(report);
    if (!report.flagged) measured.emplace(report.profile, report.configuration);
    if (work > kMaxWorkOfBoth) continue;
    if (present.refit(speeds).change != ThroughputChange::kSame) {
      work += cube(present.model());
      if (present.fit_hyperparameters_when_due(speeds)) (void)present.refit(speeds);
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

void ErrorReplay::take(ThroughputReport report) {
  last_.push_back(std::move(report));
  if (last_.size() <= measured_) return;
  learner_.remember(last_.front());
  last_.pop_front();
}

void ErrorReplay::fit_if_due() {
  if (work_ > kMaxWork) return;
  const Learner::News news = learner_.refit(speeds_);
  if (news.change == ThroughputChange::kSame || learner_.model() == nullptr) return;
  const auto n = static_cast<double>(learner_.model()->observations().size());
  work_ += n * n * n;
  if (learner_.fit_hyperparameters_when_due(speeds_)) (void)learner_.refit(speeds_);
}

const ForecastErrors& ErrorReplay::finish() {
  fit_if_due();
  for (const ThroughputReport& report : last_) {
    learner_.take(report);
    fit_if_due();
  }
  last_.clear();
  return learner_.errors();
}

}  // namespace rubato
