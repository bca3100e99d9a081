// SPDX-License-Identifier: GPL-2.0-or-later
// Deletes old records.
#include <algorithm>
#include <initializer_list>

#include "lib/store/session.h"

namespace rubato::store {
namespace {

std::int64_t run(SQLite::Database& database, const char* sql,
                 std::initializer_list<std::int64_t> values) {
  SQLite::Statement statement(database, sql);
  int index = 0;
  for (const std::int64_t value : values) statement.bind(++index, value);
  return statement.exec();
}

}  // namespace

std::int64_t remove_beyond(SQLite::Database& db, const Retention& retention, Seconds now) {
  const Seconds oldest = now - retention.max_age;
  std::int64_t removed = 0;
  removed += run(db, "DELETE FROM samples WHERE time < ?", {oldest});
  removed += run(db, "DELETE FROM decisions WHERE time < ?", {oldest});
  removed += run(db, "DELETE FROM jobs WHERE updated < ?", {oldest});
  // A busy job type must not displace a rare one, nor flagged samples the good ones.
  removed += run(db,
                 "DELETE FROM samples WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER "
                 "(PARTITION BY type, gpu_type, gpus, flag = '' ORDER BY time DESC, id DESC) AS "
                 "place FROM samples) WHERE place > ?)",
                 {std::max<std::int64_t>(0, retention.samples_a_kind)});
  // OFFSET skips the newest rows, which are kept.
  removed += run(db,
                 "DELETE FROM samples WHERE id IN (SELECT id FROM samples ORDER BY time DESC, "
                 "id DESC LIMIT -1 OFFSET ?)",
                 {std::max<std::int64_t>(0, retention.samples)});
  removed += run(db,
                 "DELETE FROM decisions WHERE id IN (SELECT id FROM decisions ORDER BY time DESC, "
                 "id DESC LIMIT -1 OFFSET ?)",
                 {std::max<std::int64_t>(0, retention.decisions)});
  removed += run(db,
                 "DELETE FROM jobs WHERE (job_id, submit) IN (SELECT job_id, submit FROM jobs "
                 "ORDER BY updated DESC, submit DESC, job_id DESC LIMIT -1 OFFSET ?)",
                 {std::max<std::int64_t>(0, retention.jobs)});
  removed += run(db, "DELETE FROM runs WHERE start < ?", {oldest});
  removed += run(db,
                 "DELETE FROM runs WHERE (job_id, submit, start) IN (SELECT job_id, submit, start "
                 "FROM runs ORDER BY start DESC, submit DESC, job_id DESC LIMIT -1 OFFSET ?)",
                 {std::max<std::int64_t>(0, retention.runs)});
  // Imported rows of any age stay until an admin removes them.
  removed += run(db,
                 "DELETE FROM imported WHERE (type, gpu_type, gpus, nodes, plan, batch, cores, "
                 "workers, servers, server_cores) IN (SELECT type, gpu_type, gpus, nodes, plan, "
                 "batch, cores, workers, servers, server_cores FROM imported ORDER BY last DESC, "
                 "type, gpu_type, gpus, nodes, plan, batch, cores, workers, servers, server_cores "
                 "LIMIT -1 OFFSET ?)",
                 {std::max<std::int64_t>(0, retention.imported)});
  // Deletes the fits of a type without samples in this time.
  run(db,
      "DELETE FROM fits WHERE time < ? AND type NOT IN (SELECT type FROM samples UNION SELECT "
      "type FROM imported UNION SELECT type FROM jobs)",
      {oldest});
  run(db,
      "DELETE FROM job_types WHERE id NOT IN (SELECT type FROM samples UNION SELECT type FROM fits "
      "UNION SELECT type FROM imported UNION SELECT type FROM jobs)",
      {});
  return removed;
}

}  // namespace rubato::store
