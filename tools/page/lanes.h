// SPDX-License-Identifier: GPL-2.0-or-later
// A chart of who holds which GPUs when, as inline SVG with labels in HTML: bars stretch with the
// page, text does not, so that it reads on a phone as on a screen.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lib/base/units.h"

namespace rubato::tools {

/// GPUs of one node that one job holds or will hold.
struct LaneBar {
  std::size_t node = 0;  ///< index into LaneChart::nodes
  int gpus = 1;
  Seconds from = 0;
  Seconds held = 0;   ///< held until then; at most `from` for GPUs that are only reserved
  Seconds until = 0;  ///< expected from `held` until then: up to its time limit, or reserved
  int style = 0;      ///< colour class s0 to s7
  std::string label;  ///< drawn where there is room
  std::string about;  ///< a sentence, shown under the pointer
};

struct LaneNode {
  std::string name;
  int gpus = 0;
};

/// Nodes of one GPU type.
struct LaneChart {
  std::string title;
  std::string about;  ///< the same in a sentence with figures, for screen readers
  Seconds from = 0;
  Seconds until = 0;  ///< above `from`
  Seconds now = 0;    ///< marked by a line
  std::vector<LaneNode> nodes;
  std::vector<LaneBar> bars;
  int row = 12;  ///< pixels of a GPU
};

/// Pixels of a GPU where a page draws `gpus` of them; 0: too many for a chart.
[[nodiscard]] int lane_row(int gpus);

/// The chart. A bar gets the lowest GPUs of its node that are free, in the order of starts: Slurm
/// records their number, not which.
[[nodiscard]] std::string lanes_html(const LaneChart& chart);

}  // namespace rubato::tools
