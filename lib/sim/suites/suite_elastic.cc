// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs with a variable number of GPUs and a variable batch: the workload of the project's
// reproduction of Saxena et al., Effective Elastic Scaling of Deep Learning Workloads (MASCOTS
// 2020). This file has all its numbers and the results of that reproduction.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "lib/sim/engine/step_truth.h"
#include "lib/sim/engine/suite.h"
#include "lib/sim/suites/arrivals.h"
#include "lib/sim/suites/draw.h"
#include "lib/sim/suites/suite_spec.h"

namespace rubato::sim {
namespace {

constexpr int kGpus = 40;
constexpr int kGpusPerNode = 4;
constexpr int kMaxGpusPerJob = 10;
constexpr double kHours = 8;
constexpr double kRestart = 30;
constexpr double kLink = 1500;   ///< MB/s
constexpr double kMinWork = 20;  ///< minutes on one GPU at its best batch
constexpr double kMaxWork = 120;

struct Kind {
  const char* name;
  double sample_s;
  double fixed_s;
  double gradient_mb;
  double least_batch;
  double most_batch;
  double max_local;
};
constexpr std::array<Kind, 4> kKinds{{{"compute", .010, .05, 100, 32, 256, 64},
                                      {"communication", .0008, .01, 240, 16, 256, 128},
                                      {"balanced", .004, .02, 140, 64, 512, 128},
                                      {"limited", .012, .05, 100, 16, 32, 32}}};

enum class UserBatch { kMin, kMax, kRandom };

/// Streams of draws.
enum : std::uint64_t { kKind = 111, kWork, kBatch };

struct Shape {
  double per_hour = 0;
  double hours = kHours;
  int gpus = kGpus;
  ArrivalKind arrivals = ArrivalKind::kPoisson;
  UserBatch batch = UserBatch::kMin;
  std::vector<double> mix;
  bool published = true;  ///< the figures apply to this workload
};

SuiteResult<Shape> shape_of(const std::string& argument) {
  const auto spec =
      SuiteSpec::parse("elastic", argument, {"arrivals", "batch", "gpus", "hours", "mix"});
  if (!spec) return tl::unexpected(spec.error());
  Shape shape;
  const auto throughput = spec->head("rate", 0.1, 1000);
  const auto hours = spec->number("hours", kHours, 0.1, 1000);
  const auto gpus = spec->whole("gpus", kGpus, kGpusPerNode, 65536);
  const auto arrivals = spec->choice("arrivals", arrival_words());
  const auto batch = spec->choice("batch", {"min", "max", "random"});
  auto mix = spec->weights("mix", {1, 1, 1, 1});
  if (const SuiteError* wrong = first_wrong(throughput, hours, gpus, arrivals, batch, mix))
    return tl::unexpected(*wrong);
  shape.per_hour = *throughput;
  shape.hours = *hours;
  shape.gpus = *gpus;
  shape.arrivals = static_cast<ArrivalKind>(*arrivals);
  shape.batch = static_cast<UserBatch>(*batch);
  shape.mix = std::move(*mix);
  for (const char* key : {"arrivals", "gpus", "hours", "mix"}) {
    shape.published = shape.published && !spec->has(key);
  }
  shape.published = shape.published && shape.batch != UserBatch::kRandom;
  return shape;
}

SimJob job_of(const Shape& shape, std::uint64_t seed, std::uint64_t number, double arrival) {
  const Kind& kind = kKinds.at(part_of(shape.mix, uniform_noise(seed, kKind, number)));
  SimJob job;
  job.key = fmt::format("j{:05}", number + 1);
  job.model = kind.name;
  job.arrival = arrival;
  job.min_batch = kind.least_batch;
  job.max_batch = kind.most_batch;
  job.batch = shape.batch == UserBatch::kMax ? kind.most_batch : kind.least_batch;
  if (shape.batch == UserBatch::kRandom) {
    job.batch =
        std::floor(draw_between(kind.least_batch, kind.most_batch + 1, seed, kBatch, number));
  }
  // The user requests the GPUs that hold the batch.
  job.gpus = static_cast<int>(std::ceil(job.batch / kind.max_local));
  job.min_gpus = 1;
  job.max_gpus = kMaxGpusPerJob;
  job.start_s = job.restart_s = kRestart;
  job.step = StepCosts{};
  job.step->fixed_s = kind.fixed_s;
  job.step->sample_s = kind.sample_s;
  job.step->gradient_mb = kind.gradient_mb;
  job.step->link_mb_s = kLink;
  job.step->max_local = kind.max_local;
  // On one GPU the largest batch that fits is the fastest: the fixed time is shared by the most
  // samples.
  const double largest = std::min(kind.most_batch, kind.max_local);
  const double speed = largest / (kind.fixed_s + largest * kind.sample_s);
  job.work = 60 * draw_between(kMinWork, kMaxWork, seed, kWork, number) * speed;
  return job;
}

/// Jobs completed in 8 hours and their mean time: with a variable batch, and with the smallest and
/// the largest batch throughout.
struct Row {
  double throughput;
  std::array<double, 3> completed;
  std::array<double, 3> minutes;
};
constexpr std::array<Row, 4> kTable{{{10, {75, 68, 75}, {40, 79, 44}},
                                     {20, {143, 133, 137}, {44, 80, 60}},
                                     {30, {204, 180, 152}, {59, 97, 113}},
                                     {40, {228, 184, 155}, {102, 137, 153}}}};
constexpr double kWithin = 0.15;
/// The table comes from one to three draws; compare it with the mean of this many seeds.
constexpr int kSeeds = 20;

std::vector<PublishedFigure> published(const Shape& shape) {
  std::vector<PublishedFigure> all;
  for (const Row& row : kTable) {
    if (row.throughput != shape.per_hour) continue;
    const std::size_t fixed = shape.batch == UserBatch::kMax ? 2 : 1;
    for (const auto& [policy, column] :
         {std::pair{"elastic-var", std::size_t{0}}, std::pair{"elastic-fixed", fixed}}) {
      all.push_back({policy, "finished", row.completed.at(column), kWithin, true});
      all.push_back({policy, "avg_jct_s", row.minutes.at(column) * 60, kWithin, true});
    }
  }
  return all;
}

}  // namespace

SuiteResult<Suite> elastic_suite(const std::string& argument, const std::string& /*data_dir*/,
                                 std::uint64_t seed) {
  const auto shape = shape_of(argument);
  if (!shape) return tl::unexpected(shape.error());
  Suite suite = step_suite(shape->gpus / kGpusPerNode, kGpusPerNode);
  suite.horizon = shape->hours * 3600;
  ArrivalTimes times(shape->arrivals, 3600 / shape->per_hour, seed);
  for (std::uint64_t number = 0;; ++number) {
    const double arrival = times.next();
    if (arrival >= suite.horizon) break;
    suite.jobs.push_back(job_of(*shape, seed, number, arrival));
  }
  if (shape->published) {
    suite.published = published(*shape);
    suite.published_seeds = kSeeds;
  }
  return suite;
}

}  // namespace rubato::sim
