// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/spank/last_line.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "test/spank/scratch.h"

namespace rubato {
namespace {

class LastLineTest : public testing::Test {
 protected:
  std::string text_of(const std::string& content) {
    write_text(file_, content);
    const auto line = read_last_line(file_, geteuid());
    return line ? line->text : "(none)";
  }

  Scratch scratch_;
  std::string file_ = scratch_ / "report";
};

TEST_F(LastLineTest, IsTheLastThatEnded) {
  EXPECT_EQ(text_of("a\n"), "a");
  EXPECT_EQ(text_of("a\nb\n"), "b");
  EXPECT_EQ(text_of("a\nb"), "a");
  EXPECT_EQ(text_of("\n"), "");
  EXPECT_EQ(text_of("a\n\n"), "");
  EXPECT_EQ(text_of(""), "(none)");
  EXPECT_EQ(text_of("a"), "(none)");
}

TEST_F(LastLineTest, SurvivesWhatAWriterLeaves) {
  EXPECT_EQ(text_of(std::string(100000, 'x')), "(none)");
  EXPECT_EQ(text_of(std::string(100000, 'x') + "\n"), "(none)");
  EXPECT_EQ(text_of(std::string(2000, 'x') + "\n"), "(none)");
  EXPECT_EQ(text_of(std::string(100000, 'x') + "\nok\n"), "ok");
  EXPECT_EQ(text_of("ok\n" + std::string(3000, 'x')), "ok");
  EXPECT_EQ(text_of("ok\n" + std::string(5000, 'x')), "(none)");
  EXPECT_EQ(text_of(std::string("a\0b\xff\n", 5)), std::string("a\0b\xff", 4));
}

TEST_F(LastLineTest, NeverReadsMoreThanTheEnd) {
  const int file = open(file_.c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_EQ(ftruncate(file, 1LL << 40), 0);  // a hole of a terabyte
  ASSERT_EQ(pwrite(file, "\nok\n", 4, 1LL << 40), 4);
  close(file);
  ASSERT_TRUE(read_last_line(file_, geteuid()));
  EXPECT_EQ(read_last_line(file_, geteuid())->text, "ok");
}

TEST_F(LastLineTest, OpensPlainFilesOnly) {
  EXPECT_FALSE(read_last_line(file_, geteuid()));
  write_text(scratch_ / "real", "a\n");
  ASSERT_EQ(symlink((scratch_ / "real").c_str(), file_.c_str()), 0);
  EXPECT_FALSE(read_last_line(file_, geteuid()));
  unlink(file_.c_str());
  ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);
  EXPECT_FALSE(read_last_line(file_, geteuid()));
  unlink(file_.c_str());
  ASSERT_EQ(mkdir(file_.c_str(), 0700), 0);
  EXPECT_FALSE(read_last_line(file_, geteuid()));
}

TEST_F(LastLineTest, OpensOwnFilesOnly) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  write_text(file_, "a\n");
  ASSERT_EQ(chown(file_.c_str(), 65534, 65534), 0);
  EXPECT_FALSE(read_last_line(file_, geteuid()));
}

TEST_F(LastLineTest, TellsANewLineFromAnOldOne) {
  text_of("a\n");
  const auto first = read_last_line(file_, geteuid());
  EXPECT_EQ(read_last_line(file_, geteuid()), first);
  text_of("a\na\n");
  EXPECT_NE(read_last_line(file_, geteuid()), first);
  text_of("a\n");
  EXPECT_EQ(read_last_line(file_, geteuid()), first);
}

TEST_F(LastLineTest, EightWritersAtOnce) {
  std::atomic<bool> writing = true;
  std::vector<std::thread> writers;
  for (int rank = 0; rank < 8; ++rank) {
    writers.emplace_back([this, rank] {
      for (int i = 0; i < 200; ++i) {
        const int file = open(file_.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
        const std::string line = "report samples=" + std::to_string(i) +
                                 ";rate=1;batch=" + std::to_string(rank + 1) + "\n";
        EXPECT_EQ(write(file, line.data(), line.size()), static_cast<ssize_t>(line.size()));
        close(file);
      }
    });
  }
  // Reads in parallel with the writers, from their start until the last one ends.
  std::thread ended([&writers, &writing] {
    for (std::thread& writer : writers) writer.join();
    writing = false;
  });
  while (writing) {
    if (const auto line = read_last_line(file_, geteuid())) {
      EXPECT_TRUE(message_of_line(line->text)) << line->text;
    }
  }
  ended.join();
  ASSERT_TRUE(read_last_line(file_, geteuid()));
  EXPECT_TRUE(message_of_line(read_last_line(file_, geteuid())->text));
}

TEST(MessageOfLine, IsAMessageOrNothing) {
  EXPECT_EQ(message_of_line("report samples=1.28e6;rate=850.5;batch=256"),
            "rubato!report samples=1.28e6;rate=850.5;batch=256");
  EXPECT_EQ(message_of_line("report batch=1; samples=5; rate=2"),
            "rubato!report samples=5;rate=2;batch=1");
  for (const char* line : {"", "report", "report samples=1", "night run", "report samples=1;rate=x",
                           "rubato!report samples=1;rate=1;batch=1", "x\ny", "\xff\xfe"}) {
    EXPECT_FALSE(message_of_line(line)) << line;
  }
}

}  // namespace
}  // namespace rubato
