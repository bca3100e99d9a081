// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/formats/format_native.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "lib/base/nearest.h"
#include "lib/sim/engine/native_truth.h"

namespace rubato::sim {
namespace {

constexpr std::int64_t kMaxGpus = 65536;
constexpr long kMaxMemory = 1L << 40;  // MiB
constexpr std::array<const char*, 25> kColumns{
    "job",          "arrival_s",     "gpus",      "run_s",          "work",
    "model",        "types",         "min_gpus",  "max_gpus",       "weight",
    "batch",        "min_batch",     "max_batch", "start_s",        "restart_s",
    "time_limit_s", "cores_per_gpu", "account",   "forecast_error", "servers",
    "predictable",  "hints",         "sizes",     "resize_s",       "restarts"};
constexpr const char* kMemory = "memory_mib_per_gpu";
constexpr const char* kLink = "step_link_mb_s";
struct StepColumn {
  const char* name;
  double StepCosts::*member;
};
constexpr std::array<StepColumn, 8> kStep{{{"step_fixed_s", &StepCosts::fixed_s},
                                           {"step_sample_s", &StepCosts::sample_s},
                                           {"step_gradient_mb", &StepCosts::gradient_mb},
                                           {kLink, &StepCosts::link_mb_s},
                                           {"step_exchange_s", &StepCosts::exchange_s},
                                           {"step_worker_s", &StepCosts::worker_s},
                                           {"step_server_s", &StepCosts::server_s},
                                           {"step_most_local", &StepCosts::max_local}}};

/// Reads one row; a missing or empty column keeps the default.
class Row {
 public:
  Row(const CsvTable& table, std::size_t row) : table_(table), row_(row) {}

  [[nodiscard]] bool says(const char* column) const {
    return table_.has(column) && !table_.text(row_, *table_.column(column)).empty();
  }
  [[nodiscard]] std::string text(const char* column) const {
    return table_.has(column) ? table_.text(row_, *table_.column(column)) : std::string{};
  }
  Result<void> amount(const char* column, double& into) const {
    if (!says(column)) return {};
    const auto value = table_.amount(row_, *table_.column(column));
    if (!value) return tl::unexpected(value.error());
    into = *value;
    return {};
  }
  /// A time.
  Result<void> seconds(const char* column, double& into) const {
    if (auto read = amount(column, into); !read) return read;
    if (into <= kMaxSeconds || !says(column)) return {};
    return error(column, fmt::format("expected at most {:.0f} s, about 300 years", kMaxSeconds));
  }
  [[nodiscard]] std::size_t line() const { return table_.line(row_); }
  Result<void> count(const char* column, std::int64_t least, int& into) const {
    if (!says(column)) return {};
    const auto value = table_.whole(row_, *table_.column(column));
    if (!value) return tl::unexpected(value.error());
    if (*value < least || *value > kMaxGpus) {
      return error(column, fmt::format("expected a whole number from {} to {}", least, kMaxGpus));
    }
    into = static_cast<int>(*value);
    return {};
  }
  [[nodiscard]] tl::unexpected<Error> error(const char* column, std::string_view text) const {
    return table_.error(row_, *table_.column(column), text);
  }

