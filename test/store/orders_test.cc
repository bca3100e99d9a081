// SPDX-License-Identifier: GPL-2.0-or-later
// Profiles imported, exported and forgotten through the writer of the store.
#include "lib/store/orders.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "lib/store/store.h"
#include "lib/store/summary.h"
#include "test/store/store_support.h"

namespace rubato::test {
namespace {

using namespace store;

ProfileRow row(const std::string& type, const std::string& gpu_type, int gpus, double throughput) {
  ProfileRow row;
  row.type = {"lab", type, false};
  row.gpu_type = gpu_type;
  row.gpus = gpus;
  JobTypeGroup& g = row.group;
  g.nodes = 1;
  g.batch = 256;
  g.samples = 12;
  g.jobs = 2;
  g.mean_throughput = g.last_throughput = throughput;
  g.min_throughput = throughput * 0.9;
  g.max_throughput = throughput * 1.1;
  g.iteration_time = 256 / throughput;
  g.last = kNow - 86400;
  g.imported = true;
  return row;
}

std::unique_ptr<Session> open(const TempFolder& folder) {
  std::vector<std::string> notes;
  auto session = Session::open(options_in(folder), kNow, notes);
  EXPECT_TRUE(session) << (session ? "" : session.error().text);
  return session ? std::move(*session) : nullptr;
}

/// All profiles of a store in export format.
std::string exported(const TempFolder& folder) {
  const auto reader = Reader::open(folder.database());
  EXPECT_TRUE(reader);
  return profiles_to_json(all_profiles(*reader, {}).value());
}

TEST(Orders, AnImportIsExportedAsItCame) {
  const TempFolder folder;
  const std::vector<ProfileRow> rows{row("a", "a100", 2, 400), row("a", "a100", 4, 700.25),
                                     row("b", "", 1, 3.5)};
  const auto done = open(folder)->apply(ImportOrder{rows});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->imported, 3);
  EXPECT_EQ(exported(folder), profiles_to_json(rows));
  // A second import gives the same rows, not duplicates.
  ASSERT_TRUE(open(folder)->apply(ImportOrder{rows}));
  EXPECT_EQ(exported(folder), profiles_to_json(rows));
}

TEST(Orders, WhatWasMeasuredHereStandsBeforeAnImport) {
  const TempFolder folder;
  {
    const auto session = open(folder);
    Sample own = sample_of_job(1);
    own.type = {"lab", "a", false};
    own.gpu_type = "a100";
    own.gpus = 2;
    own.nodes = 1;
    own.batch = 256;
    own.plan = "";
    ASSERT_TRUE(session->write(std::vector<AnyRecord>{own}));
    ASSERT_TRUE(session->apply(ImportOrder{{row("a", "a100", 2, 400), row("a", "a100", 4, 700)}}));
  }
  Summary summary(folder.database());
  ASSERT_TRUE(summary.refresh({}));
  const auto rows = summary.rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_FALSE(rows[0].group.imported);
  EXPECT_EQ(rows[0].group.samples, 1);
  EXPECT_TRUE(rows[1].group.imported);
  EXPECT_EQ(rows[1].group.mean_throughput, 700);
}

TEST(Orders, ASummarySeesChangesWithoutNewSamples) {
  const TempFolder folder;
  const auto session = open(folder);
  Summary summary(folder.database());
  ASSERT_TRUE(summary.refresh({}));
  EXPECT_EQ(summary.rows().size(), 0U);
  ASSERT_TRUE(session->apply(ImportOrder{{row("a", "a100", 2, 400)}}));
  EXPECT_TRUE(summary.refresh({}).value());
  EXPECT_EQ(summary.rows().size(), 1U);
  ASSERT_TRUE(session->apply(ForgetOrder{.job_type = "a"}));
  EXPECT_TRUE(summary.refresh({}).value());
  EXPECT_EQ(summary.rows().size(), 0U);
  EXPECT_FALSE(summary.refresh({}).value());
}

TEST(Orders, ForgettingKeepsToWhatIsNamed) {
  const TempFolder folder;
  const auto session = open(folder);
  ProfileRow other = row("a", "a100", 2, 500);
  other.type.account = "other";
  ASSERT_TRUE(session->apply(ImportOrder{
      {row("a", "a100", 2, 400), row("a", "h100", 2, 800), row("b", "a100", 2, 90), other}}));
  const auto counted = [&](const ForgetOrder& order) {
    return Reader::open(folder.database())->count_forgotten(order).value().rows;
  };
  EXPECT_EQ(counted({.job_type = "a"}), 3);
  EXPECT_EQ(counted({.job_type = "a", .account = "lab"}), 2);
  EXPECT_EQ(counted({.job_type = "a", .gpu_type = "h100"}), 1);
  EXPECT_EQ(counted({.job_type = "a", .before = kNow - 86400}), 0);
  EXPECT_EQ(counted({.job_type = "a", .before = kNow}), 3);
  EXPECT_EQ(counted({.job_type = "c"}), 0);
  EXPECT_EQ(session->apply(ForgetOrder{.job_type = "a", .account = "lab", .gpu_type = "a100"})
                .value()
                .rows,
            1);
  EXPECT_EQ(counted({.job_type = "a"}), 2);
  EXPECT_EQ(counted({.job_type = "b"}), 1);
}

/// Waits for the answer to an order.
Result<OrderDone> answer_of(const OrderFolder& orders, const std::string& name) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (std::chrono::steady_clock::now() < deadline) {
    if (auto answer = orders.fetch(name)) return *answer;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return fail("no answer");
}

TEST(Orders, TheRunningWriterFollowsThem) {
  const TempFolder folder;
  Store store(options_in(folder), std::make_shared<ManualClock>(kNow));
  ASSERT_TRUE(store.push(sample_of_job(1)));
  ASSERT_TRUE(store.flush(std::chrono::seconds(120)));
  const OrderFolder orders(folder.store());
  const auto import_name = orders.give(ImportOrder{{row("a", "a100", 2, 400)}});
  ASSERT_TRUE(import_name) << import_name.error().text;
  const auto imported = answer_of(orders, *import_name);
  ASSERT_TRUE(imported) << imported.error().text;
  EXPECT_EQ(imported->imported, 1);
  const auto forget_name = orders.give(ForgetOrder{.job_type = "a"});
  ASSERT_TRUE(forget_name);
  EXPECT_EQ(answer_of(orders, *forget_name).value().rows, 1);
  EXPECT_FALSE(orders.take_back(*forget_name));
  EXPECT_EQ(store.stats().orders, 2);
}

TEST(Orders, WhatOthersMayHaveWrittenIsRefused) {
  const TempFolder folder;
  Store store(options_in(folder), std::make_shared<ManualClock>(kNow));
  ASSERT_TRUE(store.push(sample_of_job(1)));
  ASSERT_TRUE(store.flush(std::chrono::seconds(120)));
  const OrderFolder orders(folder.store());
  const std::string path = orders.path() + "/x";
  {
    std::ofstream file(path + ".new");
    file << order_to_json(ForgetOrder{.job_type = "a"});
  }
  ASSERT_EQ(::chmod((path + ".new").c_str(), 0666), 0);
  ASSERT_EQ(::rename((path + ".new").c_str(), (path + ".order").c_str()), 0);
  const auto answer = answer_of(orders, "x");
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().text.find("others may write it; make it 0600"), std::string::npos);
  // Symbolic links are not followed.
  ASSERT_EQ(::symlink("/etc/passwd", (path + ".order").c_str()), 0);
  EXPECT_FALSE(answer_of(orders, "x"));
}

