// SPDX-License-Identifier: GPL-2.0-or-later
// JSON to a snapshot. Strict: whatever round() takes for granted of a snapshot is checked here.
#include <fmt/format.h>

#include <functional>
#include <limits>
#include <string>

#include "lib/json/json.h"
#include "lib/json/json_documents.h"
#include "lib/json/json_hints.h"

namespace rubato {
namespace json {
namespace {

constexpr std::uint64_t kMaxUint32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMaxInt = std::numeric_limits<int>::max();

// "pending by rank, then running by key".
bool in_order(const Job& a, const Job& b) {
  if (a.state != b.state) return a.state == JobState::kPending;
  return a.state == JobState::kPending ? a.rank <= b.rank : a.key < b.key;
}

}  // namespace

int Reader::node_index(const JsonItem& item, bool* known) {
  const std::string name = item.text();
  if (item.failed()) return -1;
  const auto at = nodes_.find(name);
  if (at != nodes_.end()) return at->second;
  if (known != nullptr) {
    *known = false;
  } else {
    item.error(fmt::format("no node has the name {}", JsonValue(name).dump()));
  }
  return -1;
}

std::vector<int> Reader::node_list(const JsonItem& item) {
  std::vector<int> indices;
  item.elements([&](const JsonItem& element) { indices.push_back(node_index(element)); });
  if (!item.failed() && !ascending(indices, std::less<>())) {
    item.error("nodes must stand in the order of \"nodes\", each once");
  }
  return indices;
}

NodeShare Reader::share(const JsonItem& item, bool* known) {
  NodeShare share;
  JsonObject object(item);
  object.required("node", [&](const JsonItem& name) { share.node = node_index(name, known); });
  object.count("cores", share.cores);
  object.memory("memory", share.memory);
  object.optional("gpus", [&](const JsonItem& groups) {
    groups.elements([&](const JsonItem& element) {
      GpuCount group;
      JsonObject gpu(element);
      gpu.text("type", group.type);
      gpu.count("count", group.count);
      if (!element.failed() && group.count == 0) gpu.error_at("count", "must be above 0");
      gpu.finish();
      share.gpus.push_back(group);
    });
    if (groups.failed()) return;
    if (!ascending(share.gpus, [](const auto& a, const auto& b) { return a.type < b.type; })) {
      groups.error("must be sorted by type, each type once");
    }
  });
  object.finish();
  return share;
}

std::vector<NodeShare> Reader::shares(const JsonItem& item, bool* known) {
  std::vector<NodeShare> shares;
  item.elements([&](const JsonItem& element) { shares.push_back(share(element, known)); });
  const bool complete = known == nullptr || *known;
  if (!item.failed() && complete &&
      !ascending(shares, [](const auto& a, const auto& b) { return a.node < b.node; })) {
    item.error("nodes must stand in the order of \"nodes\", each once");
  }
  return shares;
}

int Reader::set_index(const JsonItem& item) {
  const auto index = item.number(kMaxInt);
  if (!item.failed() && index >= sets_) {
    item.error(fmt::format("is {}, but there are {} node sets", index, sets_));
  }
  return item.failed() ? -1 : static_cast<int>(index);
}

void Reader::job_key(JsonObject& object, JobKey& key) {
  object.required(
      "id", [&](const JsonItem& item) { key.id = static_cast<JobId>(item.number(kMaxUint32)); });
  object.time("submit", key.submit);
}

Node Reader::node(const JsonItem& item) {
  Node node;
  JsonObject object(item);
  object.required("name", [&](const JsonItem& name) {
    node.name = name.text();
    if (!name.failed() && nodes_.contains(node.name)) name.error("another node has this name");
  });
  object.count("cores", node.cores);
  object.count("cores_free", node.cores_free);
  object.memory("memory", node.memory);
  object.memory("memory_free", node.memory_free);
  list(object, "gpus", node.gpus, [&](const JsonItem& element) {
    GpuGroup group;
    JsonObject gpu(element);
    gpu.text("type", group.type);
    gpu.count("total", group.total);
    gpu.count("free", group.free);
    if (!element.failed() && group.free > group.total) gpu.error_at("free", "is above total");
    gpu.finish();
    return group;
  });
  object.yes("usable", node.usable);
  object.yes("coming", node.coming);
  object.yes("powered_down", node.powered_down);
  object.optional("weight", [&](const JsonItem& weight) {
    node.weight = static_cast<std::uint32_t>(weight.number(kMaxUint32));
  });
  if (!item.failed()) {
    if (node.cores_free > node.cores) object.error_at("cores_free", "is above cores");
    if (node.memory_free > node.memory) object.error_at("memory_free", "is above memory");
    if (!ascending(node.gpus, [](const auto& a, const auto& b) { return a.type < b.type; })) {
      object.error_at("gpus", "must be sorted by type, each type once");
    }
  }
  object.finish();
  nodes_.emplace(node.name, static_cast<int>(nodes_.size()));
  return node;
}

Partition Reader::partition(const JsonItem& item) {
  Partition partition;
  JsonObject object(item);
  object.required("name", [&](const JsonItem& name) { partition.name = name.text(); });
  object.count("tier", partition.tier);
  object.yes("managed", partition.managed);
  object.optional("node_set", [&](const JsonItem& set) { partition.node_set = set_index(set); });
  object.finish();
  return partition;
}

PrivateData Reader::private_data(const JsonItem& item) {
  PrivateData hidden;
  item.elements([&](const JsonItem& element) {
    const std::string word = element.text();
    bool known = false;
    for_each_private(hidden, [&](const char* name, bool& on) {
      if (word != name) return;
      known = true;
      on = true;
    });
    if (!element.failed() && !known)
      element.error(fmt::format("{} is nothing that can be hidden", JsonValue(word).dump()));
  });
  return hidden;
}

Request Reader::request(const JsonItem& item) {
  Request request;
  JsonObject object(item);
  object.count("min_nodes", request.min_nodes);
  object.count("max_nodes", request.max_nodes);
  object.count("gpus", request.gpus);
  object.count("gpus_per_node", request.gpus_per_node);
  object.count("gpu_quantum", request.gpu_quantum);
  object.text("gpu_type", request.gpu_type);
  object.count("cores", request.cores);
  object.count("cores_per_node", request.cores_per_node);
  object.count("cores_per_gpu", request.cores_per_gpu);
  object.count("threads", request.threads);
  object.count("tasks", request.tasks);
  object.count("tasks_per_node", request.tasks_per_node);
  object.count("gpus_per_task", request.gpus_per_task);
  object.count("cores_per_task", request.cores_per_task);
  object.yes("fixed_nodes", request.fixed_nodes);
  object.memory("memory_per_node", request.memory_per_node);
  object.memory("memory_per_core", request.memory_per_core);
  object.memory("memory_per_gpu", request.memory_per_gpu);
  object.yes("whole_memory", request.whole_memory);
  object.yes("whole_nodes", request.whole_nodes);
  object.finish();
  return request;
}

void Reader::job_names(JsonObject& object, Job& job) {
  job_key(object, job.key);
  object.optional("array_id", [&](const JsonItem& id) {
    job.array_id = static_cast<JobId>(id.number(kMaxUint32));
  });
  object.text("label", job.label);
  object.text("name", job.name);
  object.text("user", job.user);
  object.optional("uid", [&](const JsonItem& uid) {
    job.uid = static_cast<std::uint32_t>(uid.number(kMaxUint32));
  });
  object.text("account", job.account);
  object.text("qos", job.qos);
  object.text("partition", job.partition);
  object.text("reservation", job.reservation);
}

void Reader::job_standing(JsonObject& object, Job& job) {
  object.required("state", [](const JsonItem&) {});
  word<JobState>(object, "state", job_state_from, job.state);
  object.yes("managed", job.managed);
  object.yes("batch", job.batch);
  object.yes("het", job.het);
  object.yes("may_preempt", job.may_preempt);
  object.yes("preempting", job.preempting);
  object.count("tier", job.tier);
  object.optional("priority", [&](const JsonItem& priority) {
    job.priority = static_cast<std::uint32_t>(priority.number(kMaxUint32));
  });
  object.yes("priority_set", job.priority_set);
  object.optional("rank",
                  [&](const JsonItem& rank) { job.rank = static_cast<int>(rank.number(kMaxInt)); });
  object.time("eligible", job.eligible);
  object.time("time_limit", job.time_limit);
}

Job Reader::job(const JsonItem& item) {
  Job job;
  JsonObject object(item);
  job_names(object, job);
  job_standing(object, job);
  object.optional("request", [&](const JsonItem& asked) { job.request = request(asked); });
  object.count("restarts", job.restarts);
  object.optional("hints", [&](const JsonItem& said) { job.hints = read_hints(said); });
  object.text("hint_error", job.hint_error);
  object.text("size_bound", job.size_bound);
  object.count("tasks", job.tasks);
  object.optional("node_set", [&](const JsonItem& set) { job.node_set = set_index(set); });
  object.optional("later_set", [&](const JsonItem& set) { job.later_set = set_index(set); });
  word<Block>(object, "block", block_from, job.block);
  object.text("block_text", job.block_text);
  object.time("stock_start", job.stock_start);
  object.optional("stock_nodes",
                  [&](const JsonItem& nodes) { job.stock_nodes = node_list(nodes); });
  object.time("start", job.start);
  object.time("end_limit", job.end_limit);
  object.optional("allocation", [&](const JsonItem& held) { job.allocation = shares(held); });
  object.finish();
  return job;
}

Snapshot Reader::snapshot(JsonObject& object) {
  Snapshot snapshot;
  object.text("cluster", snapshot.cluster);
  object.text("slurm_version", snapshot.slurm_version);
  object.time("taken", snapshot.taken);
  object.optional("private_data",
                  [&](const JsonItem& item) { snapshot.private_data = private_data(item); });
  list(object, "nodes", snapshot.nodes, [&](const JsonItem& item) { return node(item); });
  list(object, "node_sets", snapshot.node_sets,
       [&](const JsonItem& item) { return node_list(item); });
  sets_ = snapshot.node_sets.size();
  list(object, "partitions", snapshot.partitions,
       [&](const JsonItem& item) { return partition(item); });
  list(object, "jobs", snapshot.jobs, [&](const JsonItem& item) { return job(item); });
  if (!ascending(snapshot.partitions,
                 [](const auto& a, const auto& b) { return a.name < b.name; })) {
    object.error_at("partitions", "must be sorted by name, each once");
  }
  if (!ascending(snapshot.jobs, in_order)) {
    object.error_at("jobs", "must be sorted: pending by rank, then running by id and submit");
  }
  object.optional("memory", [&](const JsonItem& item) {
    JsonObject inner(item);
    snapshot.memory = memory(inner, false);
    inner.finish();
  });
  return snapshot;
}

}  // namespace json

Result<Snapshot> snapshot_from_json(std::string_view text) {
  return json::parse<Snapshot>(text, kSnapshotSchema,
                               [](JsonObject& object) { return json::Reader().snapshot(object); });
}

Result<Plan> plan_from_json(std::string_view text, const Snapshot& snapshot) {
  return json::parse<Plan>(text, kPlanSchema,
                           [&](JsonObject& object) { return json::Reader(snapshot).plan(object); });
}

Result<Memory> memory_from_json(std::string_view text, const Snapshot& snapshot) {
  return json::parse<Memory>(text, kStateSchema, [&](JsonObject& object) {
    return json::Reader(snapshot).memory(object, true);
  });
}

}  // namespace rubato
