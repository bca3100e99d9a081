// SPDX-License-Identifier: GPL-2.0-or-later
// The table of policies. A new one: its maker's declaration and its line.
#include <algorithm>

#include "lib/sim/policy.h"

namespace rubato::sim {

std::unique_ptr<Policy> make_backfill(const PolicyContext& context);
std::unique_ptr<Policy> make_fifo(const PolicyContext& context);
std::unique_ptr<Policy> make_fifo_het(const PolicyContext& context);
std::unique_ptr<Policy> make_gavel_las(const PolicyContext& context);
std::unique_ptr<Policy> make_gavel_makespan(const PolicyContext& context);
std::unique_ptr<Policy> make_gavel_maxsum(const PolicyContext& context);
std::unique_ptr<Policy> make_gavel_wf(const PolicyContext& context);
std::unique_ptr<Policy> make_las(const PolicyContext& context);
std::unique_ptr<Policy> make_rubato(const PolicyContext& context);
std::unique_ptr<Policy> make_tiresias(const PolicyContext& context);
// peers/policies.cc: these run in the loops of their own simulators alone
std::unique_ptr<Policy> make_only_by_rules(const PolicyContext& context);

std::span<const PolicyEntry> policies() {
  static const std::vector<PolicyEntry> kPolicies{
      {"backfill", "EASY backfill with Slurm's default limits", &make_backfill},
      {"fifo", "in the order of arrival, any GPU type", &make_fifo},
      {"fifo-het", "in the order of arrival, the fastest type with room", &make_fifo_het},
      {"gavel-las", "Gavel: max-min of normalised throughput", &make_gavel_las},
      {"gavel-makespan", "Gavel: least time until all are done", &make_gavel_makespan},
      {"gavel-maxsum", "Gavel: largest sum of throughputs", &make_gavel_maxsum},
      {"gavel-wf", "Gavel: max-min by water filling", &make_gavel_wf},
      {"las", "Gavel: max-min of time, blind to GPU types", &make_las},
      {"optimus", "Optimus with an oracle, in suites of Pollux", &make_only_by_rules},
      {"pollux", "Pollux, in suites of Pollux", &make_only_by_rules},
      {"rubato", "the round of Rubato, with reports of jobs or with known speeds", &make_rubato},
      {"rubick", "Rubick as published, with phantom GPUs, in suites of Rubick",
       &make_only_by_rules},
      {"rubick-honest", "Rubick without phantom GPUs, in suites of Rubick", &make_only_by_rules},
      {"sia", "Sia, in suites of Sia", &make_only_by_rules},
      {"tiresias", "queues by GPU time attained", &make_tiresias},
  };
  return kPolicies;
}

const PolicyEntry* find_policy(const std::string& name) {
  const auto all = policies();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const PolicyEntry& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace rubato::sim
