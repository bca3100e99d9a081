// SPDX-License-Identifier: GPL-2.0-or-later
// Learns from reports as they come, and measures how well it foresaw them.
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

/// One-step-ahead errors: of each usable report, |forecast / measured - 1| of the fit before it
/// (Dawid 1984), where that knew the profile. An error above `kMaxError` counts as that.
class ForecastErrors {
 public:
  static constexpr double kMaxError = 10;
  /// The mean is of about so many of the last reports.
  static constexpr double kMemory = 200;

  struct ErrorMean {
    double mean = 0;
    std::int64_t reports = 0;
    double sum = 0;  ///< over all, for a mean without forgetting
  };
  using Key = std::pair<ProfileName, std::string>;  ///< profile, GPU type

  void record(const ProfileName& profile, const std::string& gpu_type, double forecast,
              double throughput);
  [[nodiscard]] const std::map<Key, ErrorMean>& rows() const { return rows_; }

 private:
  std::map<Key, ErrorMean> rows_;
};

/// Fits that foresaw recent reports of a profile on a GPU type worse than the fit before, and were
/// not used. Errors are means of |ln forecast - ln report| over `reports`, of the last such fit.
struct RefusedFits {
  std::int64_t fits = 0;
  double kept = 0;     ///< of the fit that stayed
  double refused = 0;  ///< of the one that was not used
  std::int64_t reports = 0;

  bool operator==(const RefusedFits&) const = default;
};

/// How much two lists of cells differ, each sorted by `before`.
enum class ThroughputChange {
  kSame,     ///< not worth a fit
  kSome,     ///< a rate moved by a hundredth, or a place has half as many reports again
  kDecides,  ///< a place came or went, or a rate moved by a twentieth: plans may change
};
[[nodiscard]] ThroughputChange throughput_change(const std::vector<ThroughputObservation>& before,
                                                 const std::vector<ThroughputObservation>& now);

struct LearnerRules {
  ReportFilterRules use{};
  ThroughputHistoryRules history{};
  ThroughputPrior prior{};           ///< to begin with
  bool fits_hyperparameters = true;  ///< false: it stays
};

/// Used by one thread. No clock, no chance: same reports, same fits.
class Learner {
 public:
  /// Reports with which a fit is compared with the one before it.
  static constexpr std::size_t kRecent = 128;

  /// Is told each usable report that comes, and what was expected, before it counts.
  using ForecastCallback = std::function<void(const ThroughputReport&, const Forecast&)>;

  explicit Learner(LearnerRules rules = {})
      : rules_(rules), judge_(rules.use), history_(rules.history), prior_(rules.prior) {}

  void set_seen(ForecastCallback seen) { seen_ = std::move(seen); }

  /// Compares what can be used with the forecast of the present fit, then takes it.
  void take(const ThroughputReport& report);

  /// Takes it without a comparison: a report of the past.
  void remember(const ThroughputReport& report);
  /// Keeps fit, errors, counts and what is known of other sites of an earlier learner.
  void go_on_from(const Learner& earlier);

  /// Cells that a fit would be made of, those of other sites (`imported`) where nothing was
  /// measured here.
  [[nodiscard]] std::vector<ThroughputObservation> observations() const;
  void set_imported(std::vector<ThroughputObservation> observations) {
    imported_ = std::move(observations);
  }
  void set_curves(std::vector<CurvePoint> curves);

  struct News {
    ThroughputChange change = ThroughputChange::kSame;
    bool kept_old = false;          ///< the new fit was worse on recent reports
    std::vector<std::string> said;  ///< about that, for the log
  };
  /// Fits anew where something changed, and keeps the better of two fits.
  News refit(const TypeSpeeds& speeds, bool always = false);
  /// Learns the standard deviations where there are half as many cells again as the last time; true
  /// if others came of it, which the next fit uses. May take a second.
  bool fit_hyperparameters_when_due(const TypeSpeeds& speeds);

  /// Null before the first fit, and while nothing was measured.
  [[nodiscard]] const std::shared_ptr<const ThroughputModel>& model() const { return model_; }
  [[nodiscard]] const ForecastErrors& errors() const { return errors_; }
  void set_errors(ForecastErrors errors) { errors_ = std::move(errors); }
  /// Reports by what became of them.
  [[nodiscard]] const std::map<ReportUse, std::int64_t>& uses() const { return uses_; }
  /// Fits that were not used, since the one before foresaw recent reports better.
  [[nodiscard]] std::int64_t refused_fits() const { return refused_; }
  /// Whose forecasts made them so; an empty profile and type where no single one did.
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
  std::vector<ThroughputObservation> fitted_;  ///< cells of the last fit, used or not
  std::deque<ThroughputReport> recent_;
  ForecastErrors errors_;
  std::map<ReportUse, std::int64_t> uses_;
  ForecastCallback seen_;
  std::int64_t refused_ = 0;
  std::map<ForecastErrors::Key, RefusedFits> refusals_;
  double fitted_noise_ = 0;             ///< ThroughputPrior::report of the last fit
  double fitted_early_ = 0;             ///< and early()
  std::size_t prior_observations_ = 0;  ///< when the prior was learnt last
  bool other_prior_ = false;            ///< than that of the last fit
  bool other_curves_ = false;
};

}  // namespace rubato
