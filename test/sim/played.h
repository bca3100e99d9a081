// SPDX-License-Identifier: GPL-2.0-or-later
// Random numbers in a fixed order, a simple truth, and runs to compare.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lib/sim/engine/noise.h"
#include "lib/sim/engine/suite.h"

namespace rubato::sim {

/// Draws random numbers by name.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}
  /// An integer in least..most.
  int whole(int least, int most) {
    return least + static_cast<int>(uniform() * (most - least + 1));
  }
  double uniform() { return uniform_noise(seed_, 77, number_++); }
  template <typename T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i) {
      std::swap(list[i - 1], list[static_cast<std::size_t>(whole(0, static_cast<int>(i) - 1))]);
    }
  }

 private:
  std::uint64_t seed_;
  std::uint64_t number_ = 0;
};

/// The second type is four times as fast.
class TwoSpeeds final : public Truth {
 public:
  [[nodiscard]] double throughput(const SimJob&, const Setting& setting, double) const override {
    return setting.gpus() * (setting.type == 1 ? 4 : 1);
  }
};

inline RunMetrics play(const Suite& suite, const std::string& policy, std::uint64_t seed = 1,
                       Information information = Information::kLearned) {
  RunControl control;
  control.seed = seed;
  control.intervals = true;
  auto record = run_suite(suite, policy, information, control);
  EXPECT_TRUE(record) << policy << ": " << (record ? "" : record.error().text);
  return record.value_or(RunMetrics{});
}

inline bool same(const RunMetrics& a, const RunMetrics& b) {
  return a.intervals == b.intervals && a.end == b.end && a.busy_gpu_seconds == b.busy_gpu_seconds &&
         std::equal(a.jobs.begin(), a.jobs.end(), b.jobs.begin(), b.jobs.end(),
                    [](const JobResult& x, const JobResult& y) {
                      return x.finish == y.finish && x.restarts == y.restarts &&
                             x.first_start == y.first_start && x.gpu_seconds == y.gpu_seconds &&
                             x.dropped == y.dropped;
                    });
}

}  // namespace rubato::sim
