// SPDX-License-Identifier: GPL-2.0-or-later
// The section of a suite in the report of `rubato simulate`: bars, tables, curves.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "lib/sim/engine/timeline.h"
#include "tools/rubato/simulate/simulate_view.h"

namespace rubato::tools {

/// Number of bins in charts over time.
inline constexpr std::size_t kBins = 240;

/// A run on the page.
struct PageRun {
  const SimulatedRun* run = nullptr;
  std::size_t number = 0;  ///< index among all runs
  int style = 0;           ///< of its policy
  sim::Timeline time;
  sim::Lanes lanes;
  std::size_t left_out = 0;  ///< bars too short for the page
  double shortest = 0;       ///< s; shortest bar drawn
};

struct PageSuite {
  const sim::Suite* suite = nullptr;
  std::vector<PageRun> runs;
  double span = 1;  ///< s; the longest run
};

/// `named`: with the suite's name as heading.
[[nodiscard]] std::string suite_section(const PageSuite& suite, std::size_t number, bool named);

/// A bar of a chart.
struct Bar {
  std::string label;
  int style = 0;
  double value = 0;  ///< not finite: no bar
  std::string text;
  double published = std::numeric_limits<double>::quiet_NaN();  ///< marked by a line, if finite
  std::string published_text{};
};

/// Bars below a heading, which has their unit. The longest is `most` or the largest value.
[[nodiscard]] std::string bars_html(const std::string& title, const std::vector<Bar>& bars,
                                    double most);
/// 0.123 is "12.3 %".
[[nodiscard]] std::string percent(double share);

}  // namespace rubato::tools
