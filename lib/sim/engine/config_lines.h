// SPDX-License-Identifier: GPL-2.0-or-later
// What a rubato.conf says of a simulated cluster.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "lib/config/config.h"
#include "lib/sim/engine/cluster_shape.h"

namespace rubato::sim {

/// The `GpuType=` line for the GPUs of `group`. It may use the name of the shape, with or without
/// the interconnect class, or Slurm's name. Null: none.
[[nodiscard]] inline const GpuTypeConfig* gpu_type_line(const Config& config,
                                                        const NodeGroup& group) {
  for (const std::string& name :
       {group.type, group.type.substr(0, group.type.find('@')), group.gpu}) {
    const auto line = std::ranges::find(config.gpu_types, name, &GpuTypeConfig::name);
    if (line != config.gpu_types.end()) return &*line;
  }
  return nullptr;
}

/// Types that have a `GpuType=` line but are not in the cluster.
[[nodiscard]] inline std::vector<std::string> other_types(const Config& config,
                                                          const ClusterShape& cluster) {
  std::vector<std::string> names;
  for (const GpuTypeConfig& line : config.gpu_types) {
    const bool here = std::ranges::any_of(cluster.groups, [&](const NodeGroup& group) {
      return gpu_type_line(config, group) == &line;
    });
    if (!here) names.push_back(line.name);
  }
  return names;
}

/// Seconds between two reports of a simulated job: MessageInterval, or its default where that is 0.
[[nodiscard]] inline double report_interval(const Config& config) {
  const Seconds interval = config.message_interval;
  return static_cast<double>(interval > 0 ? interval : Config{}.message_interval);
}

}  // namespace rubato::sim
