// SPDX-License-Identifier: GPL-2.0-or-later
// The table of policies. To add one, declare its maker and add a line.
#include <algorithm>

#include "lib/sim/engine/policy.h"

namespace rubato::sim {

std::unique_ptr<Policy> make_aiturbo(const PolicyContext& context);
std::unique_ptr<Policy> make_backfill(const PolicyContext& context);
std::unique_ptr<Policy> make_easy(const PolicyContext& context);
std::unique_ptr<Policy> make_elastic_fixed(const PolicyContext& context);
std::unique_ptr<Policy> make_elastic_var(const PolicyContext& context);
std::string elastic_unfit(const PolicyContext& context);
std::string elastic_var_unfit(const PolicyContext& context);
std::unique_ptr<Policy> make_equal(const PolicyContext& context);
std::unique_ptr<Policy> make_fifo(const PolicyContext& context);
std::unique_ptr<Policy> make_fifo_het(const PolicyContext& context);
std::unique_ptr<Policy> make_gavel_las(const PolicyContext& context);
std::unique_ptr<Policy> make_gavel_makespan(const PolicyContext& context);
std::unique_ptr<Policy> make_gavel_maxsum(const PolicyContext& context);
std::unique_ptr<Policy> make_gavel_wf(const PolicyContext& context);
std::unique_ptr<Policy> make_las(const PolicyContext& context);
std::unique_ptr<Policy> make_optimus(const PolicyContext& context);
std::unique_ptr<Policy> make_rubato(const PolicyContext& context);
std::unique_ptr<Policy> make_rubato_place(const PolicyContext& context);
std::unique_ptr<Policy> make_tiresias(const PolicyContext& context);
// peers/policies.cc: these run only by the rules of their own simulators
std::unique_ptr<Policy> make_only_by_rules(const PolicyContext& context);
std::string pollux_unfit(const PolicyContext& context);
std::string rubick_unfit(const PolicyContext& context);
std::string sia_unfit(const PolicyContext& context);

std::span<const PolicyEntry> policies() {
  static const std::vector<PolicyEntry> table{
      {"aiturbo", "AITurbo: Borda count over attained service and the gain of the next size",
       "rates, forecasts", &make_aiturbo, &elastic_unfit, "those with one GPU type"},
      {"backfill", "Slurm's sched/backfill with its default parameters", "limits", &make_backfill},
      {"easy", "EASY backfill: a reservation for the first waiting job only", "limits", &make_easy},
      {"elastic-fixed", "Saxena et al.: sizes by dynamic programming, the user's batch", "rates",
       &make_elastic_fixed, &elastic_unfit, "those with one GPU type"},
      {"elastic-var", "Saxena et al.: sizes by dynamic programming, the fastest batch", "rates",
       &make_elastic_var, &elastic_var_unfit,
       "elastic, pollux-t4-64; workloads with ranges of batches, one GPU type"},
      {"equal", "an equal share of the GPUs per job, every ten minutes", "nothing", &make_equal},
      {"fifo", "in order of arrival, any GPU type", "nothing", &make_fifo},
      {"fifo-het", "in order of arrival, the fastest GPU type with room", "rates", &make_fifo_het},
      {"gavel-las", "Gavel: max-min of normalised throughput", "rates", &make_gavel_las},
      {"gavel-makespan", "Gavel: shortest time until all jobs are done", "rates, work",
       &make_gavel_makespan},
      {"gavel-maxsum", "Gavel: largest sum of throughputs", "rates", &make_gavel_maxsum},
      {"gavel-wf", "Gavel: max-min by water filling", "rates", &make_gavel_wf},
      {"las", "Gavel: max-min of GPU time, ignoring GPU types", "attained service", &make_las},
      {"optimus", "Optimus: each GPU where it shortens a remaining time most", "rates, forecasts",
       &make_optimus, &elastic_unfit, "those with one GPU type"},
      {"pollux", "Pollux: goodput by a genetic search", "rates", &make_only_by_rules, &pollux_unfit,
       "pollux-t4-64, sia-het64; format pollux or sia"},
      {kRubato, "Rubato in mode elastic: running jobs are resized, moved and stopped too", "",
       &make_rubato},
      {kRubatoPlace, "Rubato in mode place: starts and reservations, no running job changes", "",
       &make_rubato_place},
      {"rubick", "Rubick as published, with phantom GPUs", "rates", &make_only_by_rules,
       &rubick_unfit, "rubick-a800-64; format rubick"},
      {"rubick-honest", "Rubick without phantom GPUs", "rates", &make_only_by_rules, &rubick_unfit,
       "rubick-a800-64; format rubick"},
      {"sia", "Sia: goodput by an integer program", "rates", &make_only_by_rules, &sia_unfit,
       "pollux-t4-64, sia-het64; format pollux or sia"},
      {"tiresias", "queues by attained GPU time", "attained service", &make_tiresias},
  };
  return table;
}

const PolicyEntry* find_policy(const std::string& name) {
  const auto all = policies();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const PolicyEntry& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

RuledPolicy ruled_policy(const std::string& text) {
  const std::size_t at = text.find('@');
  if (at == std::string::npos) return {text, ""};
  return {text.substr(0, at), text.substr(at + 1)};
}

std::string known_to(const std::string& policy, Information information) {
  const PolicyEntry* const entry = find_policy(ruled_policy(policy).name);
  if (entry == nullptr) return "-";
  return entry->knows.empty() ? std::string(to_string(information)) : entry->knows;
}

}  // namespace rubato::sim
