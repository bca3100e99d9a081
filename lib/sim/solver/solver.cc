// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/solver/solver.h"

#include "lib/sim/solver/branch_bound.h"
#include "lib/sim/solver/lp.h"
#include "lib/sim/solver/solve_protocol.h"
#include "lib/sim/solver/solver_process.h"

namespace rubato::sim {
namespace {

Result<std::vector<int>> choose_here(const AssignmentProblem& choice) {
  auto found = branch_and_bound(choice);
  if (!found) return tl::unexpected(found.error());
  return std::move(found->chosen);
}

class OwnSolver final : public Solver {
 public:
  Result<std::vector<double>> centre(const LinearProgram& linear_program) override {
    return solve_centre(linear_program);
  }
  Result<std::vector<double>> true_centre(const LinearProgram& linear_program) override {
    return solve_centre(linear_program);
  }
  Result<std::vector<int>> choose(const AssignmentProblem& choice) override {
    return choose_here(choice);
  }
  [[nodiscard]] const std::string& broken() const override {
    static const std::string none;
    return none;
  }
};

class ProcessSolver final : public Solver {
 public:
  explicit ProcessSolver(ProcessSolverOptions options) : options_(std::move(options)) {
    process_.stop_by(options_.stop);
  }

  Result<std::vector<double>> centre(const LinearProgram& linear_program) override {
    auto answer = ask(ProgramKind::kCentre, linear_program);
    // Its interior point gives up some programmes; path following takes more steps, and does not.
    if (!answer && broken_.empty()) return solve_centre(linear_program);
    return answer;
  }

  Result<std::vector<double>> true_centre(const LinearProgram& linear_program) override {
    return options_.all ? centre(linear_program) : solve_centre(linear_program);
  }

  Result<std::vector<int>> choose(const AssignmentProblem& choice) override {
    const auto answer = ask(ProgramKind::kBinary, assignment_program(choice));
    if (answer) return assignment_of(choice, *answer);
    if (!broken_.empty()) return tl::unexpected(answer.error());
    return choose_here(choice);
  }

  [[nodiscard]] const std::string& broken() const override { return broken_; }

 private:
  Result<void> start() {
    if (process_.runs()) return {};
    if (auto started = process_.start(options_.program); !started) return started;
    const auto line = process_.ask("", options_.seconds);
    if (!line) return tl::unexpected(line.error());
    const auto name = parse_greeting(*line);
    if (!name) return fail(options_.program + " " + name.error().text);
    return {};
  }

  Result<std::vector<double>> ask(ProgramKind kind, const LinearProgram& linear_program) {
    if (!broken_.empty()) return fail(broken_);
    const std::size_t variables = linear_program.objective.size();
    if (variables == 0) return std::vector<double>{};
    if (const auto started = start(); !started) return give_up(started.error().text);
    std::string text = request_text({kind, linear_program});
    if (text == last_text_) return last_answer_;  // round after round, while nobody comes or goes
    const auto line = process_.ask(text, options_.seconds);
    if (!line) return give_up(line.error().text);
    bool understood = false;
    auto answer = parse_answer(*line, variables, understood);
    if (!understood) return give_up(options_.program + " " + answer.error().text);
    last_text_ = std::move(text);
    last_answer_ = answer;
    return answer;
  }

  tl::unexpected<Error> give_up(std::string why) {
    process_.end();
    broken_ = std::move(why);
    return fail(broken_);
  }

  ProcessSolverOptions options_;
  SolverProcess process_;
  std::string broken_;
  std::string last_text_;
  Result<std::vector<double>> last_answer_;
};

}  // namespace

Solver& own_solver() {
  static OwnSolver solver;
  return solver;
}

std::unique_ptr<Solver> process_solver(ProcessSolverOptions options) {
  return std::make_unique<ProcessSolver>(std::move(options));
}

}  // namespace rubato::sim
