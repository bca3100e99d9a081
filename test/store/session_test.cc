// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>

#include "lib/store/folder.h"
#include "lib/store/schema.h"
#include "test/store/kept_content.h"
#include "test/store/store_support.h"

namespace rubato::store {
namespace {

using test::entries_from;
using test::kNow;
using test::open_reader;
using test::open_session;
using test::options_in;
using test::sample_of_job;
using testing::ElementsAre;
using testing::HasSubstr;

class SessionTest : public testing::Test {
 protected:
  void write(const std::vector<AnyRecord>& entries) {
    const auto written = open_session(options_)->write(entries);
    ASSERT_TRUE(written) << written.error().text;
  }

  /// Overwrites `count` bytes at `offset`.
  void spoil(std::streamoff offset, std::size_t count) const {
    std::fstream file(folder_.database(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(offset);
    file << std::string(count, '\x5A');
  }

  test::TempFolder folder_;
  StoreOptions options_ = options_in(folder_);
};

TEST_F(SessionTest, WhatIsWrittenIsReadBack) {
  write(test::kept_entries(kSchemaVersion));
  test::expect_kept_content(open_reader(folder_.database()), kSchemaVersion);
}

TEST_F(SessionTest, LaterFitAndLaterJobRecordTakeThePlace) {
  const JobType type{"physics", "resnet", false};
  const Fit fit{type, "a100", "step-time", {1, 2}, 10, 0.1, kNow};
  Fit better = fit;
  better.parameters = {3};
  const JobRecord job{{7, kNow}, type, JobClass::kBestEffort, 1, 0, 10, 0, kNow};
  JobRecord later = job;
  later.level = 3;
  JobRecord requeued = job;
  requeued.job.submit += 1;
  write({fit, job, better, later, requeued});
  const Reader reader = open_reader(folder_.database());
  EXPECT_THAT(reader.fits({"physics", "resnet", false}).value(), ElementsAre(better));
  EXPECT_THAT(reader.jobs().value(), ElementsAre(later, requeued));
  EXPECT_EQ(reader.job({7, kNow}).value(), later);
  EXPECT_EQ(reader.job({8, kNow}).value(), std::nullopt);
}

TEST_F(SessionTest, TheEndOfARunIsAddedToWhatWasSaidOfIt) {
  const RunRecord begun{{7, kNow}, kNow + 5, kNow + 1, 0, "text"};
  const RunRecord again{{7, kNow}, kNow + 90, kNow + 60, 0, "other"};
  write({begun, again, RunRecord{{7, kNow}, kNow + 5, 0, kNow + 50, ""}});
  const Reader reader = open_reader(folder_.database());
  RunRecord ended = begun;
  ended.end = kNow + 50;
  EXPECT_THAT(reader.runs(0).value(), ElementsAre(ended, again));
  EXPECT_THAT(reader.runs(kNow + 49).value(), ElementsAre(ended, again));
  EXPECT_THAT(reader.runs(kNow + 50).value(), ElementsAre(again));  // the first has ended by then
  EXPECT_THAT(reader.runs(0, 1).value(), ElementsAre(again));
}

TEST_F(SessionTest, ProfileIsOfTheAccountUnlessShared) {
  Sample other = sample_of_job(2);
  other.type.account = "biology";
  other.throughput = 120;
  other.samples_done = 7200;
  Sample more = sample_of_job(1, 1);
  more.throughput = 110;
  write({sample_of_job(1), other, more});
  const Reader reader = open_reader(folder_.database());
  const auto own = reader.profile({"physics", "resnet", false}).value();
  EXPECT_THAT(own, ElementsAre(ProfileGroup{"a100", 4, 2, 1, 105, 100, 110, kNow, kNow + 60}));
  const auto all = reader.profile({"", "resnet", true}).value();
  EXPECT_THAT(all, ElementsAre(ProfileGroup{"a100", 4, 3, 2, 110, 100, 120, kNow, kNow + 60}));
  EXPECT_TRUE(reader.profile({"nobody", "resnet", false}).value().empty());
  EXPECT_EQ(reader.samples({"physics", "resnet", false}, "a100", 4, 1).value().size(), 1U);
  EXPECT_EQ(reader.samples({"physics", "resnet", false}, "a100", 4).value().size(), 2U);
  EXPECT_TRUE(reader.samples({"physics", "resnet", false}, "v100", 4).value().empty());
}

TEST_F(SessionTest, FlaggedSamplesAreKeptCountedAndNotInProfiles) {
  Sample boast = sample_of_job(1, 1);
  boast.throughput = 1e6;
  const auto written =
      open_session(options_)->write(std::vector<AnyRecord>{sample_of_job(1), boast}).value();
  EXPECT_EQ(written.written, 2);
  EXPECT_EQ(written.flagged, 1);
  const Reader reader = open_reader(folder_.database());
  EXPECT_EQ(reader.profile({"physics", "resnet", false}).value().at(0).samples, 1);
  EXPECT_EQ(reader.all_samples().value().at(1).flag, Flag::kWallTime);
  const StoreCounts counts = reader.counts().value();
  EXPECT_EQ(counts.samples, 2);
  EXPECT_THAT(counts.flagged, ElementsAre(std::pair("wall-time", 1)));
}

TEST_F(SessionTest, JudgementGoesOnAcrossARestart) {
  write({sample_of_job(1, 0)});
  Sample less = sample_of_job(1, 1);
  less.samples_done = 10;
  EXPECT_EQ(open_session(options_)->write(std::vector<AnyRecord>{less}).value().flagged, 1);
}

TEST_F(SessionTest, WhatCannotBeStoredIsRejectedAndTheRestWritten) {
  Sample broken = sample_of_job(2);
  broken.throughput = std::numeric_limits<double>::quiet_NaN();
  const auto written = open_session(options_)->write(
      std::vector<AnyRecord>{sample_of_job(1), broken, sample_of_job(3)});
  EXPECT_EQ(written.value().written, 2);
  EXPECT_EQ(written.value().rejected, 1);
}

TEST_F(SessionTest, JournalFollowsTheFileSystem) {
  for (const bool local : {true, false, true}) {  // both directions on the same file
    options_.local = local;
    const auto session = open_session(options_);
    EXPECT_EQ(session->journal_mode(), local ? "wal" : "delete");
    ASSERT_TRUE(session->write(entries_from(local ? 0 : 10, 5)));
    EXPECT_EQ(test::exists(folder_.database() + "-wal"), local);
    // Another connection can read while the store is open.
    EXPECT_TRUE(open_reader(folder_.database()).counts());
  }
}

TEST_F(SessionTest, FilesArePrivate) {
  const auto session = open_session(options_);
  ASSERT_TRUE(session->write(entries_from(0, 5)));
  for (const std::string& name : test::names_in(folder_.store())) {
    struct stat found {};
    ASSERT_EQ(::stat((folder_.store() + "/" + name).c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0600U) << name;
  }
}

TEST_F(SessionTest, SecondOneIsRefused) {
  const auto session = open_session(options_);
  EXPECT_EQ(test::in_child([&] {
              std::vector<std::string> notes;
              const auto second = Session::open(options_, kNow, notes);
              return !second && second.error().text.find(" holds it") != std::string::npos ? 0 : 1;
            }),
            0);
  EXPECT_TRUE(session->write(entries_from(0, 5)));
}

TEST_F(SessionTest, CorruptPagesAreSetAsideAndANewStoreBegun) {
  options_.local = false;
  write(entries_from(0, 500));
  spoil(4096 * 3, 9000);
  const std::string before = test::contents(folder_.database());
  std::vector<std::string> notes;
  const auto session = open_session(options_, &notes);
  const std::string aside = folder_.database() + ".corrupt-20260101T000000Z";
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0], HasSubstr("set aside as " + aside + ", started anew"));
  EXPECT_EQ(test::contents(aside), before);
  const std::int64_t kept = open_reader(folder_.database()).counts().value().samples;
  ASSERT_TRUE(session->write(entries_from(0, 5)));
  EXPECT_EQ(open_reader(folder_.database()).counts().value().samples, kept + 5);
}

TEST_F(SessionTest, RowsOutsideTheDamagedPagesAreKept) {
  options_.local = false;
  write(entries_from(0, 5000));
  const std::int64_t all = open_reader(folder_.database()).counts().value().samples;
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(folder_.database()));
  // Two pages in the middle; their neighbours lie between damage.
  spoil(size / 4096 / 3 * 4096, 4096);
  spoil(size / 4096 / 2 * 4096, 4096);
  std::vector<std::string> notes;
  open_session(options_, &notes).reset();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0], HasSubstr(" rows of it were read and kept"));
  const std::int64_t kept = open_reader(folder_.database()).counts().value().samples;
  EXPECT_LE(kept, all);
  EXPECT_GE(kept, all * 9 / 10) << notes[0];
  std::vector<std::string> none;
  open_session(options_, &none).reset();
  EXPECT_EQ(none.size(), 0U);
}

