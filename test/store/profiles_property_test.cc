// SPDX-License-Identifier: GPL-2.0-or-later
// For any measurements, export, import and export again gives the same bytes.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "lib/store/summary.h"
#include "test/store/store_support.h"

namespace rubato::test {
namespace {

using namespace store;

std::string gen_word() {
  static const std::vector<std::string> words{"",         "a",  "resnet50", "\xc3\xa9t\xc3\xa9",
                                              "x, \"y\"", " b "};
  return *rc::gen::elementOf(words);
}

std::optional<double> gen_seconds() {
  if (*rc::gen::inRange(0, 3) == 0) return std::nullopt;
  return *rc::gen::inRange(0, 1'000'000) / 1024.0;
}

Sample gen_sample(int index) {
  static const std::vector<std::string> types{"bert", "resnet", "vit"};
  static const std::vector<std::string> plans{"", "dp=2", "zero=4,gc"};
  Sample sample = sample_of_job(static_cast<JobId>(1 + *rc::gen::inRange(0, 4)), index);
  sample.type = {gen_word(), *rc::gen::elementOf(types), false};
  sample.gpu_type = gen_word();
  sample.gpus = *rc::gen::inRange(1, 9);
  sample.nodes = *rc::gen::inRange(0, 3);
  sample.plan = *rc::gen::elementOf(plans);
  sample.batch = *rc::gen::inRange(0, 3) * 64;
  sample.cores = *rc::gen::inRange(0, 3) * 8;
  sample.workers = *rc::gen::inRange(0, 2);
  sample.servers = *rc::gen::inRange(0, 2);
  sample.throughput = *rc::gen::inRange(1, 1'000'000) / 7.0;
  sample.forward_time = gen_seconds();
  sample.sync_time = gen_seconds();
  sample.optimise_time = gen_seconds();
  sample.iteration_time = gen_seconds();
  sample.gradient_noise = gen_seconds();
  return sample;
}

std::vector<ProfileRow> profiles_of(const TempFolder& folder) {
  const auto reader = Reader::open(folder.database());
  return all_profiles(*reader, {}).value();
}

std::unique_ptr<Session> open(const TempFolder& folder) {
  std::vector<std::string> notes;
  return std::move(*Session::open(options_in(folder), kNow, notes));
}

RC_GTEST_PROP(Profiles, ExportImportExportIsByteIdentical, ()) {
  const TempFolder first;
  std::vector<AnyRecord> entries;
  const int count = *rc::gen::inRange(0, 40);
  for (int i = 0; i < count; ++i) entries.emplace_back(gen_sample(i));
  RC_ASSERT(open(first)->write(entries).has_value());
  const std::string json = profiles_to_json(profiles_of(first));
  const std::string csv = profiles_to_csv(profiles_of(first));
  for (const std::string& text : {json, csv}) {
    const auto rows = profiles_from(text, "file");
    if (!rows) RC_FAIL(rows.error().text);
    const TempFolder second;
    RC_ASSERT(open(second)->apply(ImportOrder{*rows}).has_value());
    RC_ASSERT(profiles_to_json(profiles_of(second)) == json);
    RC_ASSERT(profiles_to_csv(profiles_of(second)) == csv);
  }
}

}  // namespace
}  // namespace rubato::test
