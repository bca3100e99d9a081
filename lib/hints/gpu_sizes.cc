// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <cstdlib>

#include "lib/hints/types.h"

namespace rubato {

GpuSizes::GpuSizes(std::vector<Range> ranges) {
  std::sort(ranges.begin(), ranges.end());
  for (const Range& range : ranges) {
    if (!ranges_.empty() && range.first <= ranges_.back().second) {
      ranges_.back().second = std::max(ranges_.back().second, range.second);
    } else {
      ranges_.push_back(range);
    }
  }
}

bool GpuSizes::contains(int gpus) const {
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& range) {
    return range.first <= gpus && gpus <= range.second;
  });
}

int GpuSizes::nearest(int gpus) const {
  int best = smallest();
  for (const auto& [from, to] : ranges_) {
    const int here = std::clamp(gpus, from, to);
    if (std::abs(here - gpus) < std::abs(best - gpus)) best = here;
  }
  return best;
}

GpuSizes GpuSizes::multiples(std::int64_t unit) const {
  if (unit <= 1) return *this;
  std::vector<Range> out;
  for (const auto& [from, to] : ranges_) {
    for (std::int64_t size = (from + unit - 1) / unit * unit; size <= to; size += unit) {
      out.emplace_back(static_cast<int>(size), static_cast<int>(size));
    }
  }
  return GpuSizes(std::move(out));
}

}  // namespace rubato
