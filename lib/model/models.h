// SPDX-License-Identifier: GPL-2.0-or-later
// What is known of the speed of GPU types: an immutable version that a round reads.
#pragma once

#include <map>
#include <string>

#include "lib/core/node.h"

namespace rubato {

/// Speed of GPU types relative to each other, from the `GpuType=` lines of rubato.conf. A type
/// without a line has speed 1.
class Models {
 public:
  Models() = default;
  explicit Models(std::map<std::string, double> speeds) : speeds_(std::move(speeds)) {}

  /// Above 0.
  [[nodiscard]] double speed(const std::string& gpu_type) const;

 private:
  std::map<std::string, double> speeds_;
};

}  // namespace rubato
