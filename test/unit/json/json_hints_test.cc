// SPDX-License-Identifier: GPL-2.0-or-later
// Hints of a job in the JSON of a snapshot.
#include <gtest/gtest.h>

#include "lib/hints/comment.h"
#include "lib/json/json.h"
#include "test/support/build_snapshot.h"

namespace rubato::test {
namespace {

Snapshot with_hints(const std::string& comment) {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"h100", 8}});
  add_pending(snapshot, 2, "");
  HintRequest request;
  request.gpus = 2;
  snapshot.jobs[0].hints =
      resolve_hints(parse_comment("rubato:" + comment).value(), {}, request).value();
  snapshot.jobs[0].uid = 1000;
  snapshot.jobs[0].restarts = 3;
  return snapshot;
}

/// The members of the job from `from` on.
std::string job_text(const Snapshot& snapshot, const char* from) {
  const std::string text = to_json(snapshot);
  return text.substr(text.find(from));
}

TEST(JsonHints, EveryMemberComesBack) {
  for (const char* comment :
       {"job-type=r50", "gpus=1,2,4-8;batch=256-1024;samples=1e6",
        "steps=500;batch=8;resize=restart;checkpoint=B:USR1@9", "target-loss=0.25;device=any",
        "model=params=7e9,hidden=4096,layers=32,seq=2048,heads=32;plans=dp,tp,gc",
        "model=params=7e9;plans=auto;gpu-types=h100/a100,v100;mix-types;gpus=2-4"}) {
    Snapshot snapshot = with_hints(comment);
    snapshot.jobs[0].hints->notes = {"one", "two \"quoted\""};
    snapshot.jobs[0].hints->unit = 2;
    const auto again = snapshot_from_json(to_json(snapshot));
    ASSERT_TRUE(again) << again.error().text;
    EXPECT_EQ(*again, snapshot) << comment;
  }
}

TEST(JsonHints, AWrongCommentIsTold) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  add_pending(snapshot, 2, "");
  snapshot.jobs[0].hint_error = "comment: gpu: unknown hint; did you mean gpus?";
  const auto again = snapshot_from_json(to_json(snapshot));
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_EQ(*again, snapshot);
}

// Other programs read these bytes: a change here changes the schema.
TEST(JsonHints, TheyHaveTheseBytes) {
  const Snapshot snapshot = with_hints("job-type=r50;gpus=1-4;gpu-types=h100/a100;checkpoint=USR1");
  EXPECT_NE(job_text(snapshot, "\"uid\"").find("\"uid\":1000"), std::string::npos);
  EXPECT_EQ(
      job_text(snapshot, "\"restarts\""),
      "\"restarts\":3,\"hints\":{\"job_type\":\"r50\",\"sizes\":\"1-4\",\"checkpoint\":\"USR1@60\","
      "\"gpu_types\":[[\"h100\"],[\"a100\"]],\"request_gpus\":2},\"node_set\":0}]}");
}

TEST(JsonHints, WrongMembersAreNamed) {
  const std::string good = to_json(with_hints("batch=256"));
  const auto broken = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    const auto read = snapshot_from_json(text.replace(at, from.size(), to));
    EXPECT_FALSE(read) << to;
    return read ? "" : read.error().text;
  };
  EXPECT_EQ(broken("\"batch\":\"256\"", "\"batch\":\"big\""),
            "jobs[0].hints.batch: \"big\" is not a whole number; choose a whole number from 1 to "
            "1e9");
  EXPECT_NE(broken("\"batch\":\"256\"", "\"batch\":256").find("jobs[0].hints.batch"),
            std::string::npos);
  EXPECT_NE(broken("\"batch\":\"256\"", "\"bach\":\"256\"").find("bach"), std::string::npos);
  EXPECT_NE(broken("\"request_gpus\":2", "\"unit\":0").find("unit"), std::string::npos);
}

}  // namespace
}  // namespace rubato::test
