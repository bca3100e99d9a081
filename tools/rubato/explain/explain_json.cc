// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato explain --json`: docs/schema/ has its schema.

#include <algorithm>

#include "lib/base/json_value.h"
#include "tools/rubato/explain/explain_parts.h"
#include "tools/rubato/explain/explain_view.h"

namespace rubato::tools {
namespace {

Json facts_json(const Explanation& told) {
  Json facts = Json::object();
  for (const auto& [name, value] : told.facts) facts[name] = value;
  return facts;
}

Json sizes_json(const Explanation& told) {
  Json sizes = Json::array();
  for (const SizeOutcome& one : told.sizes) {
    Json size{{"gpus", one.gpus}, {"gpu_type", one.gpu_type}, {"outcome", one.outcome}};
    if (one.throughput > 0) size["rate"] = one.throughput;
    if (one.cost > 0 && one.cost < kForever) size["cost"] = one.cost;
    sizes.push_back(std::move(size));
  }
  return sizes;
}

Json decision_json(const StartRecord& record) {
  const Explanation& told = record.told;
  Json json{{"kind", record.kind},     {"time", record.time},
            {"round", record.round},   {"verdict", to_string(told.verdict)},
            {"order", told.order + 1}, {"reason", told.reason}};
  if (!told.gpu_type.empty()) json["gpu_type"] = told.gpu_type;
  if (!told.nodes.empty()) json["planned_nodes"] = told.nodes;
  json["facts"] = facts_json(told);
  if (!told.sizes.empty()) json["sizes"] = sizes_json(told);
  return json;
}

void add_training(Json& json, const Job& job, const Snapshot& snapshot) {
  if (job.hints) {
    if (!job.hints->job_type.empty()) json["job_type"] = job.hints->job_type;
    if (job.hints->work && job.hints->work->unit == WorkUnit::kSamples) {
      json["work"] = job.hints->work->count;
    }
  }
  const Progress* progress = progress_of(snapshot.memory, job.key);
  if (progress == nullptr) return;
  json["rate"] = progress->throughput;
  json["samples"] = progress->samples;
  json["batch"] = progress->batch;
  json["reported"] = progress->time;
  const ProgressHistory* progress_history = progress_history_of(snapshot.memory, job.key);
  if (progress_history == nullptr) return;
  if (job.state == JobState::kRunning && progress_history->left >= 0) {
    json["remaining"] = whole_seconds(progress_history->left);
    json["remaining_low"] = whole_seconds(progress_history->left_low);
    json["remaining_high"] = whole_seconds(progress_history->left_high);
  }
  json["class"] = progress_history->predictable ? "P" : "U";
  json["forecasts_judged"] = progress_history->scored;
  json["forecast_quality"] = progress_history->quality;
}

/// A bound that has passed is now.
void add_expected_start(Json& json, const Explanation& told) {
  const Seconds at = now();
  if (tells_earliest(told, at)) {
    json["expected_start"]["earliest"] = std::max(told.start_earliest, at);
  }
  if (told.start_latest > 0 && told.start_latest < kForever) {
    json["expected_start"]["latest"] = std::max(told.start_latest, at);
  }
}

}  // namespace

Json ended_json(const StartRecord& record, const std::optional<JobEnd>& end) {
  Json json{{"job_id", record.job.id},
            {"label", record.label},
            {"submit", record.job.submit},
            {"partition", record.told.partition},
            {"state", "ended"},
            {"start", record.start},
            {"end", record.end},
            {"decision", decision_json(record)}};
  if (record.throughput > 0) json["rate"] = record.throughput;
  if (record.samples > 0) json["samples"] = record.samples;
  if (end) add_end(json, *end);
  return json;
}

Json entry_json(const PlanEntry& entry, const Snapshot& snapshot, const std::string& all_stock) {
  Json json;
  const Job* job = entry.job;
  const Explanation* e = entry.explanation;
  const JobKey key = job != nullptr ? job->key : e->job;
  json["job_id"] = key.id;
  if (job != nullptr && job->array_id != 0) json["array_id"] = job->array_id;
  json["label"] = job != nullptr ? job->label : e->label;
  json["submit"] = key.submit;
  json["partition"] = job != nullptr ? job->partition : e->partition;
  if (job != nullptr) {
    json["name"] = job->name;
    json["user"] = job->user;
    json["account"] = job->account;
    json["qos"] = job->qos;
    json["state"] = to_string(job->state);
    json["managed"] = job->managed;
    const std::string why = why_unmanaged(*job, snapshot);
    json["scheduled_by"] = why.empty() && all_stock.empty() ? "rubato" : "slurm";
    if (!why.empty()) json["unmanaged_because"] = why;
    if (job->time_limit < kForever) json["time_limit"] = job->time_limit;
    if (job->state == JobState::kPending) json["eligible"] = job->eligible;
    if (!job->hint_error.empty()) json["hint_error"] = job->hint_error;
  }
  if (job != nullptr) add_training(json, *job, snapshot);
  if (job != nullptr && job->state == JobState::kRunning) {
    json["start"] = job->start;
    if (job->end_limit < kForever) json["end_limit"] = job->end_limit;
    json["nodes"] = Json::array();
    for (const NodeShare& share : job->allocation) {
      Json gpus = Json::object();
      for (const GpuCount& group : share.gpus) gpus[group.type] = group.count;
      json["nodes"].push_back({{"name", node_name(snapshot, share.node)},
                               {"cores", share.cores},
                               {"memory_mib", share.memory},
                               {"gpus", gpus}});
    }
  }
  if (e != nullptr) {
    json["verdict"] = to_string(e->verdict);
    json["order"] = e->order + 1;
    json["reason"] = e->reason;
    if (!e->gpu_type.empty()) json["gpu_type"] = e->gpu_type;
    if (!e->nodes.empty()) json["planned_nodes"] = e->nodes;
    if (entry.old_since == 0) add_expected_start(json, *e);
    json["facts"] = facts_json(*e);
    if (!e->sizes.empty()) json["sizes"] = sizes_json(*e);
  }
  if (entry.started != nullptr) json["decision"] = decision_json(*entry.started);
  return json;
}

}  // namespace rubato::tools