 private:
  const CsvTable& table_;
  std::size_t row_;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find('/', from), text.size());
    if (to > from) parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

/// Reads the sizes that are allowed in the range, which is theirs if no other is given.
Result<void> list_of(const Row& row, SimJob& job) {
  for (const std::string& part : split(row.text("sizes"))) {
    int size = 0;
    const auto [end, wrong] = std::from_chars(part.data(), part.data() + part.size(), size);
    if (wrong != std::errc{} || end != part.data() + part.size() || size < 1 || size > kMaxGpus) {
      return row.error("sizes", fmt::format("'{}': expected whole numbers from 1 to {} with / "
                                            "between them",
                                            part, kMaxGpus));
    }
    job.sizes.push_back(size);
  }
  if (job.sizes.empty()) return {};
  std::ranges::sort(job.sizes);
  job.sizes.erase(std::unique(job.sizes.begin(), job.sizes.end()), job.sizes.end());
  if (!row.says("min_gpus")) job.min_gpus = std::min(job.gpus, job.sizes.front());
  if (!row.says("max_gpus")) job.max_gpus = std::max(job.gpus, job.sizes.back());
  if (job.sizes.front() < job.min_gpus || job.sizes.back() > job.max_gpus)
    return row.error("sizes", "expected sizes from min_gpus to max_gpus");
  return {};
}

Result<void> sizes_of(const Row& row, SimJob& job) {
  if (auto read = row.count("gpus", 1, job.gpus); !read) return read;
  job.min_gpus = job.max_gpus = job.gpus;
  if (auto read = row.count("min_gpus", 1, job.min_gpus); !read) return read;
  if (auto read = row.count("max_gpus", 1, job.max_gpus); !read) return read;
  if (job.min_gpus > job.gpus) return row.error("min_gpus", "expected at most what gpus says");
  if (job.max_gpus < job.gpus) return row.error("max_gpus", "expected at least what gpus says");
  if (auto read = list_of(row, job); !read) return read;
  return row.count("cores_per_gpu", 0, job.cores_per_gpu);
}

Result<void> amounts_of(const Row& row, SimJob& job) {
  double memory = 0;
  const std::array<std::pair<const char*, double*>, 7> fields{
      {{"weight", &job.weight},
       {"batch", &job.batch},
       {"min_batch", &job.min_batch},
       {"max_batch", &job.max_batch},
       {"forecast_error", &job.forecast_error},
       {kMemory, &memory},
       {"work", &job.work}}};
  for (const auto& [column, into] : fields) {
    if (auto read = row.amount(column, *into); !read) return read;
  }
  const std::array<std::pair<const char*, double*>, 5> times{{{"arrival_s", &job.arrival},
                                                              {"start_s", &job.start_s},
                                                              {"restart_s", &job.restart_s},
                                                              {"resize_s", &job.resize_s},
                                                              {"time_limit_s", &job.time_limit}}};
  for (const auto& [column, into] : times) {
    if (auto read = row.seconds(column, *into); !read) return read;
  }
  if (row.says("weight") && !(job.weight > 0)) return row.error("weight", "expected above 0");
  if (row.says("time_limit_s") && !(job.time_limit > 0)) {
    return row.error("time_limit_s", "expected above 0");
  }
  if (memory > kMaxMemory) {
    return row.error(kMemory, fmt::format("expected at most {}", kMaxMemory));
  }
  job.memory_per_gpu = static_cast<long>(memory);
  return {};
}

/// Reads 0 or 1; a missing or empty column keeps the default.
Result<void> flag_of(const Row& row, const char* column, bool& flag) {
  int value = flag ? 1 : 0;
  if (auto read = row.count(column, 0, value); !read) return read;
  if (value > 1) return row.error(column, "expected 0 or 1");
  flag = value == 1;
  return {};
}

/// Reads batch range, servers, whether forecasts are reliable, and what the user says of the job.
Result<void> training_of(const Row& row, SimJob& job) {
  if (job.min_batch > job.batch || (row.says("max_batch") && job.max_batch < job.batch)) {
    return row.error(job.min_batch > job.batch ? "min_batch" : "max_batch",
                     "expected a range with the batch in it");
  }
  if (auto read = row.count("servers", 0, job.servers); !read) return read;
  if (job.servers >= job.gpus) return row.error("servers", "expected less than gpus");
  return flag_of(row, "predictable", job.predictable)
      .and_then([&]() { return flag_of(row, "hints", job.hints); })
      .and_then([&]() { return flag_of(row, "restarts", job.restarts); });
}

/// Reads the time of an iteration, if given.
Result<void> step_of(const Row& row, SimJob& job) {
  StepCosts step;
  const char* said = nullptr;
  for (const StepColumn& column : kStep) {
    if (auto read = row.amount(column.name, step.*column.member); !read) return read;
    if (said == nullptr && row.says(column.name)) said = column.name;
  }
  if (said == nullptr) {
    if (job.servers > 0) return row.error("servers", "expected columns step_... beside it");
    return {};
  }
  if (!(step.link_mb_s > 0)) return row.error(kLink, "expected above 0");
  if (!(step.fixed_s + step.sample_s > 0)) {
    return row.error(said, "expected step_fixed_s or step_sample_s above 0 beside it");
  }
  if (!(job.batch >= 1)) return row.error(said, "expected a batch beside it");
  if (!row.says("work")) return row.error(said, "expected work, in samples, beside it");
  job.step = step;
  return {};
}

/// `run_s` is the run time at the requested GPUs; without a model it becomes the work.
Result<void> work_of(const Row& row, SimJob& job) {
  if (row.says("run_s") == row.says("work")) {
    return row.error("job", "expected run_s or work, one of them");
  }
  if (row.says("work")) {
    if (job.model.empty()) return row.error("work", "expected a model beside it");
    if (!(job.work > 0)) return row.error("work", "expected above 0");
    return {};
  }
  if (auto read = row.seconds("run_s", job.work); !read) return read;
  if (!(job.work > 0)) return row.error("run_s", "expected above 0");
  return {};
}

Result<SimJob> job_of(const Row& row) {
  SimJob job;
  job.line.number = row.line();
  job.key = row.text("job");
  job.model = row.text("model");
  job.account = row.text("account");
  job.types = split(row.text("types"));
  if (job.key.empty()) return row.error("job", "expected a name");
  if (auto read = sizes_of(row, job); !read) return tl::unexpected(read.error());
  if (auto read = amounts_of(row, job); !read) return tl::unexpected(read.error());
  if (auto read = work_of(row, job); !read) return tl::unexpected(read.error());
  if (auto read = training_of(row, job); !read) return tl::unexpected(read.error());
  if (auto read = step_of(row, job); !read) return tl::unexpected(read.error());
  return job;
}

Result<void> check_columns(const CsvTable& table) {
  std::vector<std::string> known(kColumns.begin(), kColumns.end());
  known.emplace_back(kMemory);
  for (const StepColumn& column : kStep) known.emplace_back(column.name);
  for (std::size_t i = 0; i < table.headings().size(); ++i) {
    const std::string& heading = table.headings()[i];
    if (std::find(known.begin(), known.end(), heading) != known.end()) continue;
    return table.heading_error(
        i, fmt::format("no column '{}' is known{}", heading, did_you_mean(heading, known)));
  }
  for (const char* needed : {"job", "arrival_s", "gpus"}) {
    if (auto column = table.column(needed); !column) return tl::unexpected(column.error());
  }
  return {};
}

/// Checks that all models have throughputs, and that no job is so slow that its times lose
/// precision.
Result<void> check_speeds(const CsvTable& table, const JobList& jobs, const NativeTruth& truth,
                          const ClusterShape& cluster, bool profiles) {
  std::map<std::size_t, std::size_t> row_on;
  for (std::size_t row = 0; row < table.rows(); ++row) row_on[table.line(row)] = row;
  for (const SimJob& job : jobs) {
    const std::size_t row = row_on[job.line.number];
    if (table.has("work") && !truth.knows(job.model) && !job.model.empty() && !job.step) {
      return table.error(row, *table.column("model"),
                         no_speed(truth, cluster, job.model, profiles));
    }
    const double ideal = ideal_seconds(truth, cluster, job);
    if (ideal <= kMaxSeconds || ideal == kNever) continue;
    const bool work = Row(table, row).says("work");
    return table.error(
        row, *table.column(work ? "work" : "run_s"),
        fmt::format("it would run for {:.3g} s, expected at most {:.0f} s", ideal, kMaxSeconds));
  }
  return {};
}

}  // namespace

Result<JobList> parse_native_jobs(const CsvTable& table) {
  if (auto known = check_columns(table); !known) return tl::unexpected(known.error());
  JobList jobs;
  std::map<std::string, std::size_t> seen;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    auto job = job_of(Row(table, row));
    if (!job) return tl::unexpected(job.error());
    if (const auto [at, fresh] = seen.emplace(job->key, table.line(row)); !fresh) {
      return table.error(row, *table.column("job"),
                         fmt::format("that name stands on line {} too", at->second));
    }
    jobs.push_back(std::move(*job));
  }
  std::sort(jobs.begin(), jobs.end(), [](const SimJob& a, const SimJob& b) {
    return std::pair(a.arrival, a.key) < std::pair(b.arrival, b.key);
  });
  return jobs;
}

