// SPDX-License-Identifier: GPL-2.0-or-later
// Job data read by earlier looks. A light look compares a few fields of a record with their old
// values and reads the job again only if one differs. A full look reads all.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "lib/base/index.h"
#include "lib/core/job.h"
#include "plugin/slurm/stock/slurm_headers.h"

namespace rubato {

/// Fields of a job record that show whether it changed. An update of a job frees and sets pointers
/// or changes counts. The next full look finds updates that change none of them.
struct JobMark {
  std::array<const void*, 12> pointers{};
  std::array<std::uint64_t, 12> numbers{};

  bool operator==(const JobMark&) const = default;
};

[[nodiscard]] JobMark mark_of(const job_record_t& job);

/// True if the job has at most one queue entry, and only fields that a light look reads can change:
/// no array, no list of partitions or reservations, no --signal=R:.
[[nodiscard]] bool is_plain(const job_record_t& job);

/// Index of a class of NodeClasses.
using NodeClassIndex = Index<struct NodeClassTag>;

struct CachedJob {
  Seconds submit = 0;
  JobMark mark;
  Job job;                  ///< as last read; a look updates rank, priority and similar fields
  NodeClassIndex class_id;  ///< of NodeClasses; none: unknown
  int rank = -1;            ///< in the queue of the last look; -1: it was not in it
  std::uint64_t seen = 0;
  bool plain = false;     ///< is_plain(); an array or list that appears later is detected
  bool licensed = false;  ///< needs licences
};

class JobCache {
 public:
  /// Starts a look.
  void begin() { ++look_; }
  /// Ends a look: removes jobs that it did not see.
  void end();
  void clear() { jobs_.clear(); }
  void forget_classes();

  /// The cached data of `job`; null if there is none or the record changed.
  [[nodiscard]] CachedJob* find(const job_record_t& job);
  /// Returns the cache entry in which to store `job`. The reference is valid until end().
  [[nodiscard]] CachedJob& renew(const job_record_t& job);
  void see(CachedJob& cached) const { cached.seen = look_; }
  [[nodiscard]] bool seen(const CachedJob& cached) const { return cached.seen == look_; }

 private:
  std::unordered_map<JobId, CachedJob> jobs_;
  std::uint64_t look_ = 0;
};

}  // namespace rubato
