// SPDX-License-Identifier: GPL-2.0-or-later
// Chooses the most informative configurations to measure (active learning).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace rubato {

/// The candidate whose measurement reduces the sum of all candidates' variances most (active
/// learning after Cohn, Ghahramani and Jordan 1996): argmax over i of the sum over j of weight(j) *
/// covariance(i, j)^2 / (covariance(i, i) + noise). `covariance`: of the forecasts (in log space),
/// n x n, row by row. Without `weights`, all count equally. Of equals the first; nullopt if all are
/// `taken`.
[[nodiscard]] std::optional<std::size_t> choose_row(std::span<const double> covariance,
                                                    double noise, const std::vector<bool>& taken,
                                                    std::span<const double> weights = {});

/// Chooses at most `most` of `candidates`, one by one. `next` returns the next one, given the
/// chosen ones, or nullopt to stop.
using NextRow = std::function<std::optional<std::size_t>(const std::vector<std::size_t>& chosen)>;
[[nodiscard]] std::vector<std::size_t> choose_rows(std::size_t candidates, std::size_t most,
                                                   const NextRow& next);

}  // namespace rubato