TEST(Orders, AWriterThatWasKilledInBetweenDoesItAgain) {
  const TempFolder folder;
  const OrderFolder orders(folder.store());
  { const auto session = open(folder); }
  ASSERT_TRUE(orders.prepare(kNow));
  const auto name = orders.give(ImportOrder{{row("a", "a100", 2, 400)}});
  ASSERT_TRUE(name);
  ASSERT_TRUE(orders.take());  // then the writer is killed
  Store store(options_in(folder), std::make_shared<ManualClock>(kNow));
  EXPECT_EQ(answer_of(orders, *name).value().imported, 1);
}

TEST(Orders, NothingTakesThemWhereTheyAreOff) {
  const TempFolder folder;
  StoreOptions options = options_in(folder);
  options.orders = false;
  { const auto session = open(folder); }
  ASSERT_TRUE(OrderFolder(folder.store()).prepare(kNow));
  Store store(options, std::make_shared<ManualClock>(kNow));
  const OrderFolder orders(folder.store());
  const auto name = orders.give(ForgetOrder{.job_type = "a"});
  ASSERT_TRUE(name);
  ASSERT_TRUE(store.push(sample_of_job(1)));
  ASSERT_TRUE(store.flush(std::chrono::seconds(120)));
  EXPECT_TRUE(orders.take_back(*name));
}

