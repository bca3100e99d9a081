// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/validate/validate_bert.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "lib/model/plans/plan_published.h"

namespace rubato {
namespace {

constexpr double kParams = 320.71863;  ///< 2^20
constexpr PlanEnvironment kEnvironment{.pcie = 64, .intra = 119.4879, .inter = 20};

struct FixtureRow {
  int gpus;
  int cores;
  bool offload;
  double forward, tail, optimiser, step;  ///< ms
};
constexpr std::array<FixtureRow, 7> kRows{{
    {8, 1, false, 40, 83, 25, 157},
    {4, 1, false, 65, 130, 24, 225},
    {2, 1, false, 116, 219, 25, 365},
    {8, 4, true, 38, 123, 118, 284},
    {4, 4, true, 63, 158, 148, 376},
    {2, 4, true, 117, 256, 198, 580},
    {1, 4, true, 227, 467, 274, 975},
}};

struct Published {
  PlanTerm term;
  double value;
};
// k_opt is at its lower bound and has no relative error.
constexpr std::array<Published, 6> kPublished{{
    {PlanTerm::kBackward, 1.7763},
    {PlanTerm::kOverlap, 1.1410},
    {PlanTerm::kHostOptimiser, 4.4006},
    {PlanTerm::kStep, 15.257},
    {PlanTerm::kOffload, 37.289},
    {PlanTerm::kSwap, 26.222},
}};
constexpr double kParameterError = 0.05;
constexpr double kMaxOptimiser = 1e-3;
constexpr double kPoint = 0.001;  ///< a tenth of a percentage point

// Forward pass on one GPU, ms, and its speedup on 1, 2, 4 and 8.
constexpr double kForward = 225;
constexpr std::array<double, 4> kShorter{1, 1.8, 3.24, 5.832};

struct Check {
  const char* plan;
  Zero zero;
  int cores;
  std::array<double, 4> steps;  ///< ms on 1, 2, 4, 8 GPUs
  double mean, max;             ///< the authors' errors
};
constexpr std::array<Check, 2> kChecks{{
    {"dp", Zero::kNone, 1, {654.5, 365, 225.65, 157}, 0.05268, 0.0832},
    {"zero-offload", Zero::kOffload, 4, {1019.7, 580, 376, 271.64}, 0.06372, 0.08618},
}};

PlanTerms fit_rows() {
  std::vector<PublishedSample> samples;
  samples.reserve(kRows.size());
  for (const FixtureRow& row : kRows) {
    samples.push_back(
        {.plan = {.data = row.gpus, .zero = row.offload ? Zero::kOffload : Zero::kNone},
         .cores_per_gpu = row.cores,
         .params_mi = kParams,
         .forward_ms = row.forward,
         .tail_ms = row.tail,
         .optimiser_ms = row.optimiser,
         .step_ms = row.step});
  }
  return fit_published(samples, kEnvironment);
}

ValidatedObservation check(const PlanTerms& terms, const Check& of) {
  ValidatedObservation observation{.source = "bert",
                                   .model = "fixture",
                                   .plan = of.plan,
                                   .fit_samples = static_cast<int>(kRows.size()),
                                   .test_rows = static_cast<int>(of.steps.size())};
  for (std::size_t i = 0; i < of.steps.size(); ++i) {
    const ExecutionPlan plan{.data = 1 << i, .zero = of.zero};
    const double predicted =
        published_parts(terms, kEnvironment, plan, of.cores, kParams, kForward / kShorter.at(i))
            .step;
    const double error = std::abs(predicted / of.steps.at(i) - 1);
    observation.mean_error += error / static_cast<double>(of.steps.size());
    observation.max_error = std::max(observation.max_error, error);
  }
  return observation;
}

}  // namespace

Result<ValidateSection> validate_bert(const std::string& /*data_dir*/) {
  const PlanTerms terms = fit_rows();
  const auto value = [&](PlanTerm term) { return terms.at(static_cast<std::size_t>(term)); };
  ValidateSection out;
  double worst = 0;
  std::string found;
  for (const Published& p : kPublished) {
    worst = std::max(worst, std::abs(value(p.term) / p.value - 1));
    found += fmt::format("{} {:.4f} ({:.4f}), ", name_of(p.term), value(p.term), p.value);
  }
  out.notes.push_back(fmt::format("parameters found (published): {}{} {:.1e}", found,
                                  name_of(PlanTerm::kOptimiser), value(PlanTerm::kOptimiser)));
  bool errors_hold = true;
  for (const Check& of : kChecks) {
    out.observations.push_back(check(terms, of));
    const ValidatedObservation& observation = out.observations.back();
    errors_hold = errors_hold && observation.mean_error <= of.mean + kPoint &&
                  observation.max_error <= of.max + kPoint;
    out.notes.push_back(fmt::format(
        "{}: mean {:.2f} % (published {:.2f} %), max {:.2f} % ({:.2f} %)", of.plan,
        100 * observation.mean_error, 100 * of.mean, 100 * observation.max_error, 100 * of.max));
  }
  out.summary = {{"params_max_rel", worst},
                 {"dp_mean", out.observations[0].mean_error},
                 {"offload_mean", out.observations[1].mean_error}};
  out.gates = {
      {"bert_parameters", worst <= kParameterError && value(PlanTerm::kOptimiser) <= kMaxOptimiser},
      {"bert_errors", errors_hold}};
  return out;
}

}  // namespace rubato
