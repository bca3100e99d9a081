// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include "lib/json/json.h"

#include "lib/base/fingerprint.h"
#include "lib/policy/round.h"
#include "test/support/build_snapshot.h"

namespace rubato::test {
namespace {

Snapshot small() {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"h100", 8}});
  add_running(snapshot, {share_of(snapshot, 0, 3)}, kNow + 600);
  add_pending(snapshot, 2, "a100");
  return snapshot;
}

// Other programs read these bytes: a change here changes the schema.
TEST(Json, a_snapshot_has_these_bytes) {
  EXPECT_EQ(
      to_json(small()),
      "{\"schema\":\"rubato.snapshot/1\",\"cluster\":\"test\",\"slurm_version\":\"22.05.8\","
      "\"taken\":1800000000,\"nodes\":[{\"name\":\"n1\",\"cores\":32,\"cores_free\":29,"
      "\"memory\":262144,\"memory_free\":262144,\"gpus\":[{\"type\":\"a100\",\"total\":4,"
      "\"free\":1}],\"usable\":true},{\"name\":\"n2\",\"cores\":32,\"cores_free\":32,"
      "\"memory\":262144,\"memory_free\":262144,\"gpus\":[{\"type\":\"h100\",\"total\":8,"
      "\"free\":8}],\"usable\":true}],\"node_sets\":[[\"n1\",\"n2\"]],\"partitions\":[{\"name\":"
      "\"gpu\",\"managed\":true,\"node_set\":0}],\"jobs\":[{\"id\":1001,\"submit\":1799999940,"
      "\"label\":\"1001\",\"user\":\"ada\",\"partition\":\"gpu\",\"state\":\"pending\","
      "\"managed\":true,\"eligible\":1799999940,\"time_limit\":3600,\"request\":{\"gpus\":2,"
      "\"gpu_type\":\"a100\"},\"node_set\":0},{\"id\":1000,\"submit\":1799992800,\"label\":"
      "\"1000\",\"partition\":\"gpu\",\"state\":\"running\",\"managed\":true,\"time_limit\":4200,"
      "\"start\":1799996400,\"end_limit\":1800000600,\"allocation\":[{\"node\":\"n1\","
      "\"cores\":3,\"gpus\":[{\"type\":\"a100\",\"count\":3}]}]}]}");
}

TEST(Json, the_fingerprint_is_xxh64_of_the_text) {
  EXPECT_EQ(fingerprint(""), "ef46db3751d8e999");
  EXPECT_EQ(fingerprint("rubato").size(), 16U);
  EXPECT_NE(fingerprint("a"), fingerprint("b"));
}

