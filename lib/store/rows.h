// SPDX-License-Identifier: GPL-2.0-or-later
// Converts records to rows and back. All functions throw SQLite::Exception.
#pragma once

#include <map>
#include <utility>

#include "lib/store/connection.h"
#include "lib/store/records.h"

namespace rubato::store {

/// SELECT of samples joined with their job type, for `sample_of`. Append WHERE or ORDER.
[[nodiscard]] std::string select_samples();
[[nodiscard]] Sample sample_of(SQLite::Statement& row);
[[nodiscard]] std::string select_fits();
[[nodiscard]] Fit fit_of(SQLite::Statement& row);
[[nodiscard]] std::string select_jobs();
[[nodiscard]] JobRecord job_of(SQLite::Statement& row);
[[nodiscard]] std::string select_decisions();
[[nodiscard]] Decision decision_of(SQLite::Statement& row);
[[nodiscard]] std::string select_runs();
[[nodiscard]] RunRecord run_of(SQLite::Statement& row);

[[nodiscard]] std::string select_imported();
[[nodiscard]] ProfileRow imported_of(SQLite::Statement& row);

/// The statements that write. Must be destroyed before the database is closed.
class RowWriter {
 public:
  explicit RowWriter(SQLite::Database& database);

  void insert(const Sample& sample);
  void insert(const Fit& fit);
  void insert(const JobRecord& job);
  void insert(const Decision& decision);
  void insert(const RunRecord& run);
  void insert(const ProfileRow& imported);
  /// Clears the cached ids of job types, which may have changed.
  void forget_types() { types_.clear(); }

 private:
  struct Known {
    std::int64_t id = 0;
    bool shared = false;
  };
  std::int64_t type_id(const JobType& type);

  SQLite::Statement type_;
  SQLite::Statement sample_;
  SQLite::Statement fit_;
  SQLite::Statement job_;
  SQLite::Statement decision_;
  SQLite::Statement run_;
  SQLite::Statement imported_;
  std::map<std::pair<std::string, std::string>, Known> types_;
};

}  // namespace rubato::store
