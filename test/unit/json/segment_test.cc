// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/segment.h"

#include <gtest/gtest.h>

#include <limits>

namespace rubato {
namespace {

Segment full() {
  Segment segment;
  segment.job_type = "resnet50";
  segment.level = 2;
  segment.gpu_type = "a100";
  segment.gpus = 4;
  segment.sizes = GpuSizes({{1, 1}, {4, 16}});
  segment.plan = "dp,zero";
  segment.rate = 1234.5;
  segment.samples = 1'000'000;
  segment.remaining = 3600;
  segment.start = 1800000000;
  segment.wait = "reserve";
  return segment;
}

// Others read these bytes.
TEST(Segment, has_these_bytes) {
  EXPECT_EQ(render_segment(full()),
            "{rubato job-type=resnet50 level=2 gpu-type=a100 gpus=4 sizes=1,4-16 plan=dp,zero "
            "rate=1234 samples=1000000 remaining=3600 start=1800000000 wait=reserve}");
  EXPECT_EQ(render_segment(Segment{}), "{rubato }");
}

TEST(Segment, is_read_back) {
  Segment segment = full();
  segment.rate = 1234;
  EXPECT_EQ(find_segment(render_segment(segment)), segment);
  EXPECT_EQ(find_segment(render_segment(Segment{})), Segment{});
  EXPECT_EQ(find_segment("site text " + render_segment(segment) + " more"), segment);
}

TEST(Segment, zero_rate_and_zero_level_are_values) {
  Segment segment;
  segment.rate = 0;
  segment.level = 0;
  segment.remaining = 0;
  EXPECT_EQ(render_segment(segment), "{rubato level=0 rate=0 remaining=0}");
  EXPECT_EQ(find_segment(render_segment(segment)), segment);
}

TEST(Segment, what_is_not_known_is_left_out) {
  Segment segment;
  segment.rate = std::numeric_limits<double>::infinity();
  segment.remaining = kForever;
  segment.start = kForever;
  segment.level = 1001;
  segment.gpus = kMostGpus + 1;
  EXPECT_EQ(render_segment(segment), "{rubato }");
}

TEST(Segment, words_with_other_bytes_are_left_out) {
  Segment segment;
  segment.job_type = "a b";
  segment.gpu_type = "x}";
  segment.plan = "{rubato ";
  segment.wait = "wait";
  EXPECT_EQ(render_segment(segment), "{rubato wait=wait}");
}

TEST(Segment, never_longer_than_256_bytes) {
  Segment segment = full();
  std::vector<GpuSizes::Range> many;
  for (int i = 1; i < 200; i += 2) many.emplace_back(i, i);
  segment.sizes = GpuSizes(many);
  EXPECT_LE(render_segment(segment).size(), kLongestSegment);
  // Sizes go first, and whole: the rest stays.
  const auto without_sizes = find_segment(render_segment(segment));
  ASSERT_TRUE(without_sizes);
  EXPECT_TRUE(without_sizes->sizes.empty());
  EXPECT_EQ(without_sizes->plan, segment.plan);
  EXPECT_EQ(without_sizes->job_type, segment.job_type);

  for (const std::size_t length : {100U, 200U, 250U, 400U}) {
    for (std::string Segment::*word :
         {&Segment::job_type, &Segment::gpu_type, &Segment::plan, &Segment::wait}) {
      Segment longer = segment;
      longer.samples = kMostWork;
      longer.remaining = kForever - 1;
      longer.start = kForever - 1;
      longer.rate = -1.0 + 1e300;
      longer.*word = std::string(length, 'x');
      const std::string text = render_segment(longer);
      EXPECT_LE(text.size(), kLongestSegment) << length;
      EXPECT_EQ(text.back(), '}');
    }
  }
}

TEST(Segment, unknown_keys_do_not_count) {
  const auto segment = find_segment("{rubato gpus=2 colour=blue rate=7}");
  ASSERT_TRUE(segment);
  EXPECT_EQ(segment->gpus, 2);
  EXPECT_EQ(segment->rate, 7);
}

TEST(Segment, wrong_values_are_no_segment) {
  for (const char* text :
       {"{rubato gpus=x}", "{rubato gpus=-1}", "{rubato rate=nan}", "{rubato rate=-2}",
        "{rubato sizes=4-2}", "{rubato sizes=}", "{rubato gpus}", "{rubato wait=}"})
    EXPECT_FALSE(find_segment(text)) << text;
  for (const char* text : {"", "rubato gpus=1", "{rubato gpus=1", "{rubatos gpus=1}", "{rubato}"})
    EXPECT_FALSE(find_segment(text)) << text;
}

TEST(Segment, other_text_is_kept_byte_for_byte) {
  const Segment one = full();
  Segment two = one;
  two.samples = 5;
  for (const std::string text :
       {"", "site", " site ", "site {other x}", "{rubato cut off", "a}b{c", "tab\tand\nline "}) {
    const std::string with = with_segment(text, &one);
    EXPECT_EQ(with.substr(0, text.size()), text);
    EXPECT_EQ(with_segment(with, &two), with_segment(text, &two));
    EXPECT_EQ(with_segment(with, nullptr), text);
    EXPECT_EQ(with_segment(text, nullptr), text);
  }
}

TEST(Segment, stays_where_it_stands) {
  Segment segment;
  segment.gpus = 2;
  EXPECT_EQ(with_segment("a {rubato gpus=1} b", &segment), "a {rubato gpus=2} b");
  EXPECT_EQ(with_segment("{rubato gpus=1} b", nullptr), "b");
  EXPECT_EQ(with_segment("a {rubato gpus=1} b", nullptr), "a b");
}

TEST(Segment, several_become_one) {
  Segment segment;
  segment.gpus = 2;
  EXPECT_EQ(with_segment("a {rubato gpus=1} b {rubato gpus=3} c", &segment),
            "a {rubato gpus=2} b c");
  EXPECT_EQ(with_segment("{rubato gpus=1}{rubato gpus=3}", nullptr), "");
}

TEST(Segment, one_that_was_cut_off_does_not_swallow_the_next) {
  const auto segment = find_segment("{rubato gpus=1 {rubato gpus=2}");
  ASSERT_TRUE(segment);
  EXPECT_EQ(segment->gpus, 2);
}

}  // namespace
}  // namespace rubato
