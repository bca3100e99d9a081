// SPDX-License-Identifier: GPL-2.0-or-later
// From reports to Models, for slurmctld and for the simulator.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "lib/config/config.h"
#include "lib/model/measured_rows.h"
#include "lib/model/models.h"
#include "lib/model/throughput/learner.h"

namespace rubato {

/// The rules of rubato.conf for reports.
[[nodiscard]] LearnerRules learner_rules(const Config& config);

/// What rubato.conf says of GPU types.
struct GpuTypeFacts {
  std::map<std::string, double> speeds{};            ///< see TypeSpeeds
  std::map<std::string, std::int64_t> gpu_memory{};  ///< MiB per GPU, where known
  std::map<std::string, double> gpu_links{};         ///< GB/s between GPUs of a node, where known

  bool operator==(const GpuTypeFacts&) const = default;
};

/// Makes versions of Models from the observations of a Learner and the rows of step-time models.
/// For one thread; the versions are immutable.
class ModelVersions {
 public:
  struct News {
    bool made = false;                ///< latest() is a new version
    bool decides = false;             ///< which may change a plan
    std::vector<std::string> said{};  ///< why the new fit was rejected, for the log
  };

  /// `warms`: computes for a new version what the last one was asked, so that rounds need not wait.
  explicit ModelVersions(bool warms = true) : warms_(warms) {}

  /// Rows for the step-time models of the next version. Their curves enter the next fit of
  /// `learner`.
  void set_rows(std::vector<MeasuredRow> rows, const GpuTypeFacts& types, Learner& learner);
  /// Forgets the rows; their curves stay in the learner until the next set_rows().
  void drop_rows() { step_time_models_ = nullptr; }
  /// Fits, if Learner::refit_when_due() of this share says so, and makes a version if something
  /// changed. The first call always makes one.
  /// All step-time models of a version are fitted, those of execution plans for `shapes`
  /// (StepTimeModels::ready).
  [[nodiscard]] News fit(Learner& learner, const GpuTypeFacts& types,
                         const std::set<ProfileShape>& shapes, double share = 0);
  /// Fits the hyperparameters if that is due, and makes a version with them. May take a second.
  [[nodiscard]] News fit_hyperparameters(Learner& learner, const GpuTypeFacts& types,
                                         const std::set<ProfileShape>& shapes);

  /// Null before the first fit().
  [[nodiscard]] const std::shared_ptr<const Models>& latest() const { return latest_; }

 private:
  [[nodiscard]] bool has_new_shape(const std::set<ProfileShape>& shapes) const;
  void make(const Learner& learner, const GpuTypeFacts& types,
            const std::set<ProfileShape>& shapes);

  std::shared_ptr<const Models> latest_;
  std::shared_ptr<const StepTimeModels> step_time_models_;  ///< null without measured rows
  GpuTypeFacts types_;                                      ///< of latest_
  bool warms_;
  bool rows_news_ = false;  ///< there are rows that no version has yet
};

/// A Learner, rows and versions together, where no store keeps the reports. Deterministic: the same
/// calls give the same versions.
class ReportedModels {
 public:
  /// The step-time models get rows again when a configuration is new or there are this share more
  /// reports. 0: at each fit, as in slurmctld.
  explicit ReportedModels(LearnerRules rules = {}, double row_share = 0)
      : learner_(rules), row_share_(row_share) {}

  void take(const MeasuredReport& report);
  /// The latest version, after the fits that are due; `share` as in Learner::refit_when_due().
  [[nodiscard]] std::shared_ptr<const Models> fit_when_due(const GpuTypeFacts& types,
                                                           const std::set<ProfileShape>& shapes,
                                                           double share);

  [[nodiscard]] const Learner& learner() const { return learner_; }

 private:
  void set_rows_when_due(const GpuTypeFacts& types);

  Learner learner_;
  MeasuredRows rows_;
  ModelVersions versions_{false};
  double row_share_;
  std::int64_t reports_at_rows_ = 0;  ///< when the step-time models last got rows
  std::size_t rows_at_rows_ = 0;
};

}  // namespace rubato
