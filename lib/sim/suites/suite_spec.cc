// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/suites/suite_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>

#include "lib/base/nearest.h"
#include "lib/base/text.h"
#include "lib/sim/engine/step_truth.h"

namespace rubato::sim {
namespace {

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

SuiteResult<SuiteSpec> SuiteSpec::parse(std::string suite, std::string_view text,
                                        const std::vector<std::string>& keys) {
  SuiteSpec spec;
  spec.suite_ = std::move(suite);
  const std::vector<std::string_view> parts = split_at(text, '/');
  spec.head_ = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    const std::size_t equals = part.find('=');
    const std::string key(part.substr(0, equals));
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      return wrong_suite(fmt::format("suite {}: '{}': must be one of {}{}", spec.suite_, key,
                                     fmt::join(keys, ", "), did_you_mean(key, keys)));
    }
    if (equals == std::string_view::npos || equals + 1 == part.size()) {
      return wrong_suite(fmt::format("suite {0}: {1}: expected {1}=VALUE", spec.suite_, key));
    }
    if (!spec.words_.emplace(key, part.substr(equals + 1)).second) {
      return wrong_suite(fmt::format("suite {}: {} appears twice", spec.suite_, key));
    }
  }
  return spec;
}

tl::unexpected<SuiteError> SuiteSpec::wrong(const std::string& word, std::string_view value,
                                            std::string_view expected) const {
  return wrong_suite(fmt::format("suite {}: {} '{}': expected {}", suite_, word, value, expected));
}

SuiteResult<double> SuiteSpec::head(std::string_view what, double least, double most) const {
  const auto value = number_in(head_);
  if (!value || !(*value >= least && *value <= most)) {
    return wrong(std::string(what), head_, fmt::format("a number from {} to {}", least, most));
  }
  return *value;
}

SuiteResult<double> SuiteSpec::number(const std::string& key, double usual, double least,
                                      double most) const {
  const auto word = words_.find(key);
  if (word == words_.end()) return usual;
  const auto value = number_in(word->second);
  if (!value || !(*value >= least && *value <= most)) {
    return wrong(key, word->second, fmt::format("a number from {} to {}", least, most));
  }
  return *value;
}

SuiteResult<int> SuiteSpec::whole(const std::string& key, int usual, int step, int most) const {
  const auto value = number(key, usual, step, most);
  if (!value) return tl::unexpected(value.error());
  const double steps = *value / step;
  if (steps != std::floor(steps)) {
    return wrong(key, words_.at(key),
                 step == 1 ? "a whole number" : fmt::format("a multiple of {}", step));
  }
  return static_cast<int>(*value);
}

SuiteResult<std::size_t> SuiteSpec::choice(const std::string& key,
                                           const std::vector<std::string>& choices) const {
  const auto word = words_.find(key);
  if (word == words_.end()) return std::size_t{0};
  const auto found = std::find(choices.begin(), choices.end(), word->second);
  if (found == choices.end()) {
    return wrong(
        key, word->second,
        fmt::format("one of {}{}", fmt::join(choices, ", "), did_you_mean(word->second, choices)));
  }
  return static_cast<std::size_t>(found - choices.begin());
}

SuiteResult<std::vector<double>> SuiteSpec::weights(const std::string& key,
                                                    std::vector<double> usual) const {
  const auto word = words_.find(key);
  if (word == words_.end()) return usual;
  std::vector<double> weights;
  for (const std::string_view part : split_at(word->second, ':')) {
    const auto value = number_in(part);
    weights.push_back(value && *value >= 0 && *value <= 1e9 ? *value : -1);
  }
  if (weights.size() != usual.size() ||
      std::any_of(weights.begin(), weights.end(), [](double w) { return w < 0; }) ||
      !(std::accumulate(weights.begin(), weights.end(), 0.0) > 0)) {
    return wrong(key, word->second,
                 fmt::format("{} weights, as {}", usual.size(), fmt::join(usual, ":")));
  }
  return weights;
}

Suite step_suite(int nodes, int gpus_per_node, int cores) {
  Suite suite;
  NodeGroup group;
  group.type = "gpu";
  group.nodes = nodes;
  group.gpus_per_node = gpus_per_node;
  group.cores = cores;
  suite.cluster.groups.push_back(std::move(group));
  suite.truth = std::make_shared<StepTruth>();
  return suite;
}

}  // namespace rubato::sim
