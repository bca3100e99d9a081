// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/solver/assignment_problem.h"

namespace rubato::sim {

LinearProgram assignment_program(const AssignmentProblem& choice) {
  LinearProgram linear_program;
  std::vector<LinearProgram::Row> capacity(choice.gpus.size());
  for (std::size_t t = 0; t < choice.gpus.size(); ++t) capacity[t].bound = choice.gpus[t];
  for (const std::vector<double>& costs : choice.costs) {
    LinearProgram::Row one{{}, 1};
    for (std::size_t c = 0; c < choice.columns.size(); ++c) {
      if (costs[c] >= 0) continue;
      const int variable = static_cast<int>(linear_program.objective.size());
      linear_program.objective.push_back(-costs[c]);
      one.terms.emplace_back(variable, 1);
      const AssignmentColumn& column = choice.columns[c];
      capacity[static_cast<std::size_t>(column.type)].terms.emplace_back(variable, column.gpus);
    }
    if (!one.terms.empty()) linear_program.rows.push_back(std::move(one));
  }
  for (LinearProgram::Row& row : capacity) linear_program.rows.push_back(std::move(row));
  return linear_program;
}

std::vector<int> assignment_of(const AssignmentProblem& choice, const std::vector<double>& answer) {
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
