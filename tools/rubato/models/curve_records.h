// SPDX-License-Identifier: GPL-2.0-or-later
// The records of `rubato models curve`, described as those of lib/json/records.h. Nothing reads
// them.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/json/fit_summary_records.h"
#include "lib/model/batch_scaling.h"
#include "lib/model/predictor.h"

namespace rubato::tools {

/// A size of one profile on one GPU type.
struct CurveRow {
  int gpus = 0;
  Prediction found;  ///< the best within as much or less
  Resources least;   ///< that keep what the job has there as it was submitted
};

/// The best batch on a number of GPUs.
struct ScalingPoint {
  int gpus = 0;
  std::int64_t batch = 0;
  std::int64_t local = 0;
  std::int64_t passes = 0;
  double seconds = 0;
  double scaling = 0;
  int effective_gpus = 0;
};

/// What the measured tables tell.
struct ScalingTables {
  BatchScaling scaling;
  std::vector<ScalingPoint> points;
};

struct Curve {
  JobSpec job;
  std::string gpu_type;
  std::vector<CurveRow> rows;
  ScalingTables tables;
};

/// The document.
struct Curves {
  std::vector<Curve> curves;
  std::vector<InformativeMeasurement> most_informative;
};

/// "4 on 1 node, 16 cores"
[[nodiscard]] inline std::string used_text(const Resources& used) {
  std::string text = fmt::format("{}", used.gpus);
  if (used.nodes > 0) text += fmt::format(" on {} node{}", used.nodes, used.nodes == 1 ? "" : "s");
  if (used.cores > 0) text += fmt::format(", {} core{}", used.cores, used.cores == 1 ? "" : "s");
  return text;
}

}  // namespace rubato::tools

