// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/page/page_input.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "lib/base/nearest.h"
#include "lib/json/public_view.h"
#include "lib/store/run_text.h"
#include "tools/rubato/models/site_store.h"

namespace rubato::tools {
namespace {

constexpr Seconds kHour = 3600;
constexpr std::int64_t kMaxRuns = 5000;

/// The jobs of runs in the store that ended after `from`. Those whose nodes are gone are left out.
std::optional<std::vector<PastRun>> stored_runs(const Site& site, const Snapshot& snapshot,
                                                Seconds from) {
  const auto reader = open_site_store(site);
  if (!reader) return std::nullopt;
  const auto records = reader->runs(std::max<Seconds>(1, from), kMaxRuns);
  if (!records) return std::nullopt;
  Snapshot cluster = snapshot;
  std::vector<PastRun> runs;
  for (const store::RunRecord& one : *records) {
    if (one.end == 0 || one.end <= from || one.start > snapshot.taken) continue;
    auto job = sim::run_from_text(one.text, cluster);
    if (job) runs.push_back({std::move(*job), one.start, one.end});
  }
  return runs;
}

std::string fact_of(const Explanation& told, const std::string& name) {
  for (const auto& [key, value] : told.facts)
    if (key == name) return value;
  return "";
}

/// The same of the decisions that ended in the last hour. Their GPUs are split evenly over nodes.
std::vector<PastRun> decided_runs(const StartRecords& decisions, const Snapshot& snapshot,
                                  Seconds from) {
  std::map<std::string, NodeIndex> names;
  for (const NodeIndex node : indices<NodeIndex>(snapshot.nodes))
    names[snapshot.nodes[node].name] = node;
  std::vector<PastRun> runs;
  for (const auto& record : decisions) {
    if (record->end == 0 || record->end <= from || record->told.nodes.empty()) continue;
    PastRun run{.job = {}, .start = record->start, .end = record->end};
    run.job.key = record->job;
    run.job.label = record->label;
    run.job.partition = record->told.partition;
    run.job.managed = true;
    int rest = std::atoi(fact_of(record->told, "gpus").c_str());
    auto nodes = static_cast<int>(record->told.nodes.size());
    for (const std::string& name : record->told.nodes) {
      const int gpus = (rest + nodes - 1) / nodes;
      --nodes;
      rest -= gpus;
      const auto at = names.find(name);
      if (at == names.end() || gpus <= 0) continue;
      NodeShare share;
      share.node = at->second;
      share.gpus.push_back({record->told.gpu_type, gpus});
      run.job.allocation.push_back(std::move(share));
    }
    if (!run.job.allocation.empty()) runs.push_back(std::move(run));
  }
  return runs;
}

/// What everybody may see of runs.
std::vector<PastRun> public_runs(std::vector<PastRun> runs, const Snapshot& shown) {
  Snapshot jobs = shown;
  jobs.jobs.clear();
  for (const PastRun& run : runs) jobs.jobs.push_back(run.job);
  jobs = public_view(std::move(jobs));
  if (jobs.jobs.size() != runs.size()) return {};
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].job = std::move(jobs.jobs[i]);
  return runs;
}

void hide(PageInput& input) {
  const PrivateData hidden = input.snapshot.private_data;
  input.snapshot = public_view(std::move(input.snapshot));
  input.plan = public_view(std::move(input.plan), input.snapshot);
  input.decisions = public_view(input.decisions, hidden);
  if (input.models) input.models = public_view(std::move(*input.models), hidden);
  input.past = public_runs(std::move(input.past), input.snapshot);
}

}  // namespace

Result<PageInput> read_page_input(const Site& site, int hours, bool whole) {
  auto published = read_plan(site);
  if (!published) return tl::unexpected(published.error());
  PageInput input{.snapshot = std::move(published->snapshot), .plan = std::move(published->plan)};
  input.hours = hours;
  if (auto stats = read_stats(site)) {
    if (const auto stopped = loop_stopped(*stats, site.config, now())) input.stopped = *stopped;
    input.stats = std::move(*stats);
  }
  input.decisions = read_decisions(site);
  if (auto models = read_models(site)) input.models = std::move(*models);
  const Seconds from = input.snapshot.taken - hours * kHour;
  auto stored = stored_runs(site, input.snapshot, from);
  input.stored = stored.has_value();
  input.past = stored ? std::move(*stored) : decided_runs(input.decisions, input.snapshot, from);
  std::ranges::stable_sort(input.past, {}, &PastRun::start);
  if (!whole && input.snapshot.private_data.any()) hide(input);
  return input;
}

}  // namespace rubato::tools
