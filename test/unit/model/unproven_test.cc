// SPDX-License-Identifier: GPL-2.0-or-later
// A single job cannot claim more than other jobs make plausible.
#include "lib/model/throughput/unproven.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lib/model/throughput/learner.h"

namespace rubato {
namespace {

ThroughputObservation measured(const char* job_type, const char* gpu_type, int gpus,
                               double throughput, int jobs) {
  ThroughputObservation one{{"lab", job_type}, gpu_type, gpus, throughput, 20};
  one.jobs = jobs;
  return one;
}

const TypeSpeeds kSpeeds({{"a100", 2.0}, {"h100", 3.0}, {"v100", 1.0}});

double bounded(std::vector<ThroughputObservation> observations, const char* job_type,
               const char* gpu_type, int gpus) {
  std::ranges::sort(observations, before);
  bound_unproven(observations, kSpeeds);
  for (const ThroughputObservation& one : observations) {
    if (one.profile.job_type == job_type && one.gpu_type == gpu_type && one.gpus == gpus)
      return one.throughput;
  }
  return -1;
}

TEST(Unproven, AClaimOfOneJobIsBoundedByTheSpeedOfTheGpuType) {
  // 100 samples/s on a100 make 50 on v100 by the configured speeds, and three times that at most.
  EXPECT_DOUBLE_EQ(
      bounded({measured("bert", "a100", 1, 100, 2), measured("bert", "v100", 1, 100'000, 1)},
              "bert", "v100", 1),
      150);
  EXPECT_DOUBLE_EQ(
      bounded({measured("bert", "a100", 1, 100, 2), measured("bert", "v100", 1, 120, 1)}, "bert",
              "v100", 1),
      120)
      << "plausible";
  EXPECT_DOUBLE_EQ(
      bounded({measured("bert", "a100", 1, 100, 2), measured("bert", "v100", 1, 100'000, 2)},
              "bert", "v100", 1),
      100'000)
      << "two jobs agree";
  EXPECT_DOUBLE_EQ(
      bounded({measured("bert", "a100", 1, 100, 2), measured("bert", "v100", 1, 100'000, 0)},
              "bert", "v100", 1),
      100'000)
      << "imported";
}

TEST(Unproven, MoreGpusMayBringSoManyTimesMoreAndFewerNoMore) {
  EXPECT_DOUBLE_EQ(
      bounded({measured("bert", "a100", 2, 100, 2), measured("bert", "a100", 8, 1e6, 1)}, "bert",
              "a100", 8),
      1200);
  EXPECT_DOUBLE_EQ(
      bounded({measured("bert", "a100", 2, 100, 2), measured("bert", "a100", 1, 1e6, 1)}, "bert",
              "a100", 1),
      300);
}

TEST(Unproven, OtherJobTypesSayWhatAGpuTypeCanDo) {
  // On this site v100 is as fast as a100, whatever rubato.conf says.
  EXPECT_DOUBLE_EQ(
      bounded({measured("bert", "a100", 1, 100, 2), measured("bert", "v100", 1, 1e6, 1),
               measured("vit", "a100", 1, 40, 2), measured("vit", "v100", 1, 40, 3)},
              "bert", "v100", 1),
      300);
}

TEST(Unproven, ProvenReferencesGoBeforeOtherClaims) {
  EXPECT_DOUBLE_EQ(
      bounded({measured("bert", "a100", 1, 100, 2), measured("bert", "h100", 1, 1e6, 1),
               measured("bert", "v100", 1, 1e6, 1)},
              "bert", "v100", 1),
      150);
}

TEST(Unproven, WithoutAReferenceAClaimStays) {
  EXPECT_DOUBLE_EQ(bounded({measured("bert", "v100", 1, 1e6, 1)}, "bert", "v100", 1), 1e6);
  EXPECT_DOUBLE_EQ(bounded({measured("bert", "v100", 1, 1e6, 1), measured("vit", "v100", 1, 50, 2)},
                           "bert", "v100", 1),
                   1e6)
      << "samples of different job types do not compare";
}

ThroughputReport report_of(JobId job, const char* gpu_type, double throughput) {
  ThroughputReport report;
  report.profile = {"lab", "bert"};
  report.configuration = {gpu_type, 1, 1, 32, ""};
  report.job = {job, 1'800'000'000};
  report.time = 1'800'001'000 + job;
  report.throughput = throughput;
  return report;
}

Forecast learnt(bool bounds) {
  LearnerRules rules;
  rules.use.warm_up = 0;
  rules.bounds_unproven = bounds;
  Learner learner(rules);
  learner.take(report_of(1, "a100", 100));
  learner.take(report_of(2, "a100", 104));
  learner.take(report_of(3, "v100", 100'000));
  learner.refit(kSpeeds);
  return learner.model()->predict({"lab", "bert"}, "v100", 1);
}

TEST(Unproven, AReportOfAThousandTimesTheSpeedMovesTheForecastLittle) {
  const Forecast found = learnt(true);
  EXPECT_LT(found.throughput(), 160);
  EXPECT_EQ(found.jobs, 1);
  EXPECT_EQ(found.profile_jobs, 3);
  EXPECT_GT(learnt(false).throughput(), 10'000) << "without the bound";
}

TEST(Unproven, OfTwoJobsThatContradictEachOtherTheSlowerCounts) {
  ThroughputHistory history;
  history.add(report_of(1, "a100", 100'000));
  history.add(report_of(2, "a100", 100));
  EXPECT_NEAR(history.observations().at(0).throughput, 100, 1e-6);
  history.add(report_of(3, "a100", 102));
  EXPECT_NEAR(history.observations().at(0).throughput, 101, 2);
  EXPECT_EQ(history.observations().at(0).jobs, 3);
}

TEST(Unproven, ARequeuedJobIsOneJob) {
  ThroughputHistory history;
  history.add(report_of(1, "a100", 100));
  ThroughputReport again = report_of(1, "a100", 101);
  again.job.submit += 500;
  history.add(again);
  EXPECT_EQ(history.observations().at(0).jobs, 1);
  EXPECT_EQ(history.observations().at(0).profile_jobs, 1);
}

}  // namespace
}  // namespace rubato
