// SPDX-License-Identifier: GPL-2.0-or-later
// Hints of the jobs of a snapshot, from the comment and the JobType= line, parsed once per job.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "lib/hints/facts.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

/// Hints from the comment of a job with `facts`, completed by its JobType= line. A comment without
/// hints gives neither hints nor an error. A wrong comment gives an error and no hints.
struct HintsFound {
  std::optional<ResolvedHints> hints;
  std::string error;
};

[[nodiscard]] HintsFound find_hints(const std::string& comment, const RequestFacts& facts,
                                    const Config& config);

/// Hints of the jobs that a SnapshotReader reads. Under slurmctld's locks, it only copies the texts
/// of new or changed jobs. Parsing happens after the locks are released.
class JobHints {
 public:
  /// Call before a look. Changed JobType= lines are applied again to all jobs.
  void begin(const Config& config);
  /// Under the locks, for each job that is read again: copies its texts.
  void note(const job_record_t& job, const JobKey& key);
  /// Without locks: sets the hints of all jobs, and removes jobs that are gone.
  void apply(Snapshot& snapshot);

 private:
  struct Entry {
    std::uint64_t state = 0;  // fingerprint of the inputs of the hints
    std::uint64_t seen = 0;   // the last look in which the job was seen
    std::string comment;
    RequestFacts facts;
    std::optional<HintsFound> found;
  };

  std::map<JobKey, Entry> entries_;
  Config types_;  // only the JobType= lines
  std::uint64_t looks_ = 0;
  bool off_ = false;
};

}  // namespace rubato
