// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/report/public_view.h"

#include "lib/core/json.h"

namespace rubato {
namespace {

void hide_jobs(Memory& memory) {
  memory.jobs.clear();
  memory.reservations.clear();
  memory.progress.clear();
}

void hide_nodes(Snapshot& snapshot) {
  snapshot.nodes.clear();
  snapshot.node_sets.clear();
  for (Partition& partition : snapshot.partitions) partition.node_set = -1;
  for (Job& job : snapshot.jobs) {
    job.node_set = job.later_set = -1;
    job.stock_nodes.clear();
    job.allocation.clear();
    if (job.block == Block::kNodes) job.block_text.clear();
  }
  snapshot.memory.reservations.clear();
}

}  // namespace

Snapshot public_view(Snapshot snapshot) {
  const PrivateData& hidden = snapshot.private_data;
  if (hidden.jobs) {
    snapshot.jobs.clear();
    hide_jobs(snapshot.memory);
  }
  if (hidden.nodes) hide_nodes(snapshot);
  if (hidden.partitions) snapshot.partitions.clear();
  for (Job& job : snapshot.jobs) {
    if (hidden.users) {
      job.user.clear();
      job.uid = 0;
    }
    if (hidden.accounts) job.account.clear();
  }
  return snapshot;
}

Plan public_view(Plan plan, const Snapshot& shown) {
  const PrivateData& hidden = shown.private_data;
  plan.snapshot_fingerprint = fingerprint(to_json(shown));
  if (hidden.jobs) {
    plan.starts.clear();
    plan.reservations.clear();
    plan.explanations.clear();
    hide_jobs(plan.memory);
  }
  if (hidden.nodes) {
    plan.starts.clear();
    plan.reservations.clear();
    plan.memory.reservations.clear();
    for (Explanation& explanation : plan.explanations) {
      explanation.nodes.clear();
      explanation.reason.clear();
      explanation.facts.clear();
    }
  }
  return plan;
}

ModelsTable public_view(ModelsTable table, const PrivateData& hidden) {
  if (hidden.jobs || hidden.usage || hidden.accounts)
    std::erase_if(table.rows, [](const ModelRow& row) { return !row.shared; });
  return table;
}

}  // namespace rubato
