// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/format_native.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "lib/config/nearest.h"
#include "lib/sim/step_truth.h"

namespace rubato::sim {
namespace {

constexpr std::int64_t kMostGpus = 65536;
constexpr long kMostMemory = 1L << 40;  // MiB
constexpr std::array<const char*, 21> kColumns{
    "job",          "arrival_s",     "gpus",      "run_s",          "work",
    "model",        "types",         "min_gpus",  "max_gpus",       "weight",
    "batch",        "min_batch",     "max_batch", "start_s",        "restart_s",
    "time_limit_s", "cores_per_gpu", "account",   "forecast_error", "servers",
    "predictable"};
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
                                           {"step_most_local", &StepCosts::most_local}}};

/// Reads one row; a column that is not there, or is empty, leaves the default.
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
  Result<void> count(const char* column, std::int64_t least, int& into) const {
    if (!says(column)) return {};
    const auto value = table_.whole(row_, *table_.column(column));
    if (!value) return tl::unexpected(value.error());
    if (*value < least || *value > kMostGpus) {
      return error(column, fmt::format("expected a whole number from {} to {}", least, kMostGpus));
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

Result<void> sizes_of(const Row& row, SimJob& job) {
  if (auto read = row.count("gpus", 1, job.gpus); !read) return read;
  job.min_gpus = job.max_gpus = job.gpus;
  if (auto read = row.count("min_gpus", 1, job.min_gpus); !read) return read;
  if (auto read = row.count("max_gpus", 1, job.max_gpus); !read) return read;
  if (job.min_gpus > job.gpus) return row.error("min_gpus", "expected at most what gpus says");
  if (job.max_gpus < job.gpus) return row.error("max_gpus", "expected at least what gpus says");
  return row.count("cores_per_gpu", 0, job.cores_per_gpu);
}

Result<void> amounts_of(const Row& row, SimJob& job) {
  double memory = 0;
  const std::array<std::pair<const char*, double*>, 11> fields{
      {{"arrival_s", &job.arrival},
       {"weight", &job.weight},
       {"batch", &job.batch},
       {"min_batch", &job.min_batch},
       {"max_batch", &job.max_batch},
       {"forecast_error", &job.forecast_error},
       {"start_s", &job.start_s},
       {"restart_s", &job.restart_s},
       {"time_limit_s", &job.time_limit},
       {kMemory, &memory},
       {"work", &job.work}}};
  for (const auto& [column, into] : fields) {
    if (auto read = row.amount(column, *into); !read) return read;
  }
  if (row.says("weight") && !(job.weight > 0)) return row.error("weight", "expected above 0");
  if (row.says("time_limit_s") && !(job.time_limit > 0)) {
    return row.error("time_limit_s", "expected above 0");
  }
  if (memory > kMostMemory) {
    return row.error(kMemory, fmt::format("expected at most {}", kMostMemory));
  }
  job.memory_per_gpu = static_cast<long>(memory);
  return {};
}

/// What may change: the range of batches, servers, and whether forecasts hold.
Result<void> training_of(const Row& row, SimJob& job) {
  if (job.min_batch > job.batch || (row.says("max_batch") && job.max_batch < job.batch)) {
    return row.error(job.min_batch > job.batch ? "min_batch" : "max_batch",
                     "expected a range with the batch in it");
  }
  if (auto read = row.count("servers", 0, job.servers); !read) return read;
  if (job.servers >= job.gpus) return row.error("servers", "expected less than gpus");
  int predictable = 1;
  if (auto read = row.count("predictable", 0, predictable); !read) return read;
  if (predictable > 1) return row.error("predictable", "expected 0 or 1");
  job.predictable = predictable == 1;
  return {};
}

/// Where the time of an iteration goes, if it says that.
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

/// `run_s` is the time at the requested GPUs; without a model its work is that time.
Result<void> work_of(const Row& row, SimJob& job) {
  if (row.says("run_s") == row.says("work")) {
    return row.error("job", "expected run_s or work, one of them");
  }
  if (row.says("work")) {
    if (job.model.empty()) return row.error("work", "expected a model beside it");
    if (!(job.work > 0)) return row.error("work", "expected above 0");
    return {};
  }
  if (auto read = row.amount("run_s", job.work); !read) return read;
  if (!(job.work > 0)) return row.error("run_s", "expected above 0");
  return {};
}

Result<SimJob> job_of(const Row& row) {
  SimJob job;
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
  for (const std::string& heading : table.headings()) {
    if (std::find(known.begin(), known.end(), heading) != known.end()) continue;
    return fail(fmt::format("{}: no column '{}' is known{}", table.name(), heading,
                            did_you_mean(heading, known)));
  }
  for (const char* needed : {"job", "arrival_s", "gpus"}) {
    if (auto column = table.column(needed); !column) return tl::unexpected(column.error());
  }
  return {};
}

/// What a job says of its iterations, else a table of speeds; without a row for a model, a second
/// of work a second at the requested size.
class NativeTruth final : public StepTruth {
 public:
  explicit NativeTruth(int types) : rates_(static_cast<std::size_t>(types)) {}

  /// `own`: of this very interconnect, which stands before what is said of all of them.
  void add(const std::string& model, int type, int gpus, double rate, bool own) {
    models_.insert(model);
    auto& rates = rates_[static_cast<std::size_t>(type)][model];
    if (own) own_.emplace(type, model, gpus);
    if (own || !own_.contains({type, model, gpus})) rates[gpus] = rate;
  }
  [[nodiscard]] bool knows(const std::string& model) const { return models_.contains(model); }

  [[nodiscard]] double rate(const SimJob& job, const Setting& setting, double done) const override {
    if (setting.type < 0) return 0;
    if (job.step) return StepTruth::rate(job, setting, done);
    const int gpus = setting.gpus();
    if (!knows(job.model)) return static_cast<double>(gpus) / job.gpus;
    const auto& of_type = rates_[static_cast<std::size_t>(setting.type)];
    const auto curve = of_type.find(job.model);
    if (curve == of_type.end()) return 0;
    const auto above = curve->second.lower_bound(gpus);
    if (above == curve->second.end()) return 0;
    if (above->first == gpus) return above->second;
    if (above == curve->second.begin()) return 0;
    const auto below = std::prev(above);
    const double part = static_cast<double>(gpus - below->first) / (above->first - below->first);
    return below->second + part * (above->second - below->second);
  }

 private:
  std::set<std::string> models_;
  std::set<std::tuple<int, std::string, int>> own_;
  std::vector<std::map<std::string, std::map<int, double>>> rates_;
};

Result<void> read_speeds(const std::string& file, const ClusterShape& cluster, NativeTruth& truth) {
  const auto table = CsvTable::read(file);
  if (!table) return tl::unexpected(table.error());
  std::array<std::size_t, 4> at{};
  const std::array<const char*, 4> names{"model", "gpu_type", "gpus", "rate"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto column = table->column(names[i]);
    if (!column) return tl::unexpected(column.error());
    at[i] = *column;
  }
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const auto gpus = table->whole(row, at[2]);
    if (!gpus) return tl::unexpected(gpus.error());
    if (*gpus < 1 || *gpus > kMostGpus) return table->error(row, at[2], "expected 1 or more");
    const auto rate = table->amount(row, at[3]);
    if (!rate) return tl::unexpected(rate.error());
    // What is said of a type holds on all interconnects that have no row of their own.
    const std::string& name = table->text(row, at[1]);
    for (int type = 0; type < cluster.types(); ++type) {
      const NodeGroup& group = cluster.groups[static_cast<std::size_t>(type)];
      if (group.type != name && group.gpu != name) continue;
      truth.add(table->text(row, at[0]), type, static_cast<int>(*gpus), *rate, group.type == name);
    }
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
  const auto truth = std::make_shared<NativeTruth>(cluster.types());
  if (!profiles.empty()) {
    if (auto read = read_speeds(profiles, cluster, *truth); !read) {
      return tl::unexpected(read.error());
    }
  }
  for (const SimJob& job : *jobs) {
    for (const std::string& type : job.types) {
      std::vector<std::string> names;
      for (const NodeGroup& group : cluster.groups) {
        names.push_back(group.type);
        if (!group.gpu.empty()) names.push_back(group.gpu);
      }
      if (std::find(names.begin(), names.end(), type) != names.end()) continue;
      return fail(fmt::format("{}: job {}: the cluster has no GPUs of type '{}'{}", workload,
                              job.key, type, did_you_mean(type, names)));
    }
  }
  if (table->has("work")) {
    for (const SimJob& job : *jobs) {
      if (truth->knows(job.model) || job.model.empty() || job.step) continue;
      return fail(fmt::format("{}: job {}: no speed of model '{}' in the profiles", workload,
                              job.key, job.model));
    }
  }
  Suite suite;
  suite.name = workload;
  suite.jobs = std::move(*jobs);
  suite.cluster = cluster;
  suite.truth = truth;
  return suite;
}

}  // namespace rubato::sim
