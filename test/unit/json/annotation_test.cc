// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/annotation.h"

#include <gtest/gtest.h>

#include <limits>

namespace rubato {
namespace {

JobAnnotation full() {
  JobAnnotation annotation;
  annotation.job_type = "resnet50";
  annotation.level = 2;
  annotation.gpu_type = "a100";
  annotation.gpus = 4;
  annotation.sizes = GpuSizes({{1, 1}, {4, 16}});
  annotation.plan = "dp,zero";
  annotation.throughput = 1234.5;
  annotation.samples = 1'000'000;
  annotation.remaining = 3600;
  annotation.start = 1800000000;
  annotation.wait = "reserve";
  return annotation;
}

// Other programs read these bytes.
TEST(JobAnnotation, has_these_bytes) {
  EXPECT_EQ(render_annotation(full()),
            "{rubato job-type=resnet50 level=2 gpu-type=a100 gpus=4 sizes=1,4-16 plan=dp,zero "
            "rate=1234 samples=1000000 remaining=3600 start=1800000000 wait=reserve}");
  EXPECT_EQ(render_annotation(JobAnnotation{}), "{rubato }");
}

TEST(JobAnnotation, is_read_back) {
  JobAnnotation annotation = full();
  annotation.throughput = 1234;
  EXPECT_EQ(find_annotation(render_annotation(annotation)), annotation);
  EXPECT_EQ(find_annotation(render_annotation(JobAnnotation{})), JobAnnotation{});
  EXPECT_EQ(find_annotation("site text " + render_annotation(annotation) + " more"), annotation);
}

TEST(JobAnnotation, zero_rate_and_zero_level_are_values) {
  JobAnnotation annotation;
  annotation.throughput = 0;
  annotation.level = 0;
  annotation.remaining = 0;
  EXPECT_EQ(render_annotation(annotation), "{rubato level=0 rate=0 remaining=0}");
  EXPECT_EQ(find_annotation(render_annotation(annotation)), annotation);
}

TEST(JobAnnotation, what_is_not_known_is_left_out) {
  JobAnnotation annotation;
  annotation.throughput = std::numeric_limits<double>::infinity();
  annotation.remaining = kForever;
  annotation.start = kForever;
  annotation.level = 1001;
  annotation.gpus = kMaxGpus + 1;
  EXPECT_EQ(render_annotation(annotation), "{rubato }");
}

TEST(JobAnnotation, the_time_of_a_remaining_time_that_is_left_out_is_left_out) {
  JobAnnotation annotation;
  annotation.at = 1800000000;
  annotation.remaining = kMaxWork;
  EXPECT_EQ(render_annotation(annotation), "{rubato remaining=1000000000000000000 at=1800000000}");
  for (const Seconds remaining : {kMaxWork + 1, Seconds{-1}}) {
    annotation.remaining = remaining;
    EXPECT_EQ(render_annotation(annotation), "{rubato }") << remaining;
  }
}

TEST(JobAnnotation, words_with_other_bytes_are_left_out) {
  JobAnnotation annotation;
  annotation.job_type = "a b";
  annotation.gpu_type = "x}";
  annotation.plan = "{rubato ";
  annotation.wait = "wait";
  EXPECT_EQ(render_annotation(annotation), "{rubato wait=wait}");
}

TEST(JobAnnotation, never_longer_than_256_bytes) {
  JobAnnotation annotation = full();
  std::vector<GpuSizes::Range> many;
  for (int i = 1; i < 200; i += 2) many.emplace_back(i, i);
  annotation.sizes = GpuSizes(many);
  EXPECT_LE(render_annotation(annotation).size(), kMaxAnnotationLength);
  // Sizes are dropped first, as a whole; the rest stays.
  const auto without_sizes = find_annotation(render_annotation(annotation));
  ASSERT_TRUE(without_sizes);
  EXPECT_TRUE(without_sizes->sizes.empty());
  EXPECT_EQ(without_sizes->plan, annotation.plan);
  EXPECT_EQ(without_sizes->job_type, annotation.job_type);

  for (const std::size_t length : {100U, 200U, 250U, 400U}) {
    for (std::string JobAnnotation::*word : {&JobAnnotation::job_type, &JobAnnotation::gpu_type,
                                             &JobAnnotation::plan, &JobAnnotation::wait}) {
      JobAnnotation longer = annotation;
      longer.samples = kMaxWork;
      longer.remaining = kForever - 1;
      longer.start = kForever - 1;
      longer.throughput = -1.0 + 1e300;
      longer.*word = std::string(length, 'x');
      const std::string text = render_annotation(longer);
      EXPECT_LE(text.size(), kMaxAnnotationLength) << length;
      EXPECT_EQ(text.back(), '}');
    }
  }
}

TEST(JobAnnotation, unknown_keys_do_not_count) {
  const auto annotation = find_annotation("{rubato gpus=2 colour=blue rate=7}");
  ASSERT_TRUE(annotation);
  EXPECT_EQ(annotation->gpus, 2);
  EXPECT_EQ(annotation->throughput, 7);
}

TEST(JobAnnotation, wrong_values_are_no_segment) {
  for (const char* text :
       {"{rubato gpus=x}", "{rubato gpus=-1}", "{rubato rate=nan}", "{rubato rate=-2}",
        "{rubato sizes=4-2}", "{rubato sizes=}", "{rubato gpus}", "{rubato wait=}"})
    EXPECT_FALSE(find_annotation(text)) << text;
  for (const char* text : {"", "rubato gpus=1", "{rubato gpus=1", "{rubatos gpus=1}", "{rubato}"})
    EXPECT_FALSE(find_annotation(text)) << text;
}

TEST(JobAnnotation, other_text_is_kept_byte_for_byte) {
  const JobAnnotation one = full();
  JobAnnotation two = one;
  two.samples = 5;
  for (const std::string text :
       {"", "site", " site ", "site {other x}", "{rubato cut off", "a}b{c", "tab\tand\nline "}) {
    const std::string with = with_annotation(text, &one);
    EXPECT_EQ(with.substr(0, text.size()), text);
    EXPECT_EQ(with_annotation(with, &two), with_annotation(text, &two));
    EXPECT_EQ(with_annotation(with, nullptr), text);
    EXPECT_EQ(with_annotation(text, nullptr), text);
  }
}

TEST(JobAnnotation, stays_where_it_stands) {
  JobAnnotation annotation;
  annotation.gpus = 2;
  EXPECT_EQ(with_annotation("a {rubato gpus=1} b", &annotation), "a {rubato gpus=2} b");
  EXPECT_EQ(with_annotation("{rubato gpus=1} b", nullptr), "b");
  EXPECT_EQ(with_annotation("a {rubato gpus=1} b", nullptr), "a b");
}

TEST(JobAnnotation, several_become_one) {
  JobAnnotation annotation;
  annotation.gpus = 2;
  EXPECT_EQ(with_annotation("a {rubato gpus=1} b {rubato gpus=3} c", &annotation),
            "a {rubato gpus=2} b c");
  EXPECT_EQ(with_annotation("{rubato gpus=1}{rubato gpus=3}", nullptr), "");
}

TEST(JobAnnotation, one_that_was_cut_off_does_not_swallow_the_next) {
  const auto annotation = find_annotation("{rubato gpus=1 {rubato gpus=2}");
  ASSERT_TRUE(annotation);
  EXPECT_EQ(annotation->gpus, 2);
}

}  // namespace
}  // namespace rubato
