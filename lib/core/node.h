// SPDX-License-Identifier: GPL-2.0-or-later
// Nodes and pieces of nodes.
#pragma once

#include <string>
#include <vector>

#include "lib/base/index.h"
#include "lib/base/units.h"

namespace rubato {

/// Index into Snapshot::nodes.
using NodeIndex = Index<struct NodeTag>;

/// A number of GPUs of one type. `type` is the Type of gres.conf, "" where the node names none.
struct GpuCount {
  std::string type;
  int count = 0;

  bool operator==(const GpuCount&) const = default;
};

/// The GPUs of one type on a node.
struct GpuGroup {
  std::string type;
  int total = 0;
  int free = 0;  ///< not allocated now; 0 <= free <= total

  bool operator==(const GpuGroup&) const = default;
};

/// A node as slurmctld sees it at the time of the snapshot.
struct Node {
  std::string name;
  int cores = 0;       ///< available to jobs (without specialised cores)
  int cores_free = 0;  ///< not allocated now
  MiB memory = 0;      ///< available to jobs
  MiB memory_free = 0;
  std::vector<GpuGroup> gpus;  ///< sorted by type; empty on a node without GPUs
  /// A job may start here now: the node is up and not drained, and no job is completing on it
  /// (stock Slurm starts no job on such a node).
  bool usable = false;
  /// Will become usable by itself: completing, booting or resuming.
  bool coming = false;
  bool powered_down = false;  ///< usable, but must boot before a start
  bool unregistered =
      false;                 ///< expected up, but its slurmd has not reported to this slurmctld yet
  std::uint32_t weight = 1;  ///< Weight of slurm.conf; lower is preferred

  /// Serves jobs, now or soon: neither down nor drained.
  [[nodiscard]] bool in_service() const { return usable || coming; }
  [[nodiscard]] int gpus_total() const;
  [[nodiscard]] int gpus_free() const;
  /// It has GPUs, all of them of this type.
  [[nodiscard]] bool has_only(const std::string& gpu_type) const;
  bool operator==(const Node&) const = default;
};

/// A share of one node: allocated to a running job, planned for a start, or reserved.
struct NodeShare {
  NodeIndex node = 0;
  int cores = 0;
  MiB memory = 0;
  std::vector<GpuCount> gpus;  ///< sorted by type, counts above 0

  [[nodiscard]] int gpu_count() const;
  [[nodiscard]] int gpu_count(const std::string& type) const;
  bool operator==(const NodeShare&) const = default;
};

/// The share of this node; null: none. `shares` are sorted by node.
[[nodiscard]] const NodeShare* share_on(const std::vector<NodeShare>& shares, NodeIndex node);

/// What `share` has beyond `held` (null: nothing) on the same node, at least 0 of each.
[[nodiscard]] NodeShare beyond(const NodeShare& share, const NodeShare* held);

}  // namespace rubato
