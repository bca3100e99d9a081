// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/audit_log.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

namespace rubato {
namespace {

AskedResize done() {
  AskedResize restart;
  restart.job = {12, 1'800'000'000};
  restart.uid = 1000;
  restart.step = ResizeStep::kDone;
  restart.from = 4;
  restart.gpus = 2;
  restart.gpu_type = "a100";
  restart.requeued = 1'800'000'100;
  restart.since = 1'800'000'109;
  return restart;
}

TEST(AuditLog, ALineNamesWhoWhatAndTheCost) {
  EXPECT_EQ(audit_line(done()),
            "2027-01-15T08:01:49Z JobId=12 restart=done uid=1000 gpus=4->2 gpu-type=a100 "
            "seconds=9");
  AskedResize failed = done();
  failed.step = ResizeStep::kFailed;
  failed.gpu_type.clear();
  failed.words = "the job refused";
  EXPECT_EQ(audit_line(failed),
            "2027-01-15T08:01:49Z JobId=12 restart=failed uid=1000 gpus=4->2 "
            "words=\"the job refused\"");
}

TEST(AuditLog, ALineOfAShrinkHasNoStop) {
  AskedResize shrunk = done();
  shrunk.live = true;
  shrunk.gpu_type.clear();
  EXPECT_EQ(audit_line(shrunk), "2027-01-15T08:01:49Z JobId=12 shrink=done uid=1000 gpus=4->2");
}

TEST(AuditLog, ALineNamesTheRoundAndAStop) {
  AskedResize stopped = done();
  stopped.by_round = true;
  stopped.gpus = 0;
  stopped.gpu_type.clear();
  EXPECT_EQ(audit_line(stopped), "2027-01-15T08:01:49Z JobId=12 stop=done by=round gpus=4->0");
}

TEST(AuditLog, ALineNamesTheMeasuredCost) {
  AskedResize measured = done();
  measured.measured = true;
  measured.cost = 41.6;
  EXPECT_EQ(audit_line(measured),
            "2027-01-15T08:01:49Z JobId=12 restart=measured uid=1000 gpus=4->2 gpu-type=a100 "
            "seconds=9 cost=42");
}

TEST(AuditLog, LinesAreAppendedInOrder) {
  char folder[] = "/tmp/rubato-audit-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string path = std::string(folder) + "/interruptions.log";
  const auto clock = std::make_shared<SystemClock>();
  for (const char* line : {"one", "two"}) {
    AuditLog log(path, clock);
    log.add(line);
    log.add("end");
    log.stop(clock->steady() + std::chrono::seconds(20));
  }
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, "one\nend\ntwo\nend\n");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace rubato
