// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/start_time_search.h"

#include <algorithm>
#include <tuple>

namespace rubato {

StartTimeSearch::StartTimeSearch(const RoundInput& input, const Capacity& capacity,
                                 const Placer& placer, const PendingEntry& entry, TypeId type)
    : input_(input), capacity_(capacity), placer_(placer), entry_(entry), type_(type) {
  for (const NodeIndex node : *entry.later) add_node(node);
  std::sort(moments_.begin(), moments_.end(), [](const Moment& a, const Moment& b) {
    return std::tie(a.time, a.index) < std::tie(b.time, b.index);
  });
}

void StartTimeSearch::add_node(NodeIndex node) {
  const Node& state = input_.snapshot.nodes[node];
  if (!state.in_service()) return;
  if (type_ != kNoGpu && !capacity_.has_type(node, type_)) return;
  if (!placer_.accepts(entry_, node, type_)) return;
  const CandidateIndex index{nodes_.size()};
  NodeCandidate candidate;
  candidate.node = node;
  candidate.powered_down = state.powered_down;
  candidate.weight = state.weight;
  nodes_.push_back(candidate);
  // Nobody says when a node that is coming will be up: the next second is the first guess.
  moments_.push_back({state.usable ? input_.now : input_.now + 1, index});
  for (const Capacity::Event& event : capacity_.events(node)) {
    const bool grows = event.cores > 0 || event.memory > 0 || event.gpus > 0;
    if (grows) moments_.push_back({event.time, index});
  }
  const auto& intervals = placer_.stock_plan_intervals(node);
  for (const Placer::StockPlanInterval& interval : intervals) {
    if (interval.to > input_.now && interval.to < kForever)
      moments_.push_back({interval.to, index});
  }
  for (const ReservationWindow* window : placer_.windows(node)) {
    if (window->end > input_.now && window->end < kForever)
      moments_.push_back({window->end, index});
  }
  const bool planned = !intervals.empty() || !placer_.windows(node).empty();
  if (planned || capacity_.taken_later(node)) changing_.push_back(index);
}

void StartTimeSearch::examine(CandidateIndex index, Seconds time) {
  NodeCandidate& candidate = nodes_[index];
  const Node& state = input_.snapshot.nodes[candidate.node];
  const Seconds end = entry_.end(time);
  with_room_ -= candidate.amount > 0 ? 1 : 0;
  carried_ -= candidate.amount;
  candidate.amount = 0;
  const bool held = placer_.conflicting_stock_plan(entry_, candidate.node, time) != nullptr ||
                    placer_.in_a_window(entry_, candidate.node, time);
  const bool up = state.usable || time > input_.now;
  const Demand& demand = entry_.demand;
  if (held || !up) return;
  if (demand.whole_nodes() && !capacity_.untouched(candidate.node, time, end)) return;
  const NodeRoom room = capacity_.room(candidate.node, type_, time, end);
  candidate.amount = demand.amount_in(room, demand.min_nodes());
  candidate.free = demand.wants_gpus() ? room.gpus : room.cores;
  with_room_ += candidate.amount > 0 ? 1 : 0;
  carried_ += candidate.amount;
}

bool StartTimeSearch::may_fit() const {
  return with_room_ >= entry_.demand.min_nodes() &&
         (entry_.demand.shape() == Demand::Shape::kGpusPerNode ||
          carried_ >= entry_.demand.total());
}

std::optional<StartTimeSearch::Found> StartTimeSearch::run(Seconds until) {
  const int nodes = entry_.demand.min_nodes();
  for (std::size_t i = 0; i < moments_.size();) {
    const Seconds time = moments_[i].time;
    if (time >= until || time >= kForever) break;
    CandidateIndex last;
    for (; i < moments_.size() && moments_[i].time == time; ++i) {
      if (moments_[i].index != last) examine(moments_[i].index, time);
      last = moments_[i].index;
    }
    for (const CandidateIndex index : changing_) examine(index, time);
    if (!may_fit()) continue;
    std::optional<NodeChoice> choice = choose(nodes_, entry_.demand, nodes);
    if (choice) return Found{time, std::move(*choice)};
  }
  return std::nullopt;
}

}  // namespace rubato
