// SPDX-License-Identifier: GPL-2.0-or-later
// What the caller of a simulated run may ask of it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace rubato {
struct Config;
}

namespace rubato::sim {

struct RunControl {
  std::uint64_t seed = 0;
  bool intervals = false;                   ///< keep who held what
  double until = 1e300;                     ///< simulated time at which the run is cut
  const std::atomic<bool>* stop = nullptr;  ///< set: the run is cut as soon as it can
  const Config* config = nullptr;           ///< of policy rubato; null: that of an empty file
  /// Simulated time, finished jobs of the window, all of its jobs. Called often; be quick.
  std::function<void(double now, int finished, int jobs)> progress;

  [[nodiscard]] bool cut(double now) const {
    return now >= until || (stop != nullptr && stop->load(std::memory_order_relaxed));
  }
};

/// Measures one decision into RunMetrics::round_ms when it goes out of scope.
class RoundTimer {
 public:
  explicit RoundTimer(std::vector<double>& into)
      : into_(into), begin_(std::chrono::steady_clock::now()) {}
  RoundTimer(const RoundTimer&) = delete;
  RoundTimer& operator=(const RoundTimer&) = delete;
  ~RoundTimer() {
    into_.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_)
            .count());
  }

 private:
  std::vector<double>& into_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace rubato::sim
