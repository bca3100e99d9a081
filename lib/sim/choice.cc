// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/choice.h"

namespace rubato::sim {

std::vector<int> choose_exactly(const Choice& choice) {
  const auto& [costs, columns, gpus] = choice;
  std::vector<std::size_t> strides;
  std::size_t states = 1;
  for (const int most : gpus) {
    strides.push_back(states);
    states *= static_cast<std::size_t>(most) + 1;
  }
  std::vector<std::vector<int>> free(gpus.size(), std::vector<int>(states));
  for (std::size_t t = 0; t < gpus.size(); ++t) {
    for (std::size_t s = 0; s < states; ++s) {
      free[t][s] = static_cast<int>(s / strides[t] % (static_cast<std::size_t>(gpus[t]) + 1));
    }
  }
  // best[s]: least cost of the jobs behind, with what state s has free.
  std::vector<double> best(states, 0);
  std::vector<std::vector<short>> choices(costs.size(), std::vector<short>(states, -1));
  for (std::size_t j = costs.size(); j-- > 0;) {
    std::vector<double> now = best;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const double cost = costs[j][c];
      if (cost >= 0) continue;
      const auto t = static_cast<std::size_t>(columns[c].type);
      const std::size_t taken = strides[t] * static_cast<std::size_t>(columns[c].gpus);
      for (std::size_t s = taken; s < states; ++s) {
        if (free[t][s] < columns[c].gpus) continue;
        const double value = best[s - taken] + cost;
        // Sums in another order differ by rounding alone.
        if (value >= now[s] - 1e-9) continue;
        now[s] = value;
        choices[j][s] = static_cast<short>(c);
      }
    }
    best = std::move(now);
  }
  std::vector<int> chosen(costs.size(), -1);
  std::size_t state = states - 1;
  for (std::size_t j = 0; j < costs.size(); ++j) {
    chosen[j] = choices[j][state];
    if (chosen[j] < 0) continue;
    const ChoiceColumn& column = columns[static_cast<std::size_t>(chosen[j])];
    state -= strides[static_cast<std::size_t>(column.type)] * static_cast<std::size_t>(column.gpus);
  }
  return chosen;
}

LinearProgramme choice_programme(const Choice& choice) {
  LinearProgramme programme;
  std::vector<LinearProgramme::Row> capacity(choice.gpus.size());
  for (std::size_t t = 0; t < choice.gpus.size(); ++t) capacity[t].bound = choice.gpus[t];
  for (const std::vector<double>& costs : choice.costs) {
    LinearProgramme::Row one{{}, 1};
    for (std::size_t c = 0; c < choice.columns.size(); ++c) {
      if (costs[c] >= 0) continue;
      const int variable = static_cast<int>(programme.objective.size());
      programme.objective.push_back(-costs[c]);
      one.terms.emplace_back(variable, 1);
      const ChoiceColumn& column = choice.columns[c];
      capacity[static_cast<std::size_t>(column.type)].terms.emplace_back(variable, column.gpus);
    }
    if (!one.terms.empty()) programme.rows.push_back(std::move(one));
  }
  for (LinearProgramme::Row& row : capacity) programme.rows.push_back(std::move(row));
  return programme;
}

std::vector<int> choice_of(const Choice& choice, const std::vector<double>& answer) {
  std::vector<int> chosen(choice.costs.size(), -1);
  std::size_t variable = 0;
  for (std::size_t j = 0; j < choice.costs.size(); ++j) {
    for (std::size_t c = 0; c < choice.columns.size(); ++c) {
      if (choice.costs[j][c] >= 0) continue;
      if (answer[variable] > 0.5) chosen[j] = static_cast<int>(c);
      ++variable;
    }
  }
  return chosen;
}

}  // namespace rubato::sim
