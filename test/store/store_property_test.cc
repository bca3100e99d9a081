// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>

#include "lib/store/reader.h"
#include "lib/store/session.h"
#include "lib/store/store.h"
#include "test/store/store_support.h"

namespace rubato::store {
namespace {

using test::kNow;

/// Mostly similar numbers, so that kinds coincide; sometimes arbitrary ones.
double any_throughput() {
  if (*rc::gen::inRange(0, 20) == 0) return *rc::gen::arbitrary<double>();
  return 100 + *rc::gen::inRange(-60, 300);
}

std::optional<double> any_measure() {
  if (*rc::gen::arbitrary<bool>()) return std::nullopt;
  return *rc::gen::inRange(0, 1000) / 8.0;
}

/// Few jobs, types and sizes. The name determines whether it is shared, as with one rubato.conf.
JobType any_type() {
  JobType type;
  type.account = *rc::gen::elementOf(std::vector<std::string>{"", "physics", "biology"});
  type.name = *rc::gen::elementOf(std::vector<std::string>{"resnet", "llama", "b\xFFrt'"});
  type.shared = type.name == "llama";
  return type;
}

Sample any_sample() {
  Sample sample;
  sample.job = {*rc::gen::inRange<JobId>(1, 5), kNow};
  sample.restarts = *rc::gen::inRange(0, 2);
  sample.time = kNow + *rc::gen::inRange(0, 2000);
  sample.run_start = *rc::gen::arbitrary<bool>() ? kNow - 100 : 0;
  sample.type = any_type();
  sample.gpu_type = *rc::gen::elementOf(std::vector<std::string>{"a100", "v100"});
  sample.gpus = *rc::gen::inRange(1, 3);
  sample.nodes = 1;
  sample.plan = *rc::gen::arbitrary<std::string>();
  sample.batch = *rc::gen::elementOf(std::vector<std::int64_t>{0, 256, 1024});
  sample.samples_done = *rc::gen::inRange<std::int64_t>(0, 200000);
  sample.throughput = any_throughput();
  sample.loss = any_measure();
  sample.gradient_noise = any_measure();
  return sample;
}

std::vector<Sample> any_samples() {
  std::vector<Sample> samples(*rc::gen::inRange<std::size_t>(0, 60));
  for (Sample& sample : samples) sample = any_sample();
  return samples;
}

std::vector<AnyRecord> as_entries(const std::vector<Sample>& samples) {
  return {samples.begin(), samples.end()};
}

std::vector<Sample> stored(const test::TempFolder& folder) {
  return test::open_reader(folder.database()).all_samples().value();
}

/// The stored samples without the fields that the store adds.
std::vector<Sample> unflagged(std::vector<Sample> samples) {
  for (Sample& sample : samples) sample.flag = Flag::kNone;
  return samples;
}

/// Number of samples that are flagged.
std::int64_t flagged_in(const std::vector<Sample>& samples) {
  return std::count_if(samples.begin(), samples.end(),
                       [](const Sample& sample) { return sample.flag != Flag::kNone; });
}

RC_GTEST_PROP(StoreProperties, WhatWasAcceptedAndFlushedIsReadBackInOrder, ()) {
  const test::TempFolder folder;
  std::vector<Sample> samples = any_samples();
  samples.push_back(any_sample());
  Store store(test::options_in(folder), std::make_shared<test::ManualClock>(kNow));
  for (const Sample& sample : samples) RC_ASSERT(store.push(sample));
  RC_ASSERT(store.flush(std::chrono::seconds(60)));
  std::erase_if(samples, [](const Sample& sample) { return !storable(sample); });
  const std::vector<Sample> found = stored(folder);
  RC_ASSERT(unflagged(found) == samples);
  RC_ASSERT(store.stats().flagged == flagged_in(found));
}

RC_GTEST_PROP(StoreProperties, CountsAddUp, ()) {
  const test::TempFolder folder;
  StoreOptions options = test::options_in(folder);
  options.queue_capacity = *rc::gen::inRange<std::size_t>(1, 30);
  options.batch_size = *rc::gen::inRange<std::size_t>(1, 40);
  const std::vector<Sample> samples = any_samples();
  Store store(options, std::make_shared<test::ManualClock>(kNow));
  std::int64_t accepted = 0;
  for (const Sample& sample : samples) accepted += store.push(sample) ? 1 : 0;
  RC_ASSERT(store.stop(std::chrono::seconds(60)));
  const StoreStats stats = store.stats();
  RC_ASSERT(stats.accepted == accepted);
  RC_ASSERT(stats.accepted + stats.dropped == static_cast<std::int64_t>(samples.size()));
  RC_ASSERT(stats.written + stats.rejected == stats.accepted);
  RC_ASSERT(stats.lost == 0);
  RC_ASSERT(stats.waiting == 0);
  RC_ASSERT(stats.written == static_cast<std::int64_t>(stored(folder).size()));
}

RC_GTEST_PROP(StoreProperties, FlaggedSamplesAreInNoProfile, ()) {
  const test::TempFolder folder;
  RC_ASSERT(test::open_session(test::options_in(folder))->write(as_entries(any_samples())));
  const Reader reader = test::open_reader(folder.database());
  const std::vector<Sample> all = reader.all_samples().value();
  std::int64_t used = 0;
  const std::vector<JobType> types = reader.job_types().value();
  for (const JobType& type : types) {
    const ProfileKey key{type.account, type.name, false};
    const std::vector<ProfileGroup> groups = reader.profile(key).value();
    for (const ProfileGroup& group : groups) {
      const auto samples = reader.samples(key, group.gpu_type, group.gpus).value();
      RC_ASSERT(static_cast<std::int64_t>(samples.size()) == group.samples);
      RC_ASSERT(flagged_in(samples) == 0);
      used += group.samples;
    }
  }
  RC_ASSERT(used == static_cast<std::int64_t>(all.size()) - flagged_in(all));
}

RC_GTEST_PROP(StoreProperties, RestartsBetweenBatchesChangeNoFlag, ()) {
  const std::vector<AnyRecord> entries = as_entries(any_samples());
  const test::TempFolder at_once;
  RC_ASSERT(test::open_session(test::options_in(at_once))->write(entries));
  const test::TempFolder in_parts;
  const std::span<const AnyRecord> all(entries);
  for (std::size_t begin = 0; begin < all.size();) {
    const auto count = *rc::gen::inRange<std::size_t>(1, all.size() - begin + 1);
    RC_ASSERT(test::open_session(test::options_in(in_parts))->write(all.subspan(begin, count)));
    begin += count;
  }
  if (!all.empty()) RC_ASSERT(stored(at_once) == stored(in_parts));
}

}  // namespace
}  // namespace rubato::store
