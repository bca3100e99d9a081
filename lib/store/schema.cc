// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/schema.h"

#include <fmt/format.h>

namespace rubato::store {
namespace {

// Version 1. Add changes of the tables as a new step below; never change this text. A database of
// this version is in test/store/.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE job_types (
  id      INTEGER PRIMARY KEY,
  account TEXT    NOT NULL,
  name    TEXT    NOT NULL,
  shared  INTEGER NOT NULL,
  UNIQUE (account, name)
);
CREATE TABLE samples (
  id             INTEGER PRIMARY KEY,
  type           INTEGER NOT NULL REFERENCES job_types (id),
  job_id         INTEGER NOT NULL,
  submit         INTEGER NOT NULL,
  restarts       INTEGER NOT NULL,
  time           INTEGER NOT NULL,
  run_start      INTEGER NOT NULL,
  gpu_type       TEXT    NOT NULL,
  gpus           INTEGER NOT NULL,
  nodes          INTEGER NOT NULL,
  plan           TEXT    NOT NULL,
  batch          INTEGER NOT NULL,
  samples_done   INTEGER NOT NULL,
  rate           REAL    NOT NULL,
  loss           REAL,
  forward_time   REAL,
  iteration_time REAL,
  gradient_noise REAL,
  flag           TEXT    NOT NULL
);
CREATE INDEX samples_by_kind ON samples (type, gpu_type, gpus, flag, time);
CREATE INDEX samples_by_time ON samples (time);
CREATE TABLE fits (
  type       INTEGER NOT NULL REFERENCES job_types (id),
  gpu_type   TEXT    NOT NULL,
  model      TEXT    NOT NULL,
  parameters TEXT    NOT NULL,
  samples    INTEGER NOT NULL,
  error      REAL    NOT NULL,
  time       INTEGER NOT NULL,
  PRIMARY KEY (type, gpu_type, model)
) WITHOUT ROWID;
CREATE TABLE jobs (
  job_id       INTEGER NOT NULL,
  submit       INTEGER NOT NULL,
  type         INTEGER NOT NULL REFERENCES job_types (id),
  class        TEXT    NOT NULL,
  attained     REAL    NOT NULL,
  level        INTEGER NOT NULL,
  samples_done INTEGER NOT NULL,
  restarts     INTEGER NOT NULL,
  updated      INTEGER NOT NULL,
  PRIMARY KEY (job_id, submit)
) WITHOUT ROWID;
CREATE INDEX jobs_by_update ON jobs (updated);
CREATE TABLE decisions (
  id     INTEGER PRIMARY KEY,
  job_id INTEGER NOT NULL,
  submit INTEGER NOT NULL,
  time   INTEGER NOT NULL,
  kind   TEXT    NOT NULL,
  text   TEXT    NOT NULL
);
CREATE INDEX decisions_by_job ON decisions (job_id, submit, time);
CREATE INDEX decisions_by_time ON decisions (time);
)sql";

// Version 2: runs, for estimates of counterfactual runs.
constexpr const char* kVersion2 = R"sql(
CREATE TABLE runs (
  job_id INTEGER NOT NULL,
  submit INTEGER NOT NULL,
  start  INTEGER NOT NULL,
  enters INTEGER NOT NULL,
  "end"  INTEGER NOT NULL,
  text   TEXT    NOT NULL,
  PRIMARY KEY (job_id, submit, start)
) WITHOUT ROWID;
CREATE INDEX runs_by_start ON runs (start);
)sql";

// Version 3: report values for the step-time models, and profiles of other sites. `marks` counts
// changes that no new sample shows.
constexpr const char* kVersion3 = R"sql(
ALTER TABLE samples ADD COLUMN cores        INTEGER NOT NULL DEFAULT 0;
ALTER TABLE samples ADD COLUMN memory       INTEGER NOT NULL DEFAULT 0;
ALTER TABLE samples ADD COLUMN workers      INTEGER NOT NULL DEFAULT 0;
ALTER TABLE samples ADD COLUMN servers      INTEGER NOT NULL DEFAULT 0;
ALTER TABLE samples ADD COLUMN server_cores INTEGER NOT NULL DEFAULT 0;
ALTER TABLE samples ADD COLUMN sync_time     REAL;
ALTER TABLE samples ADD COLUMN optimise_time REAL;
CREATE TABLE imported (
  type           INTEGER NOT NULL REFERENCES job_types (id),
  gpu_type       TEXT    NOT NULL,
  gpus           INTEGER NOT NULL,
  nodes          INTEGER NOT NULL,
  plan           TEXT    NOT NULL,
  batch          INTEGER NOT NULL,
  cores          INTEGER NOT NULL,
  workers        INTEGER NOT NULL,
  servers        INTEGER NOT NULL,
  server_cores   INTEGER NOT NULL,
  samples        INTEGER NOT NULL,
  jobs           INTEGER NOT NULL,
  rate           REAL    NOT NULL,
  rate_min       REAL    NOT NULL,
  rate_max       REAL    NOT NULL,
  rate_last      REAL    NOT NULL,
  forward_time   REAL,
  sync_time      REAL,
  optimise_time  REAL,
  iteration_time REAL,
  gradient_noise REAL,
  last           INTEGER NOT NULL,
  PRIMARY KEY (type, gpu_type, gpus, nodes, plan, batch, cores, workers, servers, server_cores)
) WITHOUT ROWID;
CREATE TABLE marks (
  name  TEXT    PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;
)sql";

}  // namespace

std::vector<Migration> migrations() { return {{1, kVersion1}, {2, kVersion2}, {3, kVersion3}}; }

StoreResult<int> check_version(SQLite::Database& database, const std::string& path,
                               const std::vector<Migration>& steps) {
  return caught(path,
                [&] {
                  const auto application = number_of(database, "PRAGMA application_id");
                  const auto version = static_cast<int>(number_of(database, "PRAGMA user_version"));
                  const auto tables = number_of(database, "SELECT count(*) FROM sqlite_schema");
                  const bool empty = application == 0 && version == 0 && tables == 0;
                  return std::pair(empty || application == kApplicationId, version);
                })
      .and_then([&](const std::pair<bool, int>& found) -> StoreResult<int> {
        const auto& [ours, version] = found;
        const int last = steps.empty() ? 0 : steps.back().to;
        if (!ours) {
          return failed(FailureKind::kTransient,
                        fmt::format("{} is a database of another program; move it away", path));
        }
        if (version < 0 || version > last) {
          return failed(FailureKind::kTransient,
                        fmt::format("{} has schema version {}, this release knows versions up to "
                                    "{}: use the release that wrote it, or move the file away",
                                    path, version, last));
        }
        return version;
      });
}

StoreResult<void> migrate(SQLite::Database& database, const std::string& path,
                          const std::vector<Migration>& steps) {
  const auto version = check_version(database, path, steps);
  if (!version) return tl::unexpected<StoreFailure>(version.error());
  for (const Migration& step : steps) {
    if (step.to <= *version) continue;
    const auto done = caught(path, [&] {
      Transaction transaction(database);
      database.exec(step.sql);
      database.exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
      database.exec(fmt::format("PRAGMA user_version = {}", step.to));
      transaction.commit();
    });
    if (!done) {
      return failed(done.error().trouble,
                    fmt::format("schema version {}: {}", step.to, done.error().text));
    }
  }
  return {};
}

}  // namespace rubato::store
