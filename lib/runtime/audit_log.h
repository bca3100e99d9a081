// SPDX-License-Identifier: GPL-2.0-or-later
// The log of interruptions: one line for each step of a change of size that somebody
// asked for.
#pragma once

#include <memory>
#include <string>

#include "lib/base/clock.h"
#include "lib/core/snapshot.h"

namespace rubato {

template <typename Task>
class BackgroundWorker;

/// "2026-01-01T12:00:00Z JobId=12 restart=done uid=1000 gpus=4->2 gpu-type=a100 seconds=9", with
/// words="..." where there are some. `seconds`: from the requeue to the start. A change while the
/// job runs has grow= or shrink= instead of restart=, and a rehearsal rehearsal=. Once reports
/// showed the cost of a change, the same line has measured instead of done, and cost= in seconds.
[[nodiscard]] std::string audit_line(const AskedResize& resize);

/// Appends lines to a file, which it makes with mode 0640, in a thread of its own: the loop does
/// not wait for the disk. A line that cannot be written is told in slurmctld's log.
class AuditLog {
 public:
  AuditLog(std::string path, std::shared_ptr<const Clock> clock);
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  /// Cheap. More than a thousand waiting lines are dropped.
  void add(const std::string& line);
  /// Asks the thread to end once it has written what waits, and waits for that until `deadline`.
  void stop(SteadyTime deadline);

 private:
  class Task;
  std::unique_ptr<BackgroundWorker<Task>> worker_;
};

}  // namespace rubato
