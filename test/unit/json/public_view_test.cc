// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/public_view.h"

#include <gtest/gtest.h>

#include "lib/base/fingerprint.h"
#include "lib/json/json.h"
#include "lib/policy/round.h"
#include "test/support/build_snapshot.h"

namespace rubato::test {
namespace {

// Unique names, so that a search of the text can find them.
Snapshot secret() {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"h100", 8}});
  snapshot.nodes[0].name = "zebra1";
  snapshot.partitions[0].name = "corner";
  add_running(snapshot, {share_of(snapshot, 0, 4)}, kNow + 600);
  add_pending(snapshot, 2, "a100");
  for (Job& job : snapshot.jobs) {
    job.name = "moonshot";
    job.user = "ada";
    job.uid = 4711;
    job.account = "skunkworks";
    job.partition = "corner";
  }
  snapshot.memory.progress = {{.job = snapshot.jobs[1].key, .samples = 99, .loss = {}}};
  return snapshot;
}

struct Texts {
  std::string snapshot;
  std::string plan;
};

Texts shown(const PrivateData& hidden) {
  Snapshot snapshot = secret();
  const Plan plan = round(snapshot, Models(), Config(), kNow);
  snapshot.private_data = hidden;
  const Snapshot open = public_view(snapshot);
  const Plan open_plan = public_view(plan, open);
  // The rest is still a valid snapshot with its plan.
  const auto back = snapshot_from_json(to_json(open));
  EXPECT_TRUE(back) << back.error().text;
  EXPECT_EQ(*back, open);
  EXPECT_EQ(open_plan.snapshot_fingerprint, fingerprint(to_json(*back)));
  const auto plan_back = plan_from_json(to_json(open_plan, open), open);
  EXPECT_TRUE(plan_back) << plan_back.error().text;
  return {to_json(open), to_json(open_plan, open)};
}

bool has(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

TEST(PublicView, nothing_hidden_changes_nothing) {
  const Texts texts = shown({});
  const Snapshot snapshot = secret();
  EXPECT_EQ(texts.snapshot, to_json(snapshot));
  Plan plan = round(snapshot, Models(), Config(), kNow);
  plan.snapshot_fingerprint = fingerprint(texts.snapshot);
  EXPECT_EQ(texts.plan, to_json(plan, snapshot));
}

TEST(PublicView, hidden_jobs_leave_no_trace) {
  const Texts texts = shown({.jobs = true});
  for (const char* word : {"moonshot", "ada", "4711", "skunkworks", "1000", "1001"}) {
    EXPECT_FALSE(has(texts.snapshot, word)) << word;
    EXPECT_FALSE(has(texts.plan, "\"id\":") || has(texts.plan, "moonshot")) << texts.plan;
  }
  EXPECT_TRUE(has(texts.snapshot, "zebra1"));
  EXPECT_TRUE(has(texts.snapshot, "\"private_data\":[\"jobs\"]"));
}

TEST(PublicView, hidden_nodes_leave_no_trace) {
  const Texts texts = shown({.nodes = true});
  EXPECT_FALSE(has(texts.snapshot, "zebra1"));
  EXPECT_FALSE(has(texts.plan, "zebra1"));
  EXPECT_FALSE(has(texts.plan, "n2"));
  EXPECT_TRUE(has(texts.snapshot, "moonshot"));
}

TEST(PublicView, hidden_users_and_accounts_lose_their_names) {
  const Texts texts = shown({.users = true, .accounts = true});
  for (const char* word : {"\"ada\"", "4711", "skunkworks"}) {
    EXPECT_FALSE(has(texts.snapshot, word)) << word;
    EXPECT_FALSE(has(texts.plan, word)) << word;
  }
  EXPECT_TRUE(has(texts.snapshot, "moonshot"));
}

TEST(PublicView, hidden_partitions_are_not_listed) {
  EXPECT_FALSE(has(shown({.partitions = true}).snapshot, "\"partitions\":[{"));
}

TEST(PublicView, costs_of_changes_go_with_the_profiles) {
  for (const PrivateData hidden :
       {PrivateData{.jobs = true}, PrivateData{.accounts = true}, PrivateData{.usage = true}}) {
    Snapshot snapshot = secret();
    snapshot.private_data = hidden;
    snapshot.memory.change_costs = {{.account = "skunkworks", .job_type = "bert", .restart = 77}};
    AskedResize change;
    change.job = snapshot.jobs[1].key;
    change.samples = 4711;
    change.throughput = 88;
    change.cost = 99;
    snapshot.memory.asked_resizes = {change};
    const Memory shown = public_view(snapshot).memory;
    EXPECT_TRUE(shown.change_costs.empty());
    for (const AskedResize& one : shown.asked_resizes)
      EXPECT_EQ(static_cast<double>(one.samples) + one.throughput + one.cost, 0);
  }
}

TEST(PublicView, profiles_of_accounts_go_and_shared_ones_stay) {
  ModelRow own;
  own.account = "skunkworks";
  own.job_type = "bert";
  ModelRow shared;
  shared.job_type = "vgg";
  shared.shared = true;
  const ModelsTable table{1, {own, shared}};
  EXPECT_EQ(public_view(table, PrivateData{}), table);
  EXPECT_EQ(public_view(table, PrivateData{.nodes = true, .users = true}), table);
  for (const PrivateData hidden :
       {PrivateData{.jobs = true}, PrivateData{.accounts = true}, PrivateData{.usage = true}})
    EXPECT_EQ(public_view(table, hidden), (ModelsTable{1, {shared}}));
}

TEST(PrivateData, is_read_back) {
  Snapshot snapshot;
  snapshot.private_data = {.jobs = true, .usage = true};
  const std::string text = to_json(snapshot);
  EXPECT_TRUE(has(text, R"("private_data":["jobs","usage"])")) << text;
  EXPECT_EQ(*snapshot_from_json(text), snapshot);
  EXPECT_EQ(
      snapshot_from_json(R"({"schema":"rubato.snapshot/1","private_data":["cats"]})").error().text,
      "private_data[0]: unknown word \"cats\" of PrivateData");
}

}  // namespace
}  // namespace rubato::test
