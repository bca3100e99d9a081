// SPDX-License-Identifier: GPL-2.0-or-later
// Every call of the file layer fails in turn, and the process ends at every commit boundary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <map>

#include "lib/store/folder.h"
#include "lib/store/session.h"
#include "test/store/fault_vfs.h"
#include "test/store/store_support.h"

namespace rubato::store {
namespace {

using test::entries_from;
using test::FaultKind;
using test::FaultPoint;
using test::kNow;
using test::options_in;

constexpr int kBatch = 30;
constexpr int kBatches = 3;

/// The results reported to the workload: whether each batch was written.
using Acks = std::array<bool, kBatches>;

/// Opens the store, writes the batches, removes the oldest and makes a copy. After each failure the
/// store is opened again, as the thread does.
Acks run_workload(const StoreOptions& options, const std::function<void(int)>& written) {
  Acks acks{};
  std::vector<std::string> notes;
  std::unique_ptr<Session> session;
  const auto opened = [&] {
    if (!session) session = Session::open(options, kNow, notes).value_or(nullptr);
    return session != nullptr;
  };
  for (int i = 0; i < kBatches; ++i) {
    if (!opened()) continue;
    if (session->write(entries_from(i * kBatch, kBatch))) {
      acks[static_cast<std::size_t>(i)] = true;
      if (written) written(i);
    } else {
      session.reset();
    }
  }
  if (opened() && !session->retain(kNow)) session.reset();
  if (opened() && !session->copy_to(options.folder + "/copy")) session.reset();
  return acks;
}

/// Number of samples of each batch in the store.
std::map<int, int> count_batches(const test::TempFolder& folder) {
  std::map<int, int> found;
  const auto samples = test::open_reader(folder.database()).all_samples().value();
  for (const Sample& sample : samples) {
    const int index =
        (static_cast<int>(sample.job.id) - 1) * 10 + static_cast<int>((sample.time - kNow) / 60);
    ++found[index / kBatch];
  }
  return found;
}

/// No files are left over and, unless the disk `lied`, none was set aside.
void expect_tidy(const test::TempFolder& folder, bool lied) {
  for (const std::string& name : test::names_in(folder.store())) {
    if (name == kDatabaseName || name == "copy") continue;
    if (name == "rubato.db-wal" || name == "rubato.db-shm") continue;  // left by a reader
    if (lied && name.starts_with("rubato.db.corrupt-")) continue;
    // An empty journal is harmless: the next transaction uses it.
    const std::string text = test::contents(folder.store() + "/" + name);
    EXPECT_TRUE(name == "rubato.db-journal" && (text.empty() || text[0] == '\0')) << name;
  }
}

/// Opens the store as a later start would and checks its content. All acknowledged batches are
/// complete; each other one is complete or missing. If the disk `lied` about its content, the store
/// still opens, maybe as a new one.
void expect_whole_batches(const test::TempFolder& folder, StoreOptions options, const Acks& acks,
                          bool lied) {
  options.vfs.clear();
  std::vector<std::string> notes;
  {
    const auto session = Session::open(options, kNow, notes);
    ASSERT_TRUE(session) << session.error().text;
    EXPECT_TRUE(lied || notes.empty()) << notes.front();
    SQLite::Database database(folder.database(), SQLite::OPEN_READONLY);
    EXPECT_EQ(text_of(database, "PRAGMA integrity_check"), "ok");
  }
  std::map<int, int> found = count_batches(folder);
  for (int i = 0; !lied && i < kBatches; ++i) {
    if (acks[static_cast<std::size_t>(i)]) {
      EXPECT_EQ(found[i], kBatch) << "batch " << i;
    } else {
      EXPECT_TRUE(found[i] == 0 || found[i] == kBatch) << "batch " << i << ": " << found[i];
    }
  }
  expect_tidy(folder, lied);
}

/// Ends the process, as by kill -9, at call number `nth` of `point`. Returns the acknowledged
/// batches; `hit` says whether the workload got there.
Acks die_at(FaultPoint point, int nth, const StoreOptions& options, bool& hit) {
  int report[2];
  if (::pipe(report) != 0) throw std::runtime_error("pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    test::set_fault(point, nth, FaultKind::kExit);
    run_workload(options, [&](int batch) {
      const char byte = static_cast<char>('0' + batch);
      if (::write(report[1], &byte, 1) != 1) ::_exit(9);
    });
    ::_exit(7);
  }
  ::close(report[1]);
  Acks acks{};
  char byte = 0;
  while (::read(report[0], &byte, 1) == 1) acks[static_cast<std::size_t>(byte - '0')] = true;
  ::close(report[0]);
  int status = 0;
  if (::waitpid(child, &status, 0) != child) throw std::runtime_error("waitpid");
  EXPECT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 7));
  hit = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return acks;
}

struct SweepCase {
  FaultPoint point;
  bool local;
};

std::string name_of(const testing::TestParamInfo<SweepCase>& info) {
  std::string name = to_string(info.param.point);
  std::erase(name, '-');
  return name + (info.param.local ? "_wal" : "_delete");
}

