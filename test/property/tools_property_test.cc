// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "lib/json/annotation.h"
#include "tools/rqueue/rqueue_sort.h"
#include "tools/shared/format.h"
#include "tools/shared/squeue_fields.h"
#include "tools/shared/squeue_query.h"

namespace rubato::tools {
namespace {

using rc::gen::arbitrary;
using rc::gen::container;
using rc::gen::element;
using rc::gen::elementOf;
using rc::gen::inRange;

std::string text_of(const std::string& letters) {
  return *container<std::string>(elementOf(letters));
}

const std::string kSuffix = "abcXYZ 0123456789|:.{}-_";

FormatField any_field(bool short_format) {
  FormatField field;
  if (*arbitrary<bool>()) {
    field.own = &own_fields()[*inRange<std::size_t>(0, own_fields().size())];
    field.name = field.own->name;
  } else if (short_format) {
    const char letter = *elementOf(std::string("aAbBcCdDeEfFgijklmMnNpPqQrRsStTuUvVwxyYzZ"));
    field.name = field_of_letter(letter)->name;
  } else {
    do {
      field.name = squeue_fields()[*inRange<std::size_t>(0, squeue_fields().size())].name;
    } while (field.name == kShortOnly);
  }
  field.width = *inRange(short_format ? 0 : -20, 100);
  field.right = *arbitrary<bool>();
  field.suffix = text_of(kSuffix);
  // Digits after the width belong to it.
  if (!short_format) field.suffix.erase(0, field.suffix.find_first_not_of("0123456789"));
  return field;
}

Format any_format(bool short_format) {
  Format format;
  if (short_format) format.prefix = text_of(kSuffix);
  for (int i = *inRange(1, 8); i > 0; --i) format.fields.push_back(any_field(short_format));
  return format;
}

RC_GTEST_PROP(Format, ShortReadsBack, ()) {
  const Format format = any_format(true);
  const auto again = parse_short_format(render_short_format(format));
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == format);
}

RC_GTEST_PROP(Format, LongReadsBack, ()) {
  const Format format = any_format(false);
  const auto again = parse_long_format(render_long_format(format));
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == format);
}

RC_GTEST_PROP(Format, AnyTextIsReadOrRefused, (const std::string& text)) {
  for (const auto& format : {parse_short_format(text), parse_long_format(text)}) {
    if (!format) RC_ASSERT(!format.error().text.empty());
  }
}

/// The text equals snprintf's, which squeue uses.
RC_GTEST_PROP(Format, FitsAsPrintf, ()) {
  const std::string text = text_of("ab c");
  const int width = *inRange(1, 40);
  const bool right = *arbitrary<bool>();
  char wanted[64];
  std::snprintf(wanted, static_cast<std::size_t>(width) + 1, right ? "%*s" : "%-*s", width,
                text.c_str());
  RC_ASSERT(fit(text, width, right) == wanted);
}

/// Values may contain anything except the mark; the job id contains digits.
RC_GTEST_PROP(Query, ReadsBackWhatIsPrinted, ()) {
  const std::string mark = "\x1e#mark#\x1f";
  const auto count = *inRange<std::size_t>(1, 5);
  std::string text = "JOBID" + mark;
  for (std::size_t i = 1; i < count; ++i) text += "H" + mark;
  text += "\n";
  std::vector<std::vector<std::string>> rows;
  for (int r = *inRange(0, 6); r > 0; --r) {
    std::vector<std::string> row;
    text += std::to_string(r) + mark;
    for (std::size_t i = 1; i < count; ++i) {
      row.push_back(text_of("ab\n\x1e\x1f# |,1"));
      text += row.back() + mark;
    }
    text += "\n";
    rows.push_back(row);
  }
  const auto sections = read_squeue(text, mark, count);
  RC_ASSERT(sections.has_value());
  RC_ASSERT(sections->size() == 1U);
  RC_ASSERT((*sections)[0].rows.size() == rows.size());
  for (std::size_t r = 0; r < rows.size(); ++r) RC_ASSERT((*sections)[0].rows[r].fields == rows[r]);
}

/// Rows sorted by squeue's keys and then by Rubato's are sorted by all keys in order.
RC_GTEST_PROP(Sort, IsLexicographic, ()) {
  const auto order = parse_sort("P,-dlgpus,t,dljobtype,u");
  RC_ASSERT(order.has_value());
  std::vector<SqueueRow> rows;
  std::vector<JobFacts> facts;
  std::vector<std::vector<std::string>> keys;
  for (int r = *inRange(0, 30); r > 0; --r) {
    keys.push_back({*element<std::string>("p", "q"), *element<std::string>("A", "B"),
                    *element<std::string>("u", "v")});
  }
  std::sort(keys.begin(), keys.end());  // squeue's order: P, t, u
  for (const auto& key : keys) {
    SqueueRow row;
    row.job_id = key[2];
    row.fields = {key[0], key[1]};
    JobFacts fact;
    fact.gpus = *inRange(0, 3);
    fact.job_type = *element<std::string>("", "x", "y");
    rows.push_back(row);
    facts.push_back(fact);
  }
  RC_ASSERT(sort_fields(*order).size() == 2U);
  sort_rows(*order, 0, rows, facts);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto rank = [&](std::size_t k) {
      const int gpus = facts[k].gpus == 0 ? 1 : -facts[k].gpus;  // unknown last, else descending
      return std::tuple(rows[k].fields[0], gpus, rows[k].fields[1], facts[k].job_type.empty(),
                        facts[k].job_type, rows[k].job_id);
    };
    RC_ASSERT(rank(i - 1) <= rank(i));
  }
}

}  // namespace
}  // namespace rubato::tools