TEST_F(SessionTest, TheNewestGoodBackupReplacesAnUnreadableFile) {
  options_.local = false;
  options_.backups = 2;
  write(entries_from(0, 300));
  std::vector<std::string> notes;
  {
    const auto session = open_session(options_, &notes);
    const Seconds now = std::time(nullptr);  // compared with file times
    EXPECT_TRUE(session->back_up(now).value());
    EXPECT_FALSE(session->back_up(now).value());  // a day has not passed
    ASSERT_TRUE(session->write(entries_from(300, 10)));
    EXPECT_TRUE(session->back_up(now + 2 * options_.backup_every).value());
    EXPECT_TRUE(session->back_up(now + 4 * options_.backup_every).value());
  }
  const std::string backup = folder_.database() + ".backup-";
  EXPECT_TRUE(test::exists(backup + "2"));
  EXPECT_FALSE(test::exists(backup + "3"));
  EXPECT_FALSE(test::exists(backup + "0"));
  const std::int64_t all = open_reader(folder_.database()).counts().value().samples;
  std::ofstream(backup + "1", std::ios::trunc) << "spoilt as well";
  std::ofstream(folder_.database(), std::ios::trunc) << std::string(5000, 'x');
  open_session(options_, &notes).reset();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0], HasSubstr("started anew, from " + backup + "2; nothing could be read"));
  EXPECT_EQ(open_reader(folder_.database()).counts().value().samples, all);
}

