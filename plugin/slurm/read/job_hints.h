// SPDX-License-Identifier: GPL-2.0-or-later
// Hints of the jobs of a snapshot: from the comment and the JobType= line, worked out once a job.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "lib/hints/facts.h"
#include "plugin/slurm/stock/slurm_headers.h"

namespace rubato {

/// What the comment of a job with `facts` says, completed by its JobType= line; no hints and no
/// error for a comment without any. A wrong comment gives its error and no hints.
struct HintsFound {
  std::optional<ResolvedHints> hints;
  std::string error;
};

[[nodiscard]] HintsFound find_hints(const std::string& comment, const RequestFacts& facts,
                                    const Config& config);

/// Hints of the jobs that a SnapshotReader reads. Under slurmctld's locks only texts are copied,
/// and only of jobs that are new or have changed; parsing waits until the locks are released.
class JobHints {
 public:
  /// Before a look. JobType= lines that changed are applied to all jobs anew.
  void begin(const Config& config);
  /// Under the locks, when a job is read anew: notes what it says.
  void note(const job_record_t& job, const JobKey& key);
  /// Without locks: fills in the hints of all jobs, and forgets those that are gone.
  void apply(Snapshot& snapshot);

 private:
  struct Entry {
    std::uint64_t state = 0;  // fingerprint of what the hints follow from
    std::uint64_t seen = 0;   // look in which it was seen last
    std::string comment;
    RequestFacts facts;
    std::optional<HintsFound> found;
  };

  std::map<JobKey, Entry> entries_;
  Config types_;  // the JobType= lines alone
  std::uint64_t looks_ = 0;
  bool off_ = false;
};

}  // namespace rubato
