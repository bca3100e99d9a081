// SPDX-License-Identifier: GPL-2.0-or-later
// The records of `rubato models show` and `fit`, described as those of records.h. Nothing reads
// them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/json/models_fit_records.h"
#include "lib/json/models_table_records.h"
#include "lib/model/predictor.h"
#include "lib/model/throughput/acquisition.h"

namespace rubato::json {

/// Reports that are stored and not used.
struct FlaggedReports {
  std::string account;  ///< "" where the profile is shared
  std::string gpu_type;
  std::string flag;
  std::int64_t reports = 0;
};

struct FitSummaries {
  std::vector<FitSummary> fits;
  bool show = false;  ///< `rubato models show`: has the following members
  std::vector<FlaggedReports> flagged{};
  std::vector<InformativeMeasurement> most_informative{};
};

inline std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ","));
}

template <typename Visitor, Is<FitSummary> R>
void describe(Visitor& v, R& fit) {
  describe(v, fit.profile);
  v.column("JOBTYPE", kTextCell, fit.profile.job_type);
  v.column("ACCOUNT", kTextCell, owner_of(fit.profile.account.empty(), fit.profile.account));
  v.text("gpu_type", fit.gpu_type, kAlways);
  v.column("GPU", kTextCell, fit.gpu_type);
  v.required_word("model", fit.model_kind, from_word<ModelKind>);
  v.note("model", "plans, data-parallel or step-time");
  v.column("MODEL", kTextCell, std::string(to_string(fit.model_kind)));
  v.count("configurations", fit.configurations, kAlways);
  v.note("configurations", "number of different ones");
  v.column("CONFIGS", kNumberCell, fit.configurations);
  v.number("samples", fit.samples, kMaxSamples, kAlways);
  v.note("samples", "reports");
  v.column("SAMPLES", kNumberCell, fit.samples);
  v.real("mean_error", fit.mean_error, kAlways);
  v.note("mean_error", "relative, on the rows of the fit");
  v.column("MEAN", kTenthsCell, fit.mean_error);
  v.real("max_error", fit.max_error, kAlways);
  v.note("max_error", "relative, on the rows of the fit");
  v.column("MAX", kTenthsCell, fit.max_error);
  v.values_by_name("parameters", fit.parameters);
  v.texts("flags", fit.flags, kAlways);
  v.note("flags", "problems of the fit");
  v.column("FLAGS", kTextCell, joined(fit.flags));
}

template <typename Visitor, Is<FlaggedReports> R>
void describe(Visitor& v, R& row) {
  v.text("account", row.account, kAlways);
  v.note("account", "empty where all accounts share the profile");
  v.text("gpu_type", row.gpu_type, kAlways);
  v.text("flag", row.flag, kAlways);
  v.note("flag", "see rubato-files(5)");
  v.number("reports", row.reports, kMaxSamples, kAlways);
  v.above_zero("reports", row.reports);
}

template <typename Visitor, Is<InformativeMeasurement> R>
void describe(Visitor& v, R& measurement) {
  describe(v, measurement.profile);
  v.text("gpu_type", measurement.gpu_type, kAlways);
  describe_gain(v, measurement.gpus, std::expm1(measurement.mean),
                std::expm1(std::max(measurement.mean - measurement.reduction, 0.0)));
}

template <typename Visitor, Is<FitSummaries> R>
void describe(Visitor& v, R& summaries) {
  v.list("fits", summaries.fits, kUnlimited, kAlways);
  if (!v.rest(summaries.show)) return;
  v.list("flagged", summaries.flagged, kUnlimited, kAlways);
  v.note("flagged", "of show: reports that are stored and not used, by reason");
  v.list("lessons", summaries.most_informative, kUnlimited, kAlways);
  v.note("lessons", "of show: most informative measurements, the best first");
}

}  // namespace rubato::json
