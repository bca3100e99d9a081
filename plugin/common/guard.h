// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps exceptions from leaving an extern "C" entry point.
#pragma once

#include <atomic>
#include <exception>
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

}  // namespace rubato
