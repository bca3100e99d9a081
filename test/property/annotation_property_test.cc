// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "lib/json/annotation.h"

namespace rubato {
namespace {

/// Text with many braces and starts of annotations.
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

JobAnnotation annotation() {
  JobAnnotation annotation;
  annotation.job_type = word();
  annotation.level = *rc::gen::inRange(-1, 20);
  annotation.gpu_type = word();
  annotation.gpus = *rc::gen::inRange(0, 5000);
  std::vector<GpuSizes::Range> ranges;
  int last = 0;
  for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(2, 90))) {
    ranges.emplace_back(last + step, last + step + step % 3);
    last += step + 4;
  }
  if (!ranges.empty()) annotation.sizes = GpuSizes(ranges);
  annotation.plan = word();
  annotation.throughput = *rc::gen::arbitrary<double>();
  annotation.samples = *rc::gen::inRange<std::int64_t>(0, kMaxWork);
  annotation.remaining = *rc::gen::arbitrary<Seconds>();
  annotation.start = *rc::gen::arbitrary<Seconds>();
  annotation.wait = word();
  annotation.at = *rc::gen::arbitrary<Seconds>();
  return annotation;
}

RC_GTEST_PROP(AnnotationProperty, is_short_and_is_read_back, ()) {
  const std::string text = render_annotation(annotation());
  RC_ASSERT(text.size() <= kMaxAnnotationLength);
  const auto back = find_annotation(text);
  RC_ASSERT(back.has_value());
  RC_ASSERT(render_annotation(*back) == text);
}

RC_GTEST_PROP(AnnotationProperty, any_text_is_read_without_harm, ()) {
  const std::string text = comment();
  const auto found = find_annotation(text);
  if (found) RC_ASSERT(find_annotation(render_annotation(*found)).has_value());
}

RC_GTEST_PROP(AnnotationProperty, stands_once_and_the_rest_stays, ()) {
  const std::string text = comment();
  // Text that becomes an annotation when one is cut out of its middle does not belong to Rubato.
  RC_PRE(segment_text(with_annotation(text, nullptr)).empty());
  const JobAnnotation one = annotation();
  const std::string with = with_annotation(text, &one);
  RC_ASSERT(segment_text(with) == render_annotation(one));
  const JobAnnotation two = annotation();
  RC_ASSERT(with_annotation(with, &two) == with_annotation(text, &two));
  RC_ASSERT(with_annotation(with_annotation(with, &two), &one) == with);
}

RC_GTEST_PROP(AnnotationProperty, is_taken_back_without_a_trace, ()) {
  const std::string text = comment();
  RC_PRE(segment_text(text).empty());
  const JobAnnotation one = annotation();
  RC_ASSERT(with_annotation(with_annotation(text, &one), nullptr) == text);
}

}  // namespace
}  // namespace rubato
