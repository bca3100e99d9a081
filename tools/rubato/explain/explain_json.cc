// SPDX-License-Identifier: GPL-2.0-or-later
// The records of `rubato explain --json`.

#include <algorithm>

#include "tools/rubato/explain/explain_parts.h"
#include "tools/rubato/explain/explain_records.h"
#include "tools/rubato/explain/explain_running.h"
#include "tools/rubato/explain/explain_view.h"

namespace rubato::tools {
namespace {

std::vector<ExplainedNode> nodes_of(const Job& job, const Snapshot& snapshot) {
  std::vector<ExplainedNode> nodes;
  for (const NodeShare& share : job.allocation) {
    ExplainedNode node{node_name(snapshot, share.node), share.cores, share.memory, {}};
    for (const GpuCount& group : share.gpus) node.gpus[group.type] = group.count;
    nodes.push_back(std::move(node));
  }
  return nodes;
}

/// A bound that has passed is now.
ExpectedStart expected_start(const Explanation& told) {
  const Seconds at = now();
  ExpectedStart expected;
  if (tells_earliest(told, at)) expected.earliest = std::max(told.start_earliest, at);
  if (told.start_latest > 0 && told.start_latest < kForever)
    expected.latest = std::max(told.start_latest, at);
  return expected;
}

void add_job(ExplainedJob& out, const Job& job, const Snapshot& snapshot,
             const std::string& all_stock) {
  out.job = job;
  out.key = job.key;
  out.array_id = job.array_id;
  out.label = job.label;
  out.partition = job.partition;
  out.unmanaged_because = why_unmanaged(job, snapshot);
  out.scheduled_by = out.unmanaged_because.empty() && all_stock.empty() ? "rubato" : "slurm";
  if (job.state == JobState::kRunning) out.nodes = nodes_of(job, snapshot);
  const Progress* progress = progress_of(snapshot.memory, job.key);
  if (const Exploration* one = exploration_of(job, snapshot.memory))
    out.exploration = ExplainedExploration{*one};
  if (const ProfileCosts* costs = costs_of(job, snapshot.memory))
    out.costs = ExplainedCosts{*costs};
  if (progress == nullptr) return;
  out.progress = *progress;
  const ProgressHistory* history = progress_history_of(snapshot.memory, job.key);
  if (history != nullptr) out.history = *history;
}

}  // namespace

ExplainedJob explained(const StartRecord& record, const std::optional<JobEnd>& end) {
  ExplainedJob out;
  out.key = record.job;
  out.label = record.label;
  out.partition = record.told.partition;
  out.decision = ExplainedStart{record};
  out.ended = true;
  out.end = end;
  return out;
}

ExplainedJob explained(const PlanEntry& entry, const Snapshot& snapshot,
                       const std::string& all_stock) {
  ExplainedJob out;
  if (const Explanation* told = entry.explanation) {
    out.key = told->job;
    out.label = told->label;
    out.partition = told->partition;
    out.told = *told;
    if (entry.old_since == 0) out.expected = expected_start(*told);
  }
  if (entry.job != nullptr) add_job(out, *entry.job, snapshot, all_stock);
  if (entry.resize != nullptr) out.resize = ExplainedResize{*entry.resize};
  if (entry.hold != nullptr) out.hold = ExplainedHold{*entry.hold};
  if (entry.change != nullptr) out.change = ExplainedChange{*entry.change};
  if (entry.stay != nullptr) out.stay = ExplainedStay{*entry.stay};
  if (entry.started != nullptr) out.decision = ExplainedStart{*entry.started};
  return out;
}

}  // namespace rubato::tools
