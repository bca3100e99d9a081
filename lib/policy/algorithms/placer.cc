// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/placer.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <tuple>

#include "lib/base/hash.h"

namespace rubato {
namespace {

// Added to the weight of a node with GPUs for a job that runs on CPUs instead: above any of Slurm.
constexpr std::uint64_t kGpuNodeWeight = std::uint64_t{1} << 40;

std::size_t hash_of(const NodeSet* nodes) { return std::hash<const NodeSet*>()(nodes); }

}  // namespace

bool mixes(const Job& job) {
  return job.managed && job.hints && job.hints->mix_types && job.request.gpu_type.empty();
}

std::size_t Placer::FailureKeyHash::operator()(const FailureKey& key) const {
  const Request& r = key.request;
  Hasher hash;
  for (const TypeId type : key.types) hash.add(type.value());
  hash.add(hash_of(key.nodes))
      .add(static_cast<int>(key.choice))
      .add(key.managed)
      .add(key.spares_gpus)
      .add(r.min_nodes)
      .add(r.max_nodes)
      .add(r.gpus);
  hash.add(r.gpus_per_node).add(r.gpu_quantum).add(r.gpu_type).add(r.cores).add(r.cores_per_node);
  hash.add(r.threads)
      .add(r.cores_per_gpu)
      .add(r.memory_per_node)
      .add(r.memory_per_core)
      .add(r.memory_per_gpu);
  return hash.add(r.whole_nodes).value();
}

std::size_t Placer::ListHash::operator()(const ListKey& key) const {
  return Hasher().add(hash_of(key.nodes)).add(key.type.value()).value();
}

Placer::Placer(const RoundInput& input, const Forecasts& forecasts, const PendingQueue& queue,
               const Capacity& capacity, const ReservationTable& reservation_table)
    : input_(input),
      forecasts_(forecasts),
      queue_(queue),
      capacity_(capacity),
      reservation_table_(reservation_table),
      empty_fit_(capacity),
      stock_(capacity.node_count()),
      windows_(capacity.node_count()),
      preempting_(capacity.node_count(), nullptr),
      closed_(capacity.node_count(), nullptr) {
  load_stock_plans();
  for (const ReservationWindow& window : input.snapshot.windows) {
    for (const NodeIndex node : *queue.set(window.node_set)) windows_[node].push_back(&window);
  }
}

std::vector<TypeId> Placer::types_of(const PendingEntry& entry) const {
  if (!entry.demand.wants_gpus()) return {kNoGpu};
  const std::string& wanted = entry.job->request.gpu_type;
  if (wanted.empty()) {
    const bool bound = entry.types != nullptr && entry.types->bound;
    const bool none = bound ? entry.types->order.empty() : !one_type_carries(entry);
    const bool only_mixed = mixes(*entry.job) && none;
    if (!only_mixed && entry.types != nullptr && (entry.types->bound || one_type_carries(entry))) {
      return entry.types->order;
    }
    return !only_mixed && one_type_carries(entry) ? forecasts_.fastest
                                                  : std::vector<TypeId>{kAnyGpu};
  }
  const TypeId type = capacity_.type_id(wanted);
  return type == kNoGpu ? std::vector<TypeId>{} : std::vector<TypeId>{type};
}

bool Placer::one_type_carries(const PendingEntry& entry) const {
  const std::vector<bool>& types = empty_fit_.types(*entry.later, entry.job->request);
  return std::find(types.begin(), types.end(), true) != types.end();
}

void Placer::load_stock_plans() {
  if (input_.config.off(Mechanism::kStockPlan)) return;
  for (const PendingEntry& entry : queue_.entries) {
    const Job& job = *entry.job;
    if (job.managed || job.stock_start <= 0) continue;
    for (const NodeIndex node : job.stock_nodes) {
      stock_[node].push_back({job.stock_start, entry.end(job.stock_start), entry.order});
      any_stock_ = true;
    }
  }
}

const Placer::StockPlanInterval* Placer::conflicting_stock_plan(const PendingEntry& entry,
                                                                NodeIndex node,
                                                                Seconds start) const {
  const Seconds end = entry.end(start);
  for (const StockPlanInterval& interval : stock_[node]) {
    if (interval.order >= entry.order) break;
    if (end > interval.from && interval.to > start) return &interval;
  }
  return nullptr;
}

bool Placer::in_a_window(const PendingEntry& entry, NodeIndex node, Seconds start) const {
  if (windows_[node].empty()) return false;
  if (std::binary_search(entry.nodes->begin(), entry.nodes->end(), node)) return false;
  return crosses_window(entry, node, start);
}

bool Placer::crosses_window(const PendingEntry& entry, NodeIndex node, Seconds start) const {
  return std::any_of(windows_[node].begin(), windows_[node].end(),
                     [&](const ReservationWindow* window) {
                       return window->name != entry.job->reservation && start < window->end &&
                              entry.end(start) > window->start;
                     });
}

NodeRoom Placer::room_at(const PendingEntry& entry, NodeIndex node, TypeId type,
                         Level level) const {
  const Node& state = input_.snapshot.nodes[node];
  const NodeRoom none;
  if (!accepts(entry, node, type)) return none;
  const Seconds now = input_.now;
  const Seconds end = entry.end(now);
  if (level >= Level::kUp && !state.usable) return none;
  if (level >= Level::kPreempting && preempting_[node] != nullptr) return none;
  if (level == Level::kAll && !entry.job->managed && closed_[node] != nullptr) return none;
  if (level >= Level::kStock && entry.job->managed &&
      conflicting_stock_plan(entry, node, now) != nullptr) {
    return none;
  }
  const NodeRoom total = capacity_.total(node, type);
  if (level <= Level::kUp) return total;
  // Slurm itself is kept off whole nodes, and only by reservations of jobs before this one.
  if (level >= Level::kReserved && !entry.job->managed &&
      reservation_table_.conflicting_reservation(node, entry.job->key, end, entry.order) !=
          nullptr) {
    return none;
  }
  if (level >= Level::kReserved && entry.held != nullptr && crosses_window(entry, node, now))
    return none;
  const bool windowed = level >= Level::kReserved && entry.job->managed;
  const Seconds to = windowed ? end : now + 1;
  if (level >= Level::kWhole && entry.demand.whole_nodes()) {
    return capacity_.untouched(node, now, to) ? total : none;
  }
  NodeRoom room = capacity_.room(node, type, now, to);
  if (level < Level::kCores) room.cores = total.cores;
  if (level < Level::kMemory) room.memory = total.memory;
  return room;
}

// A job that goes on CPUs instead of GPUs takes what the free GPUs of the node do not need: each
// its part of the node.
void Placer::leave_for_gpus(NodeIndex node, NodeRoom& room) const {
  const Node& state = input_.snapshot.nodes[node];
  const int all = state.gpus_total();
  if (all == 0) return;
  int free = 0;
  for (const GpuGroup& group : state.gpus) {
    const TypeId type = capacity_.type_id(group.type);
    free += std::max(capacity_.room(node, type, input_.now, input_.now + 1).gpus, 0);
  }
  room.cores = std::max(room.cores - (state.cores * free + all - 1) / all, 0);
  room.memory = std::max<MiB>(room.memory - (state.memory * free + all - 1) / all, 0);
}

NodeCandidate Placer::candidate(const PendingEntry& entry, NodeIndex node, TypeId type, int nodes,
                                Level level) const {
  const Node& state = input_.snapshot.nodes[node];
  NodeRoom room = room_at(entry, node, type, level);
  if (entry.spares_gpus) leave_for_gpus(node, room);
  NodeCandidate found;
  found.node = node;
  found.amount = entry.demand.amount_in(room, nodes);
  found.free = entry.demand.wants_gpus() ? room.gpus : room.cores;
  found.powered_down = state.powered_down;
  found.weight = state.weight;
  if (entry.spares_gpus && !state.gpus.empty()) found.weight += kGpuNodeWeight;
  if (entry.held != nullptr && std::ranges::binary_search(*entry.held, node, {}, &NodeShare::node))
    found.weight = 0;
  return found;
}

const std::vector<NodeIndex>& Placer::nodes_with(const NodeSet* set, TypeId type) const {
  auto [found, fresh] = typed_.try_emplace(ListKey{set, type});
  std::vector<NodeIndex>& nodes = found->second;
  if (fresh) {
    std::copy_if(set->begin(), set->end(), std::back_inserter(nodes),
                 [&](NodeIndex node) { return type == kNoGpu || capacity_.has_type(node, type); });
  }
  return nodes;
}

// Nodes with anything free of what the job needs, of its node set. Capacity only shrinks between
// two calls of `forget`, so a node once full stays out.
const std::vector<NodeIndex>& Placer::live_nodes(const PendingEntry& entry, TypeId type) {
  auto [found, fresh] = live_.try_emplace(ListKey{entry.nodes, type});
  std::vector<NodeIndex>& nodes = found->second;
  const auto full = [&](NodeIndex node) {
    const NodeRoom room = capacity_.room(node, type, input_.now, input_.now + 1);
    return room.cores <= 0 || (type != kNoGpu && room.gpus <= 0);
  };
  if (fresh) {
    for (const NodeIndex node : nodes_with(entry.nodes, type)) {
      if (input_.snapshot.nodes[node].usable) nodes.push_back(node);
    }
  }
  std::erase_if(nodes, full);
  return nodes;
}

void Placer::gather(const PendingEntry& entry, TypeId type, int nodes, Level level,
                    std::vector<NodeCandidate>& to) {
  to.clear();
  const auto add = [&](NodeIndex node) {
    const NodeCandidate found = candidate(entry, node, type, nodes, level);
    if (found.amount > 0) to.push_back(found);
  };
  if (level == Level::kAll) {
    for (const NodeIndex node : live_nodes(entry, type)) add(node);
    return;
  }
  for (const NodeIndex node : nodes_with(entry.nodes, type)) add(node);
}

std::optional<NodeChoice> Placer::choose_on(const PendingEntry& entry, TypeId type) {
  const Demand& demand = entry.demand;
  int nodes = demand.min_nodes();
  if (demand.grows() && entry.job->managed) {
    // More nodes mean a smaller part of the cores on each, so fewer nodes never fit better.
    const int most = static_cast<int>(live_nodes(entry, type).size());
    nodes = std::max(nodes, std::min(demand.max_nodes(), most));
    while (true) {
      gather(entry, type, nodes, Level::kAll, candidates_);
      const int carried = static_cast<int>(candidates_.size());
      if (carried >= nodes || nodes == demand.min_nodes()) break;
      nodes = std::max(demand.min_nodes(), std::min(carried, nodes - 1));
    }
  } else {
    gather(entry, type, nodes, Level::kAll, candidates_);
  }
  return choose(candidates_, demand, nodes);
}

std::optional<Placement> Placer::place(const PendingEntry& entry) {
  if (!entry.demand.consistent()) return std::nullopt;
  const auto memo = memo_.find(key_of(entry));
  if (memo != memo_.end() && entry.job->time_limit >= memo->second.time_limit) return std::nullopt;

  std::optional<NodeChoice> best;
  TypeId best_type = kNoGpu;
  const std::vector<double>& speeds = entry.types ? entry.types->speed : forecasts_.speeds;
  for (const TypeId type : types_of(entry)) {
    // A node that is up is worth more than a faster one that has to boot.
    const auto rank = [&](const NodeChoice& choice, TypeId of) {
      const double slowness = of.valid() ? -speeds[of] : 0;
      return std::tuple(choice.score.powered_down > 0, slowness, choice.score);
    };
    const bool slower = best && type.valid() && speeds[type] < speeds[best_type];
    if (slower && best->score.powered_down == 0) break;
    std::optional<NodeChoice> choice = choose_on(entry, type);
    if (!choice || (best && rank(*best, best_type) <= rank(*choice, type))) continue;
    best = std::move(choice);
    best_type = type;
  }
  if (!best) return std::nullopt;

  return placement_of(entry, *best, best_type);
}

std::optional<Placement> Placer::place_mixed(const PendingEntry& entry) {
  if (!entry.demand.consistent()) return std::nullopt;
  const std::optional<NodeChoice> choice = choose_on(entry, kAnyGpu);
  if (!choice) return std::nullopt;
  return placement_of(entry, *choice, kAnyGpu);
}

bool Placer::accepts(const PendingEntry& entry, NodeIndex node, TypeId type) const {
  if (type != kAnyGpu || !entry.job->hints || entry.job->hints->gpu_types.empty()) return true;
  const auto named = [&](const GpuGroup& group) {
    return std::ranges::any_of(entry.job->hints->gpu_types, [&](const auto& types) {
      return std::ranges::find(types, group.type) != types.end();
    });
  };
  return std::ranges::all_of(input_.snapshot.nodes[node].gpus, named);
}

Placement Placer::placement_of(const PendingEntry& entry, const NodeChoice& choice,
                               TypeId of) const {
  Placement placement{of, choice.score, {}};
  const std::string type = capacity_.type_name(of);
  const int nodes = static_cast<int>(choice.parts.size());
  for (const auto& [node, amount] : choice.parts) {
    placement.shares.push_back(
        entry.demand.share(input_.snapshot.nodes[node], node, amount, nodes, type));
    if (of == kAnyGpu && !entry.demand.whole_nodes()) {
      placement.shares.back().gpus =
          capacity_.split(node, amount, input_.now, entry.end(input_.now));
    }
  }
  return placement;
}

Placer::FailureKey Placer::key_of(const PendingEntry& entry) const {
  FailureKey key{entry.nodes,       FailureKey::Types::kAny, {}, {}, entry.job->managed,
                 entry.spares_gpus, entry.job->request};
  if (mixes(*entry.job)) key.mixed = entry.job->hints->gpu_types;
  if (entry.types == nullptr) return key;
  key.choice = entry.types->bound ? FailureKey::Types::kBound : FailureKey::Types::kChosen;
  key.types = entry.types->order;
  return key;
}

void Placer::keep_for_preemption(const PendingEntry& entry) {
  for (const NodeIndex node : *entry.nodes) {
    if (preempting_[node] == nullptr) preempting_[node] = entry.job;
    any_preempting_ = true;
  }
}

void Placer::close_to_unmanaged(const NodeSet& nodes, const PendingEntry& entry) {
  for (const NodeIndex node : nodes) {
    if (closed_[node] == nullptr) closed_[node] = entry.job;
  }
}

void Placer::forget() {
  memo_.clear();
  live_.clear();
}

bool Placer::open(const PendingEntry& entry, NodeIndex node) const {
  return input_.snapshot.nodes[node].usable && preempting_[node] == nullptr &&
         conflicting_stock_plan(entry, node, input_.now) == nullptr;
}

bool Placer::bounded(const PendingEntry& entry) const {
  if (!any_stock_ && !any_preempting_) return false;
  return std::any_of(entry.nodes->begin(), entry.nodes->end(), [&](NodeIndex node) {
    return preempting_[node] != nullptr ||
           conflicting_stock_plan(entry, node, input_.now) != nullptr;
  });
}

}  // namespace rubato
