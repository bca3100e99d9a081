// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/policies/shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rubato::sim {
namespace {

using Shares = std::vector<std::vector<double>>;

// Limits of the authors' bisection for the makespan.
constexpr double kMinSeconds = 100;
constexpr double kMaxSeconds = 1e6;
constexpr double kClose = 1.05;

// Water filling: a job whose level can rise by this much is not full.
constexpr double kRise = 1e-4;
constexpr double kRiseLeast = 1e-5;
constexpr double kMinWeight = 1e-6;
/// Levels of the previous round are lowered by this fraction, so that the start is inside all rows.
constexpr double kRelax = 1e-6;

/// A job: its index in the list of jobs, and of its row of shares.
using JobRow = Index<struct JobRowTag>;

class ShareProblem {
 public:
  ShareProblem(const std::vector<ShareJob>& jobs, const std::vector<int>& gpus, CentreSolver solve)
      : jobs_(jobs), gpus_(gpus), solve_(solve), types_(std::ssize(gpus)) {
    normal_.resize(jobs.size());
    const double all = std::accumulate(gpus.begin(), gpus.end(), 0.0);
    for (const auto i : indices<JobRow>(jobs)) {
      for (const auto j : indices<TypeIndex>(gpus_))
        normal_[i] += jobs[i].throughputs[j] * gpus[j] / all;
    }
  }

  [[nodiscard]] VariableIndex variable(JobRow job, TypeIndex type) const {
    return VariableIndex{job.value() * types_ + type.value()};
  }
  [[nodiscard]] double throughput(JobRow job, const std::vector<double>& x) const {
    double sum = 0;
    for (const auto j : indices<TypeIndex>(gpus_))
      sum += jobs_[job].throughputs[j] * x[variable(job, j)];
    return sum;
  }
  /// Throughput relative to that of an equal share.
  [[nodiscard]] double level(JobRow job, const std::vector<double>& x) const {
    return throughput(job, x) / normal_[job];
  }
  [[nodiscard]] double normal(JobRow job) const { return normal_[job]; }

  /// Rows: the shares of a job sum to at most 1; a type's GPUs are the limit. Adds `more`
  /// variables.
  [[nodiscard]] LinearProgram base(std::size_t more) const {
    LinearProgram linear_program;
    const std::size_t count = jobs_.size() * gpus_.size();
    linear_program.objective.assign(count + more, 0);
    linear_program.start.assign(count + more, 0);
    const double all = std::accumulate(jobs_.begin(), jobs_.end(), 0.0,
                                       [](double sum, const auto& job) { return sum + job.gpus; });
    for (const auto i : indices<JobRow>(jobs_)) {
      LinearProgram::Row row;
      row.bound = 1;
      for (const auto j : indices<TypeIndex>(gpus_)) {
        row.terms.emplace_back(variable(i, j), 1.0);
        linear_program.start[variable(i, j)] =
            0.5 * std::min(gpus_[j] / all, 1.0 / static_cast<double>(types_));
      }
      linear_program.rows.push_back(std::move(row));
    }
    for (const auto j : indices<TypeIndex>(gpus_)) {
      LinearProgram::Row row;
      row.bound = gpus_[j];
      for (const auto i : indices<JobRow>(jobs_)) {
        row.terms.emplace_back(variable(i, j), jobs_[i].gpus);
      }
      linear_program.rows.push_back(std::move(row));
    }
    return linear_program;
  }

  /// `factor` x throughput of a job >= t - `less`, where t is variable `t` (none if not valid()).
  void demand(LinearProgram& linear_program, JobRow job, double factor, VariableIndex t,
              double less) const {
    LinearProgram::Row row;
    row.bound = less;
    for (const auto j : indices<TypeIndex>(gpus_)) {
      const double rate = factor * jobs_[job].throughputs[j];
      if (rate > 0) row.terms.emplace_back(variable(job, j), -rate);
    }
    if (t.valid()) row.terms.emplace_back(t, 1.0);
    linear_program.rows.push_back(std::move(row));
  }

  /// max over x of the minimum of factor_i x throughput_i.
  [[nodiscard]] Result<std::vector<double>> max_min(const std::vector<double>& factors) const {
    LinearProgram linear_program = base(1);
    const VariableIndex t{linear_program.objective.size() - 1};
    linear_program.objective[t] = 1;
    double least = 1e300;
    for (const auto i : indices<JobRow>(jobs_)) {
      demand(linear_program, i, factors[i], t, 0);
      least = std::min(least, factors[i] * throughput(i, linear_program.start));
    }
    linear_program.start[t] = 0.5 * least;
    return solve_(linear_program);
  }

