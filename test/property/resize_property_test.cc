// SPDX-License-Identifier: GPL-2.0-or-later
// Invariants of a request at every size.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <rapidcheck/gtest.h>

#include "lib/core/resize_request.h"
#include "lib/policy/algorithms/demand.h"

namespace rubato {
namespace {

int number(int from, int to) { return *rc::gen::inRange(from, to + 1); }

/// A job as Slurm would make it from an sbatch line, with every size from 1 to 64.
Job any_job() {
  Job job;
  Request& request = job.request;
  const bool per_node = number(0, 1) == 1;
  const int nodes = number(1, 4);
  request.fixed_nodes = number(0, 1) == 1;
  request.min_nodes = request.fixed_nodes ? nodes : 1;
  request.max_nodes = request.fixed_nodes ? nodes : 0;
  (per_node ? request.gpus_per_node : request.gpus) = per_node ? number(1, 8) : number(nodes, 16);
  request.cores_per_task = number(1, 8);
  const bool tasks_per_node = number(0, 2) == 0;
  if (tasks_per_node) request.tasks_per_node = number(1, 4);
  request.tasks = tasks_per_node ? request.tasks_per_node * request.min_nodes : number(0, 8);
  // Slurm requests at least one task and one CPU per node.
  if (request.tasks > 0) request.tasks = std::max(request.tasks, request.min_nodes);
  request.cores = std::max({1, request.tasks, request.min_nodes}) * request.cores_per_task;
  request.cores_per_node = std::max(1, request.tasks_per_node) * request.cores_per_task;
  if (number(0, 1) == 1)
    request.memory_per_node = number(1, 100000);
  else
    request.memory_per_gpu = number(0, 10000);
  if (number(0, 3) == 0) request.cores_per_gpu = number(1, 4);
  job.hints = ResolvedHints();
  job.hints->sizes = GpuSizes({{1, 64}});
  job.hints->device = Device::kAny;
  return job;
}

RC_GTEST_PROP(ResizeProperty, its_own_size_is_the_request, ()) {
  const Job job = any_job();
  const auto same = at_size(job, static_cast<int>(requested_gpus(job)), "");
  RC_ASSERT(same.has_value());
  RC_ASSERT(*same == job);
}

RC_GTEST_PROP(ResizeProperty, it_has_the_size_and_can_be_placed, ()) {
  const Job job = any_job();
  const int gpus = number(1, 64);
  const auto sized = at_size(job, gpus, "");
  if (!sized) {
    RC_ASSERT(sized.error().text.starts_with(std::to_string(gpus) + " GPUs: "));
    return;
  }
  RC_ASSERT(requested_gpus(*sized) == gpus);
  const Demand before(job.request);
  if (before.consistent()) RC_ASSERT(Demand(sized->request).consistent());
}

RC_GTEST_PROP(ResizeProperty, tasks_cpus_and_memory_per_gpu_are_kept, ()) {
  const Job job = any_job();
  const int gpus = number(1, 64);
  const auto sized = at_size(job, gpus, "");
  if (!sized) return;
  const std::int64_t own = requested_gpus(job);
  const Request& before = job.request;
  const Request& after = sized->request;
  if (before.tasks > 1)
    RC_ASSERT(std::int64_t{after.tasks} * own == std::int64_t{before.tasks} * gpus);
  // Rounded up to whole CPUs, with at least one CPU per task and node.
  if (before.cores > 1)
    RC_ASSERT(std::int64_t{after.cores} * own >= std::int64_t{before.cores} * gpus);
  RC_ASSERT(after.cores >= after.tasks);
  RC_ASSERT(after.cores >= after.cores_per_node);
  RC_ASSERT(after.cores_per_gpu == before.cores_per_gpu);
  const MiB asked = before.memory_per_node * before.min_nodes + before.memory_per_gpu * own;
  const MiB given = after.memory_per_node * after.min_nodes + after.memory_per_gpu * gpus;
  RC_ASSERT(given * own >= asked * gpus);
  RC_ASSERT(given * own < (asked + own) * gpus + own * own * after.min_nodes);
}

RC_GTEST_PROP(ResizeProperty, there_and_back_is_the_request_where_it_divides, ()) {
  Job job = any_job();
  const int factor = number(1, 4);
  const auto own = static_cast<int>(requested_gpus(job));
  auto there = at_size(job, own * factor, "");
  if (!there) return;
  const auto back = at_size(*there, own, "");
  if (!back) return;
  const bool nodes_kept = back->request.gpus_per_node == job.request.gpus_per_node;
  RC_ASSERT(requested_gpus(*back) == own);
  RC_ASSERT(std::max(1, back->request.tasks) == std::max(1, job.request.tasks));
  if (job.request.cores > 1 && there->request.cores == job.request.cores * factor)
    RC_ASSERT(back->request.cores == job.request.cores);
  if (nodes_kept && job.request.gpus_per_node > 0 && job.request.fixed_nodes)
    RC_ASSERT(back->request == job.request);
}

RC_GTEST_PROP(ResizeProperty, without_gpus_nothing_else_changes, ()) {
  const Job job = any_job();
  auto none = at_size(job, 0, "");
  const bool by_gpu = job.request.cores_per_gpu > 0 || job.request.memory_per_gpu > 0;
  RC_ASSERT(none.has_value() == !by_gpu);
  if (!none) return;
  RC_ASSERT(!none->request.wants_gpus());
  none->request.gpus = job.request.gpus;
  none->request.gpus_per_node = job.request.gpus_per_node;
  RC_ASSERT(*none == job);
}

}  // namespace
}  // namespace rubato
