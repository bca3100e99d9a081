// SPDX-License-Identifier: GPL-2.0-or-later
// Workloads of Rubick, with the figures of its simulator.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "lib/base/nearest.h"
#include "lib/model/plans/plan.h"
#include "lib/sim/peers/formats.h"
#include "lib/sim/peers/read_jobs.h"
#include "lib/sim/peers/rubick_loop.h"

namespace rubato::sim {
namespace {

constexpr double kRestart = 260;

/// The spelling of a plan that requests, reports and these figures share. The figures do not tell
/// the number of micro-batches, so it does not count. "" for a text that is no plan of these GPUs.
std::string plan_key(const std::string& text, int gpus) {
  auto plan = parse_execution_plan(text, gpus);
  if (!plan) return "";
  plan->steps = 1;
  return to_text(*plan);
}

/// Iterations/s. A setting without a plan runs as in the simulator, which ignores the user's plan.
/// If its node count was not measured, the nearest measured one is used. A setting with a plan must
/// have been measured; else it cannot run.
class RubickTruth : public Truth {
 public:
  explicit RubickTruth(const RubickData& data) : times(data) {
    for (const RubickProfile& profile : data.profiles) {
      for (const RubickProfileRow& row : profile.rows) {
        const std::string plan = plan_key(to_text(row.sample.plan), row.sample.configuration.gpus);
        // "ga" and "ga+gc" are plans with micro-batches; of two, the faster one counts.
        const auto [at, fresh] =
            plans_.try_emplace({profile.name, plan, row.placement}, row.sample.step_seconds);
        if (!fresh) at->second = std::min(at->second, row.sample.step_seconds);
      }
    }
  }

  [[nodiscard]] double throughput(const SimJob& job, const Setting& setting,
                                  double /*done*/) const override {
    if (!setting.holds()) return 0;
    if (!setting.plan.empty()) {
      std::string placement;
      for (const int gpus : setting.placement) placement += fmt::format("{}", gpus);
      const auto at = plans_.find({job.model, plan_key(setting.plan, setting.gpus()), placement});
      return at == plans_.end() ? 0 : 1 / at->second;
    }
    const auto seconds = times.nearest(job.model, setting.nodes(), setting.gpus());
    return seconds ? 1 / *seconds : 0;
  }

  RubickTimes times;

 private:
  std::map<std::tuple<std::string, std::string, std::string>, double> plans_;
};

/// Sets the sizes that the simulator's policy allows for a job.
void set_sizes(SimJob& job, const RubickKind& kind, int node_gpus) {
  job.sizes.clear();
  if (kind.large()) {
    for (const RubickShape& shape : kind.shapes) job.sizes.push_back(shape.nodes * shape.gpus);
  } else {
    for (int gpus = 1; gpus <= node_gpus; gpus *= 2) job.sizes.push_back(gpus);
  }
  std::ranges::sort(job.sizes);
  job.sizes.erase(std::unique(job.sizes.begin(), job.sizes.end()), job.sizes.end());
  job.min_gpus = std::min(job.gpus, job.sizes.front());
  job.max_gpus = std::max(job.gpus, job.sizes.back());
  if (std::ranges::find(job.sizes, job.gpus) == job.sizes.end()) {
    job.sizes.insert(std::ranges::lower_bound(job.sizes, job.gpus), job.gpus);
  }
}

}  // namespace

Result<Suite> read_rubick_suite(const std::string& workload, const std::string& profiles,
                                const ClusterShape& cluster) {
  auto jobs = read_rubick_jobs(workload);
  if (!jobs) return tl::unexpected(jobs.error());
  if (cluster.types() != 1 || cluster.groups.front().gpus_per_node > 8) {
    return fail("cluster: expected one type of GPU and at most 8 GPUs per node, as a800:8x8");
  }
  const auto data = read_rubick(profiles);
  if (!data) return tl::unexpected(data.error());
  Suite suite;
  suite.jobs = std::move(*jobs);
  suite.cluster = cluster;
  for (SimJob& job : suite.jobs) {
    const auto kind = rubick_kind(job.model);
    if (!kind) return fail(fmt::format("{}: job {}: {}", workload, job.key, kind.error().text));
    set_sizes(job, **kind, cluster.groups.front().gpus_per_node);
    job.start_s = job.restart_s = kRestart;
  }
  const auto truth = std::make_shared<RubickTruth>(*data);
  suite.truth = truth;
  suite.data = std::shared_ptr<const void>(truth, &truth->times);
  suite.grid = 60;
  suite.rules = &rules_rubick;
  suite.host = &host_rubick;
  suite.rules_name = "rubick";
  return suite;
}

std::optional<Result<RunMetrics>> rules_rubick(const Suite& suite, const std::string& policy,
                                               const RunControl& control) {
  if (policy != "rubick" && policy != "rubick-honest") return std::nullopt;
  const auto& times = *static_cast<const RubickTimes*>(suite.data.get());
  auto record = replay_rubick(suite.jobs, suite.cluster, times, policy == "rubick", control);
  if (!record) return record;
  add_ideals(*record, suite);
  return std::move(*record);
}

Result<RunMetrics> host_rubick(const Suite& suite, Policy& policy, const RunControl& control) {
  const auto& times = *static_cast<const RubickTimes*>(suite.data.get());
  auto record = replay_rubick_guest(suite, times, policy, control);
  if (record) add_ideals(*record, suite);
  return record;
}

SuiteResult<Suite> rubick_a800_64(const std::string& /*argument*/, const std::string& data_dir,
                                  std::uint64_t /*seed*/) {
  const std::string folder = data_dir + "/rubick";
  const auto cluster = parse_cluster_shape("a800:8x8");
  if (!cluster) return tl::unexpected(cluster.error());
  auto suite = read_rubick_suite(folder + "/workloads/workload-base.csv", folder, *cluster);
  if (!suite) return suite;
  suite->name = "rubick-a800-64";
  suite->published = {{"rubick", "avg_jct_s", 3638, 0.03, true},
                      {"rubick", "makespan_s", 58'680, 0.03, true},
                      {"rubick-honest", "avg_jct_s", 7475, 0.03, true},
                      {"rubick-honest", "makespan_s", 108'420, 0.03, true}};
  return suite;
}

}  // namespace rubato::sim
