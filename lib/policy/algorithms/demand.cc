// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/demand.h"

#include <algorithm>
#include <limits>

namespace rubato {
namespace {

constexpr int kNoBound = std::numeric_limits<int>::max();

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

int clip(std::int64_t number) {
  return static_cast<int>(std::clamp<std::int64_t>(number, 0, kNoBound));
}

}  // namespace

Demand::Demand(const Request& request) : request_(request), threads_(std::max(request.threads, 1)) {
  // A job has whole cores, and so the memory of all their CPUs.
  request_.memory_per_core *= threads_;
  min_nodes_ = std::max(request.min_nodes, 1);
  max_nodes_ = request.max_nodes > 0 ? request.max_nodes : kNoBound;
  set_shape();
  // No more nodes than tasks (Slurm 22.05.8, select/cons_tres/job_test.c:1049 and 3178).
  if (request.tasks > 0) max_nodes_ = std::min(max_nodes_, std::max(request.tasks, min_nodes_));
  check();
}

void Demand::set_shape() {
  if (request_.gpus_per_node > 0) {
    shape_ = Shape::kGpusPerNode;
    least_ = quantum_ = request_.gpus_per_node;
    if (request_.gpus > 0) {
      consistent_ = request_.gpus % request_.gpus_per_node == 0;
      const int nodes = request_.gpus / request_.gpus_per_node;
      consistent_ = consistent_ && nodes >= min_nodes_ && nodes <= max_nodes_;
      min_nodes_ = max_nodes_ = std::max(nodes, 1);
    }
    grows_ = max_nodes_ != kNoBound && max_nodes_ > min_nodes_;
    total_ = std::int64_t{min_nodes_} * request_.gpus_per_node;
  } else if (request_.gpus > 0) {
    shape_ = Shape::kGpusTotal;
    least_ = quantum_ = std::max(request_.gpu_quantum, 1);
    total_ = request_.gpus;
  } else {
    shape_ = Shape::kCores;
    least_ = std::max(in_cores(request_.cores_per_node), 1);
    total_ = std::max<std::int64_t>(in_cores(request_.cores), std::int64_t{least_} * min_nodes_);
  }
}

void Demand::check() {
  if (max_nodes_ < min_nodes_) consistent_ = false;
  if (shape_ != Shape::kGpusTotal) return;
  if (total_ % quantum_ != 0) consistent_ = false;
  if (std::int64_t{min_nodes_} * quantum_ > total_) consistent_ = false;
}

int Demand::in_cores(std::int64_t cpus) const { return clip(ceil_div(cpus, threads_)); }

int Demand::cores_of(int amount, int nodes) const {
  if (shape_ == Shape::kCores) return amount;
  const std::int64_t part = shape_ == Shape::kGpusPerNode
                                ? ceil_div(request_.cores, std::max(nodes, 1))
                                : ceil_div(std::int64_t{request_.cores} * amount, total_);
  return in_cores(std::max({part, std::int64_t{request_.cores_per_node},
                            std::int64_t{request_.cores_per_gpu} * amount, std::int64_t{1}}));
}

MiB Demand::memory_of(int amount, int nodes) const {
  const MiB by_gpu = wants_gpus() ? request_.memory_per_gpu * amount : 0;
  return std::max(
      {request_.memory_per_node, by_gpu, request_.memory_per_core * cores_of(amount, nodes)});
}

int Demand::cores_amount(const NodeRoom& room) const {
  std::int64_t cores = std::min<std::int64_t>(room.cores, total_);
  if (request_.memory_per_core > 0) {
    cores = std::min<std::int64_t>(cores, room.memory / request_.memory_per_core);
  }
  const bool fits = cores >= least_ && request_.memory_per_node <= room.memory;
  return fits ? static_cast<int>(cores) : 0;
}

// The largest amount under every bound, each of which is solved for the amount.
int Demand::gpus_amount(const NodeRoom& room) const {
  std::int64_t cores = room.cores;
  if (request_.memory_per_core > 0) {
    cores = std::min<std::int64_t>(cores, room.memory / request_.memory_per_core);
  }
  const std::int64_t cpus = cores * threads_;
  if (cpus < std::max(request_.cores_per_node, 1)) return 0;
  if (request_.memory_per_node > room.memory) return 0;
  std::int64_t amount = std::min<std::int64_t>(room.gpus, total_);
  if (request_.cores > 0) amount = std::min(amount, cpus * total_ / request_.cores);
  if (request_.cores_per_gpu > 0) amount = std::min(amount, cpus / request_.cores_per_gpu);
  if (request_.memory_per_gpu > 0) {
    amount = std::min<std::int64_t>(amount, room.memory / request_.memory_per_gpu);
  }
  return static_cast<int>(amount - amount % quantum_);
}

int Demand::amount_in(const NodeRoom& room, int nodes) const {
  if (room.cores <= 0 || room.memory < 0) return 0;
  switch (shape_) {
    case Shape::kGpusPerNode: {
      const int amount = request_.gpus_per_node;
      const bool fits = room.gpus >= amount && room.cores >= cores_of(amount, nodes) &&
                        room.memory >= memory_of(amount, nodes);
      return fits ? amount : 0;
    }
    case Shape::kGpusTotal:
      return room.gpus > 0 ? gpus_amount(room) : 0;
    case Shape::kCores:
      break;
  }
  return cores_amount(room);
}

NodeShare Demand::share(const Node& node, NodeIndex index, int amount, int nodes,
                        const std::string& gpu_type) const {
  NodeShare share;
  share.node = index;
  if (request_.whole_nodes) {
    share.cores = node.cores;
    share.memory = node.memory;
    for (const GpuGroup& group : node.gpus) {
      if (group.total > 0) share.gpus.push_back({group.type, group.total});
    }
    return share;
  }
  share.cores = cores_of(amount, nodes);
  share.memory = memory_of(amount, nodes);
  if (wants_gpus()) share.gpus.push_back({gpu_type, amount});
  return share;
}

}  // namespace rubato
