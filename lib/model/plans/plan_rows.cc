// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/plans/plan_rows.h"

#include <eigen3/Eigen/Core>

#include "lib/model/numeric/choose_rows.h"

namespace rubato {

std::optional<std::size_t> most_informative_row(const PlanFit& fit,
                                                const PlanEnvironment& environment,
                                                const ModelShape& shape,
                                                const std::vector<PlanSetting>& candidates,
                                                const std::vector<bool>& taken) {
  constexpr auto kTerms = static_cast<Eigen::Index>(kPlanTerms);
  const auto n = static_cast<Eigen::Index>(candidates.size());
  if (n == 0) return std::nullopt;
  Eigen::MatrixXd by(n, kTerms);
  for (Eigen::Index i = 0; i < n; ++i) {
    const PlanSetting& at = candidates[static_cast<std::size_t>(i)];
    const PlanTerms row =
        sensitivity(fit.terms, environment, at.plan, at.configuration, {shape, at.batch});
    by.row(i) = Eigen::Map<const Eigen::RowVectorXd>(row.data(), kTerms);
  }
  const Eigen::Map<const Eigen::Matrix<double, kTerms, kTerms, Eigen::RowMajor>> terms(
      fit.covariance.data());
  const Eigen::MatrixXd covariance = by * terms * by.transpose();
  const double noise = step_noise(fit);
  return choose_row({covariance.data(), static_cast<std::size_t>(covariance.size())}, noise * noise,
                    taken);
}

std::vector<std::size_t> choose_settings(const ModelShape& shape,
                                         const std::vector<PlanSetting>& candidates,
                                         std::size_t most,
                                         const std::function<PlanSample(std::size_t)>& measure,
                                         const PlanEnvironment& environment, PlanBelief belief) {
  return choose_rows(candidates.size(), most, [&](const std::vector<std::size_t>& chosen) {
    std::vector<PlanSample> known;
    std::vector<bool> taken(candidates.size());
    for (const std::size_t i : chosen) {
      known.push_back(measure(i));
      taken[i] = true;
    }
    const PlanFit fit = fit_plans(shape, known, environment, belief);
    return most_informative_row(fit, environment, shape, candidates, taken);
  });
}

}  // namespace rubato
