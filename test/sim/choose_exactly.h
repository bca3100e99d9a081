// SPDX-License-Identifier: GPL-2.0-or-later
// Reference solutions for one configuration per job, to compare with the library's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lib/sim/solver/assignment_problem.h"

namespace rubato::test {

/// Exact dynamic programming over free GPUs: O(jobs x columns x product of the types' GPUs). The
/// entry of each row, -1 for none. Of equals the first in the order of jobs and columns.
inline std::vector<sim::ColumnIndex> choose_exactly(const sim::AssignmentProblem& choice) {
  const auto& [costs, columns, gpus] = choice;
  std::vector<std::size_t> strides;
  std::size_t states = 1;
  for (const int most : gpus) {
    strides.push_back(states);
    states *= static_cast<std::size_t>(most) + 1;
  }
  std::vector<std::vector<int>> free(gpus.size(), std::vector<int>(states));
  for (const auto t : indices<sim::TypeIndex>(gpus)) {
    for (std::size_t s = 0; s < states; ++s) {
      free[t][s] = static_cast<int>(s / strides[t] % (static_cast<std::size_t>(gpus[t]) + 1));
    }
  }
  // best[s]: minimum cost of the remaining jobs with the free GPUs of state s.
  std::vector<double> best(states, 0);
  std::vector<std::vector<short>> choices(costs.size(), std::vector<short>(states, -1));
  for (std::size_t j = costs.size(); j-- > 0;) {
    std::vector<double> now = best;
    for (const auto c : indices<sim::ColumnIndex>(columns)) {
      const double cost = costs[j][c];
      if (cost >= 0) continue;
      const sim::TypeIndex t = columns[c].type;
      const std::size_t taken = strides[t] * static_cast<std::size_t>(columns[c].gpus);
      for (std::size_t s = taken; s < states; ++s) {
        if (free[t][s] < columns[c].gpus) continue;
        const double value = best[s - taken] + cost;
        // Sums in another order differ only by rounding.
        if (value >= now[s] - 1e-9) continue;
        now[s] = value;
        choices[j][s] = static_cast<short>(c.value());
      }
    }
    best = std::move(now);
  }
  std::vector<sim::ColumnIndex> chosen(costs.size());
  std::size_t state = states - 1;
  for (std::size_t j = 0; j < costs.size(); ++j) {
    chosen[j] = sim::ColumnIndex{choices[j][state]};
    if (!chosen[j].valid()) continue;
    const sim::AssignmentColumn& column = columns[chosen[j]];
    state -= strides[column.type] * static_cast<std::size_t>(column.gpus);
  }
  return chosen;
}

/// The total cost of `chosen`. Sets `inside` to whether the GPUs of each type suffice.
inline double cost_of(const sim::AssignmentProblem& choice,
                      const std::vector<sim::ColumnIndex>& chosen, bool& inside) {
  double sum = 0;
  std::vector<int> left = choice.gpus;
  for (std::size_t j = 0; j < chosen.size(); ++j) {
    const sim::ColumnIndex c = chosen[j];
    if (!c.valid()) continue;
    sum += choice.costs[j][c];
    left[choice.columns[c].type] -= choice.columns[c].gpus;
  }
  inside = std::ranges::all_of(left, [](int gpus) { return gpus >= 0; });
  return sum;
}

/// The minimum cost, by exhaustive search.
inline double min_cost(const sim::AssignmentProblem& choice,
                       std::vector<sim::ColumnIndex>& chosen) {
  if (chosen.size() == choice.costs.size()) {
    bool inside = false;
    const double cost = cost_of(choice, chosen, inside);
    return inside ? cost : 0;
  }
  chosen.emplace_back();
  double least = std::min(0.0, min_cost(choice, chosen));
  for (const auto c : indices<sim::ColumnIndex>(choice.columns)) {
    chosen.back() = c;
    least = std::min(least, min_cost(choice, chosen));
  }
  chosen.pop_back();
  return least;
}

}  // namespace rubato::test
