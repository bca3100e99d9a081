// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/choose.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

namespace rubato {
namespace {

auto preference(const NodeCandidate& c) {
  return std::tuple(c.powered_down, c.weight, c.free, c.node);
}
bool preferred(const NodeCandidate& a, const NodeCandidate& b) {
  return preference(a) < preference(b);
}

NodeScore one(const NodeCandidate& c) { return {1, c.powered_down ? 1 : 0, c.weight, c.free}; }
NodeScore sum(const NodeScore& a, const NodeScore& b) {
  return {a.nodes + b.nodes, a.powered_down + b.powered_down, a.weight + b.weight, a.left + b.left};
}

// The fewest nodes that carry the demand, 0 if no number does.
int fewest_nodes(const std::vector<NodeCandidate>& candidates, const Demand& demand) {
  std::vector<int> amounts;
  amounts.reserve(candidates.size());
  for (const NodeCandidate& c : candidates) {
    if (c.amount >= demand.least()) amounts.push_back(c.amount);
  }
  // More nodes than parts of the least amount help nobody.
  const std::int64_t parts = (demand.total() + demand.least() - 1) / demand.least();
  const std::int64_t useful = std::max<std::int64_t>(parts, demand.min_nodes());
  const auto most = static_cast<std::size_t>(std::min<std::int64_t>(
      {static_cast<std::int64_t>(amounts.size()), std::int64_t{demand.max_nodes()}, useful}));
  if (most < static_cast<std::size_t>(demand.min_nodes())) return 0;
  std::partial_sort(amounts.begin(), amounts.begin() + static_cast<std::ptrdiff_t>(most),
                    amounts.end(), std::greater<>());
  std::int64_t carried = 0;
  for (std::size_t i = 0; i < most; ++i) {
    const auto nodes = static_cast<int>(i) + 1;
    // Every node of the job has a quantum of its GPUs at least.
    if (demand.wants_gpus() && std::int64_t{nodes} * demand.quantum() > demand.total()) return 0;
    carried += amounts[i];
    if (carried >= demand.total() && nodes >= demand.min_nodes()) return nodes;
  }
  return 0;
}

// Candidates alike in all but the node.
struct Kind {
  NodeCandidate like;
  std::vector<const NodeCandidate*> members;
  [[nodiscard]] auto key() const {
    return std::tuple(like.powered_down, like.weight, like.free, -like.amount);
  }
};

std::vector<Kind> kinds_of(const std::vector<NodeCandidate>& candidates, int least) {
  std::vector<const NodeCandidate*> sorted;
  for (const NodeCandidate& c : candidates) {
    if (c.amount >= least) sorted.push_back(&c);
  }
  const auto key = [](const NodeCandidate& c) {
    return std::tuple(c.powered_down, c.weight, c.free, -c.amount, c.node);
  };
  std::sort(sorted.begin(), sorted.end(),
            [&](const NodeCandidate* a, const NodeCandidate* b) { return key(*a) < key(*b); });
  std::vector<Kind> kinds;
  for (const NodeCandidate* c : sorted) {
    const Kind next{*c, {c}};
    if (!kinds.empty() && kinds.back().key() == next.key()) {
      kinds.back().members.push_back(c);
    } else {
      kinds.push_back(next);
    }
  }
  return kinds;
}

using Chosen = std::vector<const NodeCandidate*>;

// Exact: for each number of nodes and each amount carried, the best score with the kinds so far.
class ExactChoice {
 public:
  ExactChoice(const std::vector<Kind>& kinds, const Demand& demand, int nodes)
      : kinds_(kinds),
        quantum_(demand.wants_gpus() ? demand.quantum() : 1),
        nodes_(nodes),
        units_(static_cast<int>(demand.total() / quantum_)) {}