TEST_F(SessionTest, ABackupOfALaterReleaseReplacesNothing) {
  write(entries_from(0, 300));
  ASSERT_TRUE(open_session(options_)->back_up(std::time(nullptr)).value());
  SQLite::Database(folder_.database() + ".backup-1", SQLite::OPEN_READWRITE)
      .exec("PRAGMA user_version = 99");
  std::ofstream(folder_.database(), std::ios::trunc) << std::string(5000, 'x');
  std::vector<std::string> notes;
  open_session(options_, &notes).reset();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0], HasSubstr("started anew; nothing could be read"));
  EXPECT_TRUE(test::exists(folder_.database() + ".backup-1"));
}

TEST_F(SessionTest, WhatIsNoDatabaseIsSetAside) {
  std::filesystem::create_directory(folder_.store());
  for (const std::string& text : {std::string(5000, 'x'), std::string(4096, '\0')}) {
    std::ofstream(folder_.database(), std::ios::trunc) << text;
    std::vector<std::string> notes;
    const auto session = open_session(options_, &notes);
    EXPECT_EQ(notes.size(), 1U);
    ASSERT_TRUE(session->write(entries_from(0, 5)));
  }
}

TEST_F(SessionTest, TruncatedFileIsSetAside) {
  options_.local = false;
  write(entries_from(0, 500));
  std::filesystem::resize_file(folder_.database(), 4096 * 4);
  std::vector<std::string> notes;
  open_session(options_, &notes).reset();
  EXPECT_EQ(notes.size(), 1U);
}

TEST_F(SessionTest, ManyCorruptFilesKeepTheStoreOff) {
  std::filesystem::create_directory(folder_.store());
  std::vector<std::string> notes;
  for (int i = 0; i < kMaxSetAside; ++i) {
    std::ofstream(folder_.database(), std::ios::trunc) << std::string(5000, 'x');
    open_session(options_, &notes).reset();
  }
  std::ofstream(folder_.database(), std::ios::trunc) << std::string(5000, 'x');
  const auto refused = Session::open(options_, kNow, notes);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text, HasSubstr("8 corrupt files are in"));
}

TEST_F(SessionTest, MissingParentIsNamed) {
  options_.folder = folder_.path() + "/not/there";
  std::vector<std::string> notes;
  EXPECT_THAT(Session::open(options_, kNow, notes).error().text,
              HasSubstr("/not/there: No such file or directory"));
}

/// Runs `body` as a user who owns nothing here.
int as_nobody(const std::function<int()>& body) {
  return test::in_child([&] {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return 100;
    return body();
  });
}

TEST_F(SessionTest, ReadOnlyFolderIsNamed) {
  write(entries_from(0, 5));
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(folder_.store(), std::filesystem::perms(0555));
  EXPECT_EQ(as_nobody([&] {
              std::vector<std::string> notes;
              const auto opened = Session::open(options_, kNow, notes);
              if (opened) return 1;
              return opened.error().text.find("store.lock: Permission denied") == std::string::npos
                         ? 2
                         : 0;
            }),
            0);
  std::filesystem::permissions(folder_.store(), std::filesystem::perms(0755));
}

TEST_F(SessionTest, ReadOnlyDatabaseIsRefusedAndLeftAsItIs) {
  options_.local = false;
  write(entries_from(0, 5));
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(folder_.store(), std::filesystem::perms(0777));
  std::filesystem::permissions(folder_.database(), std::filesystem::perms(0444));
  const std::string before = test::contents(folder_.database());
  EXPECT_EQ(as_nobody([&] {
              std::vector<std::string> notes;
              const auto opened = Session::open(options_, kNow, notes);
              if (opened) return (*opened)->write(entries_from(0, 5)) ? 1 : 0;
              return notes.empty() ? 0 : 2;
            }),
            0);
  EXPECT_EQ(test::contents(folder_.database()), before);
}

