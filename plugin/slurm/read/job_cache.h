// SPDX-License-Identifier: GPL-2.0-or-later
// What the last looks read of each job. A light look compares a few fields of a record with what
// they were; only where one differs it reads the job anew. A full look reads all.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "lib/core/job.h"
#include "plugin/slurm/stock/slurm_headers.h"

namespace rubato {

/// The fields of a job record that tell whether it was changed. An update of a job frees and sets
/// pointers or changes counts; one that leaves them all alike is seen by the next full look.
struct JobMark {
  std::array<const void*, 8> pointers{};
  std::array<std::uint64_t, 11> numbers{};

  bool operator==(const JobMark&) const = default;
};

[[nodiscard]] JobMark mark_of(const job_record_t& job);

/// One entry in the queue at most, and nothing that changes from look to look but what a light
/// look reads: no array, no list of partitions or reservations.
[[nodiscard]] bool is_plain(const job_record_t& job);

struct CachedJob {
  Seconds submit = 0;
  JobMark mark;
  Job job;            ///< as read last; a look lays rank, priority and the like over it
  int class_id = -1;  ///< of NodeClasses; -1: to be found
  int rank = -1;      ///< in the queue of the last look; -1: was not in it
  std::uint64_t seen = 0;
  bool plain = false;     ///< is_plain(); arrays and lists of a job that had none are seen later
  bool licensed = false;  ///< it needs licences
};

class JobCache {
 public:
  /// Begins a look.
  void begin() { ++look_; }
  /// Ends it: forgets the jobs it did not see.
  void end();
  void clear() { jobs_.clear(); }
  void forget_classes();

  /// What is known of `job`; null if that is nothing, or if the record has changed.
  [[nodiscard]] CachedJob* find(const job_record_t& job);
  /// A place for what is read of `job` now. It stays where it is until end().
  [[nodiscard]] CachedJob& renew(const job_record_t& job);
  void see(CachedJob& cached) const { cached.seen = look_; }
  [[nodiscard]] bool seen(const CachedJob& cached) const { return cached.seen == look_; }

 private:
  std::unordered_map<JobId, CachedJob> jobs_;
  std::uint64_t look_ = 0;
};

}  // namespace rubato
