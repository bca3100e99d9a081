// SPDX-License-Identifier: GPL-2.0-or-later
// Programmes answered by rubato-solve and by the library: the same worth, inside all rows. What a
// helper can do wrong ends in an error and never in waiting.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <thread>

#include "lib/sim/engine/noise.h"
#include "lib/sim/engine/suite.h"
#include "lib/sim/policies/shares.h"
#include "lib/sim/solver/lp.h"
#include "lib/sim/solver/solve_protocol.h"
#include "test/sim/choose_exactly.h"
#include "test/sim/test_solver.h"
#include "test/support/seeds.h"

namespace rubato::sim {
namespace {

/// Uniform numbers in a fixed order.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}
  double operator()() { return uniform_noise(seed_, 7, next_++); }
  int below(int most) { return static_cast<int>((*this)() * most); }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

double worth(const LinearProgram& linear_program, const std::vector<double>& x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += linear_program.objective[i] * x[i];
  return sum;
}

/// How far outside its rows `x` is, relative to them.
double outside(const LinearProgram& linear_program, const std::vector<double>& x) {
  double most = 0;
  for (const double value : x) most = std::max(most, -value);
  for (const LinearProgram::Row& row : linear_program.rows) {
    double sum = 0;
    for (const auto& [variable, factor] : row.terms) {
      sum += factor * x[static_cast<std::size_t>(variable)];
    }
    most = std::max(most, (sum - row.bound) / std::max(1.0, std::abs(row.bound)));
  }
  return most;
}

/// Shares of jobs on types, as the policies ask for: bounded, with an inside.
LinearProgram drawn_program(std::uint64_t seed) {
  Draw draw(seed);
  const int jobs = 1 + draw.below(20);
  const int types = 1 + draw.below(4);
  LinearProgram linear_program;
  std::vector<LinearProgram::Row> capacity(static_cast<std::size_t>(types));
  for (auto& row : capacity) row.bound = 1 + draw.below(20);
  double wanted = 0;
  for (int job = 0; job < jobs; ++job) {
    LinearProgram::Row whole{{}, 1};
    const int gpus = 1 << draw.below(4);
    wanted += gpus;
    for (auto& row : capacity) {
      const int variable = static_cast<int>(linear_program.objective.size());
      linear_program.objective.push_back(draw() * 10);
      whole.terms.emplace_back(variable, 1);
      row.terms.emplace_back(variable, gpus);
    }
    linear_program.rows.push_back(std::move(whole));
  }
  for (int job = 0; job < jobs; ++job) {
    for (const auto& row : capacity) {
      linear_program.start.push_back(0.5 * std::min(row.bound / wanted, 1.0 / types));
    }
  }
  for (auto& row : capacity) linear_program.rows.push_back(std::move(row));
  return linear_program;
}

TEST(SolveProtocol, KeepsEveryDigit) {
  SolveRequest request{ProgramKind::kBinary, drawn_program(3)};
  request.linear_program.start.clear();
  request.linear_program.rows.front().bound = 1.0 / 3;
  SolveRequestReader reader;
  const std::string text = request_text(request);
  std::size_t from = 0;
  bool whole = false;
  while (from < text.size()) {
    ASSERT_FALSE(whole);
    const std::size_t end = text.find('\n', from);
    const auto read = reader.line(std::string_view(text).substr(from, end - from));
    ASSERT_TRUE(read) << read.error().text;
    whole = *read;
    from = end + 1;
  }
  ASSERT_TRUE(whole);
  const SolveRequest back = reader.take();
  EXPECT_EQ(back.kind, request.kind);
  EXPECT_EQ(back.linear_program.objective, request.linear_program.objective);
  EXPECT_EQ(back.linear_program.rows, request.linear_program.rows);
}

TEST(SolveProtocol, SaysWhatWasExpected) {
  const auto error = [](const std::vector<std::string>& lines) {
    SolveRequestReader reader;
    for (const std::string& line : lines) {
      const auto read = reader.line(line);
      if (!read) return read.error().text;
    }
    return std::string("none");
  };
  EXPECT_EQ(error({"hello"}),
            "'hello' where 'programme centre|binary VARIABLES ROWS' was expected");
  EXPECT_EQ(error({"programme centre 2 1", "maximise 1"}),
            "'maximise 1' where 'maximise' and 2 numbers were expected");
  EXPECT_EQ(error({"programme centre 1 1", "maximise inf"}),
            "'maximise inf' where 'maximise' and 1 numbers were expected");
  EXPECT_EQ(error({"programme centre 1 1", "maximise 1", "row 1 1 1"}),
            "'row 1 1 1' where 'row', a bound, and pairs of a variable (0 to 0) and a factor were "
            "expected");
  EXPECT_EQ(error({"programme centre 1 1", "maximise 1", "row 1 0 1", "row 1 0 1"}),
            "'row 1 0 1' where end was expected");
  bool understood = true;
  EXPECT_FALSE(parse_answer("answer 1 nan", 2, understood));
  EXPECT_FALSE(understood);
  EXPECT_EQ(parse_answer("failed no optimum", 2, understood).error().text, "no optimum");
  EXPECT_TRUE(understood);
}

class Solve : public testing::Test {
 protected:
  void SetUp() override {
    const std::string program = test::built_solver();
    if (program.empty()) GTEST_SKIP() << "built without GLPK";
    solver_ = process_solver({program, 300, true});
  }
  std::unique_ptr<Solver> solver_;
};

TEST_F(Solve, LinearProgrammesHaveTheSameWorth) {
  for (std::uint64_t seed = 0; seed < test::seeds(200); ++seed) {
    const LinearProgram linear_program = drawn_program(seed);
    const auto own = solve_centre(linear_program);
    const auto other = solver_->centre(linear_program);
    ASSERT_TRUE(own) << seed;
    ASSERT_TRUE(other) << seed << ": " << other.error().text;
    const double best = worth(linear_program, *own);
    EXPECT_NEAR(worth(linear_program, *other), best, 1e-6 * std::max(1.0, best)) << seed;
    EXPECT_LT(outside(linear_program, *own), 1e-6) << seed;
    EXPECT_LT(outside(linear_program, *other), 1e-6) << seed;
  }
}

// A programme at whose end rounding leads astray: what was found before stands.
TEST(Centre, StaysWhereNumbersGiveNoFurtherStep) {
  const LinearProgram linear_program = drawn_program(421);
  const auto found = solve_centre(linear_program);
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_NEAR(worth(linear_program, *found), 152.691045, 1e-4);
  EXPECT_LT(outside(linear_program, *found), 1e-6);
}

TEST_F(Solve, ChoicesCostTheSame) {
  for (std::uint64_t seed = 0; seed < test::seeds(100); ++seed) {
    Draw draw(seed);
    AssignmentProblem choice{{}, {{0, 1}, {0, 2}, {0, 4}, {1, 1}, {1, 2}, {1, 8}}, {6, 9}};
    for (int job = 0; job < 8; ++job) {
      auto& row = choice.costs.emplace_back();
      for (std::size_t c = 0; c < choice.columns.size(); ++c) {
        row.push_back(std::floor(100 * draw()) - 80);
      }
    }
    const auto found = solver_->choose(choice);
    ASSERT_TRUE(found) << seed << ": " << found.error().text;
    bool inside = false;
    const double best = test::cost_of(choice, test::choose_exactly(choice), inside);
    EXPECT_NEAR(test::cost_of(choice, *found, inside), best, 1e-6) << seed;
    EXPECT_TRUE(inside) << seed;
  }
}

TEST_F(Solve, EveryRuleOfShares) {
  for (std::uint64_t seed = 0; seed < test::seeds(20); ++seed) {
    Draw draw(seed);
    std::vector<ShareJob> jobs(static_cast<std::size_t>(2 + draw.below(15)));
    for (ShareJob& job : jobs) {
      job = {1 << draw.below(3), 1, 100 + 1000 * draw(), {1 + draw(), 1 + 4 * draw()}};
    }
    const std::vector<int> gpus{4, 8};
    for (const ShareRule rule : {ShareRule::kLas, ShareRule::kLasAgnostic, ShareRule::kMaxSum}) {
      const auto own = shares(rule, jobs, gpus);
      const auto other = shares(rule, jobs, gpus, *solver_);
      ASSERT_TRUE(own && other);
      // What the rule maximises: the sum of rates, or the least normalised rate.
      const auto value = [&](const std::vector<std::vector<double>>& x) {
        double sum = 0;
        double least = 1e300;
        for (std::size_t i = 0; i < jobs.size(); ++i) {
          std::vector<double> throughputs = jobs[i].throughputs;
          if (rule == ShareRule::kLasAgnostic) throughputs = {1, 1};
          const double got = throughputs[0] * x[i][0] + throughputs[1] * x[i][1];
          sum += got;
          least = std::min(least,
                           jobs[i].gpus * got / ((4 * throughputs[0] + 8 * throughputs[1]) / 12));
        }
        return rule == ShareRule::kMaxSum ? sum : least;
      };
      EXPECT_NEAR(value(*other), value(*own), 1e-6 * std::max(1.0, value(*own))) << seed;
    }
  }
}

/// A shell script in the place of rubato-solve; gone afterwards.
class Script {
 public:
  explicit Script(const std::string& text)
      : path_(testing::TempDir() + "rubato_solve_" + std::to_string(getpid())) {
    std::ofstream(path_) << "#!/bin/sh\n" << text;
    chmod(path_.c_str(), 0700);
  }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;
  ~Script() { std::remove(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// What a programme and one behind it are told of a helper that does `text`, without its path.
std::string told(const std::string& text, double seconds = 60) {
  const Script script(text);
  const auto solver = process_solver({script.path(), seconds, true});
  const auto answer = solver->centre(drawn_program(1));
  EXPECT_FALSE(answer);
  if (answer) return "an answer";
  EXPECT_EQ(answer.error().text, solver->broken());
  EXPECT_FALSE(solver->choose({{{-1}}, {{0, 1}}, {1}})) << "it is not asked again";
  EXPECT_TRUE(answer.error().text.starts_with(script.path())) << answer.error().text;
  return answer.error().text.substr(std::min(script.path().size(), answer.error().text.size()));
}

TEST(BrokenSolver, IsSaidAndNeverWaitedFor) {
  const std::string greet = "echo 'rubato-solve 1 none'\nread line\n";
  EXPECT_EQ(told("exit 3\n"), " ended with exit code 3");
  EXPECT_EQ(told("kill -9 $$\n"), " was ended by signal 9");
  EXPECT_EQ(told("echo 'rubato-solve 2 none'\ncat > /dev/null\n"),
            " greets with 'rubato-solve 2 none', expected 'rubato-solve 1 ' and the name of a "
            "solver");
  EXPECT_EQ(told(greet + "kill -11 $$\n"), " was ended by signal 11");
  EXPECT_EQ(told(greet + "echo 'answer 1 2 x'\ncat > /dev/null\n").substr(0, 31),
            " answers 'answer 1 2 x', expect");
  EXPECT_EQ(told("exec sleep 1000\n", 0.3), " does not answer in time, and was ended");
  EXPECT_EQ(told(greet + "exec sleep 1000\n", 2), " does not answer in time, and was ended");
  const auto none = process_solver({"/nowhere/rubato-solve", 60, true});
  EXPECT_EQ(none->centre(drawn_program(1)).error().text,
            "/nowhere/rubato-solve: No such file or directory");
}

/// A unit of work a second and GPU.
class PlainTruth final : public Truth {
 public:
  [[nodiscard]] double throughput(const SimJob&, const Setting& setting, double) const override {
    return setting.gpus();
  }
};

Suite small_suite() {
  Suite suite;
  suite.name = "test";
  suite.cluster = parse_cluster_shape("a:1x2,b:1x2").value();
  suite.truth = std::make_shared<PlainTruth>();
  for (int i = 0; i < 3; ++i) {
    SimJob job;
    job.key = std::to_string(i);
    job.gpus = job.min_gpus = job.max_gpus = 1;
    job.work = 1e5;
    suite.jobs.push_back(std::move(job));
  }
  return suite;
}

TEST(BrokenSolver, EndsTheRunWithItsError) {
  const Suite suite = small_suite();
  const Script script("exit 7\n");
  const auto solver = process_solver({script.path(), 60, false});
  RunControl control;
  control.solver = solver.get();
  const auto record = run_suite(suite, "gavel-maxsum", Information::kKnown, control);
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().text, script.path() + " ended with exit code 7");
  control.solver = &own_solver();
  EXPECT_TRUE(run_suite(suite, "gavel-maxsum", Information::kKnown, control));
}

TEST(BrokenSolver, AnInterruptDoesNotWaitForIt) {
  const Script script("echo 'rubato-solve 1 none'\nexec sleep 1000\n");
  std::atomic<bool> stop = false;
  const auto solver = process_solver({script.path(), 120, true, &stop});
  RunControl control;
  control.solver = solver.get();
  control.stop = &stop;
  std::thread later([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop = true;
  });
  const auto begin = std::chrono::steady_clock::now();
  const auto record = run_suite(small_suite(), "gavel-maxsum", Information::kKnown, control);
  later.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  ASSERT_TRUE(record) << record.error().text;
  EXPECT_TRUE(record->cut) << "it is a cut, and no failure";
}

}  // namespace
}  // namespace rubato::sim
