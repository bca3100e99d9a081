// SPDX-License-Identifier: GPL-2.0-or-later
// A few jobs that arrive at once, each of which could use all GPUs, against equal parts for all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/sim/played.h"

namespace rubato::sim {
namespace {

constexpr int kBursts = 30;

/// The throughput of g GPUs is g^p with p by job.
class PowerTruth final : public Truth {
 public:
  explicit PowerTruth(std::vector<double> powers) : powers_(std::move(powers)) {}
  [[nodiscard]] double throughput(const SimJob& job, const Setting& setting,
                                  double /*done*/) const override {
    return rate(static_cast<std::size_t>(std::stoi(job.model)), setting.gpus());
  }
  [[nodiscard]] double rate(std::size_t job, double gpus) const {
    return std::pow(gpus, powers_[job]);
  }

 private:
  std::vector<double> powers_;
};

/// Of one burst, relative to equal parts until all have ended.
struct Shares {
  double mean = 0;
  double makespan = 0;
  double jain = 0;  ///< index over the jobs of (time with an equal part / time)
};

Shares play_burst(std::uint64_t seed, Information information) {
  Draw draw(seed);
  const int gpus = draw.whole(8, 10);
  const int jobs = draw.whole(3, 4);
  std::vector<double> powers;
  Suite suite;
  suite.name = "burst";
  suite.cluster = parse_cluster_shape("gpu:1x" + std::to_string(gpus)).value();
  for (int i = 0; i < jobs; ++i) {
    powers.push_back(.6 + .35 * draw.uniform());
    SimJob job;
    job.key = job.model = std::to_string(i);
    job.gpus = gpus / jobs;
    job.max_gpus = gpus;
    job.restart_s = 60;
    job.work = 3600 * (1 + 9 * draw.uniform());
    suite.jobs.push_back(job);
  }
  const auto truth = std::make_shared<PowerTruth>(powers);
  suite.truth = truth;
  const RunMetrics record = play(suite, "rubato", seed, information);
  std::vector<double> equal;
  Shares shares;
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < suite.jobs.size(); ++i) {
    equal.push_back(suite.jobs[i].work / truth->rate(i, static_cast<double>(gpus) / jobs));
    const double ratio = equal[i] / record.jobs[i].finish;
    shares.mean += record.jobs[i].finish;
    sum += ratio;
    squares += ratio * ratio;
  }
  double equal_sum = 0;
  for (const double time : equal) equal_sum += time;
  shares.mean /= equal_sum;
  shares.makespan = record.end / *std::ranges::max_element(equal);
  shares.jain = sum * sum / (jobs * squares);
  return shares;
}

Shares mean_shares(Information information) {
  Shares mean;
  for (std::uint64_t seed = 0; seed < kBursts; ++seed) {
    const Shares one = play_burst(seed, information);
    mean.mean += one.mean / kBursts;
    mean.makespan += one.makespan / kBursts;
    mean.jain += one.jain / kBursts;
  }
  return mean;
}

TEST(Burst, JobsEndSoonerThanWithEqualParts) {
  for (const Information information : {Information::kKnown, Information::kRates}) {
    const Shares shares = mean_shares(information);
    EXPECT_LT(shares.mean, .9);
    EXPECT_LT(shares.makespan, .85);
    EXPECT_GT(shares.jain, .88);
    std::printf("mean %.3f, makespan %.3f of equal parts; Jain's index %.3f\n", shares.mean,
                shares.makespan, shares.jain);
  }
}

}  // namespace
}  // namespace rubato::sim
