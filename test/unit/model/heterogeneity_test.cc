// SPDX-License-Identifier: GPL-2.0-or-later
// The throughput model with batches, nodes, plans, curves, and infeasible configurations; Gavel's
// file, and the forecast errors on it.
#include <gtest/gtest.h>

#include <cmath>

#include "lib/model/throughput/acquisition.h"
#include "lib/model/throughput/fit_hyperparameters.h"
#include "lib/model/throughput/throughput.h"
#include "lib/validate/data_gavel.h"
#include "lib/validate/validate_gavel.h"
#include "test/support/shared_data.h"

namespace rubato {
namespace {

const ProfileName kNet{"lab", "net"};

ThroughputObservation observation(const char* type, int gpus, double throughput,
                                  std::int64_t batch = 0, int nodes = 0,
                                  const ProfileName& profile = kNet) {
  ThroughputObservation made;
  made.profile = profile;
  made.gpu_type = type;
  made.gpus = gpus;
  made.throughput = throughput;
  made.samples = 10;
  made.batch = batch;
  made.nodes = nodes;
  return made;
}

TEST(Heterogeneity, a_measured_0_is_a_place_where_it_does_not_fit) {
  const ThroughputModel model(TypeSpeeds(),
                              {observation("old", 2, 0, 128), observation("old", 2, 50, 32),
                               observation("old", 1, 40, 128), observation("new", 2, 90, 128)});
  EXPECT_EQ(model.observations().size(), 4U) << "carried, not averaged";
  const JobConfiguration large{"old", 2, 0, 128, ""};
  EXPECT_FALSE(model.predict(kNet, large).feasible);
  EXPECT_EQ(model.predict(kNet, large).throughput(), 0);
  EXPECT_TRUE(std::isfinite(model.predict(kNet, large).log_throughput));
  EXPECT_FALSE(model.predict(kNet, {"old", 2, 0, 256, ""}).feasible) << "nor with a larger batch";
  EXPECT_TRUE(model.predict(kNet, {"old", 2, 0, 32, ""}).feasible);
  EXPECT_TRUE(model.predict(kNet, {"new", 2, 0, 128, ""}).feasible);
  // A measured throughput overrides "does not fit".
  const ThroughputModel both(TypeSpeeds(),
                             {observation("old", 2, 0, 128), observation("old", 2, 45, 128)});
  EXPECT_TRUE(both.predict(kNet, large).feasible);
  EXPECT_NEAR(both.predict(kNet, large).throughput(), 45, 1);
}

TEST(Heterogeneity, another_batch_is_related_and_not_the_same) {
  const ThroughputModel model(TypeSpeeds(),
                              {observation("t", 1, 100, 64), observation("t", 1, 400, 1024)});
  const Forecast between = model.predict(kNet, {"t", 1, 0, 256, ""});
  EXPECT_GT(between.throughput(), 130);
  EXPECT_LT(between.throughput(), 330);
  EXPECT_GT(between.stddev, model.predict(kNet, {"t", 1, 0, 64, ""}).stddev);
  EXPECT_NEAR(model.predict(kNet, {"t", 1, 0, 64, ""}).throughput(), 100, 8);
}

TEST(Heterogeneity, the_order_of_two_types_may_turn_with_the_batch) {
  std::vector<ThroughputObservation> observations;
  for (const std::int64_t batch : {16, 32, 128, 256}) {
    const double b = static_cast<double>(batch) / 64;
    observations.push_back(observation("wide", 1, 100 * b, batch));
    observations.push_back(observation("quick", 1, 100 * std::sqrt(b), batch));
  }
  const ThroughputModel model(TypeSpeeds(), observations);
  const auto throughput = [&](const char* type, std::int64_t batch) {
    return model.predict(kNet, {type, 1, 0, batch, ""}).throughput();
  };
  EXPECT_GT(throughput("quick", 20), throughput("wide", 20));
  EXPECT_LT(throughput("quick", 200), throughput("wide", 200));
}

TEST(Heterogeneity, scaling_need_not_be_monotone) {
  const ThroughputModel model(TypeSpeeds(), {observation("t", 1, 100), observation("t", 2, 180),
                                             observation("t", 4, 90), observation("t", 8, 400)});
  EXPECT_NEAR(model.predict(kNet, "t", 4).throughput(), 90, 25);
  EXPECT_NEAR(model.predict(kNet, "t", 8).throughput(), 400, 60);
}

TEST(Heterogeneity, spread_over_more_nodes_than_needed_is_slower_once_it_was_seen) {
  const ThroughputModel model(TypeSpeeds(),
                              {observation("t", 4, 400, 0, 1), observation("t", 4, 200, 0, 4),
                               observation("t", 2, 220, 0, 1), observation("t", 2, 130, 0, 2)});
  EXPECT_LT(model.predict(kNet, {"t", 4, 2, 0, ""}).throughput(),
            0.85 * model.predict(kNet, {"t", 4, 1, 0, ""}).throughput());
  EXPECT_NEAR(model.predict(kNet, "t", 4).throughput(), 400, 30) << "as few nodes as needed";
}

TEST(Heterogeneity, a_curve_speaks_where_nothing_was_measured_and_reports_win) {
  CurvePoint point;
  point.profile = kNet;
  point.configuration = {"t", 8, 0, 0, ""};
  point.log_throughput = std::log(1000.0);
  point.stddev = 0.1;
  const ThroughputModel told(TypeSpeeds(), {observation("t", 1, 100)}, {}, {point});
  EXPECT_NEAR(told.predict(kNet, "t", 8).throughput(), 1000, 150);
  EXPECT_LT(told.predict(kNet, "t", 8).stddev, 0.15);
  const ThroughputModel measured(TypeSpeeds(), {observation("t", 1, 100), observation("t", 8, 300)},
                                 {}, {point});
  EXPECT_NEAR(measured.predict(kNet, "t", 8).throughput(), 400, 110);
  EXPECT_TRUE(ThroughputModel(TypeSpeeds(), {}, {}, {point}).predict(kNet, "t", 8).known_profile);
}

TEST(Heterogeneity, leaving_a_cell_out_is_fitting_without_it) {
  std::vector<ThroughputObservation> observations;
  for (int p = 0; p < 4; ++p) {
    for (int t = 0; t < 3; ++t) {
      observations.push_back(observation(t == 0   ? "a"
                                         : t == 1 ? "b"
                                                  : "c",
                                         1 + p % 2, 10 + 7 * p + 11 * t, 32 * (1 + p % 2), 0,
                                         {"lab", "p" + std::to_string(p / 2)}));
    }
  }
  const ThroughputModel model(TypeSpeeds(), observations);
  const auto left_out = model.leave_one_out();
  for (std::size_t i = 0; i < model.observations().size(); ++i) {
    std::vector<ThroughputObservation> others = model.observations();
    const ThroughputObservation gone = others[i];
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const Forecast there =
        ThroughputModel(TypeSpeeds(), others).predict(gone.profile, gone.configuration());
    ASSERT_TRUE(left_out[i].has_value());
    EXPECT_NEAR(left_out[i]->log_throughput, there.log_throughput, 1e-6);
    EXPECT_GT(left_out[i]->stddev, there.stddev) << "the noise of reports is in it";
  }
}

TEST(LearnPrior, is_as_it_was_where_little_is_known_and_narrows_where_all_agree) {
  EXPECT_EQ(fit_hyperparameters(TypeSpeeds(), {observation("a", 1, 10)}), ThroughputPrior());
  std::vector<ThroughputObservation> observations;
  for (int p = 0; p < 8; ++p) {
    for (const int gpus : {1, 2, 4}) {
      const ProfileName name{"lab", "p" + std::to_string(p)};
      const double level = std::exp(p) * std::pow(gpus, 0.85);
      observations.push_back(observation("a", gpus, level, 32, 0, name));
      observations.push_back(observation("b", gpus, 3 * level, 32, 0, name));
    }
  }
  const ThroughputPrior learnt = fit_hyperparameters(TypeSpeeds(), observations);
  EXPECT_LT(learnt.type_affinity, 0.3) << "b is three times a, for every job type";
  EXPECT_EQ(learnt, fit_hyperparameters(TypeSpeeds(), observations));
}

TEST(InformativeMeasurements, what_was_never_tried_teaches_most) {
  const ThroughputModel model(TypeSpeeds(), {observation("a", 1, 100), observation("a", 2, 190),
                                             observation("b", 1, 50), observation("c", 1, 0)});
  const auto all = most_informative(model, {"a", "b", "c", "d"}, 20);
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0].gpu_type, "d");
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_GE(all[i].reduction, 0);
    EXPECT_LE(all[i].reduction, all[i].mean);
    if (i > 0) {
      EXPECT_LE(all[i].reduction, all[i - 1].reduction);
    }
    EXPECT_FALSE(all[i].gpu_type == "c" && all[i].gpus == 1) << "it does not fit there";
  }
}

