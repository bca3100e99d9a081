// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/core/memory_clock.h"

#include <initializer_list>

namespace rubato {

int set_back(Memory& memory, Seconds now) {
  int count = 0;
  const auto set = [&](std::initializer_list<Seconds*> times) {
    for (Seconds* time : times) {
      if (*time <= now) continue;
      *time = now;
      ++count;
    }
  };
  for (JobMemory& job : memory.jobs) set({&job.first_seen, &job.passed_since, &job.last_try});
  for (Reservation& reservation : memory.reservations) set({&reservation.made});
  for (Service& service : memory.service) set({&service.waiting_since, &service.updated});
  for (TypeLoad& load : memory.loads) set({&load.updated});
  for (Progress& progress : memory.progress) set({&progress.time});
  for (ProgressHistory& progress_history : memory.progress_histories) {
    set({&progress_history.updated});
    count += static_cast<int>(
        std::erase_if(progress_history.points,
                      [now](const ProgressForecast& point) { return point.time > now; }));
  }
  return count;
}

}  // namespace rubato
