// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "lib/store/apply.h"
#include "lib/store/connection.h"
#include "lib/store/group_builder.h"
#include "lib/store/rows.h"
#include "lib/store/schema.h"

namespace rubato::store {
namespace {

constexpr int kBusyMs = 2000;
/// SQL condition for a ProfileKey. The reader's configuration decides on sharing, not the database,
/// so that a change of rubato.conf also applies to old samples.
constexpr const char* kOfProfile = "t.name = ? AND (? OR t.account = ?) ";

/// A total order of imported rows.
constexpr const char* kImported =
    "ORDER BY t.name, t.account, i.gpu_type, i.gpus, i.nodes, i.plan, i.batch, i.cores, i.workers, "
    "i.servers, i.server_cores";

template <typename T>
Result<T> without_trouble(StoreResult<T> outcome) {
  if (!outcome) return fail(std::move(outcome.error().text));
  return std::move(*outcome);
}

void bind(SQLite::Statement& statement, const ProfileKey& key) {
  statement.bind(1, key.job_type);
  statement.bind(2, key.shared ? 1 : 0);
  statement.bind(3, key.account);
}

void bind(SQLite::Statement& statement, const JobKey& key) {
  statement.bind(1, static_cast<std::int64_t>(key.id));
  statement.bind(2, key.submit);
}

template <typename Make>
auto all_of(SQLite::Statement& statement, Make make) {
  std::vector<decltype(make(statement))> records;
  while (statement.executeStep()) records.push_back(make(statement));
  return records;
}

ProfileGroup group_of(SQLite::Statement& row) {
  ProfileGroup group;
  group.gpu_type = row.getColumn(0).getString();
  group.gpus = row.getColumn(1).getInt();
  group.samples = row.getColumn(2).getInt64();
  group.jobs = row.getColumn(3).getInt64();
  group.mean_throughput = row.getColumn(4).getDouble();
  group.min_throughput = row.getColumn(5).getDouble();
  group.max_throughput = row.getColumn(6).getDouble();
  group.first = row.getColumn(7).getInt64();
  group.last = row.getColumn(8).getInt64();
  return group;
}

}  // namespace

struct Reader::Database {
  Database(const std::string& file, const std::string& vfs)
      : path(file), sqlite(file, SQLite::OPEN_READONLY | SQLite::OPEN_NOMUTEX, kBusyMs, vfs) {}

  /// Runs `work` with a statement of `sql` and returns its result.
  template <typename Work>
  auto query(const std::string& sql, Work work)
      -> Result<decltype(work(std::declval<SQLite::Statement&>()))> {
    return without_trouble(caught(path, [&] {
      SQLite::Statement statement(sqlite, sql);
      return work(statement);
    }));
  }