/// Leaves the journal of a process that ended before its first commit. Its rollback truncates the
/// database.
void leave_hot_journal(const StoreOptions& options) {
  bool hit = false;
  die_at(FaultPoint::kDelete, 1, options, hit);
  ASSERT_TRUE(hit);
  ASSERT_TRUE(test::exists(options.folder + "/rubato.db-journal"));
}

class FaultSweep : public testing::TestWithParam<SweepCase> {
 protected:
  ~FaultSweep() override { test::clear_fault(); }
};

TEST_P(FaultSweep, CallNumberN) {
  const auto [point, local] = GetParam();
  int hit = 0;
  for (const bool forever : {false, true}) {
    // The first calls one by one, then in larger steps, until the workload makes fewer calls.
    for (int nth = 1, hits = 1; hits > 0; nth += nth < 40 ? 1 : 7) {
      const test::TempFolder folder;
      StoreOptions options = options_in(folder);
      options.vfs = test::fault_vfs();
      options.local = local;
      if (point == FaultPoint::kTruncate) leave_hot_journal(options);
      test::set_fault(point, nth, FaultKind::kError, forever);
      const Acks acks = run_workload(options, nullptr);
      hits = test::fault_hits();
      test::clear_fault();
      hit += hits;
      SCOPED_TRACE(testing::Message()
                   << to_string(point) << " call " << nth << (forever ? " and later" : ""));
      // If the end of a page always reads as zeros, it is written back like that.
      const bool lied = point == FaultPoint::kShortRead && forever;
      expect_whole_batches(folder, options, acks, lied);
      if (HasFailure()) return;
      ASSERT_LT(nth, 2000);
    }
  }
  // A point that the workload never reaches tests nothing.
  EXPECT_GT(hit, 0) << "the workload never reached " << to_string(point);
  RecordProperty("hits", hit);
}

std::vector<SweepCase> sweep_cases() {
  std::vector<SweepCase> cases;
  for (int i = 0; i < static_cast<int>(FaultPoint::kCount); ++i) {
    const auto point = static_cast<FaultPoint>(i);
    // A rollback journal needs no shared memory; WAL never rolls back.
    const bool wal_only = point == FaultPoint::kShmMap || point == FaultPoint::kShmLock;
    const bool rollback_only = point == FaultPoint::kTruncate;
    if (!rollback_only) cases.push_back({point, true});
    if (!wal_only) cases.push_back({point, false});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Points, FaultSweep, testing::ValuesIn(sweep_cases()), name_of);

class KillSweep : public testing::TestWithParam<SweepCase> {};

TEST_P(KillSweep, LosesAtMostTheBatchInHand) {
  const auto [point, local] = GetParam();
  int hits = 0;
  bool hit = true;
  int least_written = kBatches;
  int most_written = 0;
  for (int nth = 1; hit; ++nth) {
    const test::TempFolder folder;
    StoreOptions options = options_in(folder);
    options.vfs = test::fault_vfs();
    options.local = local;
    const Acks acks = die_at(point, nth, options, hit);
    if (!hit) break;
    ++hits;
    int written = 0;
    while (written < kBatches && acks[static_cast<std::size_t>(written)]) ++written;
    least_written = std::min(least_written, written);
    most_written = std::max(most_written, written);
    SCOPED_TRACE(testing::Message() << "killed at " << to_string(point) << " " << nth << ", after "
                                    << written << " batches");
    // Batches after the current one were not started: none of them may be in the store.
    StoreOptions again = options;
    again.vfs.clear();
    std::vector<std::string> notes;
    {
      const auto session = Session::open(again, kNow, notes);
      ASSERT_TRUE(session) << session.error().text;
    }
    EXPECT_TRUE(notes.empty()) << notes.front();
    SQLite::Database database(folder.database(), SQLite::OPEN_READONLY);
    EXPECT_EQ(text_of(database, "PRAGMA integrity_check"), "ok");
    const auto samples = test::open_reader(folder.database()).counts().value().samples;
    EXPECT_TRUE(samples == written * kBatch ||
                (written < kBatches && samples == (written + 1) * kBatch))
        << samples << " samples";
    if (HasFailure()) return;
  }
  // Killed before the first batch, between batches and after the last.
  EXPECT_EQ(least_written, 0);
  EXPECT_EQ(most_written, kBatches);
  RecordProperty("kills", hits);
  std::printf("killed at %d calls of %s, journal %s\n", hits, to_string(point),
              local ? "wal" : "delete");
}

INSTANTIATE_TEST_SUITE_P(Points, KillSweep,
                         testing::Values(SweepCase{FaultPoint::kSync, true},
                                         SweepCase{FaultPoint::kSync, false},
                                         SweepCase{FaultPoint::kWrite, true},
                                         SweepCase{FaultPoint::kWrite, false},
                                         SweepCase{FaultPoint::kDelete, false}),
                         name_of);

}  // namespace
}  // namespace rubato::store
