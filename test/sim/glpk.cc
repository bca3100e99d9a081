// SPDX-License-Identifier: GPL-2.0-or-later
#include "test/sim/glpk.h"

#include "rubato_config.h"

#ifdef HAVE_GLPK
#include <fmt/format.h>
#include <glpk.h>

#include <memory>
#endif

namespace rubato::test {

#ifdef HAVE_GLPK
namespace {

using sim::LinearProgram;

/// Relative gap of integer programs. If worths are integers with a sum below 10,000, the gap is
/// below one unit, so the answer is exact.
constexpr double kGap = 1e-4;
/// Maximum of tree nodes times variables of an integer program: about 200 ms of a core. A count
/// instead of a time, so that the answer does not depend on the machine.
constexpr double kMaxWork = 500'000;

enum class Variables { kContinuous, kBinary };

struct Delete {
  void operator()(glp_prob* problem) const { glp_delete_prob(problem); }
};
using Problem = std::unique_ptr<glp_prob, Delete>;

/// GLPK numbers variables and rows from 1.
Problem problem_of(const LinearProgram& linear_program, Variables variables) {
  Problem problem(glp_create_prob());
  glp_term_out(GLP_OFF);
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
    if (variables == Variables::kBinary) {
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
      columns.push_back(variable.value() + 1);
      factors.push_back(factor);
    }
    glp_set_row_bnds(problem.get(), ++number, GLP_UP, 0, row.bound);
    glp_set_mat_row(problem.get(), number, static_cast<int>(row.terms.size()), columns.data(),
                    factors.data());
  }
  return problem;
}

Result<std::vector<double>> interior_point(glp_prob* problem) {
  glp_iptcp options;
  glp_init_iptcp(&options);
  options.msg_lev = GLP_MSG_OFF;
  options.ord_alg = GLP_ORD_AMD;
  switch (const int code = glp_interior(problem, &options)) {
    case 0:
      break;
    case GLP_ENOCVG:
      return fail("the interior point does not converge");
    case GLP_EITLIM:
      return fail("too many steps of the interior point");
    case GLP_EINSTAB:
      return fail("the interior point is numerically unstable");
    default:
      return fail(fmt::format("the interior point ends with code {}", code));
  }
  if (const int status = glp_ipt_status(problem); status != GLP_OPT) {
    return fail(status == GLP_NOFEAS || status == GLP_INFEAS ? "the program is infeasible"
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
  if (code == GLP_ESTOP) return fail(kGlpkGaveUp);
  // The result is GLP_EMIPGAP and FEAS if it stops at the gap and not at the optimum.
  const bool found = code == 0 ? glp_mip_status(problem) == GLP_OPT : code == GLP_EMIPGAP;
  if (!found) {
    return fail(code == GLP_ENOPFS ? "the program is infeasible" : "no optimum was found");
  }
  std::vector<double> answer;
  for (int i = 1; i <= glp_get_num_cols(problem); ++i) {
    answer.push_back(glp_mip_col_val(problem, i) > 0.5 ? 1 : 0);
  }
  return answer;
}

}  // namespace

bool have_glpk() { return true; }

Result<std::vector<double>> glpk_centre(const LinearProgram& linear_program) {
  if (linear_program.objective.empty()) return std::vector<double>{};
  return interior_point(problem_of(linear_program, Variables::kContinuous).get());
}

Result<std::vector<sim::ColumnIndex>> glpk_assign(const sim::AssignmentProblem& problem) {
  const LinearProgram program = sim::assignment_program(problem);
  std::vector<double> answer;
  if (!program.objective.empty()) {
    auto found = binary(problem_of(program, Variables::kBinary).get());
    if (!found) return tl::unexpected(found.error());
    answer = std::move(*found);
  }
  return sim::assignment_of(problem, answer);
}
#else
bool have_glpk() { return false; }

Result<std::vector<double>> glpk_centre(const sim::LinearProgram& /*linear_program*/) {
  return fail("built without GLPK");
}

Result<std::vector<sim::ColumnIndex>> glpk_assign(const sim::AssignmentProblem& /*problem*/) {
  return fail("built without GLPK");
}
#endif

}  // namespace rubato::test
