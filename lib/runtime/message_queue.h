// SPDX-License-Identifier: GPL-2.0-or-later
// Messages of running jobs on their way from slurmctld's threads to the loop. Posting happens under
// slurmctld's locks: it takes one mutex that is never held for longer than a few instructions.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "lib/base/mutex.h"
#include "lib/base/units.h"
#include "lib/hints/message.h"

namespace rubato {

/// A message, and who sent it. What it says is a claim of the job.
struct JobMessage {
  JobKey job;
  std::uint32_t uid = 0;  ///< the sender, authenticated by Slurm
  Seconds time = 0;       ///< when slurmctld got it
  int restarts = 0;       ///< of the job, at that time
  Message message;

  bool operator==(const JobMessage&) const = default;
};

/// Result of posting a message.
enum class PostResult {
  kTaken,
  kTooSoon,  ///< a report within MessageInterval of the last one of this job: kept for later
  kFull,     ///< too many messages wait, of this job or of all: dropped
  kOff,      ///< no loop reads messages: dropped
};

/// Why a message was refused before it was queued.
enum class MessageFault {
  kMalformed,
  kForeign,     ///< neither the owner of the job nor root nor SlurmUser
  kNotRunning,  ///< the job does not run
  kMode,        ///< of a kind that this mode does not hear
};

/// Counters since the plugin was loaded.
struct MessageStats {
  std::uint64_t taken = 0;
  std::uint64_t too_soon = 0;
  std::uint64_t full = 0;
  std::uint64_t off = 0;
  std::uint64_t malformed = 0;
  std::uint64_t foreign = 0;
  std::uint64_t not_running = 0;
  std::uint64_t mode = 0;
  std::uint64_t waiting = 0;  ///< messages in the queue now
};

/// The queue. All calls are safe from any thread.
class MessageQueue {
 public:
  /// Maximum number of waiting messages.
  static constexpr std::size_t kMaxWaiting = 8192;
  /// Maximum number of waiting messages per job, so that one job cannot fill the queue.
  static constexpr int kMaxPerJob = 16;

  /// Reports of one job are taken once in `interval` seconds on the average (0: always). One may
  /// come early by a tenth of it, since a job that reports every minute does not do so to the
  /// second; what it gained is taken off the next. The newest report that came too soon is kept
  /// until one is due, or the job has ended. O(log jobs).
  [[nodiscard]] PostResult post(JobMessage job_message, Seconds interval);
  /// All that wait, in the order in which they came. O(1) under the mutex.
  [[nodiscard]] std::vector<JobMessage> take();
  /// The kept reports of these jobs, which have ended: their last ones.
  [[nodiscard]] std::vector<JobMessage> take_last_reports(const std::vector<JobKey>& ended);
  /// The same of all jobs, for the end of the process.
  [[nodiscard]] std::vector<JobMessage> take_late_reports();

  /// Counts a message that no loop would read.
  PostResult refuse_off() noexcept;
  void note(MessageFault fault) noexcept;
  [[nodiscard]] MessageStats stats() const;

 private:
  [[nodiscard]] bool too_soon(const JobMessage& job_message, Seconds interval)
      RUBATO_REQUIRES(mutex_);
  [[nodiscard]] PostResult enter(JobMessage job_message, Seconds interval) RUBATO_REQUIRES(mutex_);
  void queue(JobMessage job_message) RUBATO_REQUIRES(mutex_);
  /// Forgets reports that were due long ago; one that was kept since takes their turn.
  void forget_some(Seconds now, Seconds interval) RUBATO_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::vector<JobMessage> messages_ RUBATO_GUARDED_BY(mutex_);
  std::map<JobKey, int> waiting_ RUBATO_GUARDED_BY(mutex_);  ///< messages in the queue, per job
  std::map<JobKey, Seconds> due_ RUBATO_GUARDED_BY(mutex_);  ///< time of a job's next report
  /// The values that due_ was given, in that order, so that old ones are removed.
  std::deque<std::pair<Seconds, JobKey>> queued_ RUBATO_GUARDED_BY(mutex_);
  std::map<JobKey, JobMessage> late_ RUBATO_GUARDED_BY(mutex_);  ///< reports that came too soon
  MessageStats stats_ RUBATO_GUARDED_BY(mutex_);
};

}  // namespace rubato
