// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lib/base/json_reader.h"
#include "lib/json/json.h"

namespace rubato::sim {
namespace {

constexpr const char* kMode = "mode";  // in addition to the members of a snapshot

const Partition* partition_of(const Snapshot& snapshot, const std::string& name) {
  for (const Partition& partition : snapshot.partitions)
    if (partition.name == name) return &partition;
  return nullptr;
}

const NodeSet* set_at(const Snapshot& snapshot, NodeSetIndex index) {
  return index.within(snapshot.node_sets.size()) ? &snapshot.node_sets[index] : nullptr;
}

NodeSetIndex add_set(Snapshot& cluster, NodeSet set) {
  const auto at = std::find(cluster.node_sets.begin(), cluster.node_sets.end(), set);
  if (at != cluster.node_sets.end()) return NodeSetIndex{at - cluster.node_sets.begin()};
  cluster.node_sets.push_back(std::move(set));
  return NodeSetIndex{cluster.node_sets.size() - 1};
}

}  // namespace

std::string run_text(const Job& job, const Snapshot& snapshot, Mode mode) {
  const Partition* partition = partition_of(snapshot, job.partition);
  const NodeSet* own = set_at(snapshot, job.later_set);
  const NodeSet* all = partition != nullptr ? set_at(snapshot, partition->node_set) : nullptr;
  const bool anywhere = own == nullptr || (all != nullptr && *own == *all);
  std::set<NodeIndex> named;
  for (const NodeShare& share : job.allocation) named.insert(share.node);
  if (!anywhere) named.insert(own->begin(), own->end());
  if (named.size() > kMaxNames) return "";

  Snapshot one;
  one.taken = job.start;
  std::map<NodeIndex, NodeIndex> index;
  for (const NodeIndex node : named) {
    index[node] = NodeIndex{one.nodes.size()};
    one.nodes.emplace_back().name = snapshot.nodes[node].name;
  }
  Job kept = job;
  kept.node_set = kept.later_set = NodeSetIndex();
  kept.stock_nodes.clear();
  for (NodeShare& share : kept.allocation) share.node = index[share.node];
  if (!anywhere) {
    NodeSet& set = one.node_sets.emplace_back();
    for (const NodeIndex node : *own) set.push_back(index[node]);
    kept.later_set = 0;
  }
  one.jobs.push_back(std::move(kept));
  // As the first member, so that the snapshot text stays unchanged.
  return fmt::format("{{\"{}\":\"{}\",{}", kMode, to_string(mode), to_json(one).substr(1));
}

std::optional<Mode> mode_of_run(std::string_view text) {
  const auto json = JsonValue::parse(text);
  const JsonValue* at = json ? json->find(kMode) : nullptr;
  if (at == nullptr) return std::nullopt;
  for (const Mode mode : {Mode::kObserve, Mode::kPlace, Mode::kElastic})
    if (at->text() == to_string(mode)) return mode;
  return std::nullopt;
}

Result<Job> run_from_text(std::string_view text, Snapshot& cluster) {
  auto json = JsonValue::parse(text);
  if (json && json->erase(kMode)) {
    const std::string plain = json_text(*json);
    return run_from_text(plain, cluster);
  }
  const auto one = snapshot_from_json(text);
  if (!one) return tl::unexpected(one.error());
  if (one->jobs.size() != 1) return fail("a run has one job");
  std::map<std::string, NodeIndex> names;
  for (const NodeIndex node : indices<NodeIndex>(cluster.nodes))
    names[cluster.nodes[node].name] = node;
  std::vector<NodeIndex> index;
  for (const Node& node : one->nodes) {
    const auto at = names.find(node.name);
    if (at == names.end()) return fail(fmt::format("there is no node {} any more", node.name));
    index.push_back(at->second);
  }
  Job job = one->jobs.front();
  const Partition* partition = partition_of(cluster, job.partition);
  if (partition == nullptr)
    return fail(fmt::format("there is no partition {} any more", job.partition));
  for (NodeShare& share : job.allocation) share.node = index[share.node];
  std::sort(job.allocation.begin(), job.allocation.end(),
            [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
  job.tier = partition->tier;
  NodeSetIndex set = partition->node_set;
  if (job.later_set.valid()) {
    NodeSet own;
    for (const NodeIndex node : one->node_sets.front()) own.push_back(index[node]);
    std::sort(own.begin(), own.end());
    set = add_set(cluster, std::move(own));
  }
  job.node_set = job.later_set = set;
  return job;
}

}  // namespace rubato::sim
