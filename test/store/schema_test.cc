// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/schema.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "lib/store/reader.h"
#include "test/store/kept_content.h"
#include "test/store/store_support.h"

namespace rubato::store {
namespace {

using test::open_session;
using test::options_in;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SQLite::Database open_file(const std::string& path) {
  return {path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
}

int version_of(SQLite::Database& database) {
  return static_cast<int>(number_of(database, "PRAGMA user_version"));
}

const std::vector<Migration> kTwoSteps = {
    {1, "CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (7)"},
    {2, "ALTER TABLE a ADD COLUMN y INTEGER; UPDATE a SET y = x + 1"}};

TEST(Schema, StepsAreInOrderAndEndAtTheVersionOfThisCode) {
  int before = 0;
  for (const Migration& step : migrations()) EXPECT_EQ(step.to, ++before);
  EXPECT_EQ(before, kSchemaVersion);
}

TEST(Schema, EmptyFileGetsAllSteps) {
  const test::TempFolder folder;
  SQLite::Database database = open_file(folder.path() + "/x.db");
  ASSERT_TRUE(migrate(database, "x", kTwoSteps));
  EXPECT_EQ(version_of(database), 2);
  EXPECT_EQ(number_of(database, "SELECT y FROM a"), 8);
  EXPECT_EQ(number_of(database, "PRAGMA application_id"), kApplicationId);
}

TEST(Schema, EarlierVersionGetsTheStepsAfterIt) {
  const test::TempFolder folder;
  SQLite::Database database = open_file(folder.path() + "/x.db");
  ASSERT_TRUE(migrate(database, "x", {kTwoSteps[0]}));
  database.exec("UPDATE a SET x = 20");
  ASSERT_TRUE(migrate(database, "x", kTwoSteps));
  EXPECT_EQ(number_of(database, "SELECT y FROM a"), 21);
  ASSERT_TRUE(migrate(database, "x", kTwoSteps));  // nothing to do
  EXPECT_EQ(number_of(database, "SELECT count(*) FROM a"), 1);
}

TEST(Schema, FailedStepLeavesTheVersionBefore) {
  const test::TempFolder folder;
  SQLite::Database database = open_file(folder.path() + "/x.db");
  const std::vector<Migration> broken = {kTwoSteps[0],
                                         {2, "UPDATE a SET x = 9; INSERT INTO nowhere VALUES (1)"}};
  const auto done = migrate(database, "x", broken);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text, HasSubstr("schema version 2"));
  EXPECT_THAT(done.error().text, HasSubstr("nowhere"));
  EXPECT_EQ(version_of(database), 1);
  EXPECT_EQ(number_of(database, "SELECT x FROM a"), 7);
}

TEST(Schema, NewerVersionIsRefusedAndLeftAsItIs) {
  const test::TempFolder folder;
  const auto options = options_in(folder);
  open_session(options).reset();
  open_file(folder.database()).exec("PRAGMA user_version = 9");
  const std::string before = test::contents(folder.database());
  std::vector<std::string> notes;
  const auto opened = Session::open(options, test::kNow, notes);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().text, HasSubstr("rubato.db has schema version 9, this release knows "
                                             "versions up to 3"));
  const auto reader = Reader::open(folder.database());
  ASSERT_FALSE(reader);
  EXPECT_THAT(reader.error().text, HasSubstr("schema version 9"));
  EXPECT_EQ(test::contents(folder.database()), before);
  EXPECT_TRUE(notes.empty());
}

TEST(Schema, DatabaseOfAnotherProgramIsRefusedAndLeftAsItIs) {
  const test::TempFolder folder;
  std::filesystem::create_directory(folder.store());
  open_file(folder.database()).exec("CREATE TABLE recipes (name TEXT)");
  const std::string before = test::contents(folder.database());
  std::vector<std::string> notes;
  const auto opened = Session::open(options_in(folder), test::kNow, notes);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().text, HasSubstr("another program"));
  EXPECT_EQ(test::contents(folder.database()), before);
}

/// The golden database of each schema version.
class KeptDatabase : public testing::TestWithParam<int> {};

TEST_P(KeptDatabase, IsBroughtUpToDateWithAllItHolds) {
  const test::TempFolder folder;
  std::filesystem::create_directory(folder.store());
  const std::string kept =
      std::string(RUBATO_SOURCE_DIR) + "/test/store/schema-" + std::to_string(GetParam()) + ".db";
  std::filesystem::copy_file(kept, folder.database());
  std::filesystem::permissions(folder.database(), std::filesystem::perms::owner_write,
                               std::filesystem::perm_options::add);
  {
    SQLite::Database database = open_file(folder.database());
    ASSERT_EQ(version_of(database), GetParam());
  }
  std::vector<std::string> notes;
  open_session(options_in(folder), &notes, test::kKeptTime).reset();
  const std::string before = fmt::format("{}.schema-{}", folder.database(), GetParam());
  if (GetParam() == kSchemaVersion) {
    EXPECT_THAT(notes, IsEmpty());
    EXPECT_FALSE(std::filesystem::exists(before));
  } else {
    EXPECT_THAT(notes,
                ElementsAre(fmt::format("{}: upgraded from schema version {} to {}; the "
                                        "database of before is {}",
                                        folder.database(), GetParam(), kSchemaVersion, before)));
    // The release of that version can use the copy: the same tables with the same rows.
    SQLite::Database copy = open_file(before);
    EXPECT_EQ(version_of(copy), GetParam());
    SQLite::Database original(kept, SQLite::OPEN_READONLY);
    for (const char* table : {"job_types", "samples", "fits", "jobs", "decisions"}) {
      const std::string count = fmt::format("SELECT count(*) FROM {}", table);
      EXPECT_EQ(number_of(copy, count), number_of(original, count)) << table;
    }
    const std::string columns = "SELECT count(*) FROM pragma_table_info('samples')";
    EXPECT_EQ(number_of(copy, columns), number_of(original, columns));
  }
  {
    SQLite::Database database = open_file(folder.database());
    EXPECT_EQ(version_of(database), kSchemaVersion);
  }
  test::expect_kept_content(test::open_reader(folder.database()), GetParam());
}

class EarlierDatabase : public testing::TestWithParam<int> {};

TEST_P(EarlierDatabase, IsUpgradedAlsoIfNoCopyCanBeMade) {
  const test::TempFolder folder;
  std::filesystem::create_directory(folder.store());
  const std::string name = fmt::format("/test/store/schema-{}.db", GetParam());
  std::filesystem::copy_file(RUBATO_SOURCE_DIR + name, folder.database());
  std::filesystem::permissions(folder.database(), std::filesystem::perms::owner_write,
                               std::filesystem::perm_options::add);
  std::filesystem::create_directory(fmt::format("{}.schema-{}", folder.database(), GetParam()));
  std::vector<std::string> notes;
  open_session(options_in(folder), &notes, test::kKeptTime).reset();
  EXPECT_THAT(notes, ElementsAre(HasSubstr("no copy of before was made")));
  test::expect_kept_content(test::open_reader(folder.database()), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Versions, KeptDatabase, testing::Range(1, kSchemaVersion + 1));
INSTANTIATE_TEST_SUITE_P(Versions, EarlierDatabase, testing::Range(1, kSchemaVersion));

}  // namespace
}  // namespace rubato::store
