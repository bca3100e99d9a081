// SPDX-License-Identifier: GPL-2.0-or-later
// Nodes and pieces of nodes.
#pragma once

#include <string>
#include <vector>

#include "lib/base/units.h"

namespace rubato {

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
  int cores = 0;       ///< what jobs may have at most (specialised cores left out)
  int cores_free = 0;  ///< not allocated now
  MiB memory = 0;      ///< what jobs may have at most
  MiB memory_free = 0;
  std::vector<GpuGroup> gpus;  ///< sorted by type; empty on a node without GPUs
  /// A job may start here now: up, not drained, no job completing (stock Slurm places nothing on a
  /// node while a job completes there).
  bool usable = false;
  /// Not usable now, but will be without help: completing, booting or resuming.
  bool coming = false;
  bool powered_down = false;  ///< usable, but a start has to wait for it to boot
  std::uint32_t weight = 1;   ///< Weight of slurm.conf; lower is preferred

  [[nodiscard]] int gpus_total() const;
  [[nodiscard]] int gpus_free() const;
  bool operator==(const Node&) const = default;
};

/// A piece of one node: held by a running job, planned for a start, or reserved.
struct NodeShare {
  int node = 0;  ///< index into Snapshot::nodes
  int cores = 0;
  MiB memory = 0;
  std::vector<GpuCount> gpus;  ///< sorted by type, counts above 0

  [[nodiscard]] int gpu_count() const;
  bool operator==(const NodeShare&) const = default;
};

}  // namespace rubato