Result<Suite> read_native_suite(const std::string& workload, const std::string& profiles,
                                const ClusterShape& cluster) {
  const auto table = CsvTable::read(workload);
  if (!table) return tl::unexpected(table.error());
  auto jobs = parse_native_jobs(*table);
  if (!jobs) return tl::unexpected(jobs.error());
  if (jobs->empty())
    return fail(fmt::format("{}:2:1: no jobs; expected one row per job", workload));
  const auto truth = std::make_shared<NativeTruth>(cluster.types());
  if (!profiles.empty()) {
    if (auto read = read_speeds(profiles, cluster, *truth); !read) {
      return tl::unexpected(read.error());
    }
  }
  const std::vector<std::string> names = type_names(cluster);
  for (const SimJob& job : *jobs) {
    for (const std::string& type : job.types) {
      if (std::find(names.begin(), names.end(), type) != names.end()) continue;
      return fail(fmt::format("{}:{}: job {}: the cluster has no GPUs of type '{}'{}", workload,
                              job.line.number, job.key, type, did_you_mean(type, names)));
    }
  }
  if (auto made = check_speeds(*table, *jobs, *truth, cluster, !profiles.empty()); !made) {
    return tl::unexpected(made.error());
  }
  Suite suite;
  suite.name = workload;
  suite.jobs = std::move(*jobs);
  suite.cluster = cluster;
  suite.truth = truth;
  return suite;
}

}  // namespace rubato::sim
