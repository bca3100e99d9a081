// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/rows.h"

#include "lib/base/json_value.h"

namespace rubato::store {
namespace {

constexpr const char* kInsertType =
    "INSERT INTO job_types (account, name, shared) VALUES (?, ?, ?) "
    "ON CONFLICT (account, name) DO UPDATE SET shared = excluded.shared RETURNING id";
constexpr const char* kInsertSample =
    "INSERT INTO samples (type, job_id, submit, restarts, time, run_start, gpu_type, gpus, nodes, "
    "plan, batch, samples_done, rate, loss, forward_time, iteration_time, gradient_noise, flag, "
    "cores, memory, workers, servers, server_cores, sync_time, optimise_time) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kInsertFit =
    "INSERT OR REPLACE INTO fits (type, gpu_type, model, parameters, samples, error, time) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kInsertJob =
    "INSERT OR REPLACE INTO jobs (job_id, submit, type, class, attained, level, samples_done, "
    "restarts, updated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kInsertDecision =
    "INSERT INTO decisions (job_id, submit, time, kind, text) VALUES (?, ?, ?, ?, ?)";
constexpr const char* kInsertRun =
    "INSERT INTO runs (job_id, submit, start, enters, \"end\", text) VALUES (?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (job_id, submit, start) DO UPDATE SET \"end\" = excluded.\"end\"";

constexpr const char* kInsertImported =
    "INSERT OR REPLACE INTO imported (type, gpu_type, gpus, nodes, plan, batch, cores, workers, "
    "servers, server_cores, samples, jobs, rate, rate_min, rate_max, rate_last, forward_time, "
    "sync_time, optimise_time, iteration_time, gradient_noise, last) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// Binds values in order.
class Binder {
 public:
  explicit Binder(SQLite::Statement& statement) : statement_(statement) {}

  template <typename T>
  Binder& operator<<(const T& value) {
    statement_.bind(++index_, value);
    return *this;
  }
  Binder& operator<<(bool value) { return *this << (value ? 1 : 0); }
  Binder& operator<<(const std::optional<double>& value) {
    if (value) return *this << *value;
    statement_.bind(++index_);
    return *this;
  }
  Binder& operator<<(const JobKey& key) {
    return *this << static_cast<std::int64_t>(key.id) << key.submit;
  }

 private:
  SQLite::Statement& statement_;
  int index_ = 0;
};

/// Reads columns in order.
class Columns {
 public:
  explicit Columns(SQLite::Statement& row) : row_(row) {}

  Columns& operator>>(std::int64_t& value) {
    value = row_.getColumn(index_++).getInt64();
    return *this;
  }
  Columns& operator>>(int& value) {
    value = row_.getColumn(index_++).getInt();
    return *this;
  }
  Columns& operator>>(bool& value) {
    value = row_.getColumn(index_++).getInt() != 0;
    return *this;
  }
  Columns& operator>>(double& value) {
    value = row_.getColumn(index_++).getDouble();
    return *this;
  }
  Columns& operator>>(std::string& value) {
    value = row_.getColumn(index_++).getString();
    return *this;
  }
  Columns& operator>>(std::optional<double>& value) {
    const SQLite::Column column = row_.getColumn(index_++);
    value = column.isNull() ? std::nullopt : std::optional<double>(column.getDouble());
    return *this;
  }
  Columns& operator>>(JobKey& key) {
    std::int64_t id = 0;
    *this >> id >> key.submit;
    key.id = static_cast<JobId>(id);
    return *this;
  }
  Columns& operator>>(JobType& type) { return *this >> type.account >> type.name >> type.shared; }

