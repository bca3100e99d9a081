// SPDX-License-Identifier: GPL-2.0-or-later
// Workloads of Pollux and of Sia, with published figures or those of their simulators.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "lib/base/nearest.h"
#include "lib/sim/peers/adaptive_guest.h"
#include "lib/sim/peers/adaptive_loop.h"
#include "lib/sim/peers/formats.h"
#include "lib/sim/peers/pollux_optimus.h"
#include "lib/sim/peers/pollux_policy.h"
#include "lib/sim/peers/pollux_tiresias.h"
#include "lib/sim/peers/read_jobs.h"
#include "lib/sim/peers/sia_gavel.h"
#include "lib/sim/peers/sia_policy.h"

namespace rubato::sim {
namespace {

constexpr double kHour = 3600;
constexpr double kRound = 60;

/// Average completion times of workload 6 of Pollux at a load, seconds, as published.
struct PolluxFigures {
  const char* load;
  double tiresias;
  double optimus;
  double pollux;
};

constexpr PolluxFigures kPollux[] = {
    {"0.5", 1826.575, 1957.9625, 1287.825},
    {"1.0", 3469.69375, 5301.875, 2446.13125},
    {"1.5", 5830.48333, 7500.25417, 3474.26667},
    {"2.0", 10254.66875, 9767.25625, 5105.3125},
};

struct SiaFigures {
  const char* workload;
  double gavel;
  double sia;
};

// Measured with the authors' code (docs/results/simulator.md); hours.
constexpr SiaFigures kSia[] = {
    {"philly-1", 1.671, .551},
    {"philly-2", 2.103, .733},
    {"saturn-1", 1.798, .597},
    {"saturn-2", 1.717, .710},
};

/// w1 to w8, and each @0.5, @1.5, @2.0.
std::vector<std::string> pollux_workloads() {
  std::vector<std::string> names;
  for (int w = 1; w <= 8; ++w) {
    for (const PolluxFigures& one : kPollux) {
      const bool usual = one.load == std::string_view("1.0");
      names.push_back(usual ? fmt::format("w{}", w) : fmt::format("w{}@{}", w, one.load));
    }
  }
  return names;
}

Result<Suite> read_adaptive(const std::string& workload, const std::string& profiles,
                            const ClusterShape& cluster, const AdaptiveRules& rules) {
  auto jobs = read_sia_jobs(workload);
  if (!jobs) return tl::unexpected(jobs.error());
  Suite suite;
  suite.jobs = std::move(*jobs);
  suite.cluster = cluster;
  auto world = read_adaptive_world(profiles, cluster, rules, suite.jobs);
  if (!world) return tl::unexpected(world.error());
  suite.truth = std::make_shared<AdaptiveTruth>(*world);
  suite.data = *world;
  suite.grid = kRound;
  suite.rules = &rules_adaptive;
  suite.host = &host_adaptive;
  suite.rules_name = &rules == &sia_rules() ? "sia" : "pollux";
  return suite;
}

/// Null: not a policy of this simulator. Optimus supports one GPU type. Tiresias is Pollux's copy;
/// Gavel's total throughput is Sia's.
std::unique_ptr<LoopPolicy> make_policy(const std::string& name, const Suite& suite,
                                        const AdaptiveRules& rules, const RunControl& control) {
  const ClusterShape& cluster = suite.cluster;
  const bool one_type = cluster.types() == 1;
  const bool in_sia = &rules == &sia_rules();
  if (name == "pollux") return std::make_unique<PolluxOwn>(rules, cluster, control.seed);
  if (name == "sia") return std::make_unique<SiaOwn>(rules, cluster, control.seed);
  if (name == "optimus" && one_type) {
    return std::make_unique<PolluxOptimus>(rules, cluster.groups.front());
  }
  if (name == "tiresias" && one_type && !in_sia) {
    return std::make_unique<PolluxTiresias>(rules, cluster.groups.front());
  }
  if (name == "gavel-maxsum" && in_sia) {
    return std::make_unique<SiaGavel>(rules, cluster);
  }
  return nullptr;
}

}  // namespace

Result<Suite> read_sia_suite(const std::string& workload, const std::string& profiles,
                             const ClusterShape& cluster) {
  return read_adaptive(workload, profiles, cluster, sia_rules());
}

Result<Suite> read_pollux_suite(const std::string& workload, const std::string& profiles,
                                const ClusterShape& cluster) {
  return read_adaptive(workload, profiles, cluster, pollux_rules());
}

std::optional<Result<RunMetrics>> rules_adaptive(const Suite& suite, const std::string& policy,
                                                 const RunControl& control) {
  const auto& world = *static_cast<const AdaptiveWorld*>(suite.data.get());
  const auto own = make_policy(policy, suite, *world.rules, control);
  if (!own) return std::nullopt;
  auto record = replay_adaptive(suite.jobs, suite.cluster, world, *own, control);
  if (record) add_ideals(*record, suite);
  return record;
}

Result<RunMetrics> host_adaptive(const Suite& suite, Policy& policy, const RunControl& control) {
  const auto& world = *static_cast<const AdaptiveWorld*>(suite.data.get());
  AdaptiveGuest guest(*world.rules, suite, policy, control.seed);
  auto record = replay_adaptive(suite.jobs, suite.cluster, world, guest, control);
  if (record) add_ideals(*record, suite);
  return record;
}

SuiteResult<Suite> pollux_t4_64(const std::string& workload, const std::string& data_dir,
                                std::uint64_t /*seed*/) {
  const std::vector<std::string> names = pollux_workloads();
  if (std::ranges::find(names, workload) == names.end()) {
    return wrong_suite(
        fmt::format("suite pollux-t4-64: no workload '{}'; expected w1 to w8, or with a "
                    "load as w6@0.5{}",
                    workload, did_you_mean(workload, names)));
  }
  const std::size_t at = workload.find('@');
  const std::string load = at == std::string::npos ? "1.0" : workload.substr(at + 1);
  const std::string file =
      fmt::format("{}/pollux/workloads{}/workload-{}.csv", data_dir,
                  at == std::string::npos ? "" : "-" + load, workload.substr(1, 1));
  const auto cluster = parse_cluster_shape("t4:16x4");
  if (!cluster) return tl::unexpected(cluster.error());
  auto suite = read_pollux_suite(file, data_dir + "/pollux/traces", *cluster);
  if (!suite) return suite;
  suite->name = "pollux-t4-64:" + workload;
  for (const PolluxFigures& one : kPollux) {
    if (load != one.load || !workload.starts_with("w6")) continue;
    const bool must = load == "1.0";
    suite->published = {{"tiresias", "avg_jct_s", one.tiresias, 0.01, must},
                        {"optimus", "avg_jct_s", one.optimus, 0.01, must},
                        {"pollux", "avg_jct_s", one.pollux, 0.05, false}};
  }
  return suite;
}

SuiteResult<Suite> sia_het64(const std::string& workload, const std::string& data_dir,
                             std::uint64_t /*seed*/) {
  const SiaFigures* figures =
      std::ranges::find_if(kSia, [&](const SiaFigures& one) { return workload == one.workload; });
  if (figures == std::end(kSia)) {
    std::vector<std::string> names;
    for (const SiaFigures& one : kSia) names.emplace_back(one.workload);
    return wrong_suite(fmt::format("suite sia-het64: workload '{}': must be one of {}{}", workload,
                                   fmt::join(names, ", "), did_you_mean(workload, names)));
  }
  const std::size_t dash = workload.find('-');
  const std::string file = fmt::format("{}/sia/workloads/{}/workload-{}.csv", data_dir,
                                       workload.substr(0, dash), workload.substr(dash + 1));
  const auto cluster = parse_cluster_shape("aws:6x4,dgx-ext:2x8,rtx:3x8");
  if (!cluster) return tl::unexpected(cluster.error());
  auto suite = read_sia_suite(file, data_dir + "/sia/traces", *cluster);
  if (!suite) return suite;
  suite->name = "sia-het64:" + workload;
  suite->origin = suite->jobs.front().arrival;
  suite->published = {{"gavel-maxsum", "avg_jct_s", figures->gavel * kHour, 0.03, true},
                      {"sia", "avg_jct_s", figures->sia * kHour, 0.05, false}};
  return suite;
}

}  // namespace rubato::sim
