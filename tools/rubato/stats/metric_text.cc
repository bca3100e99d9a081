// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/stats/metric_text.h"

#include <fmt/format.h>

#include <cmath>

namespace rubato::tools {
namespace {

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

}  // namespace

void MetricText::family(std::string name, std::string_view type, std::string_view help) {
  name_ = std::move(name);
  text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name_, help, type);
}

void MetricText::sample(double value, const MetricLabels& labels, std::string_view suffix) {
  text_ += fmt::format("{}{}", name_, suffix);
  char before = '{';
  for (const auto& [label, word] : labels) {
    text_ += fmt::format("{}{}=\"{}\"", before, label, escape_label(word));
    before = ',';
  }
  text_ += fmt::format("{} {}\n", labels.empty() ? "" : "}", number_text(value));
}

void MetricText::single(std::string name, std::string_view type, std::string_view help,
                        double value) {
  family(std::move(name), type, help);
  sample(value);
}

std::string escape_label(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out;
}

}  // namespace rubato::tools
