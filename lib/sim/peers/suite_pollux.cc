// SPDX-License-Identifier: GPL-2.0-or-later
// Workloads of Pollux, and the figures that its authors published for them.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "lib/config/nearest.h"
#include "lib/sim/peers/formats.h"
#include "lib/sim/peers/pollux_loop.h"
#include "lib/sim/peers/pollux_optimus.h"
#include "lib/sim/peers/pollux_policy.h"
#include "lib/sim/peers/pollux_tiresias.h"
#include "lib/sim/peers/read_jobs.h"

namespace rubato::sim {
namespace {

BatchSplit fixed_split(const AdaptiveApp& app, int /*type*/, const std::vector<int>& placement,
                       double batch) {
  int gpus = 0;
  for (const int each : placement) gpus += each;
  const bool apart = gpus == 1 && batch > static_cast<double>(app.first_batch());
  return split_batch(batch, gpus, pollux_most_local(app), app.most_batch(), apart);
}

/// Average completion times of workload 6 at a load, seconds, as published.
struct Figures {
  const char* load;
  double tiresias;
  double optimus;
  double pollux;
};

constexpr Figures kFigures[] = {
    {"0.5", 1826.575, 1957.9625, 1287.825},
    {"1.0", 3469.69375, 5301.875, 2446.13125},
    {"1.5", 5830.48333, 7500.25417, 3474.26667},
    {"2.0", 10254.66875, 9767.25625, 5105.3125},
};

/// w1 to w8, and each @0.5, @1.5, @2.0.
std::vector<std::string> workloads() {
  std::vector<std::string> names;
  for (int w = 1; w <= 8; ++w) {
    for (const Figures& one : kFigures) {
      const bool usual = one.load == std::string_view("1.0");
      names.push_back(usual ? fmt::format("w{}", w) : fmt::format("w{}@{}", w, one.load));
    }
  }
  return names;
}

}  // namespace

Result<Suite> read_pollux_suite(const std::string& workload, const std::string& profiles,
                                const ClusterShape& cluster) {
  auto jobs = read_sia_jobs(workload);
  if (!jobs) return tl::unexpected(jobs.error());
  Suite suite;
  suite.jobs = std::move(*jobs);
  suite.cluster = cluster;
  auto apps = adaptive_apps(profiles, cluster, suite.jobs);
  if (!apps) return tl::unexpected(apps.error());
  for (SimJob& job : suite.jobs) job.start_s = job.restart_s = kPolluxRestart;
  suite.truth = std::make_shared<AdaptiveTruth>(*apps, &fixed_split);
  suite.data = *apps;
  suite.grid = kPolluxRound;
  if (cluster.types() == 1) suite.rules = &rules_pollux;
  return suite;
}

std::optional<RunRecord> rules_pollux(const Suite& suite, const std::string& policy,
                                      const RunControl& control) {
  const auto& apps = *static_cast<const AdaptiveApps*>(suite.data.get());
  const NodeGroup& nodes = suite.cluster.groups.front();
  std::unique_ptr<PolluxPolicy> own;
  if (policy == "tiresias") own = std::make_unique<PolluxTiresias>(nodes);
  if (policy == "optimus") own = std::make_unique<PolluxOptimus>(nodes);
  if (policy == "pollux") own = std::make_unique<PolluxOwn>(nodes, control.seed);
  if (!own) return std::nullopt;
  RunRecord record = replay_pollux(suite.jobs, suite.cluster, apps, *own, control);
  add_ideals(record, suite);
  return record;
}

Result<Suite> pollux_t4_64(const std::string& workload, const std::string& data_dir,
                           std::uint64_t /*seed*/) {
  const std::vector<std::string> names = workloads();
  if (std::ranges::find(names, workload) == names.end()) {
    return fail(
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
  for (const Figures& one : kFigures) {
    if (load != one.load || !workload.starts_with("w6")) continue;
    const bool must = load == "1.0";
    suite->published = {{"tiresias", "avg_jct_s", one.tiresias, 0.01, must},
                        {"optimus", "avg_jct_s", one.optimus, 0.01, must},
                        {"pollux", "avg_jct_s", one.pollux, 0.05, false}};
  }
  return suite;
}

}  // namespace rubato::sim
