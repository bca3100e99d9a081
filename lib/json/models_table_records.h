// SPDX-License-Identifier: GPL-2.0-or-later
// The records of models.json, described as those of records.h.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "lib/json/models_table.h"
#include "lib/json/record_description.h"

namespace rubato::json {

/// A flag and its number of reports.
using FlagCount = std::pair<std::string, std::int64_t>;

/// How a table shows the account of a profile.
inline std::string owner_of(bool shared, const std::string& account) {
  return shared ? "(all)" : account;
}

/// The members that every row begins with: profile and GPU type.
template <typename Visitor, typename Row>
void describe_profile(Visitor& v, Row& row) {
  v.text("account", row.account, kAlways);
  v.note("account", "empty where all accounts share the profile");
  v.text("job_type", row.job_type, kRequired);
  v.yes("shared", row.shared, kAlways);
  v.text("gpu_type", row.gpu_type, kAlways);
}

template <typename Visitor, Is<FlagCount> R>
void describe(Visitor& v, R& flag) {
  v.text("flag", flag.first, kAlways);
  v.number("reports", flag.second, kMaxSamples, kRequired);
  v.above_zero("reports", flag.second);
}

template <typename Visitor, Is<ModelRow> R>
void describe(Visitor& v, R& row) {
  describe_profile(v, row);
  v.column("JOBTYPE", kTextCell, row.job_type);
  v.column("ACCOUNT", kTextCell, owner_of(row.shared, row.account));
  v.column("GPU", kTextCell, row.gpu_type);
  v.count("gpus", row.gpus, kAlways);
  v.column("GPUS", kNumberCell, row.gpus);
  v.count("nodes", row.nodes, kAlways);
  v.note("nodes", "0: not known");
  v.column("NODES", kNumberCell, known_if(row.nodes > 0, row.nodes));
  v.text("plan", row.plan, kAlways);
  v.column("PLAN", kTextCell, row.plan);
  v.number("batch", row.batch, kMaxSamples, kAlways);
  v.column("BATCH", kNumberCell, known_if(row.samples > 0, row.batch));
  v.number("samples", row.samples, kMaxSamples, kAlways);
  v.note("samples", "reports, flagged ones included");
  v.column("SAMPLES", kNumberCell, row.samples);
  v.number("flagged", row.flagged, kMaxSamples, kAlways);
  v.column("FLAGGED", kNumberCell, row.flagged);
  v.list("flags", row.flags);
  v.note("flags", "why reports are flagged; left out if none is");
  v.number("jobs", row.jobs, kMaxSamples, kAlways);
  v.column("JOBS", kNumberCell, row.jobs);
  v.real("rate_mean", row.throughput_mean, kAlways);
  v.note("rate_mean", "samples/s, as the next three; reports that are not flagged");
  v.column("THROUGHPUT", kRateCell, known_if(row.measured(), row.throughput_mean));
  v.real("rate_min", row.throughput_min, kAlways);
  v.real("rate_max", row.throughput_max, kAlways);
  v.column("RANGE", kPercentCell,
           known_if(row.measured() && row.throughput_mean > 0,
                    (row.throughput_max - row.throughput_min) / row.throughput_mean));
  v.real("rate_last", row.throughput_last, kAlways);
  v.past("last", row.last, kAlways);
  v.column("LAST", kTimeCell, known_if(row.last > 0, row.last));
}

template <typename Visitor, Is<ForecastRow> R>
void describe(Visitor& v, R& row) {
  describe_profile(v, row);
  v.count("gpus", row.gpus, kAlways);
  v.above_zero("gpus", row.gpus);
  v.real("rate", row.throughput, kRequired);
  v.note("rate", "samples/s");
  v.column("FORECAST", kRateCell, known_if(row.throughput > 0, row.throughput));
  v.real("rate_low", row.throughput_low, kAlways);
  v.note("rate_low", "two of three jobs should be between this and rate_high");
  v.real("rate_high", row.throughput_high, kAlways);
  v.column("STDDEV", kPercentCell,
           known_if(row.throughput > 0, row.throughput_high / row.throughput - 1));
  v.number("samples", row.samples, kMaxSamples, kAlways);
  v.note("samples", "reports of exactly this; 0: forecast from others alone");
}

template <typename Visitor, Is<ErrorRow> R>
void describe(Visitor& v, R& row) {
  describe_profile(v, row);
  v.real("error", row.error, kRequired);
  v.note("error",
         "mean of |forecast / report - 1| over about the last 200 reports, each forecast "
         "made before its report counted");
  v.not_negative("error", row.error);
  v.number("reports", row.reports, kMaxSamples, kAlways);
  v.column("ERROR", kTenthsCell, known_if(row.reports > 0, row.error));
}

template <typename Visitor, Is<RefusalRow> R>
void describe(Visitor& v, R& row) {
  describe_profile(v, row);
  v.note("job_type", "whose reports the fits predict worse; empty: all reports together");
  v.number("fits", row.fits, kMaxSamples, kRequired);
  v.above_zero("fits", row.fits);
  v.real("error", row.error, kRequired);
  v.note("error", "of the last rejected fit over those reports");
  v.not_negative("error", row.error);
  v.real("kept_error", row.kept_error, kRequired);
  v.note("kept_error", "of the fit in use");
  v.not_negative("kept_error", row.kept_error);
  v.number("reports", row.reports, kMaxSamples, kRequired);
  v.above_zero("reports", row.reports);
}

/// What a measurement at a number of GPUs would bring.
template <typename Visitor, typename Count, typename Share>
void describe_gain(Visitor& v, Count&& gpus, Share&& within, Share&& after) {
  v.count("gpus", gpus, kAlways);
  v.above_zero("gpus", gpus);
  v.real("within", within, kRequired);
  v.note("within", "mean standard deviation of the profile's forecasts, as a share of the rate");
  v.not_negative("within", within);
  v.real("after", after, kRequired);
  v.note("after", "the same with that measurement");
  v.not_negative("after", after);
}

template <typename Visitor, Is<InformativeMeasurementRow> R>
void describe(Visitor& v, R& row) {
  describe_profile(v, row);
  describe_gain(v, row.gpus, row.within, row.after);
}

template <typename Visitor, Is<ModelsTable> R>
void describe(Visitor& v, R& table) {
  v.past("generated", table.generated, kAlways);
  v.list("models", table.rows, kUnlimited, kRequired);
  v.list("forecasts", table.forecasts, kUnlimited, kAlways);
  v.note("forecasts", "of the profiles on each GPU type, measured there or not");
  v.list("forecast_errors", table.errors, kUnlimited, kAlways);
  v.note("forecast_errors", "errors of the forecasts of reports");
  v.list("refused_fits", table.refusals, kUnlimited, kAlways);
  v.note("refused_fits",
         "fits that were rejected since slurmctld started, because they predict recent reports "
         "worse than the one in use");
  v.list("lessons", table.most_informative, kUnlimited, kAlways);
  v.note("lessons", "most informative measurements, the best first");
  v.number("merged", table.merged, kMaxSamples);
  v.note("merged",
         "measured configurations that the model fit merges with similar ones, because there are "
         "more than its limit; left out: none");
  v.number("dropped", table.dropped, kMaxSamples);
  v.note("dropped",
         "measured configurations that are not in the model fit, those with the fewest reports; "
         "left out: none");
}

}  // namespace rubato::json