TEST(Json, any_bytes_in_a_name_give_valid_text) {
  Snapshot snapshot = small();
  snapshot.jobs[0].name = "q\"\\\n\t\x01\x7f \xc3\xa9 \xff\xc3(\xed\xa0\x80";
  const auto back = snapshot_from_json(to_json(snapshot));
  ASSERT_TRUE(back) << back.error().text;
  // Invalid UTF-8 becomes U+FFFD.
  EXPECT_EQ(
      back->jobs[0].name,
      "q\"\\\n\t\x01\x7f \xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(Json, a_time_without_end_is_the_word_forever) {
  Snapshot snapshot = small();
  snapshot.jobs[0].time_limit = kForever;
  const std::string text = to_json(snapshot);
  EXPECT_NE(text.find("\"time_limit\":\"forever\""), std::string::npos);
  EXPECT_EQ(snapshot_from_json(text)->jobs[0].time_limit, kForever);
}

TEST(Json, state_survives_a_change_of_the_nodes) {
  const Snapshot before = small();
  Memory memory;
  memory.round = 7;
  memory.jobs = {{{1001, 5}, 6, 1, 2, 3, 4, "busy", "abcd", 9}};
  memory.reservations = {
      {{1001, 5}, "gpu", 10, 9, ReserveReason::kWaited, "h100", {{1, 2, 3, {{"h100", 8}}}}},
      {{1002, 5}, "gpu", 10, 9, ReserveReason::kFirst, "a100", {{0, 2, 3, {{"a100", 1}}}}}};
  const std::string text = to_json(memory, before);
  EXPECT_EQ(*memory_from_json(text, before), memory);

  // n1 is gone: n2 is now node 0, and the reservation on n1 is dropped.
  Snapshot after = before;
  after.nodes.erase(after.nodes.begin());
  std::string left_out;
  const auto read = memory_from_json(text, after, &left_out);
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(left_out, "1 part is left out: reservations[1]: names an unknown node");
  ASSERT_EQ(read->reservations.size(), 1U);
  EXPECT_EQ(read->reservations[0].shares[0].node, 0);
  EXPECT_EQ(read->jobs, memory.jobs);
}

TEST(Json, state_survives_another_order_of_the_nodes) {
  const Snapshot before = small();
  Memory memory;
  memory.reservations = {{{1001, 5},
                          "gpu",
                          10,
                          9,
                          ReserveReason::kWaited,
                          "",
                          {{0, 2, 3, {{"a100", 1}}}, {1, 2, 3, {{"h100", 8}}}}}};
  Snapshot after = before;
  std::swap(after.nodes[0], after.nodes[1]);
  std::string left_out;
  const auto read = memory_from_json(to_json(memory, before), after, &left_out);
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(left_out, "");
  ASSERT_EQ(read->reservations.size(), 1U);
  EXPECT_EQ(read->reservations[0].shares[0].gpus[0].type, "h100");
  EXPECT_EQ(read->reservations[0].shares[0].node, 0);
}

// What a restart was to hold until 2026-11-26, what a later release may add, and a node that is
// gone.
TEST(Json, state_of_another_release_keeps_what_is_known) {
  const std::string text =
      R"({"schema":"rubato.state/1","round":7,"colour":"blue",)"
      R"("jobs":[{"id":1,"first_seen":5,"colour":"red"},{"id":2,"first_seen":6}],)"
      R"("reservations":[{"id":1,"start":9,"reason":"omen"},{"id":2,"start":9,"reason":"first"}],)"
      R"("asked_restarts":[{"id":3,"step":"saving"}],)"
      R"("asked_resizes":[{"id":4,"step":"saving","shares":[{"node":"gone"}]},)"
      R"({"id":5,"step":"requeued","shares":[{"node":"n1"}]}]})";
  std::string left_out;
  const auto memory = memory_from_json(text, small(), &left_out);
  ASSERT_TRUE(memory) << memory.error().text;
  EXPECT_EQ(memory->round, 7U);
  ASSERT_EQ(memory->jobs.size(), 2U);
  EXPECT_EQ(memory->jobs[0].first_seen, 5);
  ASSERT_EQ(memory->reservations.size(), 1U);
  EXPECT_EQ(memory->reservations[0].job.id, 2U);
  ASSERT_EQ(memory->asked_resizes.size(), 1U);
  EXPECT_EQ(memory->asked_resizes[0].job.id, 5U);
  EXPECT_EQ(left_out, "5 parts are left out, the first: jobs[0].colour: unknown member");
  const auto later = memory_from_json(R"({"schema":"rubato.state/2"})", small(), &left_out);
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().text, "schema: expected \"rubato.state/1\", found \"rubato.state/2\"");
}

struct Bad {
  const char* what;
  const char* from;
  const char* to;
  const char* error;
};

class JsonErrorTest : public testing::TestWithParam<Bad> {};

