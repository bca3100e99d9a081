// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/solver/assignment_problem.h"

namespace rubato::sim {

LinearProgram assignment_program(const AssignmentProblem& choice) {
  LinearProgram linear_program;
  std::vector<LinearProgram::Row> capacity(choice.gpus.size());
  for (const auto t : indices<TypeIndex>(choice.gpus)) capacity[t].bound = choice.gpus[t];
  for (const std::vector<double>& costs : choice.costs) {
    LinearProgram::Row one{{}, 1};
    for (const auto c : indices<ColumnIndex>(choice.columns)) {
      if (costs[c] >= 0) continue;
      const VariableIndex variable{linear_program.objective.size()};
      linear_program.objective.push_back(-costs[c]);
      one.terms.emplace_back(variable, 1);
      const AssignmentColumn& column = choice.columns[c];
      capacity[column.type].terms.emplace_back(variable, column.gpus);
    }
    if (!one.terms.empty()) linear_program.rows.push_back(std::move(one));
  }
  for (LinearProgram::Row& row : capacity) linear_program.rows.push_back(std::move(row));
  return linear_program;
}

std::vector<ColumnIndex> assignment_of(const AssignmentProblem& choice,
                                       const std::vector<double>& answer) {
  std::vector<ColumnIndex> chosen(choice.costs.size());
  VariableIndex variable = 0;
  for (std::size_t j = 0; j < choice.costs.size(); ++j) {
    for (const auto c : indices<ColumnIndex>(choice.columns)) {
      if (choice.costs[j][c] >= 0) continue;
      if (answer[variable] > 0.5) chosen[j] = c;
      ++variable;
    }
  }
  return chosen;
}

}  // namespace rubato::sim
