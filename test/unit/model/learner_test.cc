// SPDX-License-Identifier: GPL-2.0-or-later
// Use of reports, observations, fits, errors of forecasts.
#include "lib/model/throughput/learner.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lib/model/throughput/error_replay.h"
#include "lib/model/throughput/fit_hyperparameters.h"

namespace rubato {
namespace {

constexpr Seconds kBegin = 1'800'000'000;
constexpr Seconds kDay = 86400;

ThroughputReport report(JobId job, Seconds after, double throughput, const char* type = "a100",
                        int gpus = 2) {
  ThroughputReport made;
  made.profile = {"lab", "net"};
  made.configuration.gpu_type = type;
  made.configuration.gpus = gpus;
  made.configuration.batch = 64;
  made.job = {job, kBegin};
  made.run_start = kBegin;
  made.time = kBegin + after;
  made.throughput = throughput;
  return made;
}

TEST(ReportFilter, the_first_minute_of_a_run_is_left_out) {
  ReportFilter judge;
  EXPECT_EQ(judge.judge(report(1, 30, 10)).use, ReportUse::kWarmUp);
  EXPECT_EQ(judge.judge(report(1, 60, 50)).use, ReportUse::kWarmUp) << "speaks of 30 to 60 s";
  EXPECT_EQ(judge.judge(report(1, 90, 100)).use, ReportUse::kYes);
  EXPECT_EQ(judge.judge(report(1, 91, 100)).use, ReportUse::kYes);
  EXPECT_EQ(judge.judge(report(2, 70, 10)).use, ReportUse::kWarmUp) << "speaks of 0 to 70 s";
  EXPECT_EQ(judge.judge(report(3, 200, 10)).use, ReportUse::kYes);
}

TEST(ReportFilter, a_rate_that_has_settled_counts_from_where_it_did) {
  ReportFilter judge;
  EXPECT_TRUE(judge.judge(report(1, 1, 40)).use_now.empty());
  EXPECT_TRUE(judge.judge(report(1, 2, 100)).use_now.empty());
  EXPECT_TRUE(judge.judge(report(1, 3, 105)).use_now.empty());
  const auto settled = judge.judge(report(1, 4, 102));
  EXPECT_EQ(settled.use, ReportUse::kYes);
  ASSERT_EQ(settled.use_now.size(), 3U) << "and not the slow one";
  EXPECT_EQ(settled.use_now[0].throughput, 100);
  EXPECT_EQ(judge.judge(report(1, 5, 50)).use_now.size(), 1U);
  ThroughputReport again = report(1, 6, 30);
  again.restarts = 1;
  again.run_start = kBegin + 5;
  EXPECT_EQ(judge.judge(again).use, ReportUse::kWarmUp) << "another run warms up anew";
}

TEST(ReportFilter, without_a_warm_up_or_a_start_all_count) {
  ReportFilter none(ReportFilterRules{.warm_up = 0});
  EXPECT_EQ(none.judge(report(1, 1, 40)).use, ReportUse::kYes);
  ReportFilter judge;
  ThroughputReport unknown = report(1, 1, 40);
  unknown.run_start = 0;
  EXPECT_EQ(judge.judge(unknown).use, ReportUse::kYes);
}

TEST(ReportFilter, a_report_across_a_resize_and_mixed_types_are_left_out) {
  ReportFilter judge(ReportFilterRules{.warm_up = 10});
  EXPECT_EQ(judge.judge(report(1, 100, 40)).use, ReportUse::kYes);
  EXPECT_EQ(judge.judge(report(1, 160, 60, "a100", 4)).use, ReportUse::kResized);
  EXPECT_EQ(judge.judge(report(1, 165, 80, "a100", 4)).use, ReportUse::kYes)
      << "the report before was 60 s after the last one at the other size";
  EXPECT_EQ(judge.judge(report(2, 100, 40, "a100+h100")).use, ReportUse::kMixed);
  EXPECT_EQ(judge.judge(report(3, 100, 0)).use, ReportUse::kNoThroughput);
  EXPECT_EQ(judge.judge(report(5, 100, 40, "", 0)).use, ReportUse::kOnCpus);
  ThroughputReport flagged = report(4, 100, 5);
  flagged.flagged = true;
  EXPECT_EQ(judge.judge(flagged).use, ReportUse::kFlagged);
}

// It goes on at the old size until it looks how many GPUs it has.
TEST(ReportFilter, after_a_resize_the_reports_of_a_job_that_follows_late_are_left_out) {
  ReportFilter judge(ReportFilterRules{.warm_up = 0});
  EXPECT_EQ(judge.judge(report(1, 100, 40)).use, ReportUse::kYes);
  EXPECT_EQ(judge.judge(report(1, 101, 40, "a100", 4)).use, ReportUse::kResized);
  EXPECT_EQ(judge.judge(report(1, 102, 60, "a100", 4)).use, ReportUse::kResized);
  EXPECT_EQ(judge.judge(report(1, 103, 80, "a100", 4)).use, ReportUse::kResized);
  const auto settled = judge.judge(report(1, 104, 78, "a100", 4));
  EXPECT_EQ(settled.use, ReportUse::kYes);
  ASSERT_EQ(settled.use_now.size(), 2U);
  EXPECT_EQ(settled.use_now[0].throughput, 80);
  EXPECT_EQ(judge.judge(report(1, 105, 30, "a100", 4)).use_now.size(), 1U);
}

TEST(ThroughputHistory, one_run_is_one_witness) {
  ThroughputHistory history;
  for (int i = 0; i < 1000; ++i) history.add(report(1, i, 100));
  ASSERT_EQ(history.observations().size(), 1U);
  EXPECT_EQ(history.observations()[0].samples, 1000);
  EXPECT_NEAR(history.observations()[0].weight, ThroughputHistory::kRunMedian, 1e-9);
  EXPECT_NEAR(history.observations()[0].throughput, 100, 1e-9);
}

TEST(ThroughputHistory, a_run_that_contradicts_the_others_hardly_counts) {
  ThroughputHistory history;
  for (JobId job = 1; job <= 5; ++job) {
    for (int i = 0; i < 5; ++i) history.add(report(job, i, 100));
  }
  for (int i = 0; i < 5; ++i) history.add(report(6, 10 + i, 1e9));
  EXPECT_NEAR(history.observations()[0].throughput, 100, 2);
}

TEST(ThroughputHistory, what_is_old_gives_way_to_an_upgrade) {
  const auto throughput_after = [](double half_life) {
    ThroughputHistory history(ThroughputHistoryRules{.half_life = half_life});
    for (JobId job = 1; job <= 6; ++job) history.add(report(job, 0, 100));
    for (JobId job = 11; job <= 14; ++job) history.add(report(job, 120 * kDay, 140));
    return history.observations()[0].throughput;
  };
  EXPECT_NEAR(throughput_after(30.0 * kDay), 140, 4);
  EXPECT_LT(throughput_after(0), 125) << "without forgetting the old ones still win";
}

TEST(ThroughputHistory, old_runs_make_less_sure) {
  ThroughputHistory history;
  for (int i = 0; i < 4; ++i) history.add(report(1, i, 100, "old"));
  history.add(report(2, 30 * kDay, 100, "new"));
  const auto observations = history.observations();
  ASSERT_EQ(observations.size(), 2U);
  EXPECT_NEAR(observations[1].weight, 2, 0.01) << "four reports, a half-life ago";
}

TEST(ThroughputHistory, early_reports_count_where_there_are_no_others) {
  ThroughputHistory history;
  history.add_early(report(1, 10, 60));
  history.add_early(report(1, 20, 80));
  history.add_early(report(1, 30, 80));
  auto observations = history.observations(0.1);
  ASSERT_EQ(observations.size(), 1U);
  EXPECT_EQ(observations[0].samples, 3);
  EXPECT_GT(observations[0].throughput, 70) << "the last ones are nearer to what it will be";
  EXPECT_NEAR(0.1 / std::sqrt(observations[0].weight), ThroughputHistory::kEarlyStddev, 1e-9)
      << "as unsure, however small the noise of a report";
  history.add(report(2, 100, 100));
  history.add_early(report(3, 110, 50));
  observations = history.observations(0.1);
  ASSERT_EQ(observations.size(), 1U);
  EXPECT_NEAR(observations[0].throughput, 100, 1e-9) << "what has settled stands alone";
  EXPECT_EQ(observations[0].samples, 1);
  EXPECT_NEAR(observations[0].weight, 1, 1e-3);
}

TEST(ThroughputHistory, a_run_is_the_median_of_its_last_reports) {
  ThroughputHistory history;
  for (int i = 0; i < 40; ++i) history.add(report(1, i, i % 4 == 0 ? 130 : 100));
  EXPECT_NEAR(history.observations()[0].throughput, 100, 1e-9) << "not 107";
  for (int i = 40; i < 60; ++i) history.add(report(1, i, 80));
  EXPECT_NEAR(history.observations()[0].throughput, 80, 1e-9)
      << "what changed for good has changed";
}

TEST(Learner, learns_how_far_a_job_that_warms_up_is_from_what_it_settles_at) {
  // Jobs whose first reports are off by `factor`, then a job elsewhere that only warms up.
  const auto stddev_after = [](double factor) {
    Learner learner(LearnerRules{.use = {.warm_up = 60}});
    for (JobId job = 1; job <= 12; ++job) {
      const Seconds start = 1000 * job;
      for (int i = 1; i <= 12; ++i) {
        ThroughputReport one = report(job, start + 10 * i, (i <= 2 ? factor : 1.0) * (100 + i % 2));
        one.run_start = kBegin + start;
        learner.take(one);
      }
    }
    ThroughputReport young = report(20, 20'010, 50, "v100");
    young.run_start = kBegin + 20'000;
    learner.take(young);
    (void)learner.refit(TypeSpeeds());
    return learner.model()->predict({"lab", "net"}, young.configuration).stddev;
  };
  EXPECT_LT(stddev_after(1.0), 0.1) << "early reports were as good as any";
  EXPECT_GT(stddev_after(0.5), 0.15) << "they were not";
}

TEST(ThroughputHistory, tells_the_scatter_of_reports_from_that_of_runs) {
  ThroughputHistory history;
  EXPECT_EQ(history.scatter().within_count, 0);
  history.add(report(1, 0, 100));
  EXPECT_EQ(history.scatter().within_count, 0) << "one report says nothing of the next";
  for (JobId job = 1; job <= 8; ++job) {
    const double level = job % 2 == 0 ? 100 : 110;
    for (int i = 0; i < 40; ++i) history.add(report(job, i, level * (i % 2 == 0 ? 1.02 : 0.98)));
  }
  history.add(report(9, 0, 1));
  history.add(report(9, 1, 100));  // one disturbed run changes nothing
  const ReportScatter found = history.scatter();
  EXPECT_NEAR(found.within, 0.02, 0.003);
  EXPECT_GT(found.within_count, 300);
  ThroughputHistory steady;
  for (JobId job = 1; job <= 8; ++job) {
    for (int i = 0; i < 40; ++i)
      steady.add(report(job, i, (job % 2 == 0 ? 100 : 110) * (i % 2 == 0 ? 1.02 : 0.98)));
  }
  EXPECT_NEAR(steady.scatter().between, 0.05, 0.01);
  EXPECT_EQ(steady.scatter().between_count, 7);
}

TEST(LearnPrior, noise_follows_what_was_seen_the_nearer_the_more_of_it) {
  const ThroughputPrior start;
  EXPECT_EQ(with_scatter(start, {}), start);
  const auto after = [&](double count) {
    return with_scatter(start, {.within = 0.01, .within_count = count}).report;
  };
  EXPECT_LT(after(1), start.report);
  EXPECT_GT(after(1), after(10));
  EXPECT_NEAR(after(1000), 0.01, 1e-4);
  EXPECT_NEAR(with_scatter(start, {.within = 2, .within_count = 1000}).report, 2, 0.01);
  // A scatter of 0 must not give a report infinite weight.
  const ThroughputPrior none = with_scatter(start, {0, 1e6, 0, 1e6});
  EXPECT_GT(none.report, 0);
  EXPECT_GT(none.report_floor, 0);
}

TEST(Learner, a_short_job_teaches_though_it_only_warmed_up) {
  Learner learner;  // a minute of warm-up
  const TypeSpeeds speeds({{"a100", 2.0}, {"v100", 1.0}});
  learner.take(report(1, 10, 50));
  EXPECT_EQ(learner.refit(speeds).change, ThroughputChange::kDecides);
  const Forecast early = learner.model()->predict({"lab", "net"}, report(1, 0, 0).configuration);
  EXPECT_TRUE(early.known_profile);
  EXPECT_NEAR(early.throughput(), 50, 10);
  EXPECT_GT(early.stddev, 0.1) << "but it warmed up";
  EXPECT_LT(early.stddev, 0.4) << "it is not as if nothing was measured";
  EXPECT_TRUE(learner.errors().rows().empty());
  EXPECT_EQ(learner.uses().at(ReportUse::kWarmUp), 1);
  for (int i = 0; i < 20; ++i) learner.take(report(2, 100 + i, 100));
  (void)learner.refit(speeds);
  const Forecast settled = learner.model()->predict({"lab", "net"}, report(1, 0, 0).configuration);
  EXPECT_NEAR(settled.throughput(), 100, 1);
  EXPECT_LT(settled.stddev, 0.06);
}

TEST(Learner, believes_reports_that_agree_with_each_other) {
  const TypeSpeeds speeds({{"a100", 2.0}, {"v100", 1.0}});
  const auto error_of_second = [&](bool learns) {
    Learner learner(LearnerRules{.use = {.warm_up = 0}, .fits_hyperparameters = learns});
    for (JobId job = 1; job <= 3; ++job) {
      for (int i = 0; i < 20; ++i) {
        learner.take(report(job, i, 100 * job * (i % 2 == 0 ? 1.005 : 0.995), "a100",
                            static_cast<int>(job)));
      }
    }
    (void)learner.refit(speeds);
    learner.take(report(9, 50, 400, "a100", 16));  // half of the forecast by the others
    (void)learner.refit(speeds);
    const Forecast next =
        learner.model()->predict({"lab", "net"}, report(9, 0, 0, "a100", 16).configuration);
    return std::abs(next.throughput() / 400 - 1);
  };
  EXPECT_LT(error_of_second(true), 0.02);
  EXPECT_GT(error_of_second(false), 2 * error_of_second(true));
}

TEST(Learner, measures_how_well_it_foresaw_reports) {
  Learner learner(LearnerRules{.use = {.warm_up = 0}});
  const TypeSpeeds speeds({{"a100", 2.0}, {"v100", 1.0}});
  learner.take(report(1, 100, 100));
  EXPECT_EQ(learner.refit(speeds).change, ThroughputChange::kDecides);
  EXPECT_TRUE(learner.errors().rows().empty()) << "nothing was known of the first one";
  learner.take(report(2, 200, 25, "v100"));
  const auto& rows = learner.errors().rows();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows.begin()->first.second, "v100");
  EXPECT_NEAR(rows.begin()->second.mean, 1.0, 0.1) << "50 were expected, 25 came";
  (void)learner.refit(speeds);
  for (int i = 0; i < 50; ++i) learner.take(report(2, 210 + i, 25, "v100"));
  EXPECT_LT(rows.begin()->second.mean, 0.1);
  EXPECT_EQ(rows.begin()->second.reports, 51);
}

TEST(Learner, keeps_the_better_of_two_fits_and_says_so) {
  Learner learner(LearnerRules{.use = {.warm_up = 0}});
  const TypeSpeeds speeds;
  for (int i = 0; i < 40; ++i) learner.take(report(1, 10 * i, 100 + i % 2));
  (void)learner.refit(speeds);
  const auto good = learner.model();
  // A curve with a small standard deviation and a wrong value.
  CurvePoint wrong;
  wrong.profile = {"lab", "net"};
  wrong.configuration = {"a100", 2, 0, 64, ""};
  wrong.log_throughput = std::log(1000.0);
  wrong.stddev = 0.05;
  learner.set_curves({wrong});
  const Learner::News news = learner.refit(speeds);
  EXPECT_TRUE(news.kept_old);
  ASSERT_FALSE(news.said.empty());
  EXPECT_NE(news.said[0].find("net on a100"), std::string::npos) << news.said[0];
  EXPECT_EQ(learner.model(), good);
  EXPECT_EQ(learner.refused_fits(), 1);
  ASSERT_EQ(learner.refusals().size(), 1U);
  const auto& [whose, refused] = *learner.refusals().begin();
  EXPECT_EQ(whose, ForecastErrors::Key({"lab", "net"}, "a100"));
  EXPECT_EQ(refused.fits, 1);
  EXPECT_EQ(refused.reports, 40);
  EXPECT_GT(refused.refused, refused.kept);
  // Evidence for the curve: the jobs are as fast as it predicts.
  for (int i = 0; i < 130; ++i) learner.take(report(2, 1000 + 10 * i, 1000));
  EXPECT_FALSE(learner.refit(speeds).kept_old);
  EXPECT_NE(learner.model(), good);
}

TEST(Learner, RefitsWhenDueForNewConfigurationsAndManyMoreReports) {
  const TypeSpeeds speeds;
  Learner learner;
  const auto fits = [&] {
    const auto before = learner.model();
    learner.refit_when_due(speeds, 0.5);
    return learner.model() != before;
  };
  EXPECT_FALSE(fits()) << "nothing is known";
  for (int i = 0; i < 10; ++i) learner.take(report(1, 300 + i, 100));
  EXPECT_TRUE(fits()) << "the first configuration";
  EXPECT_FALSE(fits());
  learner.take(report(1, 320, 200));
  EXPECT_FALSE(fits()) << "a tenth more reports";
  learner.take(report(2, 320, 100, "h100"));
  EXPECT_TRUE(fits()) << "a new configuration";
  for (int i = 0; i < 10; ++i) learner.take(report(3, 400 + i, 150));
  EXPECT_TRUE(fits()) << "three quarters more";
}

TEST(Learner, reports_of_another_site_count_only_where_none_are_ours) {
  Learner learner(LearnerRules{.use = {.warm_up = 0}});
  ThroughputObservation theirs{
      .profile = {"lab", "net"}, .gpu_type = "a100", .gpus = 2, .throughput = 70, .samples = 9};
  ThroughputObservation elsewhere = theirs;
  elsewhere.gpu_type = "v100";
  learner.set_imported({theirs, elsewhere});
  EXPECT_EQ(learner.observations().size(), 2U);
  learner.take(report(1, 100, 100));
  const auto observations = learner.observations();
  ASSERT_EQ(observations.size(), 2U);
  EXPECT_NEAR(observations[0].throughput, 100, 1e-9);
  EXPECT_EQ(observations[1].gpu_type, "v100");
}

TEST(ErrorReplay, gives_the_errors_that_a_learner_had) {
  const TypeSpeeds speeds({{"a100", 2.0}, {"v100", 1.0}});
  const LearnerRules rules{.use = {.warm_up = 0}};
  Learner learner(rules);
  ErrorReplay replay(speeds, rules);
  std::vector<ThroughputReport> all;
  for (int i = 0; i < 60; ++i) {
    const bool odd = i % 2 != 0;
    all.push_back(report(1 + i, i, (odd ? 30 : 80) + i % 5, odd ? "v100" : "a100", 1 + i % 3));
  }
  for (const ThroughputReport& one : all) {
    learner.take(one);
    (void)learner.refit(speeds);
    replay.take(one);
  }
  const auto& a = learner.errors().rows();
  const auto& b = replay.finish().rows();
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [key, row] : a) {
    EXPECT_EQ(row.reports, b.at(key).reports);
    EXPECT_DOUBLE_EQ(row.mean, b.at(key).mean);
  }
  const auto both = replay_both(all, speeds, rules);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_GT(both[0].plain, 0);
  EXPECT_GT(both[0].present, 0);
}

// A report held back during warm-up is scored by the forecast at its arrival: the plain model,
// which holds nothing back, must not have used it by then.
TEST(ReplayBoth, foresees_a_report_before_either_model_has_seen_it) {
  std::vector<ThroughputReport> all;
  for (JobId job = 1; job <= 6; ++job) {
    const double throughput = job % 2 == 0 ? 100 : 200;  // each job is a surprise
    for (int i = 1; i <= 3; ++i) {
      all.push_back(report(job, 1000 * job + 10 * i, throughput));
      all.back().run_start = kBegin + 1000 * job;
    }
  }
  const auto rows = replay_both(all, TypeSpeeds(), LearnerRules{.use = {.warm_up = 60}});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].reports, 17) << "all but the first of all";
  EXPECT_GT(rows[0].plain_most, 0.9) << "the second job came as a surprise to both";
  EXPECT_GT(rows[0].present_most, 0.9);
}

TEST(ThroughputChange, says_what_is_worth_a_fit) {
  Learner learner(LearnerRules{.use = {.warm_up = 0}});
  learner.take(report(1, 100, 100));
  const auto before = learner.observations();
  auto now = before;
  EXPECT_EQ(throughput_change(before, now), ThroughputChange::kSame);
  now[0].throughput = 100.5;
  EXPECT_EQ(throughput_change(before, now), ThroughputChange::kSame);
  now[0].throughput = 102;
  EXPECT_EQ(throughput_change(before, now), ThroughputChange::kSome);
  now[0].throughput = 90;
  EXPECT_EQ(throughput_change(before, now), ThroughputChange::kDecides);
  now[0].throughput = 0;
  EXPECT_EQ(throughput_change(before, now), ThroughputChange::kDecides);
  now = before;
  now[0].samples = 2;
  EXPECT_EQ(throughput_change(before, now), ThroughputChange::kSome);
  now = before;
  now[0].gpus = 5;
  EXPECT_EQ(throughput_change(before, now), ThroughputChange::kDecides);
  EXPECT_EQ(throughput_change(before, {}), ThroughputChange::kDecides);
}

}  // namespace
}  // namespace rubato
