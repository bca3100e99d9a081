// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps exceptions from leaving an extern "C" entry point.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

namespace rubato {

/// One entry point of a plugin, with a counter of its failures.
struct EntryPoint {
  const char* name;
  std::atomic<unsigned long> failures{0};
};

/// Logs in slurmctld's log that `entry` threw `what`: at the first failure and at every power of
/// two.
void report_failure(EntryPoint& entry, const char* what) noexcept;

/// Number of failures in all entry points of this plugin file.
[[nodiscard]] unsigned long guard_failures() noexcept;

/// Runs `body`. If it throws, reports that and runs `stock`, which does what stock Slurm would and
/// must not throw. A second failure inside `stock` is not caught: it is C code.
template <typename Body, typename Stock>
auto guard(EntryPoint& entry, Body&& body, Stock&& stock) noexcept -> std::invoke_result_t<Stock> {
  try {
    return std::forward<Body>(body)();
  } catch (const std::exception& e) {
    report_failure(entry, e.what());
  } catch (...) {
    report_failure(entry, "not a std::exception");
  }
  return std::forward<Stock>(stock)();
}

inline constexpr int kStartAttempts = 500;
inline constexpr std::chrono::milliseconds kStartRest{10};

/// The same for an entry that starts a part of Rubato, which slurmctld calls once: `body` runs
/// again after each failure, up to kStartAttempts times, and must be able to. A failure that passes
/// does not turn Rubato off for good.
template <typename Body, typename Stock>
auto guard_start(EntryPoint& entry, Body&& body, Stock&& stock) noexcept
    -> std::invoke_result_t<Stock> {
  for (int attempt = 0; attempt < kStartAttempts; ++attempt) {
    std::optional<std::invoke_result_t<Stock>> result;
    guard(
        entry, [&] { result = body(); }, [] {});
    if (result) return *result;
    std::this_thread::sleep_for(kStartRest);
  }
  return std::forward<Stock>(stock)();
}

}  // namespace rubato
