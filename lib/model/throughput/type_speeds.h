// SPDX-License-Identifier: GPL-2.0-or-later
// Configured speeds of GPU types, used before measurements exist.
#pragma once

#include <map>
#include <string>
#include <utility>

namespace rubato {

/// Speed of GPU types relative to each other, from the `GpuType=` lines of rubato.conf. A type
/// without a line has speed 1.
class TypeSpeeds {
 public:
  TypeSpeeds() = default;
  explicit TypeSpeeds(std::map<std::string, double> speeds) : speeds_(std::move(speeds)) {}

  /// Above 0.
  [[nodiscard]] double speed(const std::string& gpu_type) const {
    const auto at = speeds_.find(gpu_type);
    return at != speeds_.end() && at->second > 0 ? at->second : 1.0;
  }
  /// The types with a line.
  [[nodiscard]] const std::map<std::string, double>& all() const { return speeds_; }

 private:
  std::map<std::string, double> speeds_;
};

}  // namespace rubato
