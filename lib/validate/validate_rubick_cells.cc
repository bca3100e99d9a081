// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/validate/validate_rubick_cells.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "lib/model/numeric/bounded_fit.h"
#include "lib/model/plans/plan_belief.h"

namespace rubato {
namespace {

constexpr double kMi = 1048576;
constexpr double kSameStep = 0.1;

bool on_one_node(const PlanSample& s) {
  return s.configuration.nodes == 1 && !s.plan.split() &&
         (s.configuration.gpus == 1 || s.configuration.gpus == 2 || s.configuration.gpus == 4 ||
          s.configuration.gpus == 8);
}

// The profile's step time for the same plan and GPUs, seconds.
std::optional<double> step_at(const RubickProfile& profile, const PlanSample& s) {
  for (const RubickProfileRow& row : profile.rows) {
    if (on_one_node(row.sample) && row.sample.plan == s.plan) return row.sample.step_seconds;
  }
  return std::nullopt;
}

struct Match {
  std::size_t found = 0;
  double apart = 0;
};

Match match(const RubickFitSet& set, const RubickProfile& profile) {
  Match out;
  for (const RubickFitRow& row : set.rows) {
    const auto step = step_at(profile, row.sample);
    if (!step) continue;
    const double apart = std::abs(*step / row.sample.step_seconds - 1);
    if (apart > kSameStep) continue;
    ++out.found;
    out.apart += apart;
  }
  return out;
}

// Cores used in the fit set for a plan of this kind.
int cores_of(const RubickFitSet& set, Zero zero) {
  for (const RubickFitRow& row : set.rows) {
    if (row.sample.plan.zero == zero) return row.sample.configuration.cores_per_gpu;
  }
  return 1;
}

bool fitted_to(const RubickFitSet& set, const PlanSample& s) {
  return std::any_of(set.rows.begin(), set.rows.end(),
                     [&](const RubickFitRow& row) { return row.sample.plan == s.plan; });
}

}  // namespace

const RubickProfile* profile_of(const RubickFitSet& set, const RubickData& data) {
  const RubickProfile* best = nullptr;
  Match of_best;
  for (const RubickProfile& profile : data.profiles) {
    const Match m = match(set, profile);
    if (2 * m.found <= set.rows.size()) continue;
    if (best != nullptr &&
        (m.found < of_best.found || (m.found == of_best.found && m.apart >= of_best.apart))) {
      continue;
    }
    best = &profile;
    of_best = m;
  }
  return best;
}

std::vector<RubickObservation> observations_of(const RubickFitSet& set,
                                               const RubickProfile& profile) {
  std::map<std::string, RubickObservation> observations;
  for (RubickProfileRow row : profile.rows) {
    if (!on_one_node(row.sample)) continue;
    row.sample.batch = set.rows.front().sample.batch;
    row.sample.configuration.cores_per_gpu = cores_of(set, row.sample.plan.zero);
    RubickObservation& observation = observations[row.plan_name];
    observation.plan = row.plan_name;
    (fitted_to(set, row.sample) ? observation.fitted : observation.test).push_back(std::move(row));
  }
  std::vector<RubickObservation> out;
  for (auto& [plan, observation] : observations) {
    for (auto* rows : {&observation.fitted, &observation.test}) {
      std::stable_sort(rows->begin(), rows->end(), [](const auto& a, const auto& b) {
        return a.sample.configuration.gpus < b.sample.configuration.gpus;
      });
    }
    out.push_back(std::move(observation));
  }
  return out;
}

ModelShape shape_of(const RubickFitSet& set) {
  return {.params = std::llround(set.rows.front().params_mi * kMi)};
}

double error_of(const PlanTerms& terms, const ModelShape& shape, const PlanSample& row) {
  const double step = step_parts(terms, {}, row.plan, row.configuration, {shape, row.batch}).step;
  return std::abs(step / 1e3 / row.step_seconds - 1);
}

Floor floor_of(const ModelShape& shape, const std::vector<RubickProfileRow>& rows) {
  std::vector<PlanSample> samples;
  for (RubickProfileRow row : rows) {
    row.sample.forward_seconds = row.sample.tail_seconds = row.sample.optimiser_seconds = 0;
    samples.push_back(row.sample);
  }
  const PlanFit fit = fit_plans(shape, samples);
  const PlanBeliefs beliefs = beliefs_of(shape, fit.merged, PlanBelief::kShapeKnown);
  // Uses several starts, since the maximum of errors is not smooth.
  const auto search = [&](auto errors) {
    double least = errors(fit.terms);
    PlanTerms start = fit.terms;
    for (int turn = 0; turn < 6; ++turn) {
      std::vector<FitParameter> parameters;
      for (std::size_t i = 0; i < kPlanTerms; ++i) {
        const double from = turn == 3 ? beliefs.at(i).centre : start.at(i);
        parameters.push_back({from, beliefs.at(i).low, beliefs.at(i).high, true});
      }
      const FitResult found = minimise(
          parameters,
          [&](std::span<const double> values) {
            PlanTerms terms{};
            std::copy(values.begin(), values.end(), terms.begin());
            return errors(terms);
          },
          20000);
      if (found.objective <= least) {
        std::copy(found.values.begin(), found.values.end(), start.begin());
        least = found.objective;
      }
    }
    return least;
  };
  Floor out;
  out.max_error = search([&](const PlanTerms& terms) {
    double most = 0;
    for (const PlanSample& s : samples) most = std::max(most, error_of(terms, shape, s));
    return most;
  });
  out.mean_error = search([&](const PlanTerms& terms) {
    double sum = 0;
    for (const PlanSample& s : samples) sum += error_of(terms, shape, s);
    return sum / static_cast<double>(samples.size());
  });
  return out;
}

}  // namespace rubato
