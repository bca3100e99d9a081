// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include <set>

#include "tools/shared/format.h"
#include "tools/shared/squeue_fields.h"

namespace rubato::tools {
namespace {

std::string error_of(const Result<Format>& format) {
  return format ? "no error" : format.error().text;
}

TEST(Format, EveryLetterHasAField) {
  std::set<std::string> names;
  for (const char* range : {"az", "AZ"}) {
    for (char c = range[0]; c <= range[1]; ++c) {
      const SqueueField* field = field_of_letter(c);
      ASSERT_NE(nullptr, field) << c;
      EXPECT_TRUE(names.insert(field->name).second) << field->name;
    }
  }
  EXPECT_EQ(52U, names.size());
  EXPECT_EQ(nullptr, field_of_letter('\0'));
  EXPECT_EQ(nullptr, field_of_letter('{'));
}

TEST(Format, NamesAreSortedOnce) {
  std::set<std::string> names;
  for (const SqueueField& field : squeue_fields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
  }
}

TEST(Format, OwnNamesAreFree) {
  for (const OwnField& field : own_fields()) {
    EXPECT_EQ(nullptr, field_of_name(field.name)) << field.name;
    EXPECT_EQ(&field, own_field(field.name));
    EXPECT_EQ(&field, own_field(std::string(field.name).substr(2)));
  }
}

TEST(Format, Short) {
  const auto format = parse_short_format("jobs %.18i|%7{rate}%{DLgpus} end");
  ASSERT_TRUE(format) << error_of(format);
  EXPECT_EQ("jobs ", format->prefix);
  ASSERT_EQ(3U, format->fields.size());
  EXPECT_EQ((FormatField{"jobarrayid", nullptr, 18, true, "|"}), format->fields[0]);
  EXPECT_EQ((FormatField{"dlrate", own_field("rate"), 7, false, ""}), format->fields[1]);
  EXPECT_EQ((FormatField{"dlgpus", own_field("gpus"), 0, false, " end"}), format->fields[2]);
}

TEST(Format, ShortAsSqueueReadsIt) {
  EXPECT_EQ("text", parse_short_format("text")->prefix);
  EXPECT_TRUE(parse_short_format("text")->fields.empty());
  // strtok treats several % as one.
  EXPECT_EQ(1U, parse_short_format("100%%i")->fields.size());
  EXPECT_EQ(52U, parse_short_format("%all")->fields.size());
  EXPECT_EQ("|", parse_short_format("%ALL")->fields[0].suffix);
}

TEST(Format, Long) {
  const auto format = parse_long_format("JobID,name:.8 ,dlrate:3|,state:, numtasksX:5,dlgpus:-2");
  ASSERT_TRUE(format) << error_of(format);
  ASSERT_EQ(6U, format->fields.size());
  EXPECT_EQ((FormatField{"jobid", nullptr, 20, false, ""}), format->fields[0]);
  EXPECT_EQ((FormatField{"name", nullptr, 8, true, " "}), format->fields[1]);
  EXPECT_EQ((FormatField{"dlrate", own_field("rate"), 3, false, "|"}), format->fields[2]);
  EXPECT_EQ((FormatField{"state", nullptr, 0, false, ""}), format->fields[3]);
  EXPECT_EQ((FormatField{"numtasks", nullptr, 5, false, ""}), format->fields[4]);
  EXPECT_EQ(-2, format->fields[5].width);
}

TEST(Format, Errors) {
  EXPECT_EQ("-O: unknown field 'dlsiezs'; did you mean dlsizes?",
            error_of(parse_long_format("dlsiezs")));
  EXPECT_EQ("-O: unknown field 'jobd'; did you mean jobid?", error_of(parse_long_format("jobd")));
  EXPECT_EQ("-o: unknown field '%{rat}'; did you mean rate?",
            error_of(parse_short_format("%{rat}")));
  EXPECT_EQ("-o: '%.4': missing field name", error_of(parse_short_format("%.4")));
  EXPECT_EQ("-o: '%{rate': missing '}'", error_of(parse_short_format("%{rate")));
  EXPECT_EQ("-O: missing field name", error_of(parse_long_format(",,")));
  EXPECT_FALSE(parse_long_format("jobid:99999999999999999999"));
  EXPECT_FALSE(parse_short_format("%99999999999999999999i"));
}

TEST(Format, Fit) {
  EXPECT_EQ("abc", fit("abc", 0, true));
  EXPECT_EQ("abc ", fit("abc", -7, false));
  EXPECT_EQ("ab", fit("abc", 2, false));
  EXPECT_EQ("ab", fit("abc", 2, true));
  EXPECT_EQ("abc  ", fit("abc", 5, false));
  EXPECT_EQ("  abc", fit("abc", 5, true));
}

}  // namespace
}  // namespace rubato::tools
