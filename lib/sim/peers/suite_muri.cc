// SPDX-License-Identifier: GPL-2.0-or-later
// Workloads of Muri and Tiresias, and the figures of Muri's simulator for its own.
#include <fmt/format.h>

#include <algorithm>

#include "lib/base/nearest.h"
#include "lib/sim/peers/formats.h"
#include "lib/sim/peers/muri_tiresias.h"
#include "lib/sim/peers/read_jobs.h"

namespace rubato::sim {
namespace {

/// Throughput does not depend on placement.
class MuriTruth : public Truth {
 public:
  [[nodiscard]] double throughput(const SimJob& job, const Setting& setting,
                                  double /*done*/) const override {
    return setting.gpus() == job.gpus ? 1 / muri_iteration(job) : 0;
  }
};

/// Work is in seconds.
class DurationTruth : public Truth {
 public:
  [[nodiscard]] double throughput(const SimJob& job, const Setting& setting,
                                  double /*done*/) const override {
    return setting.gpus() == job.gpus ? 1 : 0;
  }
};

Result<Suite> homogeneous(Result<JobList> jobs, const std::string& profiles,
                          const ClusterShape& cluster) {
  if (!jobs) return tl::unexpected(jobs.error());
  if (!profiles.empty()) {
    return fail(
        fmt::format("{}: expected no profiles: the trace says how long jobs take", profiles));
  }
  if (cluster.types() != 1) return fail("cluster: expected one type of GPU, as v100:8x8");
  Suite suite;
  suite.jobs = std::move(*jobs);
  suite.cluster = cluster;
  return suite;
}

constexpr const char* kTraces[] = {"trace1", "trace3", "trace4"};

}  // namespace

Result<Suite> read_muri_suite(const std::string& workload, const std::string& profiles,
                              const ClusterShape& cluster) {
  auto suite = homogeneous(read_muri_jobs(workload), profiles, cluster);
  if (!suite) return suite;
  for (SimJob& job : suite->jobs) job.start_s = job.restart_s = muri_overhead(job);
  suite->truth = std::make_shared<MuriTruth>();
  suite->rules = &rules_muri;
  suite->rules_name = "muri";
  return suite;
}

Result<Suite> read_tiresias_suite(const std::string& workload, const std::string& profiles,
                                  const ClusterShape& cluster) {
  auto suite = homogeneous(read_tiresias_jobs(workload), profiles, cluster);
  if (suite) suite->truth = std::make_shared<DurationTruth>();
  return suite;
}

std::optional<Result<RunMetrics>> rules_muri(const Suite& suite, const std::string& policy,
                                             const RunControl& control) {
  if (policy != "tiresias") return std::nullopt;
  RunMetrics record = replay_muri_tiresias(suite.jobs, suite.cluster, control);
  add_ideals(record, suite);
  return record;
}

SuiteResult<Suite> muri_v100_64(const std::string& trace, const std::string& data_dir,
                                std::uint64_t /*seed*/) {
  if (std::ranges::find(kTraces, trace) == std::end(kTraces)) {
    const std::vector<std::string> names(std::begin(kTraces), std::end(kTraces));
    return wrong_suite(fmt::format("suite muri-v100-64: trace '{}': must be one of {}{}", trace,
                                   fmt::join(names, ", "), did_you_mean(trace, names)));
  }
  const auto cluster = parse_cluster_shape("v100:8x8");
  if (!cluster) return tl::unexpected(cluster.error());
  auto suite = read_muri_suite(fmt::format("{}/muri/{}.csv", data_dir, trace), "", *cluster);
  if (!suite) return suite;
  suite->name = "muri-v100-64:" + trace;
  if (trace == "trace3") suite->published = {{"tiresias", "avg_jct_s", 347'213, 0.03, false}};
  return suite;
}

void add_ideals(RunMetrics& record, const Suite& suite) {
  for (std::size_t j = 0; j < record.jobs.size(); ++j) {
    record.jobs[j].ideal_s = ideal_seconds(*suite.truth, suite.cluster, suite.jobs[j]);
  }
}

}  // namespace rubato::sim
