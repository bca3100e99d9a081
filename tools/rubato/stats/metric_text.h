// SPDX-License-Identifier: GPL-2.0-or-later
// A writer of Prometheus' text format, version 0.0.4.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rubato::tools {

/// Names and values of labels, in the order of the text.
using MetricLabels = std::vector<std::pair<std::string_view, std::string>>;

class MetricText {
 public:
  /// Begins a family with its HELP and TYPE. `type` is gauge, counter, summary or untyped.
  void family(std::string name, std::string_view type, std::string_view help);
  /// A sample of the last family; `suffix` is "_sum" or "_count" in a summary.
  void sample(double value, const MetricLabels& labels = {}, std::string_view suffix = "");
  /// A family with one sample that has no labels.
  void single(std::string name, std::string_view type, std::string_view help, double value);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::string name_;  ///< of the last family
};

inline constexpr std::string_view kCounter = "counter";
inline constexpr std::string_view kGauge = "gauge";
inline constexpr std::string_view kSummary = "summary";

/// A label's value with backslash, quote and line end escaped.
[[nodiscard]] std::string escape_label(std::string_view text);

}  // namespace rubato::tools
