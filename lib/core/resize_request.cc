// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/core/resize_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/hints/values.h"

namespace rubato {

namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Scales amounts of a request for `from` GPUs to `to` GPUs.
struct Scale {
  std::int64_t from = 1;
  std::int64_t to = 1;

  [[nodiscard]] bool whole(std::int64_t amount) const { return amount * to % from == 0; }
  [[nodiscard]] std::int64_t of(std::int64_t amount) const { return ceil_div(amount * to, from); }
  /// Of a count that cannot be less than one.
  [[nodiscard]] int count(int amount) const {
    return amount <= 1 ? amount : static_cast<int>(std::max<std::int64_t>(of(amount), 1));
  }
};

Result<void> check_type(const Job& job, const std::string& gpu_type) {
  const std::string& bound = job.request.gpu_type;
  if (gpu_type.empty() || bound.empty() || bound == gpu_type) return {};
  return fail(fmt::format("type {}: the request already names type {}", gpu_type, bound));
}

Result<void> check_hints(const Job& job, int gpus) {
  const auto refuse = [&](const std::string& why) {
    return fail(fmt::format("{} GPUs: {}", gpus, why));
  };
  if (!job.batch) return refuse("an interactive job starts as requested");
  if (!job.hints) return refuse("the job has no hints and starts as requested");
  if (!job.size_bound.empty()) return refuse(job.size_bound);
  if (job.request.whole_nodes) return refuse("an exclusive job gets whole nodes");
  if (requested_gpus(job) == 0) return refuse("the request has no GPUs");
  const ResolvedHints& hints = *job.hints;
  if (gpus == 0) {
    if (hints.device == Device::kAny) return {};
    return refuse("the hint device=any is missing");
  }
  if (!hints.sizes.contains(gpus))
    return refuse(fmt::format("not one of its sizes, {}", to_text(hints.sizes)));
  if (gpus % hints.unit != 0)
    return refuse(fmt::format("not a multiple of {}, as its request requires", hints.unit));
  return {};
}

/// -N or the GPUs together with the GPUs a node say how many nodes there are.
bool nodes_are_unit(const Request& request) {
  return request.gpus_per_node > 0 && (request.fixed_nodes || request.gpus > 0);
}

/// One task a node, which starts workers of its own there.
bool launches_a_node(const Request& request) {
  return request.gpus_per_node > 0 && request.tasks_per_node == 1 &&
         request.tasks <= std::max(request.min_nodes, 1);
}

// Whole nodes: what is asked for of a node stays, the number of nodes changes.
Result<void> scale_nodes(int gpus, Request& request) {
  const int per_node = request.gpus_per_node;
  if (gpus % per_node != 0)
    return fail(fmt::format("{} GPUs: not a multiple of {}, the GPUs per node", gpus, per_node));
  const Scale scale{std::max(request.min_nodes, 1), gpus / per_node};
  if (!scale.whole(request.tasks) && request.tasks > 1)
    return fail(fmt::format("{} GPUs: {} tasks on {} nodes cannot be divided among {}", gpus,
                            request.tasks, scale.from, scale.to));
  const bool follow = request.tasks_per_node > 0 &&
                      request.tasks == request.tasks_per_node * static_cast<int>(scale.from);
  if (request.tasks > 1 || follow) request.tasks = static_cast<int>(scale.of(request.tasks));
  request.cores = static_cast<int>(
      std::max<std::int64_t>({scale.count(request.cores), scale.to, request.tasks}));
  if (request.gpus > 0) request.gpus = gpus;
  request.min_nodes = request.max_nodes = static_cast<int>(scale.to);
  return {};
}

// A part of one node: everything on it scales.
void scale_within(const Scale& scale, Request& request) {
  request.cores = scale.count(request.cores);
  request.cores_per_node = scale.count(request.cores_per_node);
  request.cores_per_task = scale.count(request.cores_per_task);
  if (!request.whole_memory) request.memory_per_node = scale.of(request.memory_per_node);
}

void scale_cores(const Scale& scale, bool tasks_scale, Request& request) {
  request.cores = std::max(scale.count(request.cores), request.tasks);
  const int before = request.cores_per_task;
  if (!tasks_scale) request.cores_per_task = scale.count(before);
  // Of a node Slurm asks for the CPUs of a task at least, and more for tasks a node, which are free
  // now.
  request.cores_per_node = request.cores_per_node <= before || request.tasks_per_node > 0
                               ? std::min(request.cores_per_node, request.cores_per_task)
                               : std::min(request.cores_per_node, request.cores);
  if (request.cores_per_task > before)
    request.cores_per_node = std::max(request.cores_per_node, request.cores_per_task);
}

// The number of nodes is open: what is said of a node is said of a GPU from now on.
Result<void> scale_free(const Scale& scale, Request& request) {
  const bool tasks_scale = request.tasks > 1 || request.gpus_per_task > 0;
  if (tasks_scale && !scale.whole(request.tasks))
    return fail(fmt::format("{} GPUs: {} tasks on {} GPUs cannot be scaled to a whole number",
                            scale.to, request.tasks, scale.from));
  if (tasks_scale) request.tasks = static_cast<int>(scale.of(request.tasks));
  scale_cores(scale, tasks_scale, request);
  if (tasks_scale) request.tasks_per_node = 0;
  const bool one_node = request.fixed_nodes && request.max_nodes == 1;
  if (request.memory_per_node > 0 && !request.whole_memory) {
    if (one_node) {
      request.memory_per_node = scale.of(request.memory_per_node);
    } else {
      request.memory_per_gpu =
          std::max(request.memory_per_gpu,
                   ceil_div(request.memory_per_node * std::max(request.min_nodes, 1), scale.from));
      request.memory_per_node = 0;
    }
  }
  request.gpus = static_cast<int>(scale.to);
  request.gpus_per_node = 0;
  if (one_node) return {};
  request.min_nodes = 1;
  request.max_nodes = 0;
  request.fixed_nodes = false;
  return {};
}

Result<void> scale_request(const Scale& scale, Request& request) {
  const auto gpus = static_cast<int>(scale.to);
  const int per_node = request.gpus_per_node;
  if (nodes_are_unit(request)) return scale_nodes(gpus, request);
  if (per_node > 0 && request.max_nodes > request.min_nodes && request.min_nodes > 1)
    return fail(fmt::format("{} GPUs: -N {}-{} with GPUs per node has no fixed size", gpus,
                            request.min_nodes, request.max_nodes));
  if (!launches_a_node(request)) return scale_free(scale, request);
  if (gpus >= per_node) {
    auto done = scale_nodes(gpus, request);
    if (done) request.fixed_nodes = true;
    return done;
  }
  scale_within(scale, request);
  request.gpus_per_node = gpus;
  request.min_nodes = request.max_nodes = 1;
  request.fixed_nodes = true;
  return {};
}

// Tasks, CPUs and memory stay. What sbatch wrote into the job's environment about CPUs and memory
// of a GPU cannot be taken back there, and srun reads it.
Result<void> leave_gpus(Request& request) {
  if (request.cores_per_gpu > 0 || request.memory_per_gpu > 0)
    return fail("0 GPUs: its CPUs or memory are requested per GPU");
  request.gpus = request.gpus_per_node = request.gpus_per_task = 0;
  request.gpu_quantum = 1;
  request.gpu_type.clear();
  return {};
}

}  // namespace

std::int64_t requested_gpus(const Job& job) {
  const Request& request = job.request;
  if (request.gpus > 0) return request.gpus;
  return std::int64_t{request.gpus_per_node} * std::max(request.min_nodes, 1);
}

Result<Job> at_size(const Job& job, int gpus, const std::string& gpu_type) {
  if (const auto ok = check_type(job, gpu_type); !ok) return tl::unexpected(ok.error());
  Job out = job;
  const std::int64_t own = requested_gpus(job);
  if (gpus != own) {
    if (const auto ok = check_hints(job, gpus); !ok) return tl::unexpected(ok.error());
    const auto done = gpus == 0 ? leave_gpus(out.request) : scale_request({own, gpus}, out.request);
    if (!done) return tl::unexpected(done.error());
  }
  if (out.request.wants_gpus() && out.request.gpu_type.empty()) out.request.gpu_type = gpu_type;
  return out;
}

}  // namespace rubato
