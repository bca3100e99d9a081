// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/size_holds.h"

#include <algorithm>

namespace rubato {
namespace {

bool is_over(const SizeHold& hold, Seconds now) { return hold.until > 0 && hold.until <= now; }

}  // namespace

const SizeHold* hold_of(const Memory& memory, const JobKey& job, Seconds now) {
  const auto at = std::ranges::lower_bound(memory.size_holds, job, {}, &SizeHold::job);
  const bool held = at != memory.size_holds.end() && at->job == job && !is_over(*at, now);
  return held ? &*at : nullptr;
}

void fold_hold(const JobKey& job, std::uint32_t uid, const HoldSize& asked, Seconds now,
               Memory& memory) {
  std::vector<SizeHold>& holds = memory.size_holds;
  std::erase_if(holds, [&](const SizeHold& one) { return one.job == job; });
  if (!asked.on) return;
  SizeHold hold{.job = job, .uid = uid, .since = now};
  if (asked.seconds) hold.until = add_seconds(now, *asked.seconds);
  holds.insert(std::ranges::lower_bound(holds, job, {}, &SizeHold::job), hold);
}

std::vector<SizeHold> kept_holds(const Memory& memory, const std::set<JobKey>& remembered,
                                 Seconds now) {
  std::vector<SizeHold> kept;
  for (const SizeHold& hold : memory.size_holds)
    if (remembered.contains(hold.job) && !is_over(hold, now)) kept.push_back(hold);
  return kept;
}

}  // namespace rubato
