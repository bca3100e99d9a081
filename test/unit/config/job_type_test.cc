// SPDX-License-Identifier: GPL-2.0-or-later
// JobType= lines of rubato.conf.
#include <gtest/gtest.h>

#include "lib/config/config.h"
#include "lib/hints/comment.h"

namespace rubato {
namespace {

std::string error_of(const std::string& text) {
  const auto config = parse_config(text, "r");
  return config ? "" : config.error().text;
}

TEST(ConfigJobType, SaysWhatHoldsForAType) {
  const auto config = parse_config(
      "JobType=r50 Shared=yes Gpus=1,2,4-8 GpuTypes=h100/a100 Batch=256-1024 Plans=dp,ga "
      "Checkpoint=B:USR1@30 Resize=restart Device=any MixTypes=yes Model=params=7e9\n"
      "JobType=bert\n",
      "r");
  ASSERT_TRUE(config) << config.error().text;
  ASSERT_EQ(config->job_types.size(), 2U);
  EXPECT_EQ(config->job_types[0].name, "bert");
  EXPECT_TRUE(config->job_types[0].hints.empty());
  EXPECT_FALSE(config->job_types[0].shared);
  const JobTypeConfig* type = config->job_type("r50");
  ASSERT_NE(type, nullptr);
  EXPECT_TRUE(type->shared);
  EXPECT_EQ(render_hints(type->hints),
            "gpus=1,2,4-8;gpu-types=h100/a100;batch=256-1024;model=params=7e9;plans=dp,ga;"
            "checkpoint=B:USR1@30;resize=restart;device=any;mix-types=yes");
  EXPECT_EQ(config->job_type("r5"), nullptr);
  EXPECT_EQ(config->job_type("R50"), nullptr) << "names of job types have a case";
}

TEST(ConfigJobType, AWrittenConfigIsReadBack) {
  const auto config = parse_config(
      "GpuType=a100 Speed=1\njobtype=x shared=no gpus=1-8 model=params=7e9,hidden=4096\n"
      "JobType=y:2 Shared=yes MixTypes=no\n",
      "r");
  ASSERT_TRUE(config) << config.error().text;
  const std::string text = dump_config(*config);
  EXPECT_NE(text.find("JobType=x Gpus=1-8 Model=params=7e9,hidden=4096\n"
                      "JobType=y:2 Shared=yes MixTypes=no\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(parse_config(text, "r").value(), *config);
  EXPECT_NE(config_json(*config).find("\"JobType\":[{\"JobType\":\"x\",\"Gpus\":\"1-8\","
                                      "\"Model\":\"params=7e9,hidden=4096\"},{\"JobType\":\"y:2\","
                                      "\"Shared\":\"yes\",\"MixTypes\":\"no\"}]"),
            std::string::npos)
      << config_json(*config);
}

TEST(ConfigJobType, ErrorsNameTheWord) {
  EXPECT_EQ(error_of("JobType=r50 Gpus=0\n"),
            "r:1: Gpus: \"0\" is out of range; choose a whole number from 1 to 100000");
  EXPECT_EQ(error_of("JobType=r50 Resize=liv\n"),
            "r:1: Resize: \"liv\" is not one of none, restart, live; did you mean live?");
  EXPECT_EQ(error_of("JobType=r50 Shared=maybe\n"), "r:1: Shared: \"maybe\" must be yes or no");
  EXPECT_EQ(error_of("JobType=r/50\n"),
            "r:1: JobType: \"r/50\" is not a name; use letters, digits and . _ + : @ -");
  EXPECT_EQ(error_of("JobType=r50 Gpus=1 Gpus=2\n"), "r:1: Gpus: set twice on one line");
  EXPECT_EQ(error_of("JobType=r50\nJobType=r50\n"),
            "r:2: JobType: \"r50\" is set twice; first at r:1");
  EXPECT_NE(error_of("JobType=r50 Gpu=1\n").find("did you mean Gpus?"), std::string::npos);
  EXPECT_NE(error_of("JobType=r50 Speed=1\n").find("Speed: unknown on a JobType line"),
            std::string::npos);
  EXPECT_EQ(error_of("Batch=256\n"),
            "r:1: Batch: belongs on a JobType line, as in JobType=NAME Batch=256-1024");
  EXPECT_EQ(error_of("GpuType=a100\nJobType=a100\n"), "") << "two kinds of names";
}

}  // namespace
}  // namespace rubato
