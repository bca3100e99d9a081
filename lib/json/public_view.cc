// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/public_view.h"

#include <algorithm>

#include "lib/base/fingerprint.h"
#include "lib/json/json.h"

namespace rubato {
namespace {

void hide_jobs(Memory& memory) {
  memory.jobs.clear();
  memory.reservations.clear();
  memory.service.clear();
  memory.progress.clear();
  memory.progress_histories.clear();
  memory.types.clear();
  memory.noises.clear();
  memory.works.clear();
  memory.change_costs.clear();
  memory.overruns.clear();
  memory.statements.clear();
  memory.explorations.clear();
  memory.arrivals.clear();
  memory.asked_resizes.clear();
  memory.size_histories.clear();
  memory.size_holds.clear();
  memory.restarts.clear();
  memory.user_restarts.clear();
}

void hide_users(Memory& memory) {
  memory.overruns.clear();
  for (AskedResize& restart : memory.asked_resizes) restart.uid = 0;
  for (SizeHold& hold : memory.size_holds) hold.uid = 0;
  memory.user_restarts.clear();
}

void hide_nodes(Snapshot& snapshot) {
  snapshot.nodes.clear();
  snapshot.node_sets.clear();
  for (Partition& partition : snapshot.partitions) partition.node_set = -1;
  snapshot.windows.clear();
  for (Job& job : snapshot.jobs) {
    job.node_set = job.later_set = -1;
    job.stock_nodes.clear();
    job.allocation.clear();
    if (job.block == Block::kNodes) job.block_text.clear();
  }
  snapshot.memory.reservations.clear();
  snapshot.memory.asked_resizes.clear();
}

// What all jobs of a type measured; the rates, the costs of sizes, and the sentence about them.
void hide_throughputs(Explanation& explanation) {
  explanation.sizes.clear();
  const auto throughputs = [](const auto& fact) {
    return fact.first.starts_with("rate") || fact.first.starts_with("size.") ||
           fact.first == "price_over_worth";
  };
  if (std::erase_if(explanation.facts, throughputs) == 0) return;
  explanation.reason.resize(std::min(explanation.reason.size(), explanation.reason.find(';')));
}

// Reasons and facts name nodes.
void hide_nodes(Explanation& explanation) {
  explanation.nodes.clear();
  explanation.reason.clear();
  explanation.facts.clear();
}

// What jobs of a type reported, and what their changes cost.
void hide_profiles(Memory& memory) {
  memory.types.clear();
  memory.noises.clear();
  memory.works.clear();
  memory.change_costs.clear();
  for (AskedResize& change : memory.asked_resizes) {
    change.samples = 0;
    change.throughput = change.cost = change.gain = 0;
  }
}

bool hides_profiles(const PrivateData& hidden) {
  return hidden.jobs || hidden.usage || hidden.accounts;
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
  if (hidden.users) hide_users(snapshot.memory);
  for (Job& job : snapshot.jobs) {
    if (hidden.users) {
      job.user.clear();
      job.uid = 0;
    }
    if (hidden.accounts) job.account.clear();
  }
  if (hides_profiles(hidden)) hide_profiles(snapshot.memory);
  return snapshot;
}

Plan public_view(Plan plan, const Snapshot& shown) {
  const PrivateData& hidden = shown.private_data;
  plan.snapshot_fingerprint = fingerprint(to_json(shown));
  if (hidden.jobs) {
    plan.starts.clear();
    plan.changes.clear();
    plan.stays.clear();
    plan.reservations.clear();
    plan.explanations.clear();
    hide_jobs(plan.memory);
  }
  if (hidden.users) hide_users(plan.memory);
  if (hides_profiles(hidden)) {
    hide_profiles(plan.memory);
    for (Change& change : plan.changes) change.seconds_left = change.seconds_then = change.cost = 0;
    plan.stays.clear();
    for (Explanation& explanation : plan.explanations) hide_throughputs(explanation);
  }
  if (hidden.nodes) {
    plan.starts.clear();
    plan.changes.clear();
    plan.stays.clear();
    plan.reservations.clear();
    plan.memory.reservations.clear();
    plan.memory.asked_resizes.clear();
    for (Explanation& explanation : plan.explanations) hide_nodes(explanation);
  }
  return plan;
}

StartRecords public_view(const StartRecords& records, const PrivateData& hidden) {
  if (hidden.jobs) return {};
  if (!hidden.nodes && !hides_profiles(hidden)) return records;
  StartRecords shown;
  shown.reserve(records.size());
  for (const auto& record : records) {
    StartRecord plain = *record;
    hide_throughputs(plain.told);
    if (hides_profiles(hidden)) {  // what other jobs of the type measured
      plain.summary.forecast = 0;
      plain.summary.better = {};
    }
    if (hidden.nodes) hide_nodes(plain.told);
    shown.push_back(std::make_shared<const StartRecord>(std::move(plain)));
  }
  return shown;
}

ModelsTable public_view(ModelsTable table, const PrivateData& hidden) {
  if (hides_profiles(hidden)) {
    std::erase_if(table.rows, [](const ModelRow& row) { return !row.shared; });
    std::erase_if(table.forecasts, [](const ForecastRow& row) { return !row.shared; });
    std::erase_if(table.errors, [](const ErrorRow& row) { return !row.shared; });
    std::erase_if(table.refusals, [](const RefusalRow& row) { return !row.shared; });
    std::erase_if(table.most_informative,
                  [](const InformativeMeasurementRow& row) { return !row.shared; });
  }
  return table;
}

ModelsFit public_view(ModelsFit fit, const PrivateData& hidden,
                      const std::set<std::string>& shared) {
  if (hides_profiles(hidden)) {
    const auto own = [&](const auto& one) {
      return !one.profile.account.empty() || !shared.contains(one.profile.job_type);
    };
    std::erase_if(fit.observations, own);
    std::erase_if(fit.curves, own);
    std::erase_if(fit.rows, own);
    std::erase_if(fit.shapes, own);
  }
  return fit;
}

}  // namespace rubato
