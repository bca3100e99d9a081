// SPDX-License-Identifier: GPL-2.0-or-later
// Forecasts of models.json for each profile, at measured and unmeasured sizes.
#include "lib/json/forecasts.h"

#include <gtest/gtest.h>

#include "lib/json/public_view.h"

namespace rubato {
namespace {

ModelRow row(const std::string& job_type, const std::string& gpu_type, int gpus,
             std::int64_t flagged = 0) {
  ModelRow made;
  made.account = "lab";
  made.job_type = job_type;
  made.gpu_type = gpu_type;
  made.gpus = gpus;
  made.samples = 5;
  made.flagged = flagged;
  return made;
}

ModelsTable table() {
  ModelsTable made;
  made.rows = {row("bert", "a100", 4), row("bert", "a100+v100", 6), row("vit", "v100", 1, 5)};
  return made;
}

ThroughputModel model() {
  return ThroughputModel(
      TypeSpeeds({{"a100", 1.0}, {"v100", 0.5}}),
      {{{"lab", "bert"}, "a100", 4, 100, 5}, {{"lab", "bert"}, "a100+v100", 6, 120, 5}});
}

std::vector<std::string> places(const std::vector<ForecastRow>& rows) {
  std::vector<std::string> names;
  for (const ForecastRow& one : rows)
    names.push_back(one.job_type + " " + one.gpu_type + " " + std::to_string(one.gpus));
  return names;
}

TEST(Forecasts, cover_types_never_seen_at_the_sizes_that_were) {
  const auto rows = forecasts_of(table(), model(), {"a100", "v100"});
  EXPECT_EQ(places(rows),
            (std::vector<std::string>{"bert a100 4", "bert a100 6", "bert a100+v100 6",
                                      "bert v100 4", "bert v100 6"}))
      << "no profile without a plausible report, no other size of several types";
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
}

TEST(Forecasts, say_how_sure_they_are) {
  const ThroughputModel fit = model();
  const auto rows = forecasts_of(table(), fit, {"a100", "v100"});
  for (const ForecastRow& one : rows) {
    EXPECT_LT(one.throughput_low, one.throughput);
    EXPECT_GT(one.throughput_high, one.throughput);
    EXPECT_EQ(one.throughput, fit.predict({"lab", "bert"}, one.gpu_type, one.gpus).throughput());
  }
  const ForecastRow& measured = rows[0];
  const ForecastRow& never_seen = rows[3];
  EXPECT_EQ(measured.samples, 5);
  EXPECT_EQ(never_seen.samples, 0);
  EXPECT_GT(never_seen.throughput_high / never_seen.throughput,
            measured.throughput_high / measured.throughput);
  EXPECT_LT(never_seen.throughput, measured.throughput) << "by the configured speeds";
}

TEST(Forecasts, are_written_and_read_and_hidden_with_their_profiles) {
  ModelsTable made = table();
  made.forecasts = forecasts_of(made, model(), {"v100"});
  const auto back = models_from_json(to_json(made));
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(*back, made);
  PrivateData hidden;
  hidden.accounts = true;
  EXPECT_TRUE(public_view(made, hidden).forecasts.empty());
  for (ForecastRow& one : made.forecasts) one.shared = true;
  EXPECT_EQ(public_view(made, hidden).forecasts.size(), made.forecasts.size());
}

TEST(Forecasts, of_what_the_fit_does_not_know_there_are_none) {
  EXPECT_TRUE(forecasts_of(table(), ThroughputModel(TypeSpeeds()), {"a100"}).empty());
}

}  // namespace
}  // namespace rubato