  [[nodiscard]] static std::int64_t steps(std::size_t kinds, const Demand& demand, int nodes) {
    const std::int64_t units = demand.total() / (demand.wants_gpus() ? demand.quantum() : 1);
    return static_cast<std::int64_t>(kinds) * nodes * nodes * (units + 1);
  }

  [[nodiscard]] Chosen find() {
    best_.assign(size(), Cell{});
    best_[index(0, 0)].reached = true;
    for (std::size_t k = 0; k < kinds_.size(); ++k) add_kind(k);
    Chosen chosen;
    int nodes = nodes_;
    int units = units_;
    for (std::size_t k = kinds_.size(); k-- > 0;) {
      const int taken = taken_[k * size() + index(nodes, units)];
      for (int i = 0; i < taken; ++i)
        chosen.push_back(kinds_[k].members[static_cast<std::size_t>(i)]);
      units = from_[k * size() + index(nodes, units)];
      nodes -= taken;
    }
    return chosen;
  }

 private:
  struct Cell {
    bool reached = false;
    NodeScore score;
  };
  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(nodes_ + 1) * static_cast<std::size_t>(units_ + 1);
  }
  [[nodiscard]] std::size_t index(int nodes, int units) const {
    return static_cast<std::size_t>(nodes) * static_cast<std::size_t>(units_ + 1) +
           static_cast<std::size_t>(units);
  }

  void add_kind(std::size_t k) {
    const Kind& kind = kinds_[k];
    const int each = kind.like.amount / quantum_;
    const int most = std::min<int>(nodes_, static_cast<int>(kind.members.size()));
    std::vector<Cell> next = best_;
    taken_.resize((k + 1) * size(), 0);
    from_.resize((k + 1) * size(), 0);
    for (int n = 0; n <= nodes_; ++n) {
      for (int u = 0; u <= units_; ++u) from_[k * size() + index(n, u)] = u;
    }
    for (int n = 0; n <= nodes_; ++n) {
      for (int u = 0; u <= units_; ++u) {
        const Cell& cell = best_[index(n, u)];
        if (!cell.reached) continue;
        NodeScore score = cell.score;
        for (int take = 1; take <= most && n + take <= nodes_; ++take) {
          score = sum(score, one(kind.like));
          const int to_units =
              static_cast<int>(std::min<std::int64_t>(units_, u + std::int64_t{take} * each));
          Cell& to = next[index(n + take, to_units)];
          if (to.reached && to.score <= score) continue;
          to = {true, score};
          taken_[k * size() + index(n + take, to_units)] = take;
          from_[k * size() + index(n + take, to_units)] = u;
        }
      }
    }
    best_ = std::move(next);
  }

