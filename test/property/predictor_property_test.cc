// SPDX-License-Identifier: GPL-2.0-or-later
// For any measurements and any query: a finite, non-negative answer or none, with the same bytes
// each time.
#include "lib/model/predictor.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstring>

#include "test/support/gen_snapshot.h"

namespace rubato::test {
namespace {

const std::vector<std::string>& types() {
  static const std::vector<std::string> names{"", "a100", "v100"};
  return names;
}

template <typename T>
const T& any_of(const std::vector<T>& list) {
  return list[static_cast<std::size_t>(gen_int(0, static_cast<int>(list.size()) - 1))];
}

/// Plausible, enormous, tiny, or not finite.
double gen_number() {
  switch (gen_int(0, 9)) {
    case 0:
      return 1e15;
    case 1:
      return 1e-300;
    case 2:
      return std::nan("");
    case 3:
      return -1;
    default:
      return std::exp(gen_int(-3000, 9000) / 1000.0);
  }
}

std::optional<double> gen_told() {
  return gen_chance(70) ? std::nullopt : std::optional(gen_number());
}

MeasuredRow gen_row() {
  static const std::vector<std::string> plans{"", "", "dp=2", "zero=4", "tp=2,dp=2", "nonsense"};
  MeasuredRow row;
  row.profile = {"lab", gen_chance(60) ? "one" : "two"};
  row.gpu_type = any_of(types());
  row.gpus = gen_int(0, 16);
  row.nodes = gen_int(0, 4);
  row.plan = any_of(plans);
  row.batch = gen_chance(10) ? 0 : gen_int(1, 4096);
  row.cores = gen_int(0, 64);
  if (gen_chance(20)) row.workers = gen_int(0, 16);
  if (gen_chance(20)) row.servers = gen_int(0, 8);
  row.throughput = gen_number();
  row.samples = gen_int(0, 100);
  row.forward = gen_told();
  row.sync = gen_told();
  row.optimise = gen_told();
  row.iteration = gen_told();
  row.noise = gen_told();
  return row;
}

JobSpec gen_job() {
  JobSpec job{.profile = {"lab", gen_chance(60) ? "one" : "two"}};
  if (gen_chance(40)) {
    job.shape = ModelShape{gen_int(1, 2'000'000'000), gen_int(0, 8192), gen_int(0, 96),
                           gen_int(0, 4096), gen_int(0, 64)};
  }
  if (gen_chance(50)) job.plans = Plans{true, {}};
  if (gen_chance(50)) {
    const int least = gen_int(1, 2048);
    job.batch = Batch{least, least + gen_int(0, 4096)};
  }
  if (gen_chance(20)) job.device = Device::kAny;
  return job;
}

Resources gen_resources() {
  return {any_of(types()), gen_int(0, 64), gen_int(0, 8), gen_int(0, 256), gen_int(0, 1 << 20)};
}

Predictor make(const std::vector<MeasuredRow>& rows) {
  std::vector<ThroughputObservation> observations;
  for (const MeasuredRow& row : rows) {
    if (!usable(row) || row.gpus < 1) continue;
    observations.push_back({.profile = row.profile,
                            .gpu_type = row.gpu_type,
                            .gpus = row.gpus,
                            .throughput = row.throughput,
                            .samples = row.samples});
  }
  return {std::make_shared<const ThroughputModel>(TypeSpeeds(), observations),
          std::make_shared<const StepTimeModels>(rows)};
}

void check(const Prediction& found, const Resources& at) {
  RC_ASSERT(std::isfinite(found.throughput) && found.throughput >= 0);
  RC_ASSERT(std::isfinite(found.goodput) && found.goodput >= 0);
  RC_ASSERT(std::isfinite(found.stddev) && found.stddev >= 0);
  RC_ASSERT(found.confidence() >= 0 && found.confidence() <= 1);
  RC_ASSERT(found.batch >= 0);
  RC_ASSERT(!found.feasible || found.throughput > 0);
  RC_ASSERT(found.feasible || found.throughput <= 0);
  RC_ASSERT(found.effective.gpus <= at.gpus && found.effective.cores <= at.cores);
}

bool same(const Prediction& a, const Prediction& b) {
  return std::memcmp(&a.throughput, &b.throughput, sizeof a.throughput) == 0 &&
         std::memcmp(&a.goodput, &b.goodput, sizeof a.goodput) == 0 &&
         std::memcmp(&a.stddev, &b.stddev, sizeof a.stddev) == 0 && a.plan == b.plan &&
         a.batch == b.batch && a.model_kind == b.model_kind && a.feasible == b.feasible;
}

RC_GTEST_PROP(Predictor, AnswersAreTotalAndRepeat, ()) {
  std::vector<MeasuredRow> rows;
  const int count = gen_int(0, 24);
  for (int i = 0; i < count; ++i) rows.push_back(gen_row());
  const Predictor first = make(rows);
  std::vector<MeasuredRow> turned(rows.rbegin(), rows.rend());
  const bool distinct = first.step_time_models()->rows() == StepTimeModels(turned).rows();
  const Predictor again = make(rows);
  for (int i = 0; i < 6; ++i) {
    const JobSpec job = gen_job();
    const Resources at = gen_resources();
    const Prediction found = first.predict(job, at);
    check(found, at);
    RC_ASSERT(same(found, first.predict(job, at)));  // cached
    RC_ASSERT(same(found, again.predict(job, at)));  // computed again
    if (job.batch && found.batch_chosen) {
      RC_ASSERT(found.batch >= job.batch->min && found.batch <= job.batch->max);
    }
    RC_ASSERT(!found.plan_chosen || job.plans.has_value());
  }
  RC_CLASSIFY(distinct);
  for (const CurvePoint& point : first.step_time_models()->curve_points()) {
    RC_ASSERT(std::isfinite(point.log_throughput) && std::isfinite(point.stddev) &&
              point.stddev >= 0);
  }
  for (const FitSummary& fit : first.step_time_models()->summaries()) {
    RC_ASSERT(std::isfinite(fit.mean_error) && fit.mean_error >= 0);
  }
}

RC_GTEST_PROP(Predictor, TheEnvelopeNeverFalls, ()) {
  std::vector<MeasuredRow> rows;
  const int count = gen_int(1, 16);
  for (int i = 0; i < count; ++i) rows.push_back(gen_row());
  const Predictor predictor = make(rows);
  const JobSpec job = gen_job();
  const std::vector<int> sizes{1, 2, 3, 4, 8, 16, 32};
  double before = 0;
  for (const int gpus : sizes) {
    const Resources at{"a100", gpus};
    const Prediction found = predictor.envelope(job, at, sizes);
    check(found, at);
    RC_ASSERT(found.goodput >= before * (1 - 1e-9));
    before = found.goodput;
  }
}

}  // namespace
}  // namespace rubato::test
