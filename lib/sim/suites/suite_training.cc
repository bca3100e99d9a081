// SPDX-License-Identifier: GPL-2.0-or-later
// Workloads on which constants of the policy are chosen, so that published suites only confirm
// them. None repeats a published one in its cluster, its mix of jobs or its speeds. The shapes
// below are fixed: another shape gets another name, and the log of settings names the shapes.
//
// Run times are lognormal with a median of one hour, as those of production clusters roughly are
// (Hu et al., SC 2021; Jeon et al., ATC 2019). Each seed draws job types of its own: how much
// faster a GPU type is for them, and how they scale. All that is invented, with these ranges.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "lib/sim/engine/native_truth.h"
#include "lib/sim/engine/suite.h"
#include "lib/sim/suites/arrivals.h"
#include "lib/sim/suites/draw.h"
#include "lib/sim/suites/suite_spec.h"

namespace rubato::sim {
namespace {

struct TrainingShape {
  const char* name;
  const char* cluster;
  std::array<double, 6> sizes;  ///< weights of 1, 2, 4, 8, 16 and 32 GPUs
  int jobs;
  double load;         ///< GPU time that jobs need / GPU time of the cluster; 0: all arrive at once
  double elastic;      ///< share of jobs that run at a half to the double of their GPUs
  double predictable;  ///< share
  double sigma;        ///< of the logarithm of run times
  ArrivalKind arrivals;
  double hints = 1;  ///< share of jobs with hints
};

constexpr std::array<TrainingShape, 10> kShapes{{
    {"small", "q1:4x4,q2:2x8", {4, 2, 2, 1, 0, 0}, 200, .9, 0, 1, 1.2, ArrivalKind::kPoisson},
    {"three",
     "q1:6x4,q2:6x4,q3:5x8",
     {5, 2, 2, 2, .5, 0},
     300,
     1.0,
     0,
     .8,
     1.4,
     ArrivalKind::kPoisson},
    {"busy",
     "q1:8x2,q2:4x8,q3:4x4",
     {6, 2, 2, 2, 0, 0},
     300,
     1.4,
     0,
     .8,
     1.3,
     ArrivalKind::kPoisson},
    {"idle", "q1:4x8,q2:4x8", {3, 2, 3, 3, .5, 0}, 200, .5, .3, .9, 1.3, ArrivalKind::kPoisson},
    {"bursty", "q1:10x4,q2:3x8", {4, 2, 2, 2, .3, 0}, 300, .95, .3, .8, 1.3, ArrivalKind::kBursty},
    {"gangs", "q1:6x8,q2:6x8", {2, 1, 1, 3, 2, 1}, 250, .9, 0, .8, 1.1, ArrivalKind::kPoisson},
    {"elastic", "q1:7x8", {4, 3, 3, 2, 0, 0}, 250, 1.0, .9, .8, 1.2, ArrivalKind::kPoisson},
    {"unsure",
     "q1:6x4,q2:4x8,q3:2x8,q4:4x2",
     {5, 2, 2, 1, 0, 0},
     300,
     1.0,
     .3,
     .3,
     1.5,
     ArrivalKind::kPoisson},
    {"mixed",
     "q1:6x4,q2:6x4,q3:3x8",
     {5, 2, 2, 1, .3, 0},
     300,
     1.1,
     .3,
     .8,
     1.3,
     ArrivalKind::kPoisson,
     .6},
    {"once", "q1:2x8,q2:2x8,q3:1x8", {5, 2, 2, 1, 0, 0}, 120, 0, .5, .8, 1.3, ArrivalKind::kEven},
}};

constexpr int kJobTypes = 14;
constexpr double kMedianRun = 3600;
constexpr double kMinRun = 120;
constexpr double kMaxRun = 3 * 24 * 3600;
/// A type's speed is this power of its number, and differs by job type.
constexpr double kTypeStep = 1.7;
constexpr double kTypeSigma = 0.35;
/// Share of job types that do not fit into the memory of the first GPU type.
constexpr double kTooLarge = 0.1;
constexpr std::array<double, 2> kScaling{.6, 1.0};  ///< exponent of the number of GPUs
constexpr double kNodesFactor = .93;                ///< per doubling beyond 8 GPUs
constexpr double kPredictableError = .05;
constexpr double kOtherError = .5;

/// Streams of draws.
enum : std::uint64_t {
  kHints = 150,
  kRun,
  kSize,
  kModel,
  kElastic,
  kLabel,
  kStart,
  kRestart,
  kSpeeds
};

std::string model_name(std::uint64_t number) { return fmt::format("type{:02}", number + 1); }

double run_of(const TrainingShape& shape, std::uint64_t seed, std::uint64_t number) {
  const double run = kMedianRun * std::exp(shape.sigma * normal_noise(seed, kRun, number));
  return std::clamp(run, kMinRun, kMaxRun);
}

std::shared_ptr<NativeTruth> truth_of(const ClusterShape& cluster, std::uint64_t seed) {
  auto truth = std::make_shared<NativeTruth>(cluster.types());
  for (std::uint64_t model = 0; model < kJobTypes; ++model) {
    const double scaling = draw_between(kScaling[0], kScaling[1], seed, kSpeeds, model);
    const bool large = uniform_noise(seed, kSpeeds + 1, model) < kTooLarge;
    for (const TypeIndex type : cluster.type_indices()) {
      if (large && type == 0 && cluster.types() > 1) continue;
      const auto number = static_cast<std::uint64_t>(type.value());
      const double speed = std::pow(kTypeStep, type.value()) *
                           std::exp(kTypeSigma * normal_noise(seed, kSpeeds + 2 + number, model));
      for (int gpus = 1; gpus <= cluster.gpus(type); gpus *= 2) {
        const double beyond = gpus > 8 ? std::pow(kNodesFactor, std::log2(gpus / 8.0)) : 1;
        truth->add(model_name(model), type, gpus, speed * beyond * std::pow(gpus, scaling), false);
      }
    }
  }
  return truth;
}

/// The job's throughput on the mean GPU of those that it fits; 0 if it fits none.
double usual_rate(const Truth& truth, const ClusterShape& cluster, const SimJob& job) {
  double sum = 0;
  int gpus = 0;
  for (const TypeIndex type : cluster.type_indices()) {
    if (job.gpus > cluster.gpus(type)) continue;
    const double rate = truth.throughput(job, packed(cluster, type, job.gpus), 0);
    if (!(rate > 0)) continue;
    sum += rate * cluster.gpus(type);
    gpus += cluster.gpus(type);
  }
  return gpus > 0 ? sum / gpus : 0;
}

SimJob job_of(const TrainingShape& shape, const Suite& suite, std::uint64_t seed,
              std::uint64_t number) {
  SimJob job;
  job.key = fmt::format("j{:05}", number + 1);
  job.model =
      model_name(static_cast<std::uint64_t>(kJobTypes * uniform_noise(seed, kModel, number)));
  job.gpus = 1 << part_of(shape.sizes, uniform_noise(seed, kSize, number));
  job.min_gpus = job.max_gpus = job.gpus;
  double rate = usual_rate(*suite.truth, suite.cluster, job);
  while (!(rate > 0) && job.gpus > 1) {  // no type has so many GPUs for it
    job.min_gpus = job.max_gpus = job.gpus /= 2;
    rate = usual_rate(*suite.truth, suite.cluster, job);
  }
  if (uniform_noise(seed, kElastic, number) < shape.elastic) {
    job.min_gpus = std::max(1, job.gpus / 2);
    job.max_gpus = 2 * job.gpus;
    for (int size = job.min_gpus; size <= job.max_gpus; size *= 2) job.sizes.push_back(size);
  }
  job.work = run_of(shape, seed, number) * rate;
  job.predictable = uniform_noise(seed, kLabel, number) < shape.predictable;
  job.forecast_error = job.predictable ? kPredictableError : kOtherError;
  job.start_s = std::floor(draw_between(10, 60, seed, kStart, number));
  job.restart_s = std::floor(draw_between(30, 120, seed, kRestart, number));
  job.hints = uniform_noise(seed, kHints, number) < shape.hints;
  if (!job.hints) job.key[0] = 'p';  // plain; tells them apart in --csv
  return job;
}

const TrainingShape* shape_called(const std::string& name) {
  const auto found =
      std::ranges::find_if(kShapes, [&](const TrainingShape& shape) { return name == shape.name; });
  return found == kShapes.end() ? nullptr : &*found;
}

}  // namespace

SuiteResult<Suite> training_suite(const std::string& argument, const std::string& /*data_dir*/,
                                  std::uint64_t seed) {
  const TrainingShape* const shape = shape_called(argument);
  if (shape == nullptr) {
    std::vector<std::string> names;
    for (const TrainingShape& one : kShapes) names.emplace_back(one.name);
    return wrong_suite(
        fmt::format("suite training: '{}': must be one of {}", argument, fmt::join(names, ", ")));
  }
  Suite suite;
  auto cluster = parse_cluster_shape(shape->cluster);
  if (!cluster) return wrong_suite(cluster.error().text);
  suite.cluster = std::move(*cluster);
  suite.truth = truth_of(suite.cluster, seed);
  double gpu_seconds = 0;
  for (int number = 0; number < shape->jobs; ++number) {
    suite.jobs.push_back(job_of(*shape, suite, seed, static_cast<std::uint64_t>(number)));
    gpu_seconds +=
        suite.jobs.back().gpus * run_of(*shape, seed, static_cast<std::uint64_t>(number));
  }
  const bool at_once = !(shape->load > 0);
  const double gap = at_once ? 0 : gpu_seconds / shape->jobs / (suite.cluster.gpus() * shape->load);
  ArrivalTimes times(shape->arrivals, gap, seed);
  for (SimJob& job : suite.jobs) job.arrival = times.next();
  return suite;
}

}  // namespace rubato::sim