  [[nodiscard]] Shares clipped(const std::vector<double>& x) const {
    Shares shares(jobs_.size(), std::vector<double>(gpus_.size(), 0));
    for (const auto i : indices<JobRow>(jobs_)) {
      for (const auto j : indices<TypeIndex>(gpus_)) {
        shares[i][j] = std::clamp(x[variable(i, j)], 0.0, 1.0);
      }
    }
    return shares;
  }

 private:
  const std::vector<ShareJob>& jobs_;
  const std::vector<int>& gpus_;
  CentreSolver solve_;
  std::ptrdiff_t types_;
  std::vector<double> normal_;
};

Result<Shares> las(const std::vector<ShareJob>& jobs, const std::vector<int>& gpus,
                   CentreSolver solve) {
  const ShareProblem problem(jobs, gpus, solve);
  std::vector<double> factors(jobs.size());
  for (const auto i : indices<JobRow>(jobs)) {
    factors[i] = jobs[i].gpus / (jobs[i].weight * problem.normal(i));
  }
  const auto x = problem.max_min(factors);
  if (!x) return tl::unexpected(x.error());
  return problem.clipped(*x);
}

Result<Shares> las_agnostic(std::vector<ShareJob> jobs, const std::vector<int>& gpus,
                            CentreSolver solve) {
  for (ShareJob& job : jobs) std::fill(job.throughputs.begin(), job.throughputs.end(), 1.0);
  return las(jobs, gpus, solve);
}

Result<Shares> max_sum(const std::vector<ShareJob>& jobs, const std::vector<int>& gpus,
                       CentreSolver solve) {
  const ShareProblem problem(jobs, gpus, solve);
  LinearProgram linear_program = problem.base(0);
  for (const auto i : indices<JobRow>(jobs)) {
    for (const auto j : indices<TypeIndex>(gpus)) {
      linear_program.objective[problem.variable(i, j)] = jobs[i].throughputs[j];
    }
  }
  const auto x = solve(linear_program);
  if (!x) return tl::unexpected(x.error());
  return problem.clipped(*x);
}

/// The time at which the authors' bisection ends; `least` is the shortest possible time.
double bisected(double least) {
  double low = kMinSeconds;
  double high = kMaxSeconds;
  double last = 0;
  while (true) {
    while (kClose * low < high) {
      const double middle = (low + high) / 2;
      if (middle >= least) {
        last = high = middle;
      } else {
        low = middle;
      }
    }
    if (last > 0) return last;
    low = high;
    high *= 10;
  }
}

Result<Shares> makespan(const std::vector<ShareJob>& jobs, const std::vector<int>& gpus,
                        CentreSolver solve) {
  const ShareProblem problem(jobs, gpus, solve);
  // In units of the longest job, so that numbers stay near 1.
  double unit = 0;
  std::vector<double> need(jobs.size());
  for (const auto i : indices<JobRow>(jobs)) {
    need[i] = jobs[i].remaining / problem.normal(i);
    unit = std::max(unit, need[i]);
  }
  std::vector<double> factors(jobs.size());
  for (const auto i : indices<JobRow>(jobs)) factors[i] = unit / jobs[i].remaining;
  const auto fastest = problem.max_min(factors);
  if (!fastest) return tl::unexpected(fastest.error());
  const double time = bisected(unit / fastest->back());
  // All shares that finish by then are optimal: take their centre.
  LinearProgram linear_program = problem.base(0);
  for (const auto i : indices<JobRow>(jobs)) {
    problem.demand(linear_program, i, factors[i], {}, -unit / time);
  }
  linear_program.start.assign(fastest->begin(), fastest->end() - 1);
  auto x = solve(linear_program);
  if (!x) return tl::unexpected(x.error());
  return problem.clipped(*x);
}

class WaterFilling {
 public:
  WaterFilling(const std::vector<ShareJob>& jobs, const std::vector<int>& gpus, CentreSolver solve)
      : jobs_(jobs),
        solve_(solve),
        problem_(jobs, gpus, solve),
        levels_(jobs.size(), 0.0),
        full_(jobs.size(), 0) {}