namespace rubato::json {

template <typename Visitor, Is<Resources> R>
void describe(Visitor& v, R& used) {
  v.count("gpus", used.gpus, kAlways);
  v.note("gpus", "of the whole job, as all of these");
  v.count("nodes", used.nodes, kAlways);
  v.note("nodes", "0: not known");
  v.count("cores", used.cores, kAlways);
  v.note("cores", "0: not known");
  v.number("memory_mib", used.memory_mib, static_cast<std::uint64_t>(kJsonMaxMemory), kAlways);
  v.note("memory_mib", "0: not known");
}

/// The columns of a size. The order is that of the table, not that of the members.
template <typename Visitor>
void describe_columns(Visitor& v, const tools::CurveRow& row) {
  const Prediction& found = row.found;
  v.column("GPUS", kNumberCell, row.gpus);
  if (found.feasible) {
    v.column("THROUGHPUT", kRateCell, known_if(found.known_profile, found.goodput));
  } else {
    v.column("THROUGHPUT", kRateCell, std::string("does not fit"));
  }
  v.column("STDDEV", kPercentCell, known_if(found.feasible, std::expm1(found.stddev)));
  v.column("MODEL", kTextCell, std::string(to_string(found.model_kind)));
  v.column("PLAN", kTextCell, found.feasible ? found.plan : std::string());
  v.column("BATCH", kNumberCell, known_if(found.feasible && found.batch > 0, found.batch));
  v.column("USES", kTextCell, found.feasible ? tools::used_text(found.effective) : std::string());
  v.column("MINIMUM", kTextCell, found.feasible ? tools::used_text(row.least) : std::string());
}

template <typename Visitor, Is<tools::CurveRow> R>
void describe(Visitor& v, R& row) {
  describe_columns(v, row);
  v.count("gpus", row.gpus, kAlways);
  v.note("gpus", "maximum number");
  v.above_zero("gpus", row.gpus);
  v.yes("feasible", row.found.feasible, kAlways);
  v.note("feasible", "false: it does not fit, and the members below are left out");
  v.required_word("model", row.found.model_kind, from_word<ModelKind>);
  v.note("model", "source of the forecast; none: only the speed of GPU types is known");
  if (!v.rest(row.found.feasible)) return;
  v.real("rate", row.found.throughput, kAlways);
  v.note("rate", "samples/s; of model none in no unit");
  v.not_negative("rate", row.found.throughput);
  v.real("goodput", row.found.goodput, kAlways);
  v.note("goodput", "samples/s times their statistical efficiency");
  v.not_negative("goodput", row.found.goodput);
  v.real("within", std::expm1(row.found.stddev), kAlways);
  v.note("within", "two of three jobs should be within this share of the rate");
  v.not_negative("within", row.found.stddev);
  v.number("samples", row.found.samples, kMaxSamples, kAlways);
  v.note("samples", "reports of exactly this type and size");
  v.text("plan", row.found.plan, kAlways);
  v.note("plan", "execution plan; empty: as submitted");
  v.number("batch", row.found.batch, kMaxSamples, kAlways);
  v.note("batch", "global batch; 0: what the job chose");
  v.object("uses", row.found.effective, kAlways);
  v.note("uses", "the fewest resources that give this rate within 1 %");
  v.object("enough", row.least, kAlways);
  v.note("enough", "the fewest resources that give what the job has here as it was submitted");
}

template <typename Visitor, Is<tools::ScalingPoint> R>
void describe(Visitor& v, R& point) {
  v.count("gpus", point.gpus, kAlways);
  v.above_zero("gpus", point.gpus);
  v.column("GPUS", kNumberCell, point.gpus);
  v.number("batch", point.batch, kMaxSamples, kAlways);
  v.note("batch", "best global batch of the range");
  v.above_zero("batch", point.batch);
  v.column("BATCH", kNumberCell, point.batch);
  v.number("local_batch", point.local, kMaxSamples, kAlways);
  v.note("local_batch", "per GPU and pass");
  v.above_zero("local_batch", point.local);
  v.column("PER_GPU", kNumberCell, point.local);
  v.number("passes", point.passes, kMaxSamples, kAlways);
  v.above_zero("passes", point.passes);
  v.column("PASSES", kNumberCell, point.passes);
  v.real("seconds", point.seconds, kAlways);
  v.note("seconds", "per iteration");
  v.not_negative("seconds", point.seconds);
  v.real("scaling", point.scaling, kAlways);
  v.note("scaling", "samples/s over those on the fewest possible GPUs");
  v.not_negative("scaling", point.scaling);
  v.column("SCALING", kRatioCell, point.scaling);
  v.count("uses", point.effective_gpus, kAlways);
  v.note("uses", "GPUs; more would bring nothing");
  v.above_zero("uses", point.effective_gpus);
  v.column("USES", kNumberCell, point.effective_gpus);
}

template <typename Visitor, Is<tools::ScalingTables> R>
void describe(Visitor& v, R& tables) {
  const BatchScaling& scaling = tables.scaling;
  v.count("most_gpus", scaling.max_gpus, kAlways);
  v.note("most_gpus", "maximum number of GPUs of the tables");
  v.number("batches", scaling.batches, kMaxSamples, kAlways);
  v.note("batches", "of one GPU, with a time");
  v.number("all_reduces", scaling.links, kMaxSamples, kAlways);
  v.note("all_reduces", "with a time");
  v.texts("missing", scaling.missing, kAlways);
  v.note("missing", "reports that would tell more");
  v.list("points", tables.points, kUnlimited, kAlways);
  v.real("gradient_bytes", scaling.gradient_bytes);
  v.note("gradient_bytes", "left out if the shape is not known");
  v.not_negative("gradient_bytes", scaling.gradient_bytes);
}

template <typename Visitor, Is<tools::Curve> R>
void describe(Visitor& v, R& curve) {
  describe(v, curve.job.profile);
  v.text("gpu_type", curve.gpu_type, kAlways);
  v.list("points", curve.rows, kUnlimited, kAlways);
  v.object("tables", curve.tables, kAlways);
}

template <typename Visitor, Is<tools::Curves> R>
void describe(Visitor& v, R& curves) {
  v.list("curves", curves.curves, kUnlimited, kAlways);
  v.list("lessons", curves.most_informative, kUnlimited, kAlways);
  v.note("lessons", "most informative measurements, the best first");
}

}  // namespace rubato::json
