// SPDX-License-Identifier: GPL-2.0-or-later
// The records of models.json, described as those of records.h.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "lib/json/models_table.h"
#include "lib/json/records.h"

namespace rubato::json {

/// A flag and its number of reports.
using FlagCount = std::pair<std::string, std::int64_t>;

/// The members that every row begins with: profile and GPU type.
template <typename Visitor, typename Row>
void describe_profile(Visitor& v, Row& row) {
  v.text("account", row.account, kAlways);
  v.text("job_type", row.job_type, kRequired);
  v.yes("shared", row.shared, kAlways);
  v.text("gpu_type", row.gpu_type, kAlways);
}

template <typename Visitor, Is<FlagCount> R>
void describe(Visitor& v, R& flag) {
  v.text("flag", flag.first, kAlways);
  v.number("reports", flag.second, kMaxSamples, kRequired);
}

template <typename Visitor, Is<ModelRow> R>
void describe(Visitor& v, R& row) {
  describe_profile(v, row);
  v.count("gpus", row.gpus, kAlways);
  v.count("nodes", row.nodes, kAlways);
  v.text("plan", row.plan, kAlways);
  v.number("batch", row.batch, kMaxSamples, kAlways);
  v.number("samples", row.samples, kMaxSamples, kAlways);
  v.number("flagged", row.flagged, kMaxSamples, kAlways);
  v.list("flags", row.flags);
  v.number("jobs", row.jobs, kMaxSamples, kAlways);
  v.real("rate_mean", row.throughput_mean, kAlways);
  v.real("rate_min", row.throughput_min, kAlways);
  v.real("rate_max", row.throughput_max, kAlways);
  v.real("rate_last", row.throughput_last, kAlways);
  v.time("last", row.last, kAlways);
}

template <typename Visitor, Is<ForecastRow> R>
void describe(Visitor& v, R& row) {
  describe_profile(v, row);
  v.count("gpus", row.gpus, kAlways);
  v.real("rate", row.throughput, kRequired);
  v.real("rate_low", row.throughput_low, kAlways);
  v.real("rate_high", row.throughput_high, kAlways);
  v.number("samples", row.samples, kMaxSamples, kAlways);
}

template <typename Visitor, Is<ErrorRow> R>
void describe(Visitor& v, R& row) {
  describe_profile(v, row);
  v.real("error", row.error, kRequired);
  v.number("reports", row.reports, kMaxSamples, kAlways);
}

template <typename Visitor, Is<RefusalRow> R>
void describe(Visitor& v, R& row) {
  describe_profile(v, row);
  v.number("fits", row.fits, kMaxSamples, kRequired);
  v.real("error", row.error, kRequired);
  v.real("kept_error", row.kept_error, kRequired);
  v.number("reports", row.reports, kMaxSamples, kRequired);
}

template <typename Visitor, Is<InformativeMeasurementRow> R>
void describe(Visitor& v, R& row) {
  describe_profile(v, row);
  v.count("gpus", row.gpus, kAlways);
  v.real("within", row.within, kRequired);
  v.real("after", row.after, kRequired);
}

template <typename Visitor, Is<ModelsTable> R>
void describe(Visitor& v, R& table) {
  v.time("generated", table.generated, kAlways);
  v.list("models", table.rows, kUnlimited, kRequired);
  v.list("forecasts", table.forecasts, kUnlimited, kAlways);
  v.list("forecast_errors", table.errors, kUnlimited, kAlways);
  v.list("refused_fits", table.refusals, kUnlimited, kAlways);
  v.list("lessons", table.most_informative, kUnlimited, kAlways);
}

}  // namespace rubato::json
