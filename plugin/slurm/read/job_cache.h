// SPDX-License-Identifier: GPL-2.0-or-later
// Job data read by earlier looks. A look compares a few fields of a record with their old values
// and reads the job again only if one differs, or if it was read some seconds ago.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "lib/base/index.h"
#include "lib/core/job.h"
#include "plugin/slurm/read/limit_room.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

/// Index of a class of NodeClasses.
using NodeClassIndex = Index<struct NodeClassTag>;

/// Fields of a job record that show whether it changed. An update of a job frees and sets pointers
/// or changes counts. Reading the job again finds updates that change none of them.
struct JobMark {
  std::array<const void*, 12> pointers{};
  std::array<std::uint64_t, 16> numbers{};

  bool operator==(const JobMark&) const = default;
};

[[nodiscard]] JobMark mark_of(const job_record_t& job);

/// True if the job has at most one queue entry beside those for magnetic reservations: no list of
/// partitions or reservations, no --signal=R:.
[[nodiscard]] bool is_single(const job_record_t& job);

/// True if also only fields that a light look reads can change: no array.
[[nodiscard]] bool is_plain(const job_record_t& job);

/// A magnetic reservation that a job may use.
struct MagneticAccess {
  slurmctld_resv_t* reservation = nullptr;
  NodeClassIndex class_id;  ///< of the job in it
};

struct CachedJob {
  Seconds submit = 0;
  JobMark mark;
  Job job;                  ///< as last read; a look updates rank, priority and similar fields
  NodeClassIndex class_id;  ///< of NodeClasses; none: unknown
  int rank = -1;            ///< in the queue of the last look; -1: it was not in it
  std::uint64_t seen = 0;
  Seconds read = 0;       ///< time of the look that read it
  bool plain = false;     ///< is_plain(); an array or list that appears later is detected
  bool licensed = false;  ///< needs licences
  KnownLimit limit;
  std::uint64_t magnetic_state = 0;      ///< magnetic_state() of `magnetic`; 0: never read
  std::vector<MagneticAccess> magnetic;  ///< valid only while that state stays
};

class JobCache {
 public:
  /// Starts a look at `now`.
  void begin(Seconds now);
  /// True if the job was read some seconds ago and not in this look, and this look may read it
  /// again: a look reads an eighth of the jobs again at most, so that none holds the locks for
  /// long.
  [[nodiscard]] bool refresh(const CachedJob& cached);
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
  Seconds now_ = 0;
  std::size_t refreshes_ = 0;  // that this look may still make
};

}  // namespace rubato
