// SPDX-License-Identifier: GPL-2.0-or-later
// Reading a store, or a copy of one. Nothing is written, no lock file is taken.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/core/error.h"
#include "lib/store/records.h"

namespace rubato::store {

/// Whose samples make a profile: those of one account, or where `shared` all of that name.
struct ProfileKey {
  std::string account;
  std::string job_type;
  bool shared = false;
};

/// The samples of a job type on one GPU type at one size that can be used (not flagged).
struct ProfileGroup {
  std::string gpu_type;
  int gpus = 0;
  std::int64_t samples = 0;
  std::int64_t jobs = 0;  ///< that measured them
  double mean_rate = 0;   ///< samples/s
  double least_rate = 0;
  double most_rate = 0;
  Seconds first = 0;
  Seconds last = 0;

  bool operator==(const ProfileGroup&) const = default;
};

/// How much is in a store.
struct StoreCounts {
  std::int64_t job_types = 0;
  std::int64_t samples = 0;  ///< flagged ones included
  std::int64_t fits = 0;
  std::int64_t jobs = 0;
  std::int64_t decisions = 0;
  /// Flagged samples by reason, sorted by it; only those there are.
  std::vector<std::pair<std::string, std::int64_t>> flagged;

  bool operator==(const StoreCounts&) const = default;
};

/// Not thread-safe; every call may wait for the disk. Lists are in a total order, said with each.
class Reader {
 public:
  /// Opens `path` for reading. Fails when it is missing, no store, or of another schema version.
  [[nodiscard]] static Result<Reader> open(const std::string& path, const std::string& vfs = "");

  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  [[nodiscard]] Result<StoreCounts> counts() const;
  /// By name, then account.
  [[nodiscard]] Result<std::vector<JobType>> job_types() const;
  /// By GPU type, then GPUs.
  [[nodiscard]] Result<std::vector<ProfileGroup>> profile(const ProfileKey& key) const;
  /// The last `at_most` usable samples of a group, oldest first.
  [[nodiscard]] Result<std::vector<Sample>> samples(const ProfileKey& key,
                                                    const std::string& gpu_type, int gpus,
                                                    std::int64_t at_most = 1'000'000) const;
  /// Every sample, flagged ones too, in the order in which they were written.
  [[nodiscard]] Result<std::vector<Sample>> all_samples(std::int64_t at_most = 1'000'000) const;
  /// By GPU type, model, account.
  [[nodiscard]] Result<std::vector<Fit>> fits(const ProfileKey& key) const;
  [[nodiscard]] Result<std::optional<JobRecord>> job(const JobKey& key) const;
  /// By key.
  [[nodiscard]] Result<std::vector<JobRecord>> jobs() const;
  /// About one job, in the order in which they were written.
  [[nodiscard]] Result<std::vector<Decision>> decisions(const JobKey& key) const;

 private:
  struct Database;
  explicit Reader(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace rubato::store
