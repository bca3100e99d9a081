// SPDX-License-Identifier: GPL-2.0-or-later
// models-fit.json: the contents of a version of the models.
#include "lib/json/models_fit.h"

#include <gtest/gtest.h>

#include "lib/base/fingerprint.h"
#include "lib/json/public_view.h"

namespace rubato {
namespace {

ModelsFit two_profiles() {
  ModelsFit fit;
  fit.speeds = {{"a100", 1.0}, {"v100", 0.4}};
  fit.observations = {{{"", "resnet50"}, "a100", 2, 812.5, 480},
                      {{"lab", "bert"}, "v100", 4, 0.1, 1}};
  return fit;
}

TEST(ModelsFit, is_one_line_of_json) {
  EXPECT_EQ(to_json(two_profiles()),
            R"({"schema":"rubato.models-fit/1","speeds":[{"gpu_type":"a100","speed":1},)"
            R"({"gpu_type":"v100","speed":0.4}],"cells":[{"account":"","job_type":"resnet50",)"
            R"("gpu_type":"a100","gpus":2,"rate":812.5,"samples":480},{"account":"lab",)"
            R"("job_type":"bert","gpu_type":"v100","gpus":4,"rate":0.1,"samples":1}]})");
}

TEST(ModelsFit, read_back_it_forecasts_the_same) {
  const Models models = models_of(two_profiles());
  const Models again = models_of(*models_fit_from_json(to_json(fit_of(models))));
  ASSERT_NE(again.throughput_model(), nullptr);
  for (const char* type : {"a100", "v100", "h100"}) {
    const ProfileName profile{"lab", "bert"};
    EXPECT_EQ(models.throughput_model()->predict(profile, type, 3).log_throughput,
              again.throughput_model()->predict(profile, type, 3).log_throughput);
    EXPECT_EQ(models.throughput_model()->predict(profile, type, 3).stddev,
              again.throughput_model()->predict(profile, type, 3).stddev);
  }
}

TEST(ModelsFit, has_a_fingerprint_only_where_something_was_learnt) {
  ModelsFit fit = two_profiles();
  const std::string print = fingerprint(fit);
  EXPECT_EQ(print.size(), 16U);
  fit.observations[0].throughput += 1;
  EXPECT_NE(fingerprint(fit), print);
  fit.observations.clear();
  EXPECT_EQ(fingerprint(fit), "");
  EXPECT_EQ(models_of(fit).throughput_model(), nullptr);
}

TEST(ModelsFit, errors_name_the_member) {
  const auto error_of = [](const std::string& from, const std::string& to) {
    std::string text = to_json(two_profiles());
    text.replace(text.find(from), from.size(), to);
    const auto fit = models_fit_from_json(text);
    return fit ? std::string("none") : fit.error().text;
  };
  EXPECT_EQ(error_of("\"gpus\":2", "\"gpus\":0"), "cells[0].gpus: expected a number above 0");
  EXPECT_EQ(error_of("812.5", "-1"), "cells[0].rate: expected a number of at least 0");
  EXPECT_EQ(error_of("\"samples\":480", "\"samples\":0"),
            "cells[0].samples: expected a number above 0");
  EXPECT_EQ(error_of("0.4", "0"), "speeds[1].speed: expected a number above 0");
  EXPECT_EQ(error_of("v100\",\"speed", "a100\",\"speed"), "speeds[1]: names its type again");
  EXPECT_EQ(error_of("\"account\":\"\"", "\"account\":\"z\""),
            "cells: must be sorted by account, job type, GPU type, GPUs, nodes, batch and plan, "
            "each once");
}

// With all members that a fit can have.
constexpr const char* kWholeFit =
    R"({"schema":"rubato.models-fit/1","speeds":[{"gpu_type":"a100","speed":1}],)"
    R"("cells":[{"account":"","job_type":"vit","gpu_type":"a100","gpus":2,"rate":0,"samples":4,)"
    R"("nodes":1,"batch":512,"plan":"dp","weight":2.5}],"prior":{"scaling":0.25},)"
    R"("curves":[{"account":"","job_type":"vit","gpu_type":"a100","gpus":4,"nodes":1,)"
    R"("log_rate":-7.25,"spread":0.5}],"rows":[{"account":"lab","job_type":"vit",)"
    R"("gpu_type":"a100","gpus":2,"batch":512,"cores":8,"workers":2,"servers":1,)"
    R"("server_cores":4,"rate":812.5,"samples":480,"forward":0.1,"noise":0}],)"
    R"("memory":[{"gpu_type":"a100","memory":0}]})";

TEST(ModelsFit, ReadsAndWritesAllMembers) {
  const auto fit = models_fit_from_json(kWholeFit);
  ASSERT_TRUE(fit) << fit.error().text;
  EXPECT_EQ(to_json(*fit), kWholeFit);
}

TEST(ModelsFit, RefusesNumbersThatTheSchemaForbids) {
  const auto error_of = [](const std::string& from, const std::string& to) {
    std::string text = kWholeFit;
    text.replace(text.find(from), from.size(), to);
    const auto fit = models_fit_from_json(text);
    return fit ? std::string("none") : fit.error().text;
  };
  EXPECT_EQ(error_of("\"nodes\":1", "\"nodes\":0"), "cells[0].nodes: expected a number above 0");
  EXPECT_EQ(error_of("\"weight\":2.5", "\"weight\":0"),
            "cells[0].weight: expected a number above 0");
  EXPECT_EQ(error_of("0.25", "-0.25"), "prior.scaling: expected a number of at least 0");
  EXPECT_EQ(error_of("0.5}", "-1}"), "curves[0].spread: expected a number of at least 0");
  EXPECT_EQ(error_of("\"noise\":0", "\"noise\":-1"),
            "rows[0].noise: expected a number of at least 0");
}

TEST(ModelsFit, hides_the_profiles_of_accounts) {
  const std::set<std::string> shared = {"resnet50"};
  EXPECT_EQ(public_view(two_profiles(), PrivateData{}, shared).observations.size(), 2U);
  for (const auto hide : {&PrivateData::jobs, &PrivateData::usage, &PrivateData::accounts}) {
    PrivateData hidden;
    hidden.*hide = true;
    const ModelsFit shown = public_view(two_profiles(), hidden, shared);
    ASSERT_EQ(shown.observations.size(), 1U);
    EXPECT_EQ(shown.observations[0].profile.job_type, "resnet50");
    EXPECT_TRUE(public_view(two_profiles(), hidden, {}).observations.empty())
        << "without accounts in Slurm no profile has one";
  }
}

}  // namespace
}  // namespace rubato
