// SPDX-License-Identifier: GPL-2.0-or-later
#include "test/store/kept_content.h"

namespace rubato::test {

std::vector<store::AnyRecord> kept_entries(int version) {
  using namespace store;
  const JobType own{"physics", "resnet", false};
  const JobType shared{"biology", "llama", true};
  std::vector<AnyRecord> entries;
  for (int i = 0; i < 6; ++i) {
    Sample sample;
    sample.job = {i < 4 ? JobId{41} : JobId{42}, kKeptTime - 7200};
    sample.time = kKeptTime + 60 * i;
    sample.type = i < 4 ? own : shared;
    sample.gpu_type = i < 2 ? "a100" : "v100";
    sample.gpus = i < 2 ? 4 : 8;
    sample.nodes = i < 2 ? 1 : 2;
    sample.plan = i < 4 ? "" : "zero,gc";
    sample.batch = 256;
    sample.samples_done = 6000 * (i + 1);
    sample.throughput = 100 + i;
    if (i == 5) {
      sample.loss = 2.25;
      sample.forward_time = 0.125;
      sample.iteration_time = 0.5;
      sample.gradient_noise = 1536;
    }
    if (i == 5 && version >= 3) {
      sample.cores = 32;
      sample.memory = 65536;
      sample.workers = 6;
      sample.servers = 2;
      sample.server_cores = 4;
      sample.sync_time = 0.0625;
      sample.optimise_time = 0.03125;
    }
    entries.emplace_back(sample);
  }
  Sample boast = std::get<Sample>(entries[3]);
  boast.time += 30;
  boast.throughput = 1e6;  // flagged: disagrees with wall time
  entries.emplace_back(boast);
  entries.emplace_back(
      Fit{own, "a100", "step-time", {0.5, 1e-3, 0, -2.25e-7}, 2, 0.0625, kKeptTime});
  entries.emplace_back(JobRecord{
      {41, kKeptTime - 7200}, own, JobClass::kGuaranteed, 14400.5, 2, 24000, 1, kKeptTime + 300});
  entries.emplace_back(Decision{{41, kKeptTime - 7200}, kKeptTime, "start", R"({"gpus":4})"});
  entries.emplace_back(Decision{{41, kKeptTime - 7200}, kKeptTime + 1, "wait", "{}"});
  if (version < 2) return entries;
  entries.emplace_back(RunRecord{
      {41, kKeptTime - 7200}, kKeptTime - 7000, kKeptTime - 7200, kKeptTime, R"({"jobs":[]})"});
  entries.emplace_back(RunRecord{{42, kKeptTime - 7200}, kKeptTime, kKeptTime - 100, 0, "{}"});
  return entries;
}

}  // namespace rubato::test
