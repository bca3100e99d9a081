// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/read/node_slots.h"

#include <algorithm>

#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

NodeSlots::NodeSlots(const Snapshot& snapshot) {
  slots_.reserve(snapshot.nodes.size());
  int guess = 0;  // both tables have the same order unless nodes came or went
  for (const Node& node : snapshot.nodes) {
    const node_record_t* here = guess < node_record_count ? node_record_table_ptr[guess] : nullptr;
    if (here == nullptr || here->name == nullptr || node.name != here->name) {
      const node_record_t* found = find_node_record(const_cast<char*>(node.name.c_str()));
      guess = found != nullptr ? static_cast<int>(found->index) : -1;
    }
    slots_.push_back(guess);
    ++guess;
  }
}

std::optional<std::vector<int>> NodeSlots::of(const std::vector<NodeIndex>& nodes) const {
  std::vector<int> found;
  found.reserve(nodes.size());
  for (const NodeIndex node : nodes) {
    const int slot = slots_[node];
    if (slot < 0) return std::nullopt;
    found.push_back(slot);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<std::vector<int>> NodeSlots::of(const std::vector<NodeShare>& shares) const {
  std::vector<NodeIndex> nodes;
  nodes.reserve(shares.size());
  for (const NodeShare& share : shares) nodes.push_back(share.node);
  return of(nodes);
}

std::string hostlist_of(const Snapshot& snapshot, const std::vector<NodeShare>& shares) {
  std::vector<NodeIndex> nodes;
  nodes.reserve(shares.size());
  for (const NodeShare& share : shares) nodes.push_back(share.node);
  std::sort(nodes.begin(), nodes.end());
  auto* const list = hostlist_create(nullptr);
  for (const NodeIndex node : nodes) hostlist_push_host(list, snapshot.nodes[node].name.c_str());
  char* names = hostlist_ranged_string_xmalloc(list);
  std::string out = names != nullptr ? names : "";
  xfree(names);
  hostlist_destroy(list);
  return out;
}

}  // namespace rubato
