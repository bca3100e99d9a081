// SPDX-License-Identifier: GPL-2.0-or-later
// Learns from reports as they arrive, and measures its forecast errors on them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/model/throughput/report_filter.h"
#include "lib/model/throughput/throughput.h"
#include "lib/model/throughput/throughput_history.h"

namespace rubato {

/// One-step-ahead errors: |forecast / measured - 1| of each usable report by the fit before it
/// (Dawid 1984), if that knew the profile. Errors are capped at `kMaxError`.
class ForecastErrors {
 public:
  static constexpr double kMaxError = 10;
  /// The mean covers about this many of the last reports.
  static constexpr double kMemory = 200;

  struct ErrorMean {
    double mean = 0;
    std::int64_t reports = 0;
    double sum = 0;  ///< over all reports, for an unweighted mean
  };
  using Key = std::pair<ProfileName, std::string>;  ///< profile, GPU type

  void record(const ProfileName& profile, const std::string& gpu_type, double forecast,
              double throughput);
  [[nodiscard]] const std::map<Key, ErrorMean>& rows() const { return rows_; }

 private:
  std::map<Key, ErrorMean> rows_;
};

/// Rejected fits: they predicted recent reports of a profile on a GPU type worse than the current
/// one. Errors are means of |ln forecast - ln report| over `reports`, of the last such fit.
struct RefusedFits {
  std::int64_t fits = 0;
  double kept = 0;     ///< of the current fit
  double refused = 0;  ///< of the rejected fit
  std::int64_t reports = 0;

  bool operator==(const RefusedFits&) const = default;
};

/// How much two lists of observations differ, each sorted by `before`.
enum class ThroughputChange {
  kSame,     ///< not worth a fit
  kSome,     ///< a throughput moved by 1 %, or a configuration has 50 % more reports
  kDecides,  ///< a configuration was added or removed, or a throughput moved by 5 %
};
[[nodiscard]] ThroughputChange throughput_change(const std::vector<ThroughputObservation>& before,
                                                 const std::vector<ThroughputObservation>& now);

struct LearnerRules {
  ReportFilterRules use{};
  ThroughputHistoryRules history{};
  ThroughputPrior prior{};           ///< the initial one
  bool fits_hyperparameters = true;  ///< false: `prior` is kept
  bool bounds_unproven = true;       ///< false: a claim of a single job has no bound (unproven.h)
};

/// For one thread. Deterministic: the same reports give the same fits.
class Learner {
 public:
  /// Maximum number of recent reports for comparing a fit with the current one.
  static constexpr std::size_t kRecent = 128;

  /// Receives each usable report and its forecast, before the report counts.
  using ForecastCallback = std::function<void(const ThroughputReport&, const Forecast&)>;

  explicit Learner(LearnerRules rules = {})
      : rules_(rules), judge_(rules.use), history_(rules.history), prior_(rules.prior) {}

  void set_seen(ForecastCallback seen) { seen_ = std::move(seen); }

  /// Scores usable reports against the current fit, then adds them.
  void take(const ThroughputReport& report);

  /// Adds an old report without scoring.
  void remember(const ThroughputReport& report);
  /// Takes fit, errors, counts and imported profiles from an earlier learner.
  void go_on_from(const Learner& earlier);

  /// The observations for a fit: those of this site, and imported ones where this site has none.
  [[nodiscard]] std::vector<ThroughputObservation> observations() const;
  void set_imported(std::vector<ThroughputObservation> observations) {
    imported_ = std::move(observations);
  }
  void set_curves(std::vector<CurvePoint> curves);

  struct News {
    ThroughputChange change = ThroughputChange::kSame;
    bool kept_old = false;          ///< the new fit was worse on recent reports
    std::vector<std::string> said;  ///< details about it, for the log
  };
  /// Makes a new fit if something changed, and keeps the better of the two.
  News refit(const TypeSpeeds& speeds, bool always = false);
  /// Like refit(), but only if a configuration is new or usable reports have grown by `share` since
  /// the last fit. Share 0 is refit().
  News refit_when_due(const TypeSpeeds& speeds, double share);
  /// Fits the standard deviations if there are 50 % more observations than last time. True if they
  /// changed; the next fit uses them. May take a second.
  bool fit_hyperparameters_when_due(const TypeSpeeds& speeds);

  /// Null before the first fit, and while there are no measurements.
  [[nodiscard]] const std::shared_ptr<const ThroughputModel>& model() const { return model_; }
  [[nodiscard]] const ForecastErrors& errors() const { return errors_; }
  void set_errors(ForecastErrors errors) { errors_ = std::move(errors); }
  /// Number of reports by use.
  [[nodiscard]] const std::map<ReportUse, std::int64_t>& uses() const { return uses_; }
  /// Number of rejected fits: the previous one forecast recent reports better.
  [[nodiscard]] std::int64_t refused_fits() const { return refused_; }
  /// The profiles and types that caused rejections; empty profile and type if no single one did.
  [[nodiscard]] const std::map<ForecastErrors::Key, RefusedFits>& refusals() const {
    return refusals_;
  }

 private:
  void learn(const ThroughputReport& usable);
  void record_early(const ThroughputReport& report, ReportUse use);
  [[nodiscard]] double early(const ReportScatter& scatter) const;
  [[nodiscard]] std::vector<ThroughputObservation> observations(const ReportScatter& scatter) const;
  [[nodiscard]] ThroughputPrior with_noise(ThroughputPrior prior,
                                           const ReportScatter& scatter) const;
  [[nodiscard]] bool is_bounded(const ThroughputReport& report) const;
  [[nodiscard]] std::map<ForecastErrors::Key, RefusedFits> worse(
      const ThroughputModel& candidate) const;
  void refuse(const std::map<ForecastErrors::Key, RefusedFits>& why, News& news);

  LearnerRules rules_;
  ReportFilter judge_;
  ThroughputHistory history_;
  ThroughputPrior prior_;
  std::vector<ThroughputObservation> imported_;
  std::vector<CurvePoint> curves_;
  std::shared_ptr<const ThroughputModel> model_;
  std::vector<ThroughputObservation> fitted_;   ///< observations of the last fit, used or not
  std::vector<ThroughputObservation> bounded_;  ///< of these, the claims that were cut
  std::deque<ThroughputReport> recent_;
  ForecastErrors errors_;
  std::map<ReportUse, std::int64_t> uses_;
  ForecastCallback seen_;
  std::int64_t refused_ = 0;
  std::map<ForecastErrors::Key, RefusedFits> refusals_;
  double fitted_noise_ = 0;             ///< ThroughputPrior::report of the last fit
  double fitted_early_ = 0;             ///< early() of the last fit
  std::size_t prior_observations_ = 0;  ///< when the prior was last fitted
  bool other_prior_ = false;            ///< the prior differs from that of the last fit
  bool other_curves_ = false;
  std::int64_t reports_ = 0;         ///< usable ones, and those of the warm-up
  std::int64_t reports_at_fit_ = 0;  ///< when refit_when_due() last fitted
  std::size_t configurations_at_fit_ = 0;
};

}  // namespace rubato
