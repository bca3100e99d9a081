// SPDX-License-Identifier: GPL-2.0-or-later
// Time limits of jobs, given or derived, and their use in a policy.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <set>

#include "lib/sim/engine/engine.h"
#include "lib/sim/engine/policy_help.h"
#include "lib/sim/engine/suite.h"
#include "lib/sim/engine/time_limits.h"
#include "lib/sim/engine/truth.h"
#include "test/sim/played.h"

namespace rubato::sim {
namespace {

SimJob job_of(const char* key, double arrival, int gpus, double work) {
  SimJob job;
  job.key = job.model = key;
  job.arrival = arrival;
  job.gpus = job.min_gpus = job.max_gpus = gpus;
  job.work = work;
  return job;
}

double exact(const Truth& truth, const ClusterShape& cluster, const SimJob& job) {
  return asked_limit(truth, cluster, job, Limits::kExact, 0, 0);
}

TEST(AskedLimit, IsAtLeastTheTrueTimeWhereItIsSlowest) {
  const TwoSpeeds truth;
  const ClusterShape cluster = parse_cluster_shape("slow:1x2,fast:1x4").value();
  SimJob job = job_of("one", 0, 2, 1000);
  job.start_s = 41;
  EXPECT_EQ(exact(truth, cluster, job), 600) << "500 s and the start, in whole minutes";
  job.gpus = job.min_gpus = job.max_gpus = 4;
  EXPECT_EQ(exact(truth, cluster, job), 120) << "the slow type has too few GPUs";
  job.gpus = job.max_gpus = 2;
  job.min_gpus = 1;
  EXPECT_EQ(exact(truth, cluster, job), 1080) << "of the sizes that it takes the slowest";
  job.sizes = {2, 4};
  EXPECT_EQ(exact(truth, cluster, job), 600);
  job.types = {"fast"};
  EXPECT_EQ(exact(truth, cluster, job), 180);
  EXPECT_GE(asked_limit(truth, cluster, job, Limits::kUsers, 0, 0), 1.2 * 125);
  job.time_limit = 7;
  for (const Limits limits : {Limits::kUsers, Limits::kExact}) {
    EXPECT_EQ(asked_limit(truth, cluster, job, limits, 0, 0), 7) << "what is said counts";
  }
  job.time_limit = std::numeric_limits<double>::infinity();
  job.sizes = {5};
  job.gpus = 5;
  for (const Limits limits : {Limits::kUsers, Limits::kExact}) {
    EXPECT_EQ(asked_limit(truth, cluster, job, limits, 0, 0),
              std::numeric_limits<double>::infinity());
  }
}

/// Run times from a minute to two months.
double run_of(std::uint64_t number) { return 60 * std::exp(11.3 * uniform_noise(9, 9, number)); }

TEST(DrawnLimit, IsAClassThatUsersAskFor) {
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const double run = run_of(i);
    const double limit = drawn_limit(run, 1, i);
    EXPECT_GE(limit, run);
    EXPECT_EQ(limit, limit_class(limit)) << "no class";
    EXPECT_TRUE(limit == kDefaultLimit || limit <= limit_class(kMaxLimitFactor * run)) << run;
    EXPECT_TRUE(limit >= kMinLimitFactor * run || limit == kDefaultLimit ||
                limit >= kPartitionLimit)
        << run;
    EXPECT_TRUE(limit <= kPartitionLimit || limit == limit_class(run)) << run;
  }
  EXPECT_EQ(limit_class(300), 300);
  EXPECT_EQ(limit_class(301), 600);
  EXPECT_EQ(limit_class(61 * 24 * 3600), 90 * 24 * 3600) << "multiples of a month";
}

TEST(DrawnLimit, FactorsSpanTheRangeAndSomeAreMissing) {
  // Rounding up to a class of at most twice the value keeps most of the factor.
  int low = 0;
  int high = 0;
  int usual = 0;
  const int jobs = 20000;
  for (std::uint64_t i = 0; i < jobs; ++i) {
    const double factor = drawn_limit(1000, 3, i) / 1000;
    low += factor <= 3.6 ? 1 : 0;
    high += factor > 7.2 && factor < 86 ? 1 : 0;
    usual += factor == 86.4 ? 1 : 0;
  }
  // 1.2 to 3.6 and 7.2 to 10 of 8.8, of the nine tenths that give a limit.
  EXPECT_NEAR(low / double{jobs}, .9 * 2.4 / 8.8, .01);
  EXPECT_NEAR(high / double{jobs}, .9 * 2.8 / 8.8, .01);
  EXPECT_NEAR(usual / double{jobs}, kMissingLimits, .01) << "the partition's default";
}

TEST(DrawnLimit, FollowsFromSeedAndNumberAlone) {
  int others = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(drawn_limit(5000, 3, i), drawn_limit(5000, 3, i));
    others += drawn_limit(5000, 3, i) != drawn_limit(5000, 4, i) ? 1 : 0;
  }
  EXPECT_GT(others, 30);
}