// A change to a valid text, and the words of the error that name its location.
TEST_P(JsonErrorTest, names_the_member) {
  std::string text = to_json(small());
  const std::size_t at = text.find(GetParam().from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string(GetParam().from).size(), GetParam().to);
  const auto snapshot = snapshot_from_json(text);
  ASSERT_FALSE(snapshot);
  EXPECT_EQ(snapshot.error().text, GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    All, JsonErrorTest,
    testing::Values(
        Bad{"schema", "rubato.snapshot/1", "rubato.plan/1",
            "schema: expected \"rubato.snapshot/1\", found \"rubato.plan/1\""},
        Bad{"no_schema", "\"schema\":\"rubato.snapshot/1\",", "", "has no member \"schema\""},
        Bad{"wrong_type", "\"gpus\":2,", "\"gpus\":\"x\",",
            "jobs[0].request.gpus: expected a whole number, found \"x\""},
        Bad{"fraction", "\"gpus\":2,", "\"gpus\":2.5,",
            "jobs[0].request.gpus: expected a whole number, found 2.5"},
        Bad{"negative", "\"cores\":32,", "\"cores\":-1,",
            "nodes[0].cores: expected a number from 0 on, found -1"},
        Bad{"too_large", "\"cores\":32,", "\"cores\":99999999999,",
            "nodes[0].cores: expected a number up to 16777216, found 99999999999"},
        Bad{"free_above_total", "\"free\":1", "\"free\":5",
            "nodes[0].gpus[0].free: is above total"},
        Bad{"cores_free", "\"cores_free\":29", "\"cores_free\":33",
            "nodes[0].cores_free: is above cores"},
        Bad{"same_name", "\"name\":\"n2\"", "\"name\":\"n1\"",
            "nodes[1].name: another node has this name"},
        Bad{"unknown_node", "[\"n1\",\"n2\"]", "[\"n1\",\"n3\"]",
            "node_sets[0][1]: no node has the name \"n3\""},
        Bad{"unsorted_set", "[\"n1\",\"n2\"]", "[\"n2\",\"n1\"]",
            "node_sets[0]: nodes must be in the order of \"nodes\", each only once"},
        Bad{"set_index", "\"node_set\":0}]", "\"node_set\":1}]",
            "partitions[0].node_set: is 1, but there are 1 node sets"},
        Bad{"unknown_word", "\"state\":\"pending\"", "\"state\":\"waiting\"",
            "jobs[0].state: unknown word \"waiting\"; one of: pending, running"},
        Bad{"no_state", "\"state\":\"pending\",", "", "jobs[0]: has no member \"state\""},
        Bad{"unknown_member", "\"gpu_type\":\"a100\"", "\"gpu_typ\":\"a100\"",
            "jobs[0].request: unknown member \"gpu_typ\"; did you mean gpu_type?"},
        Bad{"no_gpus", "\"count\":3", "\"count\":0",
            "jobs[1].allocation[0].gpus[0].count: must be above 0"},
        Bad{"allocation", "{\"node\":\"n1\"", "{\"node\":\"n9\"",
            "jobs[1].allocation[0].node: no node has the name \"n9\""},
        Bad{"order", "\"state\":\"pending\"", "\"state\":\"running\"",
            "jobs: must be sorted: pending by rank, then running by id and submit"},
        Bad{"bool", "\"usable\":true", "\"usable\":1",
            "nodes[0].usable: expected true or false, found 1"},
        Bad{"time", "\"time_limit\":3600", "\"time_limit\":\"never\"",
            "jobs[0].time_limit: expected a number of seconds or \"forever\", found \"never\""},
        Bad{"object", "\"request\":{\"gpus\":2,\"gpu_type\":\"a100\"}", "\"request\":[]",
            "jobs[0].request: expected an object, found a list"},
        Bad{"list", "\"node_sets\":[[\"n1\",\"n2\"]]", "\"node_sets\":3",
            "node_sets: expected a list, found 3"}),
    [](const auto& bad) { return bad.param.what; });

TEST(Json, text_that_is_no_json_is_an_error) {
  for (const char* text : {"", "{", "[]", "nul", "{\"schema\":\"rubato.snapshot/1\"}}", "\xff"}) {
    const auto snapshot = snapshot_from_json(text);
    ASSERT_FALSE(snapshot) << text;
    EXPECT_FALSE(snapshot.error().text.empty());
  }
  EXPECT_EQ(snapshot_from_json("[]").error().text, "expected an object, found a list");
  // An empty document is a valid snapshot.
  EXPECT_TRUE(snapshot_from_json("{\"schema\":\"rubato.snapshot/1\"}"));
}

TEST(Json, deep_nesting_does_not_end_the_program) {
  EXPECT_FALSE(snapshot_from_json(std::string(200'000, '[')));
  EXPECT_FALSE(snapshot_from_json(std::string(200'000, '[') + std::string(200'000, ']')));
}

TEST(Json, a_plan_comes_back) {
  const Snapshot snapshot = small();
  const Plan plan = round(snapshot, Models(), Config(), kNow);
  const auto back = plan_from_json(to_json(plan, snapshot), snapshot);
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(*back, plan);
  EXPECT_EQ(plan_from_json(to_json(snapshot), snapshot).error().text,
            "schema: expected \"rubato.plan/1\", found \"rubato.snapshot/1\"");
}

TEST(Json, a_start_at_another_size_comes_back) {
  Snapshot snapshot = small();
  add_pending(snapshot, 4, "h100").size_bound = "--nodelist names its nodes";
  EXPECT_EQ(snapshot_from_json(to_json(snapshot))->jobs.back().size_bound,
            snapshot.jobs.back().size_bound);
  Plan plan = round(snapshot, Models(), Config(), kNow);
  ASSERT_FALSE(plan.starts.empty());
  plan.starts.front().gpus = 2;
  EXPECT_EQ(*plan_from_json(to_json(plan, snapshot), snapshot), plan);
  plan.starts.front().gpus = 0;
  plan.starts.front().on_cpus = true;
  EXPECT_EQ(*plan_from_json(to_json(plan, snapshot), snapshot), plan);
}

TEST(Json, a_plan_for_other_nodes_is_an_error) {
  Snapshot snapshot = small();
  add_pending(snapshot, 8, "h100").time_limit = 60;
  const std::string text = to_json(round(snapshot, Models(), Config(), kNow), snapshot);
  snapshot.nodes[1].name = "other";
  EXPECT_EQ(plan_from_json(text, snapshot).error().text,
            "starts[0].shares[0].node: no node has the name \"n2\"");
}

}  // namespace
}  // namespace rubato::test
