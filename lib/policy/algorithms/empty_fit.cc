// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/empty_fit.h"

#include "lib/base/hash.h"
#include "lib/policy/algorithms/choose.h"

namespace rubato {

std::size_t EmptyFit::KeyHash::operator()(const Key& key) const {
  const Request& r = key.request;
  Hasher hash;
  hash.add(reinterpret_cast<std::uintptr_t>(key.nodes)).add(r.min_nodes).add(r.max_nodes);
  hash.add(r.gpus).add(r.gpus_per_node).add(r.gpu_quantum).add(r.cores).add(r.cores_per_node);
  hash.add(r.memory_per_node).add(r.memory_per_core).add(r.memory_per_gpu).add(r.whole_nodes);
  return hash.value();
}

const std::vector<bool>& EmptyFit::types(const NodeSet& nodes, const Request& request) const {
  const auto [known, fresh] = known_.try_emplace(Key{&nodes, request});
  if (fresh) {
    const Demand demand(request);
    for (const TypeId type : indices<TypeId>(capacity_.types())) {
      known->second.push_back(carries(nodes, type, demand));
    }
  }
  return known->second;
}

bool EmptyFit::carries(const NodeSet& nodes, TypeId type, const Demand& demand) const {
  std::vector<NodeCandidate> candidates;
  for (const NodeIndex node : nodes) {
    if (!capacity_.has_type(node, type)) continue;
    NodeCandidate found;
    found.node = node;
    found.amount = demand.amount_in(capacity_.total(node, type), demand.min_nodes());
    if (found.amount > 0) candidates.push_back(found);
  }
  return carried(candidates, demand, demand.min_nodes());
}

}  // namespace rubato
