// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/capacity.h"

#include <algorithm>

namespace rubato {
namespace {

bool earlier(const Capacity::Event& a, const Capacity::Event& b) { return a.time < b.time; }

}  // namespace

Capacity::Capacity(const Snapshot& snapshot, Seconds now) : now_(now) {
  for (const Node& node : snapshot.nodes) {
    for (const GpuGroup& group : node.gpus) types_.push_back(group.type);
  }
  std::sort(types_.begin(), types_.end());
  types_.erase(std::unique(types_.begin(), types_.end()), types_.end());

  nodes_.reserve(snapshot.nodes.size());
  for (const Node& node : snapshot.nodes) {
    NodeState state;
    state.cores = node.cores_free;
    state.cores_total = node.cores;
    state.memory = node.memory_free;
    state.memory_total = node.memory;
    state.slot_begin = SlotIndex{slots_.size()};
    for (const GpuGroup& group : node.gpus) {
      slots_.push_back({type_id(group.type), group.free, group.total});
    }
    state.slot_end = SlotIndex{slots_.size()};
    nodes_.push_back(std::move(state));
  }
  for (const Job& job : snapshot.jobs) {
    if (job.state != JobState::kRunning || job.end_limit >= kForever) continue;
    const Seconds end = std::max(job.end_limit, now_ + 1);
    for (const NodeShare& share : job.allocation) {
      if (!share.node.within(node_count())) continue;
      add_events(nodes_[share.node], share, end, 1);
    }
  }
  for (NodeState& node : nodes_) std::sort(node.events.begin(), node.events.end(), earlier);
}

TypeId Capacity::type_id(const std::string& name) const {
  const auto found = std::lower_bound(types_.begin(), types_.end(), name);
  if (found == types_.end() || *found != name) return kNoGpu;
  return TypeId{found - types_.begin()};
}

Capacity::SlotIndex Capacity::slot(NodeIndex node, TypeId type) const {
  if (!type.valid()) return {};
  const NodeState& state = nodes_[node];
  for (SlotIndex i = state.slot_begin; i < state.slot_end; ++i) {
    if (slots_[i].type == type) return i;
  }
  return {};
}

bool Capacity::has_type(NodeIndex node, TypeId type) const {
  const NodeState& state = nodes_[node];
  return type == kAnyGpu ? state.slot_begin < state.slot_end : slot(node, type).valid();
}

std::string Capacity::type_name(TypeId type) const {
  return !type.valid() ? std::string() : types_[type];
}

NodeRoom Capacity::total(NodeIndex node, TypeId type) const {
  const NodeState& state = nodes_[node];
  int gpus = 0;
  for (SlotIndex i = state.slot_begin; i < state.slot_end; ++i) {
    if (type == kAnyGpu || slots_[i].type == type) gpus += slots_[i].total;
  }
  return {state.cores_total, state.memory_total, gpus};
}

std::vector<GpuCount> Capacity::split(NodeIndex node, int amount, Seconds from, Seconds to) const {
  const NodeState& state = nodes_[node];
  std::vector<GpuCount> parts;
  for (SlotIndex i = state.slot_begin; i < state.slot_end && amount > 0; ++i) {
    const TypeId type = slots_[i].type;
    const bool last = SlotIndex{i.value() + 1} == state.slot_end;
    const int part = last ? amount : std::clamp(room(node, type, from, to).gpus, 0, amount);
    if (part > 0) parts.push_back({types_[type], part});
    amount -= part;
  }
  std::sort(parts.begin(), parts.end(),
            [](const GpuCount& a, const GpuCount& b) { return a.type < b.type; });
  return parts;
}

NodeRoom Capacity::room(NodeIndex node, TypeId type, Seconds from, Seconds to) const {
  if (type == kAnyGpu) return room_of_all(node, from, to);
  const NodeState& state = nodes_[node];
  const SlotIndex index = slot(node, type);
  NodeRoom level{state.cores, state.memory, index.valid() ? slots_[index].free : 0};
  if (from <= now_ && state.later_takes == 0) return level;

  const auto add = [&](const Event& event) {
    level.cores += event.cores;
    level.memory += event.memory;
    if (event.slot.valid() && event.slot == index) level.gpus += event.gpus;
  };
  auto event = state.events.begin();
  for (; event != state.events.end() && event->time <= from; ++event) add(*event);
  NodeRoom least = level;
  while (event != state.events.end() && (event->time < to || to >= kForever)) {
    const Seconds time = event->time;
    for (; event != state.events.end() && event->time == time; ++event) add(*event);
    least.cores = std::min(least.cores, level.cores);
    least.memory = std::min(least.memory, level.memory);
    least.gpus = std::min(least.gpus, level.gpus);
  }
  // A snapshot may free more than it has: what a job holds need not be what the node counts as
  // in use.
  const NodeRoom most = total(node, type);
  return {std::min(least.cores, most.cores), std::min(least.memory, most.memory),
          std::min(least.gpus, most.gpus)};
}

// The sum of what each type gives throughout: as one time may be short of one type and another time
// of another, that is less than the least of the sums.
NodeRoom Capacity::room_of_all(NodeIndex node, Seconds from, Seconds to) const {
  const NodeState& state = nodes_[node];
  NodeRoom sum = room(node, kNoGpu, from, to);
  for (SlotIndex i = state.slot_begin; i < state.slot_end; ++i) {
    sum.gpus += std::max(room(node, slots_[i].type, from, to).gpus, 0);
  }
  return sum;
}

bool Capacity::untouched(NodeIndex node, Seconds from, Seconds to) const {
  const NodeState& state = nodes_[node];
  const auto whole = [](const NodeRoom& room, const NodeRoom& total) {
    return room.cores >= total.cores && room.memory >= total.memory && room.gpus >= total.gpus;
  };
  if (!whole(room(node, kNoGpu, from, to), total(node, kNoGpu))) return false;
  for (SlotIndex i = state.slot_begin; i < state.slot_end; ++i) {
    const TypeId type = slots_[i].type;
    if (!whole(room(node, type, from, to), total(node, type))) return false;
  }
  return true;
}

std::span<const Capacity::Event> Capacity::events(NodeIndex node) const {
  return nodes_[node].events;
}

// One event for cores, memory and the first type; one more for each further type.
template <typename Function>
void Capacity::each_event(const NodeState& node, const NodeShare& share, Seconds time, int sign,
                          Function function) const {
  Event event{time, sign * share.memory, sign * share.cores, 0, {}};
  bool first = true;
  for (const GpuCount& group : share.gpus) {
    const TypeId type = type_id(group.type);
    for (SlotIndex i = node.slot_begin; i < node.slot_end; ++i) {
      if (type == kNoGpu || slots_[i].type != type) continue;
      event.slot = i;
      event.gpus = sign * group.count;
      function(event);
      event = Event{time, 0, 0, 0, {}};
      first = false;
    }
  }
  if (first) function(event);
}

void Capacity::add_events(NodeState& node, const NodeShare& share, Seconds time, int sign) {
  each_event(node, share, time, sign, [&](const Event& event) { node.events.push_back(event); });
}

void Capacity::remove_events(NodeState& node, const NodeShare& share, Seconds time, int sign) {
  each_event(node, share, time, sign, [&](const Event& event) {
    const auto range = std::equal_range(node.events.begin(), node.events.end(), event, earlier);
    const auto found = std::find(range.first, range.second, event);
    if (found != range.second) node.events.erase(found);
  });
}

void Capacity::change(const NodeShare& share, Seconds from, Seconds to, int sign) {
  if (!share.node.within(node_count())) return;
  NodeState& node = nodes_[share.node];
  const bool taking = sign < 0;
  if (from <= now_) {
    each_event(node, share, now_, sign, [&](const Event& event) {
      node.cores += event.cores;
      node.memory += event.memory;
      if (event.slot.valid()) slots_[event.slot].free += event.gpus;
    });
  } else {
    node.later_takes += taking ? 1 : -1;
    if (taking) {
      add_events(node, share, from, -1);
    } else {
      remove_events(node, share, from, -1);
    }
  }
  if (to < kForever) {
    const Seconds end = std::max(to, now_ + 1);
    if (taking) {
      add_events(node, share, end, 1);
    } else {
      remove_events(node, share, end, 1);
    }
  }
  if (taking) std::stable_sort(node.events.begin(), node.events.end(), earlier);
}

}  // namespace rubato
