// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/engine/truth.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lib/sim/engine/policy_help.h"

namespace rubato::sim {

int Setting::gpus() const { return std::accumulate(placement.begin(), placement.end(), 0); }

Observation Truth::observe(const SimJob& job, const Setting& setting, double done) const {
  Observation seen;
  seen.batch = setting.batch > 0 ? setting.batch : job.batch;
  seen.samples_per_s = throughput(job, setting, done) * samples_per_unit(job);
  return seen;
}

double Truth::samples_per_unit(const SimJob& job) const { return job.batch > 0 ? job.batch : 1; }

double Truth::seconds(const SimJob& job, const Setting& setting) const {
  double done = 0;
  double time = 0;
  while (done < job.work) {
    const double speed = throughput(job, setting, done);
    if (!(speed > 0)) return std::numeric_limits<double>::infinity();
    const double to = std::min(job.work, next_change(job, done));
    if (!(to > done)) return std::numeric_limits<double>::infinity();
    time += (to - done) / speed;
    done = to;
  }
  return time;
}

Setting packed(const ClusterShape& cluster, TypeIndex type, int gpus) {
  Setting setting;
  setting.type = type;
  const int node = cluster.groups[type].gpus_per_node;
  for (int left = gpus; left > 0 && node > 0; left -= node) {
    setting.placement.push_back(std::min(left, node));
  }
  return setting;
}

double ideal_seconds(const Truth& truth, const ClusterShape& cluster, const SimJob& job) {
  double best = std::numeric_limits<double>::infinity();
  for (const TypeIndex type : cluster.type_indices()) {
    if (!may_use(job, cluster, type) || job.gpus > cluster.gpus(type)) continue;
    best = std::min(best, truth.seconds(job, packed(cluster, type, job.gpus)));
  }
  return best;
}

namespace {

/// Sizes to check; only some of a wide range. A missed size affects a warning or a time limit that
/// is never enforced.
std::vector<int> some_sizes(const SimJob& job) {
  std::vector<int> sizes = job.sizes;
  sizes.push_back(job.gpus);
  if (!job.sizes.empty()) return sizes;
  sizes.push_back(job.min_gpus);
  sizes.push_back(job.max_gpus);
  for (int size = 1; size < job.max_gpus; size *= 2) {
    if (size > job.min_gpus) sizes.push_back(size);
  }
  return sizes;
}

}  // namespace

double longest_seconds(const Truth& truth, const ClusterShape& cluster, const SimJob& job) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  double longest = 0;
  for (const TypeIndex type : cluster.type_indices()) {
    if (!may_use(job, cluster, type)) continue;
    for (const int size : some_sizes(job)) {
      if (size > cluster.gpus(type)) continue;
      const double seconds = truth.seconds(job, packed(cluster, type, size));
      if (seconds < kNone) longest = std::max(longest, seconds);
    }
  }
  return longest > 0 ? longest + job.start_s : kNone;
}

namespace {

/// Whether some size of the job runs somewhere on an empty cluster.
bool runs_somewhere(const Truth& truth, const ClusterShape& cluster, const NodePool& pool,
                    const SimJob& job) {
  const std::vector<int> sizes = some_sizes(job);
  for (const TypeIndex type : cluster.type_indices()) {
    if (!may_use(job, cluster, type)) continue;
    for (const int size : sizes) {
      if (size <= cluster.gpus(type) && truth.throughput(job, packed(cluster, type, size), 0) > 0 &&
          pool.find(type, size, per_gpu(job))) {
        return true;
      }
    }
  }
  return false;
}

/// Why a job can run on no type of the cluster; "" if it can.
std::string why_never(const Truth& truth, const ClusterShape& cluster, const NodePool& pool,
                      const SimJob& job) {
  if (runs_somewhere(truth, cluster, pool, job)) return {};
  std::string small;  // types with too few GPUs
  std::string slow;   // types with enough
  bool narrow = false;
  for (const TypeIndex type : cluster.type_indices()) {
    if (!may_use(job, cluster, type)) continue;
    const NodeGroup& group = cluster.groups[type];
    const int gpus = cluster.gpus(type);
    if (gpus < job.gpus) {
      small += fmt::format("{}{} has {}", small.empty() ? "" : ", ", group.type, gpus);
      continue;
    }
    if (!(truth.throughput(job, packed(cluster, type, job.gpus), 0) > 0)) {
      slow += (slow.empty() ? "" : ", ") + group.type;
    } else {
      narrow = true;
    }
  }
  if (narrow) {
    return fmt::format("needs {} cores and {} MiB with each of {} GPUs, more than the nodes have",
                       job.cores_per_gpu, job.memory_per_gpu, job.gpus);
  }
  if (!slow.empty()) {
    const std::string model = job.model.empty() ? "" : fmt::format(" for model '{}'", job.model);
    return fmt::format("no speed{} with {} GPUs of {}", model, job.gpus, slow);
  }
  if (small.empty()) return "the cluster has none of its types of GPU";
  return fmt::format("needs {} GPUs of one type, {}", job.gpus, small);
}

}  // namespace

std::string never_run_text(const Truth& truth, const ClusterShape& cluster, const JobList& jobs) {
  const NodePool pool(cluster);
  std::size_t number = 0;
  std::string first;
  for (const SimJob& job : jobs) {
    const std::string why = why_never(truth, cluster, pool, job);
    if (why.empty()) continue;
    if (++number > 1) continue;
    const std::string line =
        job.line.number > 0 ? fmt::format(", line {}", job.line.number) : std::string{};
    first = fmt::format("{}{}: {}", job.key, line, why);
  }
  if (number == 0) return {};
  return fmt::format("{} of {} jobs can never run on this cluster: first {}", number, jobs.size(),
                     first);
}

}  // namespace rubato::sim
