// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/explain/explain_stored.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/json_value.h"
#include "lib/json/job_annotation.h"
#include "lib/json/json.h"
#include "lib/store/reader.h"
#include "tools/rubato/models/site_store.h"

namespace rubato::tools {
namespace {

/// The job of a run as it was stored, with its own nodes (lib/store/run_text.h).
std::optional<Snapshot> snapshot_of(const std::string& text) {
  auto json = JsonValue::parse(text);
  if (!json) return std::nullopt;
  json->erase("mode");
  auto one = snapshot_from_json(json_text(*json));
  if (!one || one->jobs.size() != 1) return std::nullopt;
  return std::move(*one);
}

StartRecord record_of(const store::RunRecord& run, const Snapshot& one) {
  const Job& job = one.jobs.front();
  const HeldGpus held = held_gpus(job.allocation);
  StartRecord record{.job = run.job,
                     .label = job.label,
                     .kind = "start",
                     .start = run.start,
                     .end = run.end,
                     .told = {}};
  record.told.job = run.job;
  record.told.label = job.label;
  record.told.partition = job.partition;
  record.told.gpu_type = held.type;
  for (const NodeShare& share : job.allocation)
    record.told.nodes.push_back(one.nodes[share.node].name);
  RunSummary& summary = record.summary;
  summary.eligible = std::max<Seconds>(1, run.enters);
  summary.gpu_type = held.type;
  summary.gpus = held.gpus;
  summary.nodes = static_cast<int>(job.allocation.size());
  summary.gpu_seconds = static_cast<double>(held.gpus) * static_cast<double>(run.end - run.start);
  summary.restarts = job.restarts;
  summary.time_limit = job.time_limit < kForever ? job.time_limit : 0;
  return record;
}

}  // namespace

std::optional<StartRecord> stored_run(const Site& site, const JobSelector& selector) {
  const auto reader = open_site_store(site);
  if (!reader) return std::nullopt;
  const auto runs = reader->runs(1);
  if (!runs) return std::nullopt;
  const std::string label = fmt::format("\"label\":\"{}\"", selector.text);
  for (auto run = runs->rbegin(); run != runs->rend(); ++run) {
    if (run->end == 0 || run->text.find(label) == std::string::npos) continue;
    const auto one = snapshot_of(run->text);
    if (!one || one->jobs.front().label != selector.text) continue;
    StartRecord record = record_of(*run, *one);
    const auto done = reader->job(run->job);
    if (done && *done) record.samples = (*done)->samples_done;
    return record;
  }
  return std::nullopt;
}

}  // namespace rubato::tools
