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
  Enumeration(const PlanPlace& place, const PlanSite& site) : place_(place), site_(site) {}

  std::vector<ExecutionPlan> all() {
    if (!why_not_here().empty()) return {};
    for (const int data : divisors(place_.gpus)) {
      if (site_.batch % data != 0) continue;
      for (const int tensor : divisors(place_.gpus / data)) {
        const int pipeline = place_.gpus / data / tensor;
        with_degrees({.data = data, .tensor = tensor, .pipeline = pipeline});
      }
    }
    std::sort(found_.begin(), found_.end());
    return std::move(found_);
  }

 private:
  // What holds of every plan; plain data parallel on the batch of all has the fewest demands.
  [[nodiscard]] std::string why_not_here() const {
    if (place_.gpus < 1 || site_.batch < 1) return "nothing to run";
    return why_not({.data = place_.gpus}, place_, site_.shape, place_.gpus);
  }

  void with_degrees(ExecutionPlan plan) {
    const std::int64_t most = std::min<std::int64_t>(kMostPlanSteps, site_.batch / plan.data);
    for (plan.steps = 1; plan.steps <= most; ++plan.steps) {
      if (site_.batch / plan.data % plan.steps != 0) continue;
      plan.zero = Zero::kNone;
      plan.checkpointing = false;
      if (!why_not(plan, place_, site_.shape, site_.batch).empty()) return;
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
    if (!fits(memory_of(plan, place_, site_.shape, site_.batch), site_.memory)) return;
    found_.push_back(plan);
  }

  const PlanPlace& place_;
  const PlanSite& site_;
  std::vector<ExecutionPlan> found_;
};

}  // namespace

std::vector<ExecutionPlan> plans_at(const PlanPlace& place, const PlanSite& site) {
  return Enumeration(place, site).all();
}

}  // namespace rubato
