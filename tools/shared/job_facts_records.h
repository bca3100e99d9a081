// SPDX-License-Identifier: GPL-2.0-or-later
// What Rubato knows of a job, described as the records of lib/json/records.h.
#pragma once

#include <string>

#include "lib/json/record_description.h"
#include "tools/shared/job_facts.h"

namespace rubato::json {

template <typename Visitor>
void describe_predictable(Visitor& v, const std::string& word) {
  v.text("class", word);
  v.one_of("class", {"P", "U"});
  v.note("class", "its remaining time is predictable, or not");
}

/// Seconds to the end; below 0: not known.
template <typename Visitor>
void describe_remaining(Visitor& v, Seconds left, Seconds low, Seconds high) {
  v.number("remaining", known_if(left >= 0, left), kMaxSamples);
  v.note("remaining", "seconds");
  v.number("remaining_low", known_if(low >= 0, low), kMaxSamples);
  v.note("remaining_low", "seconds; nine times of ten it ends after this");
  v.number("remaining_high", known_if(high >= 0, high), kMaxSamples);
  v.note("remaining_high", "seconds; nine times of ten it ends before this");
}

/// How far a job is, and when it ends.
template <typename Visitor>
void describe_training(Visitor& v, const tools::JobFacts& facts) {
  v.text("plan", facts.plan);
  v.real("rate", known_if(facts.throughput >= 0, facts.throughput));
  v.note("rate", "samples/s");
  v.number("samples", known_if(facts.samples >= 0, facts.samples), kMaxSamples);
  v.note("samples", "done");
  v.number("work", known_if(facts.work > 0, facts.work), kMaxSamples);
  v.note("work", "samples in total");
  describe_remaining(v, facts.remaining, facts.left_low, facts.left_high);
  describe_predictable(v, facts.predictable);
}

template <typename Visitor, Is<GpuSizes::Range> R>
void describe(Visitor& v, R& range) {
  v.count("from", range.first, kAlways);
  v.count("to", range.second, kAlways);
}

template <typename Visitor, Is<tools::JobFacts> R>
void describe(Visitor& v, R& facts) {
  v.text("job_type", facts.job_type);
  v.number("level", known_if(facts.level >= 0, facts.level), kMaxInt);
  v.list("sizes", facts.sizes.ranges());
  v.yes("size_held", facts.held);
  v.note("size_held", "Rubato does not change the size of the running job");
  describe_training(v, facts);
  v.past("expected_start", facts.start);
  v.note("expected_start", "latest start that is expected, seconds since 1970");
  v.text("wait", facts.wait);
  v.yes("published", facts.published, kAlways);
  v.note("published", "Rubato has written into the job");
}

}  // namespace rubato::json
