// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/csv.h"

#include <gtest/gtest.h>

namespace rubato {
namespace {

CsvTable table(std::string_view text) {
  auto parsed = CsvTable::parse(text, "f.csv");
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().text);
  return parsed ? *parsed : CsvTable();
}

std::string error(std::string_view text) {
  const auto parsed = CsvTable::parse(text, "f.csv");
  return parsed ? "" : parsed.error().text;
}

TEST(Csv, ReadsFieldsUnderTheirHeadings) {
  const CsvTable t = table(
      "\xef\xbb\xbf"
      "a,b\r\n1,\"x,\"\"y\"\"\nz\"\n\n-2.5,\n");
  ASSERT_EQ(t.rows(), 2U);
  EXPECT_EQ(t.headings(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(t.text(0, 1), "x,\"y\"\nz");
  EXPECT_EQ(t.text(1, 1), "");
  EXPECT_EQ(t.number(1, 0).value(), -2.5);
  EXPECT_EQ(t.line(1), 5U);
  EXPECT_EQ(t.column("b").value(), 1U);
}

TEST(Csv, NumbersAreWhole) {
  const CsvTable t = table("n\n 3.0 \n1e3\n3.5\n1x\ninf\n9007199254740994\n-1");
  EXPECT_EQ(t.whole(0, 0).value(), 3);
  EXPECT_EQ(t.whole(1, 0).value(), 1000);
  EXPECT_EQ(t.whole(2, 0).error().text, "f.csv:4:1: n '3.5': expected a whole number");
  EXPECT_EQ(t.number(3, 0).error().text, "f.csv:5:1: n '1x': expected a finite number");
  EXPECT_FALSE(t.number(4, 0));
  EXPECT_FALSE(t.whole(5, 0));
  EXPECT_EQ(t.amount(6, 0).error().text, "f.csv:8:1: n '-1': expected a number of at least 0");
}

TEST(Csv, ErrorsNameFileLineAndColumn) {
  EXPECT_EQ(error(""), "f.csv:1:1: no heading: the first line names the columns");
  EXPECT_EQ(error("a,a\n"), "f.csv:1:3: column 'a' appears twice");
  EXPECT_EQ(error("a,b\n1,2,3\n"), "f.csv:2:5: 3 fields; expected 2, as in the heading");
  EXPECT_EQ(error("a\n\"x"), "f.csv:2:1: a quote that is not closed");
  EXPECT_EQ(error("a\n\"x\"y"), "f.csv:2:4: text after a quoted field; expected ','");
  EXPECT_EQ(error("a\nx\"y\n"),
            "f.csv:2:2: a quote inside a field; quote the whole field and double its quotes");
  EXPECT_EQ(error(std::string_view("a\nx\0\n", 5)), "f.csv:2:2: a NUL; expected text");
  EXPECT_EQ(table("step_time\n1\n").column("steptime").error().text,
            "f.csv:1:1: no column 'steptime'; the heading has 'step_time'");
}

TEST(Csv, ReadsFiles) {
  EXPECT_EQ(CsvTable::read("/nonexistent/x.csv").error().text,
            "/nonexistent/x.csv: No such file or directory");
  EXPECT_EQ(CsvTable::read("/dev/null").error().text, "/dev/null: not a regular file");
}

}  // namespace
}  // namespace rubato