TEST(Gavel, reads_rates_alone_and_beside_others) {
  const auto data = parse_gavel(
      "{\"t\": {\"('net (batch size 32)', 2)\": {\"null\": 0.0},\n"
      " \"('net (batch size 32)', 1)\": {\"null\": 2.5, \"('x', 1)\": [1.0, 2]}},\n"
      " \"t_unconsolidated\": {\"('x', 1)\": {\"null\": 4}}}",
      "f");
  ASSERT_TRUE(data) << data.error().text;
  ASSERT_EQ(data->observations.size(), 3U);
  EXPECT_EQ(data->observations[0].model.app, "net");
  EXPECT_EQ(data->observations[0].model.batch, 32);
  EXPECT_EQ(data->observations[0].scale, 1);
  EXPECT_EQ(data->observations[0].throughput(), 80);
  ASSERT_EQ(data->observations[0].shared.size(), 1U);
  EXPECT_EQ(data->observations[0].shared[0].other_steps, 2);
  EXPECT_EQ(data->observations[1].steps, 0);
  EXPECT_FALSE(data->observations[2].consolidated);
  EXPECT_EQ(data->observations[2].model.batch, 0);
}

TEST(Gavel, errors_name_line_column_and_what_was_expected) {
  const auto error = [](const char* text) {
    const auto data = parse_gavel(text, "f");
    return data ? std::string("none") : data.error().text;
  };
  EXPECT_EQ(error("{\n \"t\": {\"('x', 1)\": {\"null\": -1}}}"),
            "f:2:29: expected a rate of at least 0, found '-1}}}'");
  EXPECT_EQ(error("{\"t\": {\"x\": {\"null\": 1}}}").substr(0, 50),
            "f:1:8: expected a job \"('NAME', SCALE)\" with a who");
  EXPECT_EQ(error("{\"t\": {\"('x', 0)\": {}}}").substr(0, 22), "f:1:8: expected a job ");
  EXPECT_EQ(error("{\"t\": {\"('x', 1)\": {}}}").substr(0, 22), "f:1:8: expected a job ");
  EXPECT_EQ(error("{\"t\": {} "), "f:1:10: expected ',' or '}', found the end");
  EXPECT_EQ(error(""), "f:1:1: expected '{', found the end");
  EXPECT_EQ(error("{\"t\": {\"('x', 1)\": {\"null\": 1e999}}}").substr(0, 30),
            "f:1:29: expected a rate of at ");
  EXPECT_EQ(error("{\"t\": {}, \"t\": {}}").substr(0, 40),
            "f:1:11: expected a name that was not the");
}

TEST(Gavel, cells_left_out_are_foreseen_better_than_by_either_baseline) {
  const auto folder = test::shared_data("gavel");
  if (!folder) GTEST_SKIP() << "no shared data";
  const auto section = validate_gavel(*folder);
  ASSERT_TRUE(section) << section.error().text;
  for (const auto& [gate, holds] : section->gates) EXPECT_TRUE(holds) << gate;
}

}  // namespace
}  // namespace rubato
