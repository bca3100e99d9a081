// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/plans/plan_space.h"

#include <algorithm>

namespace rubato {
namespace {

// `n` at least 1.
std::vector<int> divisors(int n) {
  std::vector<int> out;
  for (int i = 1; std::int64_t{1} * i * i <= n; ++i) {
    if (n % i != 0) continue;
    out.push_back(i);
    if (i != n / i) out.push_back(n / i);
  }
  std::sort(out.begin(), out.end());
  return out;
}

class Enumeration {
 public:
  Enumeration(const PlanConfiguration& configuration, const PlanSite& site)
      : configuration_(configuration), site_(site) {}

  std::vector<ExecutionPlan> all() {
    if (!why_not_here().empty()) return {};
    for (const int data : divisors(configuration_.gpus)) {
      if (site_.batch % data != 0) continue;
      for (const int tensor : divisors(configuration_.gpus / data)) {
        const int pipeline = configuration_.gpus / data / tensor;
        with_degrees({.data = data, .tensor = tensor, .pipeline = pipeline});
      }
    }
    std::sort(found_.begin(), found_.end());
    return std::move(found_);
  }

 private:
  // Conditions of every plan; plain data parallelism with all micro-batches has the fewest.
  [[nodiscard]] std::string why_not_here() const {
    if (configuration_.gpus < 1 || site_.batch < 1) return "nothing to run";
    return why_not({.data = configuration_.gpus}, configuration_, site_.shape, configuration_.gpus);
  }

  void with_degrees(ExecutionPlan plan) {
    const std::int64_t most = std::min<std::int64_t>(kMaxPlanSteps, site_.batch / plan.data);
    for (plan.steps = 1; plan.steps <= most; ++plan.steps) {
      if (site_.batch / plan.data % plan.steps != 0) continue;
      plan.zero = Zero::kNone;
      plan.checkpointing = false;
      if (!why_not(plan, configuration_, site_.shape, site_.batch).empty()) return;
      for (const Zero zero : {Zero::kNone, Zero::kSharded, Zero::kOffload}) {
        if (plan.split() && zero != Zero::kNone) break;
        plan.zero = zero;
        for (const bool checkpointing : {false, true}) {
          plan.checkpointing = checkpointing;
          add(plan);
        }
      }
    }
  }

  void add(const ExecutionPlan& plan) {
    if (!allows(site_.plans, plan)) return;
    if (!fits(memory_of(plan, configuration_, site_.shape, site_.batch), site_.memory)) return;
    found_.push_back(plan);
  }

  const PlanConfiguration& configuration_;
  const PlanSite& site_;
  std::vector<ExecutionPlan> found_;
};

}  // namespace

std::vector<ExecutionPlan> plans_at(const PlanConfiguration& configuration, const PlanSite& site) {
  return Enumeration(configuration, site).all();
}

}  // namespace rubato
