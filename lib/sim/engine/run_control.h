// SPDX-License-Identifier: GPL-2.0-or-later
// Options that a caller sets for a simulated run.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace rubato {
struct Config;
struct Snapshot;
}  // namespace rubato

namespace rubato::sim {

struct RunControl {
  std::uint64_t seed = 0;
  bool intervals = false;                   ///< record allocation intervals
  double until = 1e300;                     ///< simulated time at which the run stops
  const std::atomic<bool>* stop = nullptr;  ///< when set, the run stops as soon as possible
  const Config* config = nullptr;  ///< for policies rubato and rubato-place; null: defaults
  /// Receives the snapshot of each round of policies rubato and rubato-place before it decides.
  std::function<void(const Snapshot& snapshot)> watch;
  /// Receives simulated time, finished jobs of the window, and all jobs of the window. Called
  /// often; must be fast.
  std::function<void(double now, std::size_t finished, std::size_t jobs)> progress;

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
