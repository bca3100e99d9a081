// SPDX-License-Identifier: GPL-2.0-or-later
// rubato-solve: answers linear and integer programmes of the simulator with GLPK, the only program
// that links it. lib/sim/solver/solve_protocol.h says what it reads and prints. GLPK is under the
// GPL from version 3 on, and so is this program as it is built.
#include <fmt/format.h>
#include <glpk.h>
#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>

#include "lib/sim/solver/solve_protocol.h"

namespace rubato::sim {
namespace {

/// Of integer programmes, relative. That of Sia; below one unit where worths are whole numbers and
/// sum to less than 10,000, so that the answer is exact there.
constexpr double kGap = 1e-4;
/// Nodes of the tree times variables of an integer programme; then it is given up, for the branch
/// and bound of lib/sim/solver/branch_bound.h. 200 ms on a core of 2020 or so, in a count, since
/// answers must not depend on how fast a machine is.
constexpr double kMaxWork = 500'000;

struct Delete {
  void operator()(glp_prob* problem) const { glp_delete_prob(problem); }
};
using Problem = std::unique_ptr<glp_prob, Delete>;

/// Numbers of variables and rows begin at 1 there.
Problem problem_of(const SolveRequest& request) {
  const LinearProgram& linear_program = request.linear_program;
  Problem problem(glp_create_prob());
  glp_set_obj_dir(problem.get(), GLP_MAX);
  if (!linear_program.objective.empty()) {
    glp_add_cols(problem.get(), static_cast<int>(linear_program.objective.size()));
  }
  if (!linear_program.rows.empty()) {
    glp_add_rows(problem.get(), static_cast<int>(linear_program.rows.size()));
  }
  int column = 0;
  for (const double factor : linear_program.objective) {
    glp_set_obj_coef(problem.get(), ++column, factor);
    if (request.kind == ProgramKind::kBinary) {
      glp_set_col_kind(problem.get(), column, GLP_BV);
    } else {
      glp_set_col_bnds(problem.get(), column, GLP_LO, 0, 0);
    }
  }
  int number = 0;
  for (const LinearProgram::Row& row : linear_program.rows) {
    std::vector<int> columns{0};
    std::vector<double> factors{0};
    for (const auto& [variable, factor] : row.terms) {
      columns.push_back(variable + 1);
      factors.push_back(factor);
    }
    glp_set_row_bnds(problem.get(), ++number, GLP_UP, 0, row.bound);
    glp_set_mat_row(problem.get(), number, static_cast<int>(row.terms.size()), columns.data(),
                    factors.data());
  }
  return problem;
}

Result<std::vector<double>> centre(glp_prob* problem) {
  glp_iptcp options;
  glp_init_iptcp(&options);
  options.msg_lev = GLP_MSG_OFF;
  options.ord_alg = GLP_ORD_AMD;
  switch (const int code = glp_interior(problem, &options)) {
    case 0:
      break;
    case GLP_ENOCVG:
      return fail("interior point: no convergence");
    case GLP_EITLIM:
      return fail("interior point: too many iterations");
    case GLP_EINSTAB:
      return fail("interior point: numerical instability");
    default:
      return fail(fmt::format("interior point: exit code {}", code));
  }
  if (const int status = glp_ipt_status(problem); status != GLP_OPT) {
    return fail(status == GLP_NOFEAS || status == GLP_INFEAS ? "the problem is infeasible"
                                                             : "no optimum was found");
  }
  std::vector<double> answer;
  for (int i = 1; i <= glp_get_num_cols(problem); ++i) {
    answer.push_back(glp_ipt_col_prim(problem, i));
  }
  return answer;
}

struct Work {
  double variables;
  double done = 0;
};

void count_work(glp_tree* tree, void* work) {
  auto& [variables, done] = *static_cast<Work*>(work);
  if (glp_ios_reason(tree) != GLP_ISELECT) return;
  done += variables;
  if (done > kMaxWork) glp_ios_terminate(tree);
}

Result<std::vector<double>> binary(glp_prob* problem) {
  glp_iocp options;
  glp_init_iocp(&options);
  options.msg_lev = GLP_MSG_OFF;
  options.presolve = GLP_ON;
  options.mip_gap = kGap;
  Work work{static_cast<double>(glp_get_num_cols(problem))};
  options.cb_func = &count_work;
  options.cb_info = &work;
  const int code = glp_intopt(problem, &options);
  if (code == GLP_ESTOP) return fail("branch and bound: too many nodes");
  // It says GLP_EMIPGAP, and FEAS, where it stops at the gap and not at the optimum.
  const bool found = code == 0 ? glp_mip_status(problem) == GLP_OPT : code == GLP_EMIPGAP;
  if (!found) {
    return fail(code == GLP_ENOPFS ? "the problem is infeasible" : "no optimum was found");
  }
  std::vector<double> answer;
  for (int i = 1; i <= glp_get_num_cols(problem); ++i) {
    answer.push_back(glp_mip_col_val(problem, i) > 0.5 ? 1 : 0);
  }
  return answer;
}

Result<std::vector<double>> solve(const SolveRequest& request) {
  if (request.linear_program.objective.empty()) return std::vector<double>{};
  if (request.linear_program.rows.empty()) return fail("the problem has no rows");
  for (const LinearProgram::Row& row : request.linear_program.rows) {
    std::vector<char> seen(request.linear_program.objective.size(), 0);
    for (const auto& [variable, factor] : row.terms) {
      if (seen[static_cast<std::size_t>(variable)]++ != 0)
        return fail("a row names a variable twice");
    }
  }
  const Problem problem = problem_of(request);
  return request.kind == ProgramKind::kCentre ? centre(problem.get()) : binary(problem.get());
}

bool write_out(const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
         std::fflush(stdout) == 0;
}

int serve() {
  glp_term_out(GLP_OFF);
  if (!write_out(greeting_text(fmt::format("GLPK {}", glp_version())))) return 1;
  std::ios::sync_with_stdio(false);
  SolveRequestReader reader;
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto whole = reader.line(line);
    if (!whole) {
      write_out(answer_text(tl::unexpected(whole.error())));
      return 2;
    }
    if (*whole && !write_out(answer_text(solve(reader.take())))) return 1;
  }
  return reader.empty() ? 0 : 2;
}

}  // namespace
}  // namespace rubato::sim

int main(int argc, char** argv) {
  if (argc > 1) {
    fmt::print(argc == 2 && std::string(argv[1]) == "--help" ? stdout : stderr,
               "rubato-solve is run by `rubato simulate`: it solves linear and integer programs "
               "from its standard input.\n");
    return argc == 2 && std::string(argv[1]) == "--help" ? 0 : 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a long programme of nobody is not worth its end
  return rubato::sim::serve();
}