  const std::vector<Kind>& kinds_;
  int quantum_;
  int nodes_;
  int units_;
  std::vector<Cell> best_;
  std::vector<int> taken_;
  std::vector<int> from_;
};

// For large gangs: the nodes with most room, then each exchanged for a preferred one while the
// demand is still carried.
Chosen most_room_first(const std::vector<NodeCandidate>& candidates, const Demand& demand,
                       int nodes) {
  Chosen all;
  for (const NodeCandidate& c : candidates) {
    if (c.amount >= demand.least()) all.push_back(&c);
  }
  std::sort(all.begin(), all.end(), [](const NodeCandidate* a, const NodeCandidate* b) {
    return a->amount != b->amount ? a->amount > b->amount : preferred(*a, *b);
  });
  const auto count = static_cast<std::ptrdiff_t>(nodes);
  Chosen chosen(all.begin(), all.begin() + count);
  std::int64_t carried = 0;
  for (const NodeCandidate* c : chosen) carried += c->amount;
  Chosen rest(all.begin() + count, all.end());
  std::sort(rest.begin(), rest.end(),
            [](const NodeCandidate* a, const NodeCandidate* b) { return preferred(*a, *b); });
  std::size_t next = 0;
  for (auto at = chosen.rbegin(); at != chosen.rend(); ++at) {
    while (next < rest.size() && carried - (*at)->amount + rest[next]->amount < demand.total()) {
      ++next;
    }
    if (next == rest.size()) break;
    if (!preferred(*rest[next], **at)) continue;
    carried += rest[next]->amount - (*at)->amount;
    *at = rest[next++];
  }
  return chosen;
}

// Every node gets its least; the rest fills the nodes with least free first, so that what is left
// over stays together.
NodeChoice spread(Chosen chosen, const Demand& demand) {
  std::sort(chosen.begin(), chosen.end(), [](const NodeCandidate* a, const NodeCandidate* b) {
    return std::tuple(a->free, a->node) < std::tuple(b->free, b->node);
  });
  std::int64_t rest =
      demand.total() - std::int64_t{demand.least()} * static_cast<int>(chosen.size());
  NodeChoice choice;
  for (const NodeCandidate* c : chosen) {
    const auto more =
        std::clamp<std::int64_t>(c->amount - demand.least(), 0, std::max<std::int64_t>(rest, 0));
    rest -= more;
    const int amount = demand.least() + static_cast<int>(more);
    choice.parts.emplace_back(c->node, amount);
    choice.score = sum(choice.score, one(*c));
    choice.score.left -= amount;
  }
  std::sort(choice.parts.begin(), choice.parts.end());
  return choice;
}

Chosen best_single(const std::vector<NodeCandidate>& candidates, const Demand& demand) {
  const NodeCandidate* best = nullptr;
  for (const NodeCandidate& c : candidates) {
    if (c.amount < demand.total()) continue;
    if (best == nullptr || preferred(c, *best)) best = &c;
  }
  return best == nullptr ? Chosen{} : Chosen{best};
}

// Costs of nodes add up, so the best set of `nodes` equal parts is the best nodes one by one.
std::optional<NodeChoice> equal_parts(const std::vector<NodeCandidate>& candidates,
                                      const Demand& demand, int nodes) {
  std::vector<const NodeCandidate*> fit;
  for (const NodeCandidate& c : candidates) {
    if (c.amount > 0) fit.push_back(&c);
  }
  if (fit.size() < static_cast<std::size_t>(nodes)) return std::nullopt;
  std::partial_sort(
      fit.begin(), fit.begin() + nodes, fit.end(),
      [](const NodeCandidate* a, const NodeCandidate* b) { return preferred(*a, *b); });
  NodeChoice choice;
  for (int i = 0; i < nodes; ++i) {
    const NodeCandidate& c = *fit[static_cast<std::size_t>(i)];
    choice.parts.emplace_back(c.node, demand.least());
    choice.score = sum(choice.score, one(c));
    choice.score.left -= demand.least();
  }
  std::sort(choice.parts.begin(), choice.parts.end());
  return choice;
}

}  // namespace

bool carried(const std::vector<NodeCandidate>& candidates, const Demand& demand, int nodes) {
  if (demand.shape() != Demand::Shape::kGpusPerNode) return fewest_nodes(candidates, demand) > 0;
  const auto fit = std::count_if(candidates.begin(), candidates.end(),
                                 [](const NodeCandidate& c) { return c.amount > 0; });
  return fit >= nodes;
}

std::optional<NodeChoice> choose(const std::vector<NodeCandidate>& candidates, const Demand& demand,
                                 int nodes) {
  if (demand.shape() == Demand::Shape::kGpusPerNode) return equal_parts(candidates, demand, nodes);
  const int fewest = fewest_nodes(candidates, demand);
  if (fewest == 0) return std::nullopt;
  if (fewest == 1) return spread(best_single(candidates, demand), demand);
  const std::vector<Kind> kinds = kinds_of(candidates, demand.least());
  if (ExactChoice::steps(kinds.size(), demand, fewest) > kExactSteps) {
    return spread(most_room_first(candidates, demand, fewest), demand);
  }
  return spread(ExactChoice(kinds, demand, fewest).find(), demand);
}

}  // namespace rubato