  Result<Shares> fill() {
    while (true) {
      auto found = raise();
      if (!found) {
        if (x_.empty()) return tl::unexpected(found.error());
        break;  // no further improvement
      }
      x_ = std::move(*found);
      if (!mark_full()) break;
    }
    return problem_.clipped(x_);
  }

 private:
  /// Maximises the smallest rise among jobs that are not full.
  Result<std::vector<double>> raise() {
    LinearProgram linear_program = problem_.base(1);
    const VariableIndex t{linear_program.objective.size() - 1};
    linear_program.objective[t] = 1;
    if (!x_.empty()) linear_program.start = x_;
    double least = 1e300;
    for (const auto i : indices<JobRow>(jobs_)) {
      const double scale = 1 / problem_.normal(i);
      const double kept = levels_[i] * (1 - kRelax);
      if (levels_[i] > 0) problem_.demand(linear_program, i, scale, {}, -kept);
      if (full_[i] != 0) continue;
      const double factor = jobs_[i].gpus / jobs_[i].weight;
      problem_.demand(linear_program, i, factor * scale, t, -factor * kept);
      least = std::min(least, factor * (problem_.level(i, linear_program.start) - kept));
    }
    linear_program.start[t] = 0.5 * least;
    auto x = solve_(linear_program);
    if (!x) return x;
    for (const auto i : indices<JobRow>(jobs_)) {
      if (full_[i] == 0) {
        levels_[i] = levels_[i] * (1 - kRelax) + x->back() * jobs_[i].weight / jobs_[i].gpus;
      }
    }
    return x;
  }

  /// At the centre of the optimal face, every job that can rise has risen. False: all jobs are
  /// full, or none became full.
  bool mark_full() {
    bool some = false;
    bool left = false;
    for (const auto i : indices<JobRow>(jobs_)) {
      if (full_[i] != 0) continue;
      const double rise = kRise * levels_[i] + kRiseLeast;
      if (problem_.level(i, x_) - levels_[i] > rise / 2) {
        left = true;
      } else {
        full_[i] = 1;
        some = true;
      }
    }
    return some && left;
  }

  const std::vector<ShareJob>& jobs_;
  CentreSolver solve_;
  ShareProblem problem_;
  std::vector<double> levels_;
  std::vector<char> full_;
  std::vector<double> x_;
};

Result<Shares> shares_of(ShareRule rule, const std::vector<ShareJob>& jobs,
                         const std::vector<int>& gpus, CentreSolver solve) {
  switch (rule) {
    case ShareRule::kLas:
      return las(jobs, gpus, solve);
    case ShareRule::kLasAgnostic:
      return las_agnostic(jobs, gpus, solve);
    case ShareRule::kMaxSum:
      return max_sum(jobs, gpus, solve);
    case ShareRule::kMakespan:
      return makespan(jobs, gpus, solve);
    case ShareRule::kWaterFilling:
      return WaterFilling(jobs, gpus, solve).fill();
  }
  return fail("no such rule");
}

}  // namespace

std::optional<ShareRule> share_rule_of(const std::string& policy) {
  if (policy == "gavel-las") return ShareRule::kLas;
  if (policy == "las") return ShareRule::kLasAgnostic;
  if (policy == "gavel-maxsum") return ShareRule::kMaxSum;
  if (policy == "gavel-makespan") return ShareRule::kMakespan;
  if (policy == "gavel-wf") return ShareRule::kWaterFilling;
  return std::nullopt;
}

Result<Shares> shares(ShareRule rule, const std::vector<ShareJob>& jobs,
                      const std::vector<int>& gpus, CentreSolver solve) {
  std::vector<ShareJob> able;  // a job that can run nowhere has no share
  for (const ShareJob& job : jobs) {
    if (std::any_of(job.throughputs.begin(), job.throughputs.end(),
                    [](double rate) { return rate > 0; })) {
      able.push_back(job);
      able.back().weight = std::max(job.weight, kMinWeight);
    }
  }
  if (able.empty()) return Shares(jobs.size(), std::vector<double>(gpus.size(), 0));
  auto found = shares_of(rule, able, gpus, solve);
  if (!found || able.size() == jobs.size()) return found;
  Shares all;
  auto next = found->begin();
  for (const ShareJob& job : jobs) {
    const bool can = std::any_of(job.throughputs.begin(), job.throughputs.end(),
                                 [](double rate) { return rate > 0; });
    all.push_back(can ? std::move(*next++) : std::vector<double>(gpus.size(), 0));
  }
  return all;
}

}  // namespace rubato::sim
