// SPDX-License-Identifier: GPL-2.0-or-later
// The table of suites. To add one, declare its maker and add a line.
#include <fmt/format.h>

#include <algorithm>

#include "lib/base/nearest.h"
#include "lib/sim/engine/engine.h"
#include "lib/sim/engine/suite.h"

namespace rubato::sim {

// suite_NAME.cc
SuiteResult<Suite> gavel_cont48(const std::string&, const std::string& data_dir, std::uint64_t);
SuiteResult<Suite> gavel_static48(const std::string&, const std::string& data_dir, std::uint64_t);
SuiteResult<Suite> gavel_multi_108(const std::string& throughput, const std::string& data_dir,
                                   std::uint64_t);
SuiteResult<Suite> aiturbo_mix_suite(const std::string& share, const std::string&,
                                     std::uint64_t seed);
SuiteResult<Suite> elastic_suite(const std::string& throughput, const std::string&,
                                 std::uint64_t seed);
SuiteResult<Suite> training_suite(const std::string& shape, const std::string&, std::uint64_t seed);
// peers/suite_*.cc
SuiteResult<Suite> muri_v100_64(const std::string& trace, const std::string& data_dir,
                                std::uint64_t);
SuiteResult<Suite> pollux_t4_64(const std::string& workload, const std::string& data_dir,
                                std::uint64_t);
SuiteResult<Suite> rubick_a800_64(const std::string&, const std::string& data_dir, std::uint64_t);
SuiteResult<Suite> sia_het64(const std::string& workload, const std::string& data_dir,
                             std::uint64_t);

std::span<const SuiteEntry> suites() {
  static const std::vector<SuiteEntry> table{
      {"aiturbo-mix",
       '@',
       {"0", "25", "50", "75", "100"},
       "generated: 480 jobs with parameter servers, SHARE % predictable, 64 GPUs",
       &aiturbo_mix_suite,
       false},
      {"elastic",
       '@',
       {"10", "20", "30", "40", "10/batch=max", "20/batch=max", "30/batch=max", "40/batch=max"},
       "generated: jobs of any size and batch at RATE per hour, 40 GPUs",
       &elastic_suite,
       false},
      {"gavel-cont48",
       0,
       {},
       "96 rigid jobs that arrive over time, 48 GPUs of 3 types",
       &gavel_cont48},
      {"gavel-multi-108",
       '@',
       {"1.6", "3.0", "6.0"},
       "500 rigid jobs at RATE per hour, 108 GPUs of 3 types",
       &gavel_multi_108},
      {"gavel-static48", 0, {}, "100 rigid jobs at once, 48 GPUs of 3 types", &gavel_static48},
      {"muri-v100-64",
       ':',
       {"trace1", "trace3", "trace4"},
       "rigid jobs of a Philly virtual cluster, 64 GPUs",
       &muri_v100_64},
      {"pollux-t4-64",
       ':',
       {"w6", "w6@0.5", "w6@1.5", "w6@2.0"},
       "160 elastic jobs in 8 hours (at load 1), 64 GPUs",
       &pollux_t4_64},
      {"rubick-a800-64", 0, {}, "406 jobs with execution plans, 64 GPUs", &rubick_a800_64},
      {"sia-het64",
       ':',
       {"philly-1", "philly-2", "saturn-1", "saturn-2"},
       "160 elastic jobs in 8 hours, 64 GPUs of 3 types",
       &sia_het64},
      {"training",
       '@',
       {"small", "three", "busy", "idle", "bursty", "gangs", "elastic", "unsure"},
       "generated: shapes on which constants are chosen",
       &training_suite,
       false},
  };
  return table;
}

bool needs_data(const std::string& name) {
  const std::string head = name.substr(0, name.find_first_of("@:"));
  const auto all = suites();
  return std::any_of(all.begin(), all.end(),
                     [&](const SuiteEntry& one) { return one.name == head && one.measured; });
}

SuiteResult<Suite> make_suite(const std::string& name, const std::string& data_dir,
                              std::uint64_t seed) {
  const std::size_t cut = name.find_first_of("@:");
  const std::string head = name.substr(0, cut);
  const auto all = suites();
  const auto entry =
      std::find_if(all.begin(), all.end(), [&](const SuiteEntry& one) { return one.name == head; });
  if (entry == all.end()) {
    std::vector<std::string> names;
    for (const SuiteEntry& one : all) names.push_back(one.name);
    const std::string mean = did_you_mean(head, names);
    return wrong_suite(fmt::format("no suite '{}'{}", head,
                                   mean.empty() ? "; see: rubato simulate --list" : mean));
  }
  const bool said = cut != std::string::npos;
  if (entry->separator == 0) {
    if (said) return wrong_suite(fmt::format("suite {}: takes nothing behind its name", head));
    return entry->make("", data_dir, seed);
  }
  const std::string argument = said ? name.substr(cut + 1) : "";
  if (said && name[cut] != entry->separator) {
    return wrong_suite(fmt::format("suite {}: '{}' behind its name where '{}' was expected", head,
                                   name[cut], entry->separator));
  }
  if (!said || argument.empty()) {
    return wrong_suite(fmt::format("suite {0}: say which, as {0}{1}{2} (of {3})", head,
                                   entry->separator, entry->arguments.front(),
                                   fmt::join(entry->arguments, ", ")));
  }
  auto suite = entry->make(argument, data_dir, seed);
  if (suite) suite->name = name;
  return suite;
}

namespace {

/// Marks a record with the simulator that made it.
Result<RunMetrics> by(const std::string& rules, Result<RunMetrics> record) {
  if (record) record->rules = rules;
  return record;
}

Result<RunMetrics> run_hosted(const Suite& suite, Policy& policy, const RunControl& control) {
  auto record = by(suite.rules_name, suite.host(suite, policy, control));
  if (record) record->information = policy.information();
  return record;
}

Result<RunMetrics> run_policy(const Suite& suite, const std::string& ruled, Information information,
                              const RunControl& control) {
  const auto [policy, rules] = ruled_policy(ruled);
  if (suite.rules != nullptr && rules != kByEngine) {
    if (auto record = suite.rules(suite, policy, control)) {
      return by(suite.rules_name, std::move(*record));
    }
  }
  const PolicyEntry* entry = find_policy(policy);
  if (entry == nullptr) {
    std::vector<std::string> names;
    for (const PolicyEntry& one : policies()) names.push_back(one.name);
    return fail(fmt::format("no policy '{}'{}", policy, did_you_mean(policy, names)));
  }
  const PolicyContext context{suite.cluster,        suite.jobs,     control.seed,
                              information,          control.config, suite.refit_share,
                              suite.types_in_order, control.watch};
  const bool hosted = rules == kByPeer;
  if (hosted && suite.host == nullptr) {
    return fail(fmt::format("no peer's rules for policy {} in suite {}", policy, suite.name));
  }
  if (entry->unfit != nullptr) {
    const std::string why = entry->unfit(context);
    if (!why.empty()) return fail(why);
  }
  const auto made = entry->make(context);
  if (made == nullptr) {
    return fail(fmt::format("policy {} does not run in suite {}", policy, suite.name));
  }
  return hosted ? run_hosted(suite, *made, control)
                : by(kByEngine, run_engine(suite, *made, control));
}

}  // namespace

Result<RunMetrics> run_suite(const Suite& suite, const std::string& policy, Information information,
                             const RunControl& control) {
  RunControl bounded = control;
  bounded.until = std::min(control.until, suite.horizon);
  auto record = run_policy(suite, policy, information, bounded);
  // Reaching the end of the suite does not count as a cut.
  const bool stopped = control.stop != nullptr && control.stop->load(std::memory_order_relaxed);
  if (record && suite.horizon <= control.until && !stopped) record->cut = false;
  return record;
}

Result<Metrics> mean_metrics(const Suite& suite, const std::string& data_dir,
                             const std::string& policy, Information information,
                             const RunControl& control) {
  std::vector<Metrics> all;
  for (int seed = 0; seed < suite.published_seeds; ++seed) {
    RunControl seeded = control;
    seeded.seed = static_cast<std::uint64_t>(seed);
    auto drawn = make_suite(suite.name, data_dir, seeded.seed);
    if (!drawn) return tl::unexpected(drawn.error());
    drawn->limits = suite.limits;
    const auto record = run_suite(*drawn, policy, information, seeded);
    if (!record) return tl::unexpected(record.error());
    all.push_back(measure(*record, drawn->window, drawn->cluster.gpus(), drawn->origin));
  }
  return mean_of(all);
}

}  // namespace rubato::sim