// The generated months of test/sim/site_month draw limits by the same rule.
TEST(DrawnLimit, IsThatOfGeneratedMonths) {
  const char* source = std::getenv("RUBATO_SOURCE_DIR");  // NOLINT(concurrency-mt-unsafe)
  if (source == nullptr) GTEST_SKIP() << "RUBATO_SOURCE_DIR is not set";
  std::ifstream in(std::string(source) + "/test/sim/site_month");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::string hours;
  for (const double limit : kLimitClasses) {
    if (limit >= 3600 && limit <= kPartitionLimit)
      hours += fmt::format("{}{:g}", hours.empty() ? "" : ", ", limit / 3600);
  }
  for (const std::string& line :
       {fmt::format("LIMITS = [h * 3600 for h in ({})]", hours), std::string("DEFAULT_LIMIT = DAY"),
        fmt::format("draw.uniform({:g}, {:g})", kMinLimitFactor, kMaxLimitFactor),
        fmt::format("draw.random() < {:g}:", kMissingLimits)}) {
    EXPECT_NE(text.find(line), std::string::npos) << line;
  }
}

// The option decides about rubato-place and backfill alike.
TEST(AskedLimit, IsTheSameForEachPolicyThatHears) {
  struct Seen final : public Policy {
    explicit Seen(std::vector<double>& to) : limits(to) {}
    std::vector<Grant> decide(const PolicyState& state) override {
      limits.clear();
      for (const JobView& view : state.jobs) limits.push_back(view.limit);
      return as_it_is(state);
    }
    std::vector<double>& limits;
  };
  Suite suite;
  suite.cluster = parse_cluster_shape("a:1x4").value();
  suite.truth = std::make_shared<TwoSpeeds>();
  for (int i = 0; i < 40; ++i) suite.jobs.push_back(job_of("job", 0, 1, 1000));
  const auto seen = [&](Limits limits, std::uint64_t seed) {
    std::vector<double> found;
    Seen policy(found);
    suite.limits = limits;
    RunControl control;
    control.seed = seed;
    EXPECT_TRUE(run_engine(suite, policy, control));
    return found;
  };
  const auto drawn = seen(Limits::kUsers, 1);
  EXPECT_GT(std::set<double>(drawn.begin(), drawn.end()).size(), 4U);
  EXPECT_EQ(drawn, seen(Limits::kUsers, 1));
  EXPECT_NE(drawn, seen(Limits::kUsers, 2));
  EXPECT_EQ(seen(Limits::kExact, 1), std::vector<double>(40, 1020));
}

TEST(AskedLimit, LetsRubatoFillTheGapBeforeAGang) {
  Suite suite;
  suite.name = "test";
  suite.limits = Limits::kExact;
  suite.cluster = parse_cluster_shape("a:1x4").value();
  suite.truth = std::make_shared<TwoSpeeds>();
  suite.jobs = {job_of("runs", 0, 2, 2000), job_of("gang", 1, 4, 400), job_of("short", 2, 1, 300),
                job_of("long", 3, 1, 3000)};
  const auto record = run_suite(suite, "rubato-place", Information::kLearned, RunControl());
  ASSERT_TRUE(record) << record.error().text;
  EXPECT_LT(record->jobs[2].finish, 400) << "ends before the gang can start";
  EXPECT_EQ(record->jobs[1].first_start, 1000);
  EXPECT_GE(record->jobs[3].first_start, 1100) << "would have kept the gang waiting";
  EXPECT_LT(record->jobs[3].finish, 5000) << "nobody is ended at a limit that nobody said";
}

// As under slurmctld with priority/basic: PriorityBand=auto makes one band, inside which short jobs
// go first.
TEST(Priorities, OfJobsThatOnlyCountSubmissionsAreOneBand) {
  Suite suite;
  suite.name = "test";
  suite.cluster = parse_cluster_shape("a:1x1").value();
  suite.truth = std::make_shared<TwoSpeeds>();
  suite.jobs = {job_of("first", 0, 1, 600)};
  for (int i = 1; i < 10; ++i) suite.jobs.push_back(job_of("long", i, 1, 20'000));
  suite.jobs.push_back(job_of("short", 10, 1, 100));
  const auto record = run_suite(suite, kRubatoPlace, Information::kKnown, RunControl());
  ASSERT_TRUE(record) << record.error().text;
  EXPECT_LT(record->jobs.back().first_start, 1000) << "before all the long ones";
}

}  // namespace
}  // namespace rubato::sim
