// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a store, or a copy of one. Writes nothing and takes no lock file.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "lib/store/orders.h"
#include "lib/store/records.h"

namespace rubato::store {

/// Selects the samples of a profile: those of one account, or if `shared` all of that name.
struct ProfileKey {
  std::string account;
  std::string job_type;
  bool shared = false;
};

/// The usable (unflagged) samples of a job type on one GPU type at one size.
struct ProfileGroup {
  std::string gpu_type;
  int gpus = 0;
  std::int64_t samples = 0;
  std::int64_t jobs = 0;       ///< jobs that reported them
  double mean_throughput = 0;  ///< samples/s
  double min_throughput = 0;
  double max_throughput = 0;
  Seconds first = 0;
  Seconds last = 0;

  bool operator==(const ProfileGroup&) const = default;
};

/// Key of the samples of a job type (of one account, or of all if shared) on one GPU type at one
/// size.
struct JobTypeKey {
  ProfileKey key;
  std::string gpu_type;
  int gpus = 0;
};

/// Number of records in a store.
struct StoreCounts {
  std::int64_t job_types = 0;
  std::int64_t samples = 0;  ///< flagged ones included
  std::int64_t fits = 0;
  std::int64_t jobs = 0;
  std::int64_t decisions = 0;
  std::int64_t runs = 0;
  std::int64_t imported = 0;  ///< rows of profiles from other sites
  /// Flagged samples by reason, sorted by it; only reasons that occur.
  std::vector<std::pair<std::string, std::int64_t>> flagged;

  bool operator==(const StoreCounts&) const = default;
};

/// Not thread-safe; every call may wait for the disk. Lists have a total order, given for each.
class Reader {
 public:
  /// Opens `path` for reading. Fails if it is missing, not a store, or has another schema version.
  [[nodiscard]] static Result<Reader> open(const std::string& path, const std::string& vfs = "");

  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  [[nodiscard]] Result<StoreCounts> counts() const;
  /// Sorted by name, then account.
  [[nodiscard]] Result<std::vector<JobType>> job_types() const;
  /// Sorted by GPU type, then GPUs.
  [[nodiscard]] Result<std::vector<ProfileGroup>> profile(const ProfileKey& key) const;
  /// The last `at_most` usable samples of a group, oldest first.
  [[nodiscard]] Result<std::vector<Sample>> samples(const ProfileKey& key,
                                                    const std::string& gpu_type, int gpus,
                                                    std::int64_t at_most = 1'000'000) const;
  /// Every sample, including flagged ones, in the order of writing.
  [[nodiscard]] Result<std::vector<Sample>> all_samples(std::int64_t at_most = 1'000'000) const;
  /// Number of records that a ForgetOrder would remove.
  [[nodiscard]] Result<OrderDone> count_forgotten(const ForgetOrder& order) const;
  /// Calls `each` with every sample, including flagged ones, in the order of writing.
  [[nodiscard]] Result<void> each_sample(const std::function<void(Sample)>& each) const;
  /// Sorted by GPU type, model, account.
  [[nodiscard]] Result<std::vector<Fit>> fits(const ProfileKey& key) const;
  [[nodiscard]] Result<std::optional<JobRecord>> job(const JobKey& key) const;
  /// A counter of imports and forget orders, changes that new samples do not show.
  [[nodiscard]] Result<std::int64_t> profile_changes() const;
  /// Number of the last sample written; 0 in an empty store.
  [[nodiscard]] Result<std::int64_t> last_sample() const;
  /// Keys with samples after number `after`, one row per account. Unsorted.
  [[nodiscard]] Result<std::vector<JobTypeKey>> kinds(std::int64_t after) const;
  /// Sorted by nodes, plan, batch, cores, workers, servers, their cores. This site's measurements;
  /// imported rows only where there are none.
  [[nodiscard]] Result<std::vector<JobTypeGroup>> groups(const JobTypeKey& kind) const;
  /// The groups of all keys, in one pass over the samples, which is much cheaper than key by key.
  /// `shared`: names of job types that all accounts share. Sorted by account, job type, GPU type,
  /// GPUs.
  [[nodiscard]] Result<std::vector<std::pair<JobTypeKey, std::vector<JobTypeGroup>>>> all_groups(
      const std::set<std::string>& shared) const;
  /// Sorted by key.
  [[nodiscard]] Result<std::vector<JobRecord>> jobs() const;
  /// Decisions about one job, in the order of writing.
  [[nodiscard]] Result<std::vector<Decision>> decisions(const JobKey& key) const;
  /// Runs that were running at `from` or started later, sorted by start, submit, id; only the last
  /// `at_most`.
  [[nodiscard]] Result<std::vector<RunRecord>> runs(Seconds from,
                                                    std::int64_t at_most = 100'000) const;

 private:
  struct Database;
  explicit Reader(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace rubato::store
