// SPDX-License-Identifier: GPL-2.0-or-later
// Workloads of Sia, and the figures that its simulator gives for them.
#include <fmt/format.h>

#include <algorithm>

#include "lib/config/nearest.h"
#include "lib/sim/peers/formats.h"
#include "lib/sim/peers/read_jobs.h"
#include "lib/sim/peers/sia_gavel.h"
#include "lib/sim/peers/sia_loop.h"
#include "lib/sim/peers/sia_policy.h"

namespace rubato::sim {
namespace {

constexpr double kHour = 3600;
constexpr double kUsualRestart = 30;  ///< of applications that Sia says nothing of

BatchSplit fixed_split(const AdaptiveApp& app, int type, const std::vector<int>& placement,
                       double batch) {
  int gpus = 0;
  for (const int each : placement) gpus += each;
  const bool apart = gpus == 1 && batch > static_cast<double>(app.first_batch());
  return sia_split(app, type, placement, batch, apart);
}

struct Figures {
  const char* workload;
  double gavel;
  double sia;
};

// Measured with the authors' code (docs/results); hours.
constexpr Figures kFigures[] = {
    {"philly-1", 1.671, .551},
    {"philly-2", 2.103, .733},
    {"saturn-1", 1.798, .597},
    {"saturn-2", 1.717, .710},
};

}  // namespace

Result<Suite> read_sia_suite(const std::string& workload, const std::string& profiles,
                             const ClusterShape& cluster) {
  auto jobs = read_sia_jobs(workload);
  if (!jobs) return tl::unexpected(jobs.error());
  Suite suite;
  suite.jobs = std::move(*jobs);
  suite.cluster = cluster;
  auto apps = adaptive_apps(profiles, cluster, suite.jobs);
  if (!apps) return tl::unexpected(apps.error());
  std::map<std::string, double> slowdowns;
  bool all_known = true;
  for (SimJob& job : suite.jobs) {
    const SiaConstants* constants = sia_constants(job.model);
    all_known = all_known && constants != nullptr;
    job.start_s = job.restart_s = constants != nullptr ? constants->restart : kUsualRestart;
    if (constants != nullptr) slowdowns[job.model] = constants->slowdown;
  }
  suite.truth = std::make_shared<AdaptiveTruth>(*apps, &fixed_split, std::move(slowdowns));
  suite.data = *apps;
  suite.grid = 60;
  if (all_known) suite.rules = &rules_sia;
  return suite;
}

std::optional<RunRecord> rules_sia(const Suite& suite, const std::string& policy,
                                   const RunControl& control) {
  const auto& apps = *static_cast<const AdaptiveApps*>(suite.data.get());
  std::unique_ptr<SiaPolicy> own;
  if (policy == "sia") own = std::make_unique<SiaOwn>(suite.cluster);
  if (policy == "gavel-maxsum") own = std::make_unique<SiaGavel>(suite.cluster);
  if (!own) return std::nullopt;
  RunRecord record = replay_sia(suite.jobs, suite.cluster, apps, *own, control);
  add_ideals(record, suite);
  return record;
}

Result<Suite> sia_het64(const std::string& workload, const std::string& data_dir,
                        std::uint64_t /*seed*/) {
  const Figures* figures =
      std::ranges::find_if(kFigures, [&](const Figures& one) { return workload == one.workload; });
  if (figures == std::end(kFigures)) {
    std::vector<std::string> names;
    for (const Figures& one : kFigures) names.emplace_back(one.workload);
    return fail(fmt::format("suite sia-het64: workload '{}' is none of {}{}", workload,
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
