// SPDX-License-Identifier: GPL-2.0-or-later
// Chooses the most informative configurations to measure (active learning).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace rubato {

/// The candidate whose measurement takes most from the sum of all candidates' variances (active
/// learning after Cohn, Ghahramani and Jordan 1996): argmax over i of the sum over j of
/// weight(j) * covariance(i, j)^2 / (covariance(i, i) + noise). `covariance` is of the forecasts
/// (in log space), n x n, row by row; without `weights` all count alike. Of equals the first; none
/// when all are `taken`.
[[nodiscard]] std::optional<std::size_t> choose_row(std::span<const double> covariance,
                                                    double noise, const std::vector<bool>& taken,
                                                    std::span<const double> weights = {});

/// At most `most` of `candidates`, chosen one after the other: `next` says which, knowing only what
/// those chosen so far measured, and ends with none.
using NextRow = std::function<std::optional<std::size_t>(const std::vector<std::size_t>& chosen)>;
[[nodiscard]] std::vector<std::size_t> choose_rows(std::size_t candidates, std::size_t most,
                                                   const NextRow& next);

}  // namespace rubato
