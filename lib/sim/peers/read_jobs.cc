// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/read_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <set>
#include <tuple>

#include "lib/base/csv.h"

namespace rubato::sim {
namespace {

constexpr std::int64_t kMaxGpus = 1'000'000;
constexpr std::int64_t kMaxCount = std::int64_t{1} << 53;

/// The fields of a row. Keeps the first error.
class Fields {
 public:
  Fields(const CsvTable& table, std::size_t row) : table_(table), row_(row) {}

  std::string text(std::string_view heading) {
    const std::size_t at = column(heading);
    if (!error_.text.empty()) return {};
    if (table_.text(row_, at).empty()) keep(table_.error(row_, at, "expected a name").value());
    return table_.text(row_, at);
  }

  double amount(std::string_view heading, double most = kMaxSeconds) {
    const std::size_t at = column(heading);
    if (!error_.text.empty()) return 0;
    const auto value = table_.amount(row_, at);
    if (!value) {
      keep(value.error());
    } else if (*value > most) {
      keep(table_.error(row_, at, fmt::format("expected at most {:.0f}", most)).value());
    }
    return value.value_or(0);
  }

  std::int64_t whole(std::string_view heading, std::int64_t least, std::int64_t most) {
    const std::size_t at = column(heading);
    if (!error_.text.empty()) return least;
    const auto value = table_.whole(row_, at);
    if (!value) {
      keep(value.error());
    } else if (*value < least || *value > most) {
      keep(table_.error(row_, at, fmt::format("expected a whole number from {} to {}", least, most))
               .value());
    }
    return value.value_or(least);
  }

  double positive(std::string_view heading) {
    const double value = amount(heading);
    if (error_.text.empty() && value <= 0) {
      keep(table_.error(row_, column(heading), "expected a number above 0").value());
    }
    return value;
  }

  double count(std::string_view heading) {
    return static_cast<double>(whole(heading, 1, kMaxCount));
  }

  int gpus(std::string_view heading) { return static_cast<int>(whole(heading, 1, kMaxGpus)); }

  [[nodiscard]] const Error& error() const { return error_; }

 private:
  std::size_t column(std::string_view heading) {
    const auto at = table_.column(heading);
    if (!at) keep(at.error());
    return at.value_or(0);
  }
  void keep(const Error& error) {
    if (error_.text.empty()) error_ = error;
  }

  const CsvTable& table_;
  std::size_t row_;
  Error error_;
};

/// The number at the end of a name.
std::uint64_t number_of(const std::string& name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const std::size_t first = last == std::string::npos ? 0 : last + 1;
  std::uint64_t number = 0;
  std::from_chars(name.data() + first, name.data() + name.size(), number);
  return number;
}

void rigid(SimJob& job, int gpus) { job.gpus = job.min_gpus = job.max_gpus = gpus; }

Result<JobList> read_jobs(const std::string& path, std::string_view name_column,
                          const std::function<SimJob(Fields&)>& job_of) {
  const auto table = CsvTable::read(path);
  if (!table) return tl::unexpected(table.error());
  const auto names = table->column(name_column);
  if (!names) return tl::unexpected(names.error());
  if (table->rows() == 0)
    return fail(fmt::format("{}:2:1: no jobs; expected one row per job", path));
  JobList jobs;
  std::set<std::string> seen;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    Fields fields(*table, row);
    SimJob job = job_of(fields);
    job.key = fields.text(name_column);
    job.line.number = table->line(row);
    if (!fields.error().text.empty()) return tl::unexpected(fields.error());
    if (!seen.insert(job.key).second) {
      return table->error(row, *names, "appears twice; expected a unique name");
    }
    jobs.push_back(std::move(job));
  }
  std::ranges::sort(jobs, {}, [](const SimJob& job) {
    return std::tuple(job.arrival, number_of(job.key), job.key);
  });
  return jobs;
}

}  // namespace

Result<JobList> read_sia_jobs(const std::string& path) {
  return read_jobs(path, "name", [](Fields& fields) {
    SimJob job;
    job.arrival = fields.amount("time");
    job.model = fields.text("application");
    rigid(job, fields.gpus("num_replicas"));
    job.batch = fields.count("batch_size");
    return job;
  });
}

Result<JobList> read_rubick_jobs(const std::string& path) {
  return read_jobs(path, "name", [](Fields& fields) {
    SimJob job;
    job.arrival = fields.amount("submission_time");
    job.model = fields.text("application");
    rigid(job, fields.gpus("num_gpus"));
    job.plan = fields.text("exec_plan");
    job.work = fields.count("steps") + 1;
    job.guaranteed = fields.whole("is_sla", 0, 1) != 0;
    return job;
  });
}

Result<JobList> read_muri_jobs(const std::string& path) {
  return read_jobs(path, "job_id", [](Fields& fields) {
    SimJob job;
    rigid(job, fields.gpus("num_gpu"));
    job.arrival = fields.amount("submit_time", 1000 * kMaxSeconds) / 1000;
    job.work = fields.count("iterations");
    job.model = fields.text("model_name");
    fields.positive("iteration_time");
    job.more["iteration_time"] = fields.text("iteration_time");
    return job;
  });
}

Result<JobList> read_tiresias_jobs(const std::string& path) {
  return read_jobs(path, "job_id", [](Fields& fields) {
    SimJob job;
    rigid(job, fields.gpus("num_gpu"));
    job.arrival = fields.amount("submit_time");
    job.model = fields.text("model_name");
    job.work = fields.positive("duration");
    return job;
  });
}

}  // namespace rubato::sim