 private:
  SQLite::Statement& row_;
  int index_ = 0;
};

std::vector<double> numbers_of(const std::string& text) {
  const auto parsed = JsonValue::parse(text);
  std::vector<double> numbers;
  if (!parsed) return numbers;
  for (const JsonValue& value : *parsed) {
    if (value.is_number()) numbers.push_back(value.get<double>());
  }
  return numbers;
}

}  // namespace

std::string select_samples() {
  return "SELECT s.job_id, s.submit, s.restarts, s.time, s.run_start, t.account, t.name, t.shared, "
         "s.gpu_type, s.gpus, s.nodes, s.plan, s.batch, s.samples_done, s.rate, s.loss, "
         "s.forward_time, s.iteration_time, s.gradient_noise, s.flag, s.cores, s.memory, "
         "s.workers, "
         "s.servers, s.server_cores, s.sync_time, s.optimise_time "
         "FROM samples AS s JOIN job_types AS t ON t.id = s.type ";
}

Sample sample_of(SQLite::Statement& row) {
  Sample s;
  std::string flag;
  Columns(row) >> s.job >> s.restarts >> s.time >> s.run_start >> s.type >> s.gpu_type >> s.gpus >>
      s.nodes >> s.plan >> s.batch >> s.samples_done >> s.throughput >> s.loss >> s.forward_time >>
      s.iteration_time >> s.gradient_noise >> flag >> s.cores >> s.memory >> s.workers >>
      s.servers >> s.server_cores >> s.sync_time >> s.optimise_time;
  // An unknown flag, from a newer release, still excludes the sample.
  s.flag = flag_from(flag).value_or(Flag::kUnlikeOthers);
  return s;
}

std::string select_fits() {
  return "SELECT t.account, t.name, t.shared, f.gpu_type, f.model, f.parameters, f.samples, "
         "f.error, "
         "f.time FROM fits AS f JOIN job_types AS t ON t.id = f.type ";
}

Fit fit_of(SQLite::Statement& row) {
  Fit f;
  std::string parameters;
  Columns(row) >> f.type >> f.gpu_type >> f.model >> parameters >> f.samples >> f.error >> f.time;
  f.parameters = numbers_of(parameters);
  return f;
}

std::string select_jobs() {
  return "SELECT j.job_id, j.submit, t.account, t.name, t.shared, j.class, j.attained, j.level, "
         "j.samples_done, j.restarts, j.updated FROM jobs AS j JOIN job_types AS t ON t.id = "
         "j.type ";
}

JobRecord job_of(SQLite::Statement& row) {
  JobRecord j;
  std::string job_class;
  Columns(row) >> j.job >> j.type >> job_class >> j.attained >> j.level >> j.samples_done >>
      j.restarts >> j.updated;
  j.job_class = job_class_from(job_class).value_or(JobClass::kBestEffort);
  return j;
}

std::string select_decisions() { return "SELECT job_id, submit, time, kind, text FROM decisions "; }

Decision decision_of(SQLite::Statement& row) {
  Decision d;
  Columns(row) >> d.job >> d.time >> d.kind >> d.text;
  return d;
}

std::string select_runs() {
  return "SELECT job_id, submit, start, enters, \"end\", text FROM runs ";
}

RunRecord run_of(SQLite::Statement& row) {
  RunRecord r;
  Columns(row) >> r.job >> r.start >> r.enters >> r.end >> r.text;
  return r;
}

std::string select_imported() {
  return "SELECT t.account, t.name, t.shared, i.gpu_type, i.gpus, i.nodes, i.plan, i.batch, "
         "i.cores, i.workers, i.servers, i.server_cores, i.samples, i.jobs, i.rate, i.rate_min, "
         "i.rate_max, i.rate_last, i.forward_time, i.sync_time, i.optimise_time, "
         "i.iteration_time, i.gradient_noise, i.last "
         "FROM imported AS i CROSS JOIN job_types AS t ON t.id = i.type ";
}

ProfileRow imported_of(SQLite::Statement& row) {
  ProfileRow p;
  JobTypeGroup& g = p.group;
  Columns(row) >> p.type >> p.gpu_type >> p.gpus >> g.nodes >> g.plan >> g.batch >> g.cores >>
      g.workers >> g.servers >> g.server_cores >> g.samples >> g.jobs >> g.mean_throughput >>
      g.min_throughput >> g.max_throughput >> g.last_throughput >> g.forward_time >> g.sync_time >>
      g.optimise_time >> g.iteration_time >> g.gradient_noise >> g.last;
  g.imported = true;
  return p;
}

RowWriter::RowWriter(SQLite::Database& database)
    : type_(database, kInsertType),
      sample_(database, kInsertSample),
      fit_(database, kInsertFit),
      job_(database, kInsertJob),
      decision_(database, kInsertDecision),
      run_(database, kInsertRun),
      imported_(database, kInsertImported) {}

std::int64_t RowWriter::type_id(const JobType& type) {
  const auto key = std::pair(type.account, type.name);
  const auto found = types_.find(key);
  if (found != types_.end() && found->second.shared == type.shared) return found->second.id;
  StatementReset statement(type_);
  Binder(type_) << type.account << type.name << type.shared;
  statement->executeStep();
  const std::int64_t id = statement->getColumn(0).getInt64();
  types_[key] = {id, type.shared};
  return id;
}

void RowWriter::insert(const Sample& s) {
  const std::int64_t type = type_id(s.type);
  StatementReset statement(sample_);
  Binder(sample_) << type << s.job << s.restarts << s.time << s.run_start << s.gpu_type << s.gpus
                  << s.nodes << s.plan << s.batch << s.samples_done << s.throughput << s.loss
                  << s.forward_time << s.iteration_time << s.gradient_noise << to_string(s.flag)
                  << s.cores << s.memory << s.workers << s.servers << s.server_cores << s.sync_time
                  << s.optimise_time;
  statement->exec();
}

void RowWriter::insert(const Fit& f) {
  const std::int64_t type = type_id(f.type);
  StatementReset statement(fit_);
  Binder(fit_) << type << f.gpu_type << f.model << json_text(f.parameters) << f.samples << f.error
               << f.time;
  statement->exec();
}

void RowWriter::insert(const JobRecord& j) {
  const std::int64_t type = type_id(j.type);
  StatementReset statement(job_);
  Binder(job_) << j.job << type << to_string(j.job_class) << j.attained << j.level << j.samples_done
               << j.restarts << j.updated;
  statement->exec();
}

void RowWriter::insert(const Decision& d) {
  StatementReset statement(decision_);
  Binder(decision_) << d.job << d.time << d.kind << d.text;
  statement->exec();
}

void RowWriter::insert(const ProfileRow& p) {
  const std::int64_t type = type_id(p.type);
  const JobTypeGroup& g = p.group;
  StatementReset statement(imported_);
  Binder(imported_) << type << p.gpu_type << p.gpus << g.nodes << g.plan << g.batch << g.cores
                    << g.workers << g.servers << g.server_cores << g.samples << g.jobs
                    << g.mean_throughput << g.min_throughput << g.max_throughput
                    << g.last_throughput << g.forward_time << g.sync_time << g.optimise_time
                    << g.iteration_time << g.gradient_noise << g.last;
  statement->exec();
}

void RowWriter::insert(const RunRecord& r) {
  StatementReset statement(run_);
  Binder(run_) << r.job << r.start << r.enters << r.end << r.text;
  statement->exec();
}

}  // namespace rubato::store
