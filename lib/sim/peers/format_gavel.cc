// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/format_gavel.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <utility>

#include "lib/sim/formats/field_lines.h"

namespace rubato::sim {
namespace {

enum Field : std::size_t { kType, kSteps = 5, kScale = 6, kWeight = 7, kArrival = 9, kFields = 10 };
constexpr int kMaxScale = 65536;
constexpr std::int64_t kMaxSteps = std::int64_t{1} << 53;

class GavelTruth final : public Truth {
 public:
  GavelTruth(const GavelData& data, const ClusterShape& cluster) : throughputs_(cluster.types()) {
    for (const GavelObservation& observation : data.observations) {
      if (!observation.consolidated) continue;
      for (std::size_t type = 0; type < throughputs_.size(); ++type) {
        const NodeGroup& group = cluster.groups[type];
        if (group.type != observation.gpu_type && group.gpu != observation.gpu_type) continue;
        throughputs_[type][{observation.model.name, observation.scale}] = observation.steps;
      }
    }
  }

  [[nodiscard]] double throughput(const SimJob& job, const Setting& setting,
                                  double /*done*/) const override {
    if (!setting.type.valid()) return 0;
    const auto& of_type = throughputs_[setting.type];
    const auto observation = of_type.find({job.model, setting.gpus()});
    return observation == of_type.end() ? 0 : observation->second;
  }

 private:
  std::vector<std::map<std::pair<std::string, int>, double>> throughputs_;
};

Result<SimJob> job_of(const FieldLine& line, std::size_t at, double earliest, std::size_t number) {
  if (line.size() != kFields) {
    return line.error(std::min<std::size_t>(line.size(), kFields),
                      "ten fields between tabs: job type, command, folder, argument, data, steps, "
                      "GPUs, weight, SLO, arrival");
  }
  SimJob job;
  job.key = fmt::format("{}", number);
  job.line.number = at;
  job.model = std::string(line.text(kType));
  if (job.model.empty()) return line.error(kType, "a job type");
  const auto steps = line.whole(kSteps, 1, kMaxSteps, "the total of steps");
  if (!steps) return tl::unexpected(steps.error());
  const auto scale = line.whole(kScale, 1, kMaxScale, "the number of GPUs");
  if (!scale) return tl::unexpected(scale.error());
  const auto weight = line.number(kWeight, 0, "the weight");
  if (!weight) return tl::unexpected(weight.error());
  const auto arrival = line.number(kArrival, 0, "the arrival in seconds", kMaxSeconds);
  if (!arrival) return tl::unexpected(arrival.error());
  if (*arrival < earliest) {
    return line.error(kArrival,
                      fmt::format("an arrival from {} on, that of the line before", earliest));
  }
  job.work = static_cast<double>(*steps);
  job.gpus = job.min_gpus = job.max_gpus = static_cast<int>(*scale);
  job.weight = *weight;
  job.arrival = *arrival;
  job.batch = static_cast<double>(gavel_model(job.model).batch) * job.gpus;
  return job;
}

}  // namespace

Result<JobList> parse_gavel_trace(std::string_view text, const std::string& name) {
  JobList jobs;
  for (const NumberedLine& line : lines_of(text)) {
    const double earliest = jobs.empty() ? 0 : jobs.back().arrival;
    auto job =
        job_of(FieldLine(line.text, '\t', name, line.number), line.number, earliest, jobs.size());
    if (!job) return tl::unexpected(job.error());
    jobs.push_back(std::move(*job));
  }
  if (jobs.empty()) return fail(fmt::format("{}:1:1: expected a job, found the end", name));
  return jobs;
}

std::shared_ptr<const Truth> gavel_truth(const GavelData& data, const ClusterShape& cluster) {
  return std::make_shared<GavelTruth>(data, cluster);
}

Result<Suite> read_gavel_suite(const std::string& trace, const std::string& profiles,
                               const ClusterShape& cluster) {
  const auto text = read_text(trace);
  if (!text) return tl::unexpected(text.error());
  auto jobs = parse_gavel_trace(*text, trace);
  if (!jobs) return tl::unexpected(jobs.error());
  if (profiles.empty()) {
    return fail("format gavel: --profiles FILE or DIR says where simulation_throughputs.json is");
  }
  std::error_code code;
  const std::string file = std::filesystem::is_directory(profiles, code)
                               ? profiles + "/simulation_throughputs.json"
                               : profiles;
  const auto table = read_text(file);
  if (!table) return tl::unexpected(table.error());
  const auto data = parse_gavel(*table, file);
  if (!data) return tl::unexpected(data.error());
  Suite suite;
  suite.name = trace;
  suite.jobs = std::move(*jobs);
  suite.cluster = cluster;
  suite.truth = gavel_truth(*data, cluster);
  suite.rules = &rules_gavel;
  suite.host = &host_gavel;
  suite.rules_name = "gavel";
  for (const SimJob& job : suite.jobs) {
    const double ideal = ideal_seconds(*suite.truth, cluster, job);
    if (ideal > kMaxSeconds && ideal < kNever) {
      return fail(
          fmt::format("{}:{}: job {}: it would run for {:.3g} s alone, expected at most {:.0f} s",
                      trace, job.line.number, job.key, ideal, kMaxSeconds));
    }
    if (ideal < kNever) continue;
    return fail(fmt::format("{}: job {}: no speed of '{}' on {} GPUs of any type of the cluster",
                            file, job.key, job.model, job.gpus));
  }
  return suite;
}

}  // namespace rubato::sim
