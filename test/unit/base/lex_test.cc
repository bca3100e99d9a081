// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include "lib/base/lex.h"

namespace rubato {
namespace {

/// Lines as "line:key=[value] ...", includes as "line:<file>", errors as "line!text".
std::string shape(std::string_view text) {
  std::string out;
  for (const ConfigLine& line : lex_config(text)) {
    if (!out.empty()) out += " | ";
    std::string part;
    for (const ConfigPair& pair : line.pairs) {
      if (!part.empty()) part += " ";
      part += std::to_string(pair.line) + ":" + pair.key + "=[" + pair.value + "]";
    }
    if (line.include) part += std::to_string(line.include_line) + ":<" + *line.include + ">";
    if (line.error) {
      if (!part.empty()) part += " ";
      part += std::to_string(line.error_line) + "!" + *line.error;
    }
    out += part;
  }
  return out;
}

struct LexCase {
  const char* text;
  const char* shape;
};

TEST(ConfigLex, ReadsWhatSlurmReads) {
  const LexCase cases[] = {
      {"", ""},
      {"\n \t\r\n# only a comment\n", ""},
      {"A=1", "1:A=[1]"},
      {"A=1 B=2\nC=3\n", "1:A=[1] 1:B=[2] | 2:C=[3]"},
      {"  A = 1  # why", "1:A=[1]"},
      {"A=1\r\nB=2\r\n", "1:A=[1] | 2:B=[2]"},
      {"A=\"x y\" B=\"\"", "1:A=[x y] 1:B=[]"},
      {"A=x=y", "1:A=[x=y]"},
      {"A=x\"y", "1:A=[x\"y]"},
      {"A=1,\\\n2,3\nB=4", "1:A=[1,2,3] | 3:B=[4]"},
      {"A=1\\\n B=2", "1:A=[1] 2:B=[2]"},
      {"A=1 \\  \nB=2", "1:A=[1] 2:B=[2]"},      // blanks after the backslash
      {"A=1 # c \\\nB=2", "1:A=[1] | 2:B=[2]"},  // a comment is not continued
      {"A=1\\", "1:A=[1]"},                      // nothing follows
      {"A=a\\#b", "1:A=[a#b]"},
      {"A=a\\\\#b", "1:A=[a\\]"},  // the backslash is escaped, the # is not
      {"A=a\\\\b", "1:A=[a\\b]"},
      {"A=\"x # y\"", "1!A: no closing quote after \"x \""},
      {"\xEF\xBB\xBF"
       "A=1",
       "1:A=[1]"},
      {"Include other.conf", "1:<other.conf>"},
      {"\n  include\t\"a b.conf\"  # c", "2:<a b.conf>"},
      {"Include=x", "1!Include: write Include FILE, without ="},
      {"Included=x", "1:Included=[x]"},
  };
  for (const auto& [text, wanted] : cases) EXPECT_EQ(shape(text), wanted) << text;
}

TEST(ConfigLex, SaysWhatBreaksALineAndKeepsWhatStandsBefore) {
  const LexCase cases[] = {
      {"wombat", "1!\"wombat\": expected Key=Value"},
      {"A=1 wombat B=2", "1:A=[1] 1!\"wombat\": expected Key=Value"},
      {"A=1 \\\n wombat", "1:A=[1] 2!\"wombat\": expected Key=Value"},
      {"=1", "1!\"=1\": expected Key=Value"},
      {"A", "1!\"A\": expected Key=Value"},
      {"A-B=1", "1!\"A-B=1\": expected Key=Value"},
      {"A=", "1!A: no value after ="},
      {"A= # x", "1!A: no value after ="},
      {"A+=1", "1!A: += is not supported; write A=VALUE"},
      {"A =\"x\"y", "1!A: \"y\" is directly after a closing quote"},
      {"A=\"x", "1!A: no closing quote after \"x\""},
      {"Include", "1!Include: no file named; write Include FILE"},
      {"Include a b", "1:<a> 1!\"b\": an Include line names one file"},
      {"Include \"a", "1!Include: no closing quote after \"a\""},
      {"\x01\xFF=1", "1!\"\\x01\\xff=1\": expected Key=Value"},
  };
  for (const auto& [text, wanted] : cases) EXPECT_EQ(shape(text), wanted) << text;
}

TEST(ConfigLex, InQuotesShowsTextAndHidesControlBytes) {
  EXPECT_EQ(in_quotes("plain"), "\"plain\"");
  EXPECT_EQ(in_quotes("m\xC3\xBCnchen \xE2\x82\xAC \xF0\x9F\x8E\xBB"),
            "\"m\xC3\xBCnchen \xE2\x82\xAC \xF0\x9F\x8E\xBB\"");
  EXPECT_EQ(in_quotes("a\nb\x1B[31m\x7F"), "\"a\\x0ab\\x1b[31m\\x7f\"");
  EXPECT_EQ(in_quotes(std::string_view("\0", 1)), "\"\\x00\"");
  // Invalid UTF-8: truncated, overlong, surrogate, above U+10FFFF, a C1 control.
  EXPECT_EQ(in_quotes("\xC3"), "\"\\xc3\"");
  EXPECT_EQ(in_quotes("\xE0\x80\x80"), "\"\\xe0\\x80\\x80\"");
  EXPECT_EQ(in_quotes("\xED\xA0\x80"), "\"\\xed\\xa0\\x80\"");
  EXPECT_EQ(in_quotes("\xF4\x90\x80\x80"), "\"\\xf4\\x90\\x80\\x80\"");
  EXPECT_EQ(in_quotes("\xC2\x85"), "\"\\xc2\\x85\"");
  EXPECT_EQ(in_quotes(std::string(60, 'x')), "\"" + std::string(60, 'x') + "\"");
  EXPECT_EQ(in_quotes(std::string(61, 'x')), "\"" + std::string(60, 'x') + "...\"");
}

}  // namespace
}  // namespace rubato
