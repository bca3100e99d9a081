// SPDX-License-Identifier: GPL-2.0-or-later
// What a request takes of the nodes it runs on.
#pragma once

#include <cstdint>
#include <string>

#include "lib/core/job.h"
#include "lib/policy/algorithms/capacity.h"

namespace rubato {

/// A request as amounts on nodes. The amount on a node counts GPUs, or cores for a job without
/// GPUs; cores and memory follow from it.
class Demand {
 public:
  enum class Shape {
    kGpusPerNode,  ///< the same number of GPUs on every node
    kGpusTotal,    ///< a number of GPUs, wherever they are
    kCores,        ///< no GPUs
  };

  explicit Demand(const Request& request);

  [[nodiscard]] Shape shape() const { return shape_; }
  [[nodiscard]] bool wants_gpus() const { return shape_ != Shape::kCores; }
  [[nodiscard]] bool whole_nodes() const { return request_.whole_nodes; }
  /// False if no set of nodes can satisfy it: 8 GPUs in total at 3 a node, more nodes than GPUs.
  [[nodiscard]] bool consistent() const { return consistent_; }

  /// GPUs or cores in total; of kGpusPerNode on `min_nodes()` nodes.
  [[nodiscard]] std::int64_t total() const { return total_; }
  /// Amounts on a node are multiples of it and at least one of it.
  [[nodiscard]] int quantum() const { return quantum_; }
  [[nodiscard]] int least() const { return least_; }
  [[nodiscard]] int min_nodes() const { return min_nodes_; }
  [[nodiscard]] int max_nodes() const { return max_nodes_; }  ///< at least min_nodes()
  /// kGpusPerNode with an explicit range of nodes: as many nodes as there are, as under Slurm.
  [[nodiscard]] bool grows() const { return grows_; }

  /// Largest amount of this job that `room` carries if the job has `nodes` nodes; 0 for none. Of
  /// whole nodes: all that the room has.
  [[nodiscard]] int amount_in(const NodeRoom& room, int nodes) const;
  /// Cores and memory of `amount` if the job has `nodes` nodes.
  [[nodiscard]] int cores_of(int amount, int nodes) const;
  [[nodiscard]] MiB memory_of(int amount, int nodes) const;
  /// The piece of `node`; everything on it for whole nodes.
  [[nodiscard]] NodeShare share(const Node& node, NodeIndex index, int amount, int nodes,
                                const std::string& gpu_type) const;

 private:
  void set_shape();
  void check();
  /// Cores that hold so many CPUs of the request.
  [[nodiscard]] int in_cores(std::int64_t cpus) const;
  [[nodiscard]] int cores_amount(const NodeRoom& room) const;
  [[nodiscard]] int gpus_amount(const NodeRoom& room) const;

  Request request_;  ///< counts CPUs, but memory_per_core
  int threads_ = 1;  ///< CPUs of a core
  Shape shape_ = Shape::kCores;
  bool consistent_ = true;
  bool grows_ = false;
  std::int64_t total_ = 0;
  int quantum_ = 1;
  int least_ = 1;
  int min_nodes_ = 1;
  int max_nodes_ = 1;
};

}  // namespace rubato
