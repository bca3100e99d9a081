// SPDX-License-Identifier: GPL-2.0-or-later
// Aggregates of each kind of job in a store, updated incrementally.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "lib/store/reader.h"

namespace rubato::store {

/// A group of samples and its owner.
struct SummaryRow {
  std::string account;  ///< "" if the profile is shared
  std::string job_type;
  bool shared = false;
  std::string gpu_type;
  int gpus = 0;
  JobTypeGroup group;

  bool operator==(const SummaryRow&) const = default;
};

/// All profiles of a store, for a program that reads it once. Omits samples of jobs without a type.
/// `shared`: names of job types that all accounts share.
[[nodiscard]] Result<std::vector<ProfileRow>> all_profiles(const Reader& reader,
                                                           const std::set<std::string>& shared);

/// Merges rows that differ only in cores and tasks, for display.
[[nodiscard]] std::vector<SummaryRow> joined(std::vector<SummaryRow> rows);

/// Not thread-safe; `refresh` may wait for the disk. It aggregates only kinds with new samples,
/// whose number retention limits. The first call aggregates all, as does `whole`.
class Summary {
 public:
  explicit Summary(std::string path, std::string vfs = "")
      : path_(std::move(path)), vfs_(std::move(vfs)) {}

  /// `shared`: names of job types that all accounts share. `whole`: also removes what was deleted
  /// since. True if anything may have changed.
  [[nodiscard]] Result<bool> refresh(const std::set<std::string>& shared, bool whole = false);

  /// Sorted by account, job type, GPU type, GPUs; then as Reader::groups.
  [[nodiscard]] std::vector<SummaryRow> rows() const;

 private:
  /// Account, job type, shared, GPU type, GPUs.
  using Owner = std::tuple<std::string, std::string, bool, std::string, int>;

  [[nodiscard]] static Owner owner_of(const JobTypeKey& kind);
  [[nodiscard]] Result<void> read_all(const Reader& reader, const std::set<std::string>& shared);
  [[nodiscard]] Result<void> read_new(const Reader& reader, const std::set<std::string>& shared);

  std::string path_;
  std::string vfs_;
  std::set<std::string> shared_;
  std::int64_t last_ = -1;    ///< last sample included; -1: nothing read yet
  std::int64_t changes_ = 0;  ///< Reader::profile_changes() at that time
  std::map<Owner, std::vector<JobTypeGroup>> kinds_;
};

}  // namespace rubato::store
