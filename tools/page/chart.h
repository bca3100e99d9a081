// SPDX-License-Identifier: GPL-2.0-or-later
// Line charts as inline SVG, for pages without external files. Colours are classes of the page's
// style, so that a chart works in light and dark mode.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rubato::tools {

/// A tick of an axis.
struct Tick {
  double at = 0;
  std::string label;
};

struct Axis {
  double low = 0;
  double high = 1;   ///< above low
  bool log = false;  ///< requires low above 0
  std::vector<Tick> ticks;
  std::string title;
  bool time = false;  ///< values are seconds

  /// Position of `value`: 0 at low, 1 at high; clipped.
  [[nodiscard]] double share(double value) const;
};

/// Seconds from 0 to `high`, in a suitable unit.
[[nodiscard]] Axis time_axis(double high, const std::string& title);
/// Seconds on a logarithmic scale if the range is wide; else as time_axis().
[[nodiscard]] Axis wide_time_axis(double low, double high, const std::string& title);
/// Ratios from 1 to at least `high`, on a logarithmic scale.
[[nodiscard]] Axis ratio_axis(double high, const std::string& title);
/// 0 to 100 %; values are shares.
[[nodiscard]] Axis share_axis(const std::string& title);
/// Integers from 0 to at least `most`.
[[nodiscard]] Axis count_axis(double most, const std::string& title);

/// A line of a chart.
struct Line {
  std::string name;
  int style = 0;  ///< class in the page's style: colour and dashes
  std::vector<std::pair<double, double>> points;
  bool steps = false;  ///< a value holds until the next point
};

struct Chart {
  std::string title;  ///< what it shows, for screen readers
  std::string about;  ///< the same in a sentence with numbers
  Axis x;
  Axis y;
  std::vector<Line> lines;
  char unit = '%';  ///< of y: '%' or 'n', the format of a value under the pointer
};

/// Seconds in a suitable unit: "45.0 s", "12.3 min", "5.42 h", "3.10 d".
[[nodiscard]] std::string length_text(double seconds);
[[nodiscard]] std::string chart_svg(const Chart& chart);
/// The symbol of a line in a legend.
[[nodiscard]] std::string swatch_svg(int style);

}  // namespace rubato::tools
