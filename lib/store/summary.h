// SPDX-License-Identifier: GPL-2.0-or-later
// What a store holds of each kind of job, kept up to date without reading all of it again.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "lib/store/reader.h"

namespace rubato::store {

/// A group of samples, and whose they are.
struct SummaryRow {
  std::string account;  ///< "" where the profile is shared
  std::string job_type;
  bool shared = false;
  std::string gpu_type;
  int gpus = 0;
  JobTypeGroup group;

  bool operator==(const SummaryRow&) const = default;
};

/// All profiles of a store, for a program that reads it once. Samples of jobs without a type are in
/// none. `shared`: names of the job types that all accounts share.
[[nodiscard]] Result<std::vector<ProfileRow>> all_profiles(const Reader& reader,
                                                           const std::set<std::string>& shared);

/// Rows that differ in cores and tasks alone are one: as people read them.
[[nodiscard]] std::vector<SummaryRow> joined(std::vector<SummaryRow> rows);

/// Not thread-safe; `refresh` may wait for the disk. Only kinds with new samples are added up anew,
/// each at most as long as the retention lets it grow; all of them at the first call, and when
/// asked for.
class Summary {
 public:
  explicit Summary(std::string path, std::string vfs = "")
      : path_(std::move(path)), vfs_(std::move(vfs)) {}

  /// `shared`: names of the job types that all accounts share. `whole`: what was forgotten since
  /// goes too. True if anything may have changed.
  [[nodiscard]] Result<bool> refresh(const std::set<std::string>& shared, bool whole = false);

  /// By account, job type, GPU type, GPUs; then as Reader::groups.
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
  std::int64_t last_ = -1;    ///< sample up to which it is complete; -1: nothing read yet
  std::int64_t changes_ = 0;  ///< Reader::profile_changes() then
  std::map<Owner, std::vector<JobTypeGroup>> kinds_;
};

}  // namespace rubato::store
