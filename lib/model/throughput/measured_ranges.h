// SPDX-License-Identifier: GPL-2.0-or-later
// The ranges of measured configurations.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "lib/model/throughput/throughput_kernel.h"

namespace rubato {

/// Minimum and maximum of GPUs, batch per GPU and nodes, of each profile on each GPU type.
class MeasuredRanges {
 public:
  void add(const KernelPoint& at) {
    for (const int type : {at.type, kAnyType}) {
      const auto [span, first] = spans_.try_emplace({at.profile, type}, Span{at, at});
      if (!first) span->second.add(at);
    }
  }

  /// `at` itself if it is within the measured range of its profile on its GPU type, else the
  /// nearest point there. Without measurements there, uses the range on all types; without any, one
  /// GPU.
  [[nodiscard]] KernelPoint nearest(const KernelPoint& at) const {
    for (const int type : {at.type, kAnyType}) {
      const auto found = spans_.find({at.profile, type});
      if (found != spans_.end()) return found->second.nearest(at);
    }
    KernelPoint one = at;
    one.gpus = 1;
    one.size = one.nodes = 0;
    return one;
  }

 private:
  static constexpr int kAnyType = std::numeric_limits<int>::min();

  struct Span {
    KernelPoint least;
    KernelPoint most;

    void add(const KernelPoint& at) {
      least.size = std::min(least.size, at.size);
      least.batch = std::min(least.batch, at.batch);
      least.nodes = std::min(least.nodes, at.nodes);
      most.size = std::max(most.size, at.size);
      most.batch = std::max(most.batch, at.batch);
      most.nodes = std::max(most.nodes, at.nodes);
    }
    [[nodiscard]] KernelPoint nearest(KernelPoint at) const {
      const double size = std::clamp(at.size, least.size, most.size);
      if (size != at.size) at.gpus = static_cast<int>(std::lround(std::exp(size)));
      at.size = size;
      at.batch = std::clamp(at.batch, least.batch, most.batch);
      at.nodes = std::clamp(at.nodes, least.nodes, most.nodes);
      return at;
    }
  };

  std::map<std::pair<int, int>, Span> spans_;
};

}  // namespace rubato
