// SPDX-License-Identifier: GPL-2.0-or-later
// Each allocation of each entry fails in turn: the process goes on, and nothing is left half done.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "lib/base/json_value.h"
#include "lib/base/log.h"
#include "lib/config/config.h"
#include "lib/hints/comment.h"
#include "lib/hints/message.h"
#include "lib/json/json.h"
#include "lib/json/period.h"
#include "lib/model/models.h"
#include "lib/policy/round.h"
#include "lib/runtime/files.h"
#include "lib/runtime/message_queue.h"
#include "plugin/common/guard.h"
#include "plugin/select/gate.h"
#include "test/store/store_support.h"
#include "test/support/failing_new.h"
#include "test/support/small_snapshot.h"

namespace rubato {
namespace {

using test::fail_each;
using test::FailingNew;

constexpr const char* kHints =
    "site words rubato:job-type=a-rather-long-name-of-a-type;gpus=1-8;samples=100000;"
    "gpu-types=a100,h100";
constexpr const char* kReport = "rubato!report samples=4000;rate=123.5;batch=256;loss=1.25";

// With texts that need memory.
Snapshot some_snapshot() {
  Snapshot snapshot = test::small_snapshot(4);
  snapshot.nodes.begin()->name = "a-node-with-a-rather-long-name";
  return snapshot;
}

JsonValue nested_value() {
  JsonValue value{{"list", JsonValue::array()}, {"text", "more than fifteen characters"}};
  for (int i = 0; i < 5; ++i)
    value["list"].push_back(JsonValue{{"name of a member", i}, {"deep", {{"deeper", {1, 2.5}}}}});
  return value;
}

TEST(Allocation, OfJsonTextsFails) {
  const JsonValue value = nested_value();
  const std::string whole = json_text(value, 2);
  std::string text;
  EXPECT_GT(fail_each(
                [&] {
                  text.clear();
                  text = json_text(value, 2);
                },
                [&] { EXPECT_TRUE(text.empty() || text == whole); }),
            10);
  EXPECT_GT(fail_each([&] { (void)JsonValue::parse(whole); }), 10);
  EXPECT_GT(fail_each([] { (void)JsonValue::parse("{\"a\": [1, 2, {\"b\": ]}"); }), 3);
  EXPECT_GT(fail_each([] { (void)nested_value(); }), 10);
}

TEST(Allocation, OfHintsFails) {
  EXPECT_GT(fail_each([] { (void)parse_comment(kHints); }), 10);
  EXPECT_GT(fail_each([] { (void)parse_comment("rubato:gpus=many;no-such-hint=1;samples=x"); }),
            10);
  const Hints hints = *parse_comment(kHints);
  EXPECT_GT(fail_each([&] { (void)with_hints("other words of the site", hints); }), 3);
}

TEST(Allocation, OfMessagesFails) {
  EXPECT_GT(fail_each([] { (void)parse_message(kReport); }), 5);
  EXPECT_GT(fail_each([] { (void)parse_message("rubato!report samples=x;nonsense=1"); }), 5);
  MessageQueue queue;
  const Message message = *parse_message(kReport);
  Seconds time = 1000;
  EXPECT_GT(fail_each([&] {
              (void)queue.post(
                  {.job = {1, 2}, .uid = 0, .time = ++time, .restarts = 0, .message = message}, 0);
            }),
            1);
  EXPECT_LE(queue.take().size(), queue.stats().taken);
  // What a failed post left behind does not refuse later ones.
  EXPECT_EQ(
      queue.post({.job = {1, 2}, .uid = 0, .time = 5000, .restarts = 0, .message = message}, 0),
      PostResult::kTaken);
}

TEST(Allocation, OfTheConfigurationFails) {
  EXPECT_GT(fail_each([] {
              (void)parse_config("Mode=place\nManagedPartitions=all\nNoSuchOption=1\n",
                                 "rubato.conf", false);
            }),
            10);
}

TEST(Allocation, OfTheGuardAndTheLogFails) {
  EntryPoint entry{"entry"};
  (void)log();  // made when the plugin starts
  const FailingNew failing(1, test::kAlways);
  const int answer = guard(
      entry, []() -> int { throw std::bad_alloc(); }, [] { return 4; });
  log_failure("%s has no memory for %d", "a thread", 3);
  log().error("{} of the daemon is {}", "a line", "short");
  const std::uint64_t failed = FailingNew::failed();
  EXPECT_EQ(answer, 4);
  EXPECT_EQ(entry.failures, 1U);
  EXPECT_EQ(failed, 0U) << "a handler of exceptions needed memory";
}

TEST(Allocation, OfTheStartFailsForAWhile) {
  EntryPoint entry{"start"};
  int tries = 0;
  const int rc = guard_start(
      entry,
      [&] {
        if (++tries < 4) throw std::bad_alloc();
        return 7;
      },
      [] { return -1; });
  EXPECT_EQ(rc, 7);
  EXPECT_EQ(tries, 4);
  EXPECT_EQ(entry.failures, 3U);
}

TEST(Allocation, OfTheGateFails) {
  Gate gate;
  Config config;
  config.mode = Mode::kPlace;
  gate.set_config(std::make_shared<const Config>(config));
  gate.set_records_checked(true);
  gate.beat();
  gate.set_reserved({{.job = 9, .start = 100, .tier = 1, .priority = 5, .nodes = {1, 2, 3}}});
  GateQuestion question;
  question.kind = GateQuestion::Kind::kRunNow;
  question.end = 1000;
  int answers = 0;
  EXPECT_GT(fail_each([&] {
              (void)gate.answer(question);
              ++answers;
            }),
            0);
  EXPECT_EQ(gate.answer(question).masked, (std::vector<int>{1, 2, 3}));
}

TEST(Allocation, OfARoundAndItsFilesFails) {
  const Snapshot snapshot = some_snapshot();
  Config config;
  config.mode = Mode::kPlace;
  const Models models(config.speeds());
  EXPECT_GT(fail_each([&] { (void)round(snapshot, models, config, snapshot.taken); }), 100);
  const Plan plan = round(snapshot, models, config, snapshot.taken);
  const std::string text = to_json(snapshot);
  EXPECT_GT(fail_each([&] { (void)to_json(snapshot); }), 0);
  EXPECT_GT(fail_each([&] { (void)to_json(plan, snapshot); }), 0);
  EXPECT_GT(fail_each([&] { (void)snapshot_from_json(text); }), 100);
  const std::string memory = to_json(plan.memory, snapshot);
  EXPECT_GT(fail_each([&] { (void)memory_from_json(memory, snapshot); }), 10);
  Periods periods;
  periods.at(1000, "place").reports = 3;
  const std::string report = periods.text();
  EXPECT_GT(fail_each([&] { (void)Periods::from_json(report); }), 10);
}

TEST(Allocation, OfPublishingFails) {
  const test::TempFolder folder;
  const std::string content(1000, 'x');
  int told = 0;
  EXPECT_GT(fail_each([&] {
              (void)publish_file("stats.json", content, "", folder.path() + "/publish",
                                 folder.path() + "/private",
                                 [&](const std::string&, const std::string&) { ++told; });
            }),
            3);
  EXPECT_EQ(test::contents(folder.path() + "/publish/stats.json"), content);
  EXPECT_EQ(test::names_in(folder.path() + "/publish"), std::vector<std::string>{"stats.json"});
}

}  // namespace
}  // namespace rubato
