// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/throughput/merge_observations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "lib/base/statistics.h"

namespace rubato {
namespace {

double normal(std::mt19937& random) {
  const auto uniform = [&] { return (static_cast<double>(random()) + 1) / 4294967297.0; };
  return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * 3.14159265358979 * uniform());
}

/// Generated measurements, the oldest first, and the throughput without noise.
struct Site {
  std::vector<ThroughputObservation> observations;
  std::vector<double> truth;
};

/// Each job type on each GPU type at sizes 1 to 16, on the fewest nodes and on more, with several
/// batches: 1500 configurations with 10 job types and 5 GPU types. Some job types are common.
Site site_of(unsigned seed, int job_types, int gpu_types) {
  std::mt19937 random(seed);
  std::vector<double> speeds;
  for (int i = 0; i < gpu_types; ++i) speeds.push_back(0.7 * normal(random));
  Site site;
  for (int job = 0; job < job_types; ++job) {
    const double level = 3 * normal(random);
    const double exponent = 0.85 + 0.1 * normal(random);
    const double batch_exponent = 0.2 + 0.1 * normal(random);
    const int popular = 1 << random() % 5;
    for (int type = 0; type < gpu_types; ++type) {
      const double own = level + speeds[static_cast<std::size_t>(type)] + 0.3 * normal(random);
      for (int gpus = 1; gpus <= 16; gpus *= 2) {
        for (int batch = 16; batch <= 512; batch *= 2) {
          ThroughputObservation one;
          one.profile.job_type = "job" + std::to_string(job);
          one.gpu_type = "type" + std::to_string(type);
          one.gpus = gpus;
          one.batch = static_cast<std::int64_t>(batch) * gpus;
          one.samples = popular + static_cast<int>(random() % 8);
          const double log = own + exponent * std::log(gpus) + batch_exponent * std::log(batch) +
                             0.05 * normal(random);
          site.truth.push_back(log);
          const double error = 0.15 / std::sqrt(static_cast<double>(one.samples));
          one.throughput = std::exp(log + error * normal(random));
          site.observations.push_back(one);
        }
      }
    }
  }
  for (std::size_t i = site.truth.size() - 1; i > 0; --i) {
    const std::size_t j = random() % (i + 1);
    std::swap(site.truth[i], site.truth[j]);
    std::swap(site.observations[i], site.observations[j]);
  }
  return site;
}

/// Mean error of ln throughput over each `step`-th configuration.
double error_of(const Site& site, std::vector<ThroughputObservation> used, std::size_t step) {
  const ThroughputModel model({}, std::move(used));
  double sum = 0;
  int count = 0;
  for (std::size_t i = 0; i < site.truth.size(); i += step, ++count) {
    const ThroughputObservation& at = site.observations[i];
    sum += std::abs(model.predict(at.profile, at.configuration()).log_throughput - site.truth[i]);
  }
  return sum / count;
}

MergedObservations merged(std::vector<ThroughputObservation> observations, std::size_t most) {
  std::sort(observations.begin(), observations.end(), before);
  return merge_to(std::move(observations), most, {});
}

std::vector<ThroughputObservation> newest(const Site& site, std::size_t most) {
  return {site.observations.end() - static_cast<std::ptrdiff_t>(most), site.observations.end()};
}

TEST(MergeObservations, LosesLessThanDroppingTheOldest) {
  double ours = 0;
  double drops = 0;
  for (unsigned seed = 0; seed < 6; ++seed) {
    const Site site = site_of(seed, 5, 2);
    const MergedObservations left = merged(site.observations, 150);
    EXPECT_EQ(left.observations.size(), 150U);
    EXPECT_EQ(left.merged, 150U);
    EXPECT_EQ(left.dropped, 0U);
    ours += error_of(site, left.observations, 1);
    drops += error_of(site, newest(site, 150), 1);
  }
  EXPECT_LT(ours, drops);
}

TEST(MergeObservations, FifteenHundredInAFitOfAThousand) {
  const Site site = site_of(7, 10, 5);
  ASSERT_EQ(site.observations.size(), 1500U);
  const ThroughputModel model({}, site.observations);
  EXPECT_EQ(model.observations().size(), ThroughputModel::kMaxObservations);
  EXPECT_EQ(model.merged(), 1500 - ThroughputModel::kMaxObservations);
  EXPECT_EQ(model.dropped(), 0U);
  EXPECT_LE(error_of(site, site.observations, 10),
            error_of(site, newest(site, ThroughputModel::kMaxObservations), 10));
}

TEST(MergeObservations, OrderDoesNotMatterAndAResultStays) {
  Site site = site_of(3, 3, 2);
  const MergedObservations one = merged(site.observations, 60);
  std::reverse(site.observations.begin(), site.observations.end());
  EXPECT_EQ(one.observations, merged(site.observations, 60).observations);
  EXPECT_EQ(one.observations, merged(one.observations, 60).observations);
  EXPECT_TRUE(std::is_sorted(one.observations.begin(), one.observations.end(), before));
}

TEST(MergeObservations, MergesTheClosestAndWeighsThem) {
  const auto at = [](const char* type, int gpus, std::int64_t batch, double throughput) {
    ThroughputObservation one;
    one.profile.job_type = type;
    one.gpu_type = "mid";
    one.gpus = gpus;
    one.batch = batch;
    one.throughput = throughput;
    one.samples = 4;
    return one;
  };
  const MergedObservations left = merged(
      {at("a", 1, 64, 100), at("a", 1, 65, 104), at("a", 8, 512, 600), at("b", 1, 64, 7)}, 3);
  ASSERT_EQ(left.observations.size(), 3U);
  EXPECT_EQ(left.merged, 1U);
  const ThroughputObservation& pair = left.observations[0];
  EXPECT_EQ(pair.batch, 64);
  EXPECT_EQ(pair.samples, 8);
  EXPECT_GT(pair.throughput, 100);
  EXPECT_LT(pair.throughput, 104);
  EXPECT_GT(pair.weight, 4);
  EXPECT_LT(pair.weight, 8) << "less certain than eight reports of one configuration";
  // Nothing is left to merge: those with the fewest reports go.
  std::vector<ThroughputObservation> two{at("a", 1, 64, 100), at("b", 1, 64, 7)};
  two[0].samples = 1;
  const MergedObservations last = merged(two, 1);
  ASSERT_EQ(last.observations.size(), 1U);
  EXPECT_EQ(last.dropped, 1U);
  EXPECT_EQ(last.observations[0].profile.job_type, "b");
}

TEST(MergeObservations, KeepsAJobTypeThatSentFewReports) {
  Site site = site_of(9, 5, 2);
  for (ThroughputObservation& one : site.observations) {
    one.samples += 100;
    if (one.profile.job_type == "job2") one.samples = 1;
  }
  const MergedObservations left = merged(site.observations, 150);
  EXPECT_TRUE(std::ranges::any_of(left.observations, [](const ThroughputObservation& one) {
    return one.profile.job_type == "job2" && one.gpu_type == "type1";
  }));
  EXPECT_EQ(left.dropped, 0U);
}

TEST(MergeObservations, KeepsWhatDoesNotFit) {
  Site site = site_of(1, 2, 1);
  site.observations[5].throughput = 0;
  const MergedObservations left = merged(site.observations, 20);
  EXPECT_EQ(std::count_if(left.observations.begin(), left.observations.end(),
                          [](const ThroughputObservation& one) { return one.throughput <= 0; }),
            1);
}

}  // namespace
}  // namespace rubato
