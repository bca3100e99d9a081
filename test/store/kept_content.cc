// SPDX-License-Identifier: GPL-2.0-or-later
#include "test/store/kept_content.h"

#include <gtest/gtest.h>

namespace rubato::test {
namespace {

template <typename Record>
std::vector<Record> kept(int version) {
  std::vector<Record> records;
  for (const store::AnyRecord& entry : kept_entries(version)) {
    if (const Record* record = std::get_if<Record>(&entry)) records.push_back(*record);
  }
  return records;
}

}  // namespace

void expect_kept_content(const store::Reader& reader, int version) {
  using namespace store;
  auto samples = kept<Sample>(version);
  samples.back().flag = Flag::kWallTime;
  EXPECT_EQ(reader.all_samples().value(), samples);
  EXPECT_EQ(reader.fits({"physics", "resnet", false}).value(), kept<Fit>(version));
  EXPECT_EQ(reader.jobs().value(), kept<JobRecord>(version));
  EXPECT_EQ(reader.decisions({41, kKeptTime - 7200}).value(), kept<Decision>(version));
  EXPECT_EQ(reader.runs(0).value(), kept<RunRecord>(version));
  const std::vector<JobType> types = {{"biology", "llama", true}, {"physics", "resnet", false}};
  EXPECT_EQ(reader.job_types().value(), types);
}

}  // namespace rubato::test
