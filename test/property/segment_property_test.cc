// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "lib/json/segment.h"

namespace rubato {
namespace {

/// Text in which braces and beginnings of segments are frequent.
std::string comment() {
  const auto piece = rc::gen::oneOf(
      rc::gen::element<std::string>("{rubato ", "{", "}", " ", "gpus=4", "rate=", "{rubato gpus=2}",
                                    "site", "{rubato x}", "\n"),
      rc::gen::arbitrary<std::string>());
  std::string text;
  for (const std::string& part : *rc::gen::container<std::vector<std::string>>(piece)) text += part;
  return text;
}

std::string word() {
  return *rc::gen::oneOf(
      rc::gen::container<std::string>(rc::gen::element('a', 'Z', '7', '.', '-', '+', ',')),
      rc::gen::arbitrary<std::string>());
}

Segment segment() {
  Segment segment;
  segment.job_type = word();
  segment.level = *rc::gen::inRange(-1, 20);
  segment.gpu_type = word();
  segment.gpus = *rc::gen::inRange(0, 5000);
  std::vector<GpuSizes::Range> ranges;
  int last = 0;
  for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(2, 90))) {
    ranges.emplace_back(last + step, last + step + step % 3);
    last += step + 4;
  }
  if (!ranges.empty()) segment.sizes = GpuSizes(ranges);
  segment.plan = word();
  segment.rate = *rc::gen::arbitrary<double>();
  segment.samples = *rc::gen::inRange<std::int64_t>(0, kMostWork);
  segment.remaining = *rc::gen::arbitrary<Seconds>();
  segment.start = *rc::gen::arbitrary<Seconds>();
  segment.wait = word();
  return segment;
}

RC_GTEST_PROP(SegmentProperty, is_short_and_is_read_back, ()) {
  const std::string text = render_segment(segment());
  RC_ASSERT(text.size() <= kLongestSegment);
  const auto back = find_segment(text);
  RC_ASSERT(back.has_value());
  RC_ASSERT(render_segment(*back) == text);
}

RC_GTEST_PROP(SegmentProperty, any_text_is_read_without_harm, ()) {
  const std::string text = comment();
  const auto found = find_segment(text);
  if (found) RC_ASSERT(find_segment(render_segment(*found)).has_value());
}

RC_GTEST_PROP(SegmentProperty, stands_once_and_the_rest_stays, ()) {
  const std::string text = comment();
  // Text that becomes a segment when one is cut out of its middle is nobody's.
  RC_PRE(segment_text(with_segment(text, nullptr)).empty());
  const Segment one = segment();
  const std::string with = with_segment(text, &one);
  RC_ASSERT(segment_text(with) == render_segment(one));
  const Segment two = segment();
  RC_ASSERT(with_segment(with, &two) == with_segment(text, &two));
  RC_ASSERT(with_segment(with_segment(with, &two), &one) == with);
}

RC_GTEST_PROP(SegmentProperty, is_taken_back_without_a_trace, ()) {
  const std::string text = comment();
  RC_PRE(segment_text(text).empty());
  const Segment one = segment();
  RC_ASSERT(with_segment(with_segment(text, &one), nullptr) == text);
}

}  // namespace
}  // namespace rubato