TEST(Orders, AreReadBackAsTheyWereWritten) {
  const Order import_order = ImportOrder{{row("a", "a100", 2, 400)}};
  EXPECT_EQ(order_from_json(order_to_json(import_order)).value(), import_order);
  const Order forget = ForgetOrder{"a", "", "h100", 12};
  EXPECT_EQ(order_from_json(order_to_json(forget)).value(), forget);
  EXPECT_FALSE(order_from_json(R"({"schema":"rubato.order/1"})"));
  EXPECT_FALSE(order_from_json(R"({"schema":"rubato.order/1","forget":{"job_type":""}})"));
  const OrderDone done{1, 2, 3, 4};
  EXPECT_EQ(answer_from_json(answer_to_json(done)).value(), done);
  EXPECT_EQ(answer_from_json(answer_to_json(fail("no"))).error().text, "no");
}

TEST(Profiles, ErrorsNamePlaceAndWord) {
  const auto csv = [](const std::string& text) {
    const auto read = profiles_from(text, "f");
    return read ? "" : read.error().text;
  };
  EXPECT_EQ(csv("job_type,gpus,samples,rat\nx,1,1,1\n").substr(0, 20), "f:1: column 'rat': m");
  EXPECT_NE(csv("job_type,gpus,samples,rat\n").find("did you mean rate?"), std::string::npos);
  EXPECT_EQ(csv("job_type,gpus,samples\nx,1,1\n"), "f:1:1: no column 'rate'");
  EXPECT_EQ(csv("job_type,gpus,samples,rate\nx,1,1,nan\n"),
            "f:2:7: rate 'nan': expected a finite number");
  EXPECT_EQ(csv("job_type,gpus,samples,rate\nx,-1,1,1\n"),
            "f:2:3: gpus '-1': expected a whole number from 0 to 100000");
  EXPECT_EQ(csv("job_type,gpus,samples,rate\n,1,1,1\n"),
            "f:2:1: job_type '': empty; this column must have a value");
  EXPECT_EQ(csv("job_type,gpus,samples,rate,rate_min\nx,1,1,1,2\n"), "f:2: rate_min is above rate");
  EXPECT_EQ(csv("job_type,gpus,samples,rate\nx,1,1,1\nx,1,1,2\n"),
            "f:3: a row with the same names, plan and counts stands before it");
  EXPECT_NE(csv("{\"schema\":\"rubato.profiles/2\",\"profiles\":[]}").find("expected"),
            std::string::npos);
  EXPECT_NE(csv(R"({"schema":"rubato.profiles/1","profiles":[{"job_type":"x","gpus":1,)"
                R"("samples":1,"rate":-1}]})")
                .find("profiles[0].rate"),
            std::string::npos);
}

}  // namespace
}  // namespace rubato::test
