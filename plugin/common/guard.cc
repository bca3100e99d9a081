// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/common/guard.h"

#include <bit>

#include "plugin/common/slurm_log.h"

namespace rubato {

namespace {
std::atomic<unsigned long> all_failures{0};
}

void report_failure(EntryPoint& entry, const char* what) noexcept {
  all_failures.fetch_add(1, std::memory_order_relaxed);
  const unsigned long n = entry.failures.fetch_add(1, std::memory_order_relaxed) + 1;
  if (std::has_single_bit(n))
    slurm_log(LogLevel::kError, "rubato: %s failed (%lu times): %s; stock Slurm decides here",
              entry.name, n, what);
}

unsigned long guard_failures() noexcept { return all_failures.load(std::memory_order_relaxed); }

}  // namespace rubato