TEST_F(SessionTest, CopyNeedsNoOtherFileAndCanBeReadWhereNothingCanBeWritten) {
  const auto session = open_session(options_);
  ASSERT_TRUE(session->write(entries_from(0, 50)));
  const std::string copy = folder_.path() + "/models.db";
  for (int i = 0; i < 2; ++i) {  // the second replaces the first
    const auto made = session->copy_to(copy, 0644);
    ASSERT_TRUE(made) << made.error().text;
  }
  EXPECT_THAT(test::names_in(folder_.path()), ElementsAre("models.db", "rubato"));
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0555));
  EXPECT_EQ(as_nobody([&] {
              const auto counts = open_reader(copy).counts();
              return counts && counts->samples == 50 ? 0 : 1;
            }),
            0);
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  EXPECT_FALSE(session->copy_to(folder_.path() + "/no/models.db"));
  EXPECT_TRUE(session->write(entries_from(50, 5)));
}

TEST_F(SessionTest, RetentionByAge) {
  options_.retention.max_age = 1000;
  const auto session = open_session(options_);
  Decision decision{{1, kNow}, kNow, "start", "{}"};
  JobRecord job{{1, kNow}, {"physics", "resnet", false}, JobClass::kBestEffort, 0, 0, 0, 0, kNow};
  const RunRecord run{{1, kNow}, kNow, kNow, 0, "{}"};
  ASSERT_TRUE(session->write(std::vector<AnyRecord>{sample_of_job(1), decision, job, run}));
  EXPECT_EQ(session->retain(kNow + 1000).value(), 0);
  EXPECT_EQ(session->retain(kNow + 1001).value(), 4);
  EXPECT_EQ(open_reader(folder_.database()).counts().value(), StoreCounts{});
  ASSERT_TRUE(session->write(std::vector<AnyRecord>{sample_of_job(2)}));  // the type is created
                                                                          // again
}

TEST_F(SessionTest, RetentionByCountKeepsTheNewestOfEachKind) {
  options_.retention.samples_a_kind = 3;
  options_.retention.decisions = 2;
  options_.retention.jobs = 1;
  options_.retention.runs = 3;
  std::vector<AnyRecord> entries = entries_from(0, 10);
  Sample rare = sample_of_job(9);
  rare.gpus = 8;
  rare.run_start = 0;
  rare.time -= 500;  // older than all, and the only one of its kind
  Sample boast = sample_of_job(1, 10);
  boast.throughput = 1e6;  // flagged: displaces no valid one
  entries.emplace_back(rare);
  entries.emplace_back(boast);
  for (int i = 0; i < 4; ++i) {
    const JobKey key{static_cast<JobId>(i + 1), kNow};
    entries.emplace_back(Decision{key, kNow + i, "start", "{}"});
    entries.emplace_back(JobRecord{key, {}, JobClass::kBestEffort, 0, 0, 0, 0, kNow + i});
    entries.emplace_back(RunRecord{key, kNow + i, kNow, 0, "{}"});
  }
  const auto session = open_session(options_);
  ASSERT_TRUE(session->write(entries));
  EXPECT_EQ(session->retain(kNow).value(), 7 + 2 + 3 + 1);
  const Reader reader = open_reader(folder_.database());
  const auto kept = reader.samples({"physics", "resnet", false}, "a100", 4).value();
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept.front().time, kNow + 7 * 60);
  EXPECT_EQ(reader.samples({"physics", "resnet", false}, "a100", 8).value().size(), 1U);
  EXPECT_EQ(reader.counts().value().flagged.size(), 1U);
  EXPECT_EQ(reader.jobs().value().at(0).job.id, 4U);
  EXPECT_EQ(reader.runs(0).value().at(0).job.id, 2U);
  EXPECT_TRUE(reader.decisions({1, kNow}).value().empty());
  EXPECT_EQ(reader.decisions({4, kNow}).value().size(), 1U);
}

TEST_F(SessionTest, RetentionInTotal) {
  options_.retention.samples = 4;
  const auto session = open_session(options_);
  ASSERT_TRUE(session->write(entries_from(0, 10)));
  EXPECT_EQ(session->retain(kNow).value(), 6);
  EXPECT_EQ(session->retain(kNow).value(), 0);
}

TEST(ReaderTest, SaysWhatItCannotRead) {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/x.db";
  EXPECT_THAT(Reader::open(path).error().text, HasSubstr("x.db: unable to open"));
  std::ofstream(path) << std::string(5000, 'x');
  EXPECT_THAT(Reader::open(path).error().text, HasSubstr("x.db: file is not a database"));
  std::ofstream(path, std::ios::trunc) << "";
  EXPECT_THAT(Reader::open(path).error().text, HasSubstr("x.db has schema version 0"));
}

}  // namespace
}  // namespace rubato::store
