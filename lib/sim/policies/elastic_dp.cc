// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/policies/elastic_dp.h"

#include <algorithm>

namespace rubato::sim {
namespace {

constexpr double kNone = -1;
/// Sums closer than this are equal: they differ by the order of additions.
constexpr double kDust = 1e-9;

}  // namespace

ElasticProgram::ElasticProgram(int gpus)
    : values_(static_cast<std::size_t>(std::max(gpus, 0)) + 1, kNone) {
  values_.front() = 0;
}

bool ElasticProgram::add(std::span<const SizeValue> sizes) {
  std::vector<double> values(values_.size(), kNone);
  std::vector<int> choice(values_.size(), 0);
  bool some = false;
  for (const SizeValue& size : sizes) {
    if (size.gpus < 1 || !(size.value > 0)) continue;
    const auto taken = static_cast<std::size_t>(size.gpus);
    for (std::size_t all = taken; all < values.size(); ++all) {
      if (values_[all - taken] < 0) continue;
      const double sum = values_[all - taken] + size.value;
      if (!(sum > values[all] + kDust)) continue;
      values[all] = sum;
      choice[all] = size.gpus;
      some = true;
    }
  }
  if (!some) return false;
  values_ = std::move(values);
  choices_.push_back(std::move(choice));
  return true;
}

std::size_t ElasticProgram::best() const {
  std::size_t best = 0;
  for (std::size_t i = 1; i < values_.size(); ++i) {
    if (values_[i] > values_[best] + kDust) best = i;
  }
  return best;
}

double ElasticProgram::value() const { return values_[best()]; }

std::vector<int> ElasticProgram::sizes() const {
  std::vector<int> sizes(choices_.size());
  std::size_t left = best();
  for (std::size_t job = choices_.size(); job-- > 0;) {
    sizes[job] = choices_[job][left];
    left -= static_cast<std::size_t>(sizes[job]);
  }
  return sizes;
}

}  // namespace rubato::sim