  std::string path;
  SQLite::Database sqlite;
};

Reader::Reader(std::unique_ptr<Database> database) : database_(std::move(database)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

Result<Reader> Reader::open(const std::string& path, const std::string& vfs) {
  auto database =
      without_trouble(caught(path, [&] { return std::make_unique<Database>(path, vfs); }));
  if (!database) return tl::unexpected<Error>(std::move(database.error()));
  const auto version = without_trouble(check_version((*database)->sqlite, path, migrations()));
  if (!version) return tl::unexpected<Error>(version.error());
  if (*version != kSchemaVersion) {
    return fail(
        fmt::format("{} has schema version {}, this release reads version {}: it is brought "
                    "up to date when slurmctld starts with this release",
                    path, *version, kSchemaVersion));
  }
  return Reader(std::move(*database));
}

Result<StoreCounts> Reader::counts() const {
  StoreCounts counts;
  const auto totals = database_->query(
      "SELECT (SELECT count(*) FROM job_types), (SELECT count(*) FROM samples), "
      "(SELECT count(*) FROM fits), (SELECT count(*) FROM jobs), (SELECT count(*) FROM decisions), "
      "(SELECT count(*) FROM runs), (SELECT count(*) FROM imported)",
      [&](SQLite::Statement& row) {
        row.executeStep();
        counts.job_types = row.getColumn(0).getInt64();
        counts.samples = row.getColumn(1).getInt64();
        counts.fits = row.getColumn(2).getInt64();
        counts.jobs = row.getColumn(3).getInt64();
        counts.decisions = row.getColumn(4).getInt64();
        counts.runs = row.getColumn(5).getInt64();
        counts.imported = row.getColumn(6).getInt64();
        return true;
      });
  if (!totals) return tl::unexpected<Error>(totals.error());
  return database_
      ->query("SELECT flag, count(*) FROM samples WHERE flag <> '' GROUP BY flag ORDER BY flag",
              [](SQLite::Statement& rows) {
                return all_of(rows, [](SQLite::Statement& row) {
                  return std::pair(row.getColumn(0).getString(), row.getColumn(1).getInt64());
                });
              })
      .map([&](auto flagged) {
        counts.flagged = std::move(flagged);
        return counts;
      });
}

Result<std::vector<JobType>> Reader::job_types() const {
  return database_->query("SELECT account, name, shared FROM job_types ORDER BY name, account",
                          [](SQLite::Statement& rows) {
                            return all_of(rows, [](SQLite::Statement& row) {
                              return JobType{row.getColumn(0).getString(),
                                             row.getColumn(1).getString(),
                                             row.getColumn(2).getInt() != 0};
                            });
                          });
}

Result<std::vector<ProfileGroup>> Reader::profile(const ProfileKey& key) const {
  const std::string sql = fmt::format(
      "SELECT gpu_type, gpus, sum(n), count(*), sum(total) / sum(n), min(least), max(most), "
      "min(first), max(last) FROM (SELECT s.gpu_type, s.gpus, count(*) AS n, sum(s.rate) AS total, "
      "min(s.rate) AS least, max(s.rate) AS most, min(s.time) AS first, max(s.time) AS last "
      "FROM samples AS s JOIN job_types AS t ON t.id = s.type WHERE {} AND s.flag = '' "
      "GROUP BY s.gpu_type, s.gpus, s.job_id, s.submit) GROUP BY gpu_type, gpus "
      "ORDER BY gpu_type, gpus",
      kOfProfile);
  return database_->query(sql, [&](SQLite::Statement& rows) {
    bind(rows, key);
    return all_of(rows, group_of);
  });
}

Result<std::vector<Sample>> Reader::samples(const ProfileKey& key, const std::string& gpu_type,
                                            int gpus, std::int64_t at_most) const {
  const std::string sql = select_samples() + "WHERE " + kOfProfile +
                          "AND s.flag = '' AND s.gpu_type = ? AND s.gpus = ? "
                          "ORDER BY s.time DESC, s.id DESC LIMIT ?";
  return database_->query(sql, [&](SQLite::Statement& rows) {
    bind(rows, key);
    rows.bind(4, gpu_type);
    rows.bind(5, gpus);
    rows.bind(6, at_most);
    auto samples = all_of(rows, sample_of);
    return std::vector<Sample>(samples.rbegin(), samples.rend());
  });
}

Result<std::vector<Sample>> Reader::all_samples(std::int64_t at_most) const {
  return database_->query(select_samples() + "ORDER BY s.id LIMIT ?", [&](SQLite::Statement& rows) {
    rows.bind(1, at_most);
    return all_of(rows, sample_of);
  });
}

Result<void> Reader::each_sample(const std::function<void(Sample)>& each) const {
  const auto read =
      database_->query(select_samples() + "ORDER BY s.id", [&](SQLite::Statement& rows) {
        while (rows.executeStep()) each(sample_of(rows));
        return true;
      });
  if (!read) return tl::unexpected<Error>(read.error());
  return {};
}

Result<std::int64_t> Reader::last_sample() const {
  return database_->query("SELECT coalesce(max(id), 0) FROM samples", [](SQLite::Statement& row) {
    row.executeStep();
    return row.getColumn(0).getInt64();
  });
}

Result<std::int64_t> Reader::profile_changes() const {
  return database_->query("SELECT coalesce(sum(value), 0) FROM marks WHERE name = 'profiles'",
                          [](SQLite::Statement& row) {
                            row.executeStep();
                            return row.getColumn(0).getInt64();
                          });
}

Result<std::vector<JobTypeKey>> Reader::kinds(std::int64_t after) const {
  const char* sql =
      "SELECT t.account, t.name, t.shared, k.gpu_type, k.gpus FROM (SELECT DISTINCT s.type, "
      "s.gpu_type, s.gpus FROM samples AS s WHERE s.id > ?) AS k JOIN job_types AS t ON "
      "t.id = k.type";
  return database_->query(sql, [&](SQLite::Statement& rows) {
    rows.bind(1, after);
    return all_of(rows, [](SQLite::Statement& row) {
      return JobTypeKey{{row.getColumn(0).getString(), row.getColumn(1).getString(),
                         row.getColumn(2).getInt() != 0},
                        row.getColumn(3).getString(),
                        row.getColumn(4).getInt()};
    });
  });
}

Result<std::vector<JobTypeGroup>> Reader::groups(const JobTypeKey& kind) const {
  GroupBuilder groups;
  const auto bound = [&](SQLite::Statement& rows) -> SQLite::Statement& {
    bind(rows, kind.key);
    rows.bind(4, kind.gpu_type);
    rows.bind(5, kind.gpus);
    return rows;
  };
  const auto own = database_->query(
      fmt::format("SELECT {} FROM samples AS s JOIN job_types AS t ON t.id = s.type WHERE {}"
                  "AND s.gpu_type = ? AND s.gpus = ? ORDER BY s.id",
                  kOfGroup, kOfProfile),
      [&](SQLite::Statement& rows) {
        for (bound(rows); rows.executeStep();) groups.add(rows);
        return true;
      });
  if (!own) return tl::unexpected<Error>(own.error());
  return database_->query(
      select_imported() + "WHERE " + kOfProfile + "AND i.gpu_type = ? AND i.gpus = ? " + kImported,
      [&](SQLite::Statement& rows) {
        for (bound(rows); rows.executeStep();) groups.add(imported_of(rows).group);
        return groups.take();
      });
}

Result<std::vector<std::pair<JobTypeKey, std::vector<JobTypeGroup>>>> Reader::all_groups(
    const std::set<std::string>& shared) const {
  using Owner = std::tuple<std::string, std::string, std::string, int>;
  std::map<Owner, GroupBuilder> owners;
  const auto owner = [&](const std::string& account, const std::string& name,
                         const std::string& gpu_type, int gpus) -> GroupBuilder& {
    return owners[{shared.contains(name) ? "" : account, name, gpu_type, gpus}];
  };
  const std::string sql = fmt::format(
      "SELECT {}, t.account, t.name, s.gpu_type, s.gpus FROM samples AS s CROSS JOIN job_types AS "
      "t ON t.id = s.type ORDER BY s.id",
      kOfGroup);
  const auto own = database_->query(sql, [&](SQLite::Statement& rows) {
    while (rows.executeStep()) {
      owner(rows.getColumn(kBehindGroup).getString(), rows.getColumn(kBehindGroup + 1).getString(),
            rows.getColumn(kBehindGroup + 2).getString(), rows.getColumn(kBehindGroup + 3).getInt())
          .add(rows);
    }
    return true;
  });
  if (!own) return tl::unexpected<Error>(own.error());
  return database_->query(select_imported() + kImported, [&](SQLite::Statement& rows) {
    while (rows.executeStep()) {
      const ProfileRow row = imported_of(rows);
      owner(row.type.account, row.type.name, row.gpu_type, row.gpus).add(row.group);
    }
    std::vector<std::pair<JobTypeKey, std::vector<JobTypeGroup>>> all;
    for (auto& [key, builder] : owners) {
      const auto& [account, name, gpu_type, gpus] = key;
      all.emplace_back(JobTypeKey{{account, name, shared.contains(name)}, gpu_type, gpus},
                       builder.take());
    }
    return all;
  });
}

Result<OrderDone> Reader::count_forgotten(const ForgetOrder& order) const {
  return without_trouble(
      caught(database_->path, [&] { return store::count_forgotten(database_->sqlite, order); }));
}

Result<std::vector<Fit>> Reader::fits(const ProfileKey& key) const {
  const std::string sql =
      select_fits() + "WHERE " + kOfProfile + "ORDER BY f.gpu_type, f.model, t.account";
  return database_->query(sql, [&](SQLite::Statement& rows) {
    bind(rows, key);
    return all_of(rows, fit_of);
  });
}

Result<std::optional<JobRecord>> Reader::job(const JobKey& key) const {
  return database_->query(select_jobs() + "WHERE j.job_id = ? AND j.submit = ?",
                          [&](SQLite::Statement& row) -> std::optional<JobRecord> {
                            bind(row, key);
                            if (!row.executeStep()) return std::nullopt;
                            return job_of(row);
                          });
}

Result<std::vector<JobRecord>> Reader::jobs() const {
  return database_->query(select_jobs() + "ORDER BY j.job_id, j.submit",
                          [](SQLite::Statement& rows) { return all_of(rows, job_of); });
}

Result<std::vector<RunRecord>> Reader::runs(Seconds from, std::int64_t at_most) const {
  const std::string sql = select_runs() +
                          "WHERE start >= ? OR \"end\" = 0 OR \"end\" > ? "
                          "ORDER BY start DESC, submit DESC, job_id DESC LIMIT ?";
  return database_->query(sql, [&](SQLite::Statement& rows) {
    rows.bind(1, from);
    rows.bind(2, from);
    rows.bind(3, at_most);
    auto runs = all_of(rows, run_of);
    return std::vector<RunRecord>(runs.rbegin(), runs.rend());
  });
}

Result<std::vector<Decision>> Reader::decisions(const JobKey& key) const {
  return database_->query(select_decisions() + "WHERE job_id = ? AND submit = ? ORDER BY id",
                          [&](SQLite::Statement& rows) {
                            bind(rows, key);
                            return all_of(rows, decision_of);
                          });
}

}  // namespace rubato::store
