// SPDX-License-Identifier: GPL-2.0-or-later
// place() against exhaustive search over node sets, on small clusters.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "lib/policy/algorithms/placer.h"
#include "lib/policy/predict.h"
#include "test/support/gen_snapshot.h"
#include "test/support/plan_checks.h"

namespace rubato::test {
namespace {

/// Order of preference: needs a boot, slowness of the type, nodes, nodes to boot, weights, left
/// over.
using Objective = std::tuple<bool, double, int, int, std::uint64_t, std::int64_t>;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Tries every set of nodes for the one pending job, and judges it only by the request.
class BruteForce {
 public:
  BruteForce(const Snapshot& snapshot, const Job& job, const Models& models)
      : snapshot_(snapshot), job_(job), request_(job.request), models_(models) {}

  std::optional<Objective> best() const {
    std::optional<Objective> best;
    for (const std::string& type : types()) {
      const std::optional<Objective> found = best_of(type);
      if (found && (!best || *found < *best)) best = found;
    }
    return best;
  }

 private:
  std::vector<std::string> types() const {
    if (!request_.wants_gpus() || !request_.gpu_type.empty()) return {request_.gpu_type};
    std::set<std::string> names;
    for (const Node& node : snapshot_.nodes) {
      for (const GpuGroup& group : node.gpus) names.insert(group.type);
    }
    return {names.begin(), names.end()};
  }

  std::int64_t free_of(const Node& node, const std::string& type) const {
    if (!request_.wants_gpus()) return node.cores_free;
    for (const GpuGroup& group : node.gpus) {
      if (group.type == type) return group.free;
    }
    return 0;
  }

  static bool empty(const Node& node) {
    return node.cores_free == node.cores && node.memory_free == node.memory &&
           node.gpus_free() == node.gpus_total();
  }

  /// True if `amount` GPUs (or cores) of the job fit on `node` when it has `nodes` nodes.
  bool fits(const Node& node, const std::string& type, std::int64_t amount, int nodes) const {
    if (request_.whole_nodes && !empty(node)) return false;
    if (amount > free_of(node, type)) return false;
    std::int64_t cores = std::max(1, request_.cores_per_node);
    std::int64_t gpus = 0;
    if (request_.gpus_per_node > 0) {
      cores = std::max(cores, ceil_div(request_.cores, nodes));
      gpus = amount;
    } else if (request_.gpus > 0) {
      cores = std::max(cores, ceil_div(request_.cores * amount, request_.gpus));
      gpus = amount;
    } else {
      cores = std::max(cores, amount * request_.threads);
    }
    cores = std::max(cores, request_.cores_per_gpu * gpus);
    cores = ceil_div(cores, request_.threads);  // the values so far count CPUs
    const std::int64_t memory =
        std::max({request_.memory_per_node, request_.memory_per_core * request_.threads * cores,
                  request_.memory_per_gpu * gpus});
    return cores <= node.cores_free && memory <= node.memory_free;
  }

  /// The maximum that one node can carry, in steps of `step` up to `most`.
  std::int64_t carries(const Node& node, const std::string& type, std::int64_t step,
                       std::int64_t most, int nodes) const {
    std::int64_t carried = 0;
    for (std::int64_t amount = step; amount <= most; amount += step) {
      if (fits(node, type, amount, nodes)) carried = amount;
    }
    return carried;
  }

  /// The GPUs left over if the nodes of `subset` take the job; nullopt if they cannot.
  std::optional<std::int64_t> left_on(const std::vector<const Node*>& subset,
                                      const std::string& type) const {
    const int nodes = static_cast<int>(subset.size());
    std::int64_t free = 0;
    for (const Node* node : subset) free += free_of(*node, type);
    if (request_.gpus_per_node > 0) {
      for (const Node* node : subset) {
        if (!fits(*node, type, request_.gpus_per_node, nodes)) return std::nullopt;
      }
      return free - std::int64_t{request_.gpus_per_node} * nodes;
    }
    const bool gpus = request_.gpus > 0;
    const std::int64_t step = gpus ? request_.gpu_quantum : 1;
    const auto in_cores = [&](std::int64_t cpus) { return ceil_div(cpus, request_.threads); };
    const std::int64_t least =
        gpus ? step : std::max<std::int64_t>(1, in_cores(request_.cores_per_node));
    const std::int64_t total =
        gpus ? request_.gpus : std::max(in_cores(request_.cores), least * request_.min_nodes);
    if (gpus && (total % step != 0 || step * nodes > total)) return std::nullopt;
    std::int64_t carried = 0;
    for (const Node* node : subset) {
      const std::int64_t most = carries(*node, type, step, total, nodes);
      if (most < least) return std::nullopt;
      carried += most;
    }
    if (carried < total) return std::nullopt;
    return free - std::max(total, least * nodes);
  }

  std::optional<Objective> best_of(const std::string& type) const {
    const NodeSet& allowed = snapshot_.node_sets.at(job_.node_set);
    const int most = request_.max_nodes > 0 ? request_.max_nodes : 1000;
    // With a fixed number of GPUs per node and a range of nodes, Slurm takes as many nodes as
    // possible.
    const bool grows =
        request_.gpus_per_node > 0 && request_.max_nodes > request_.min_nodes && job_.managed;
    std::optional<Objective> best;
    for (unsigned bits = 1; bits < 1U << allowed.size(); ++bits) {
      std::vector<const Node*> subset;
      for (std::size_t i = 0; i < allowed.size(); ++i) {
        const Node& node = snapshot_.nodes.at(static_cast<std::size_t>(allowed[i]));
        if ((bits >> i & 1U) != 0) subset.push_back(&node);
      }
      const int nodes = static_cast<int>(subset.size());
      if (nodes < request_.min_nodes || nodes > most) continue;
      if (request_.tasks > 0 && nodes > std::max(request_.tasks, request_.min_nodes)) continue;
      if (request_.gpus_per_node > 0 && request_.max_nodes == 0 && nodes > request_.min_nodes) {
        continue;
      }
      int boots = 0;
      std::uint64_t weight = 0;
      bool usable = true;
      for (const Node* node : subset) {
        usable = usable && node->usable;
        boots += node->powered_down ? 1 : 0;
        weight += node->weight;
      }
      const auto left = left_on(subset, type);
      if (!usable || !left) continue;
      const double slow = request_.wants_gpus() ? -models_.speed(type) : 0;
      // A required boot decides between types, not within one.
      const Objective objective{false, slow, grows ? -nodes : nodes, boots, weight, *left};
      if (!best || objective < *best) best = objective;
    }
    if (best) {
      std::get<0>(*best) = std::get<3>(*best) > 0;
      if (grows) std::get<2>(*best) = -std::get<2>(*best);
    }
    return best;
  }

  const Snapshot& snapshot_;
  const Job& job_;
  const Request& request_;
  const Models& models_;
};

RC_GTEST_PROP(PlaceProperty, finds_what_every_set_of_nodes_offers_best, ()) {
  GenOptions options;
  options.pending = 1;
  options.twins = false;
  Snapshot snapshot = *gen_snapshot(options);
  Job& job = snapshot.jobs.front();
  job.managed = true;
  job.het = job.may_preempt = job.preempting = false;
  job.block = Block::kNone;
  job.tasks = 1;
  const Models models = gen_chance(50) ? Models() : Models({{"a100", 1.0}, {"h100", 2.0}});
  const Config config;

  Capacity capacity(snapshot, kNow);
  const RoundInput input{snapshot, models, config, kNow};
  const Forecasts forecasts = predict(input, capacity.types());
  const PendingQueue queue = make_queue(input, {&job});
  const ReservationTable reservation_table(capacity);
  Placer placer(input, forecasts, queue, capacity, reservation_table);
  const PendingEntry& entry = queue.entries.front();
  const std::vector<TypeId> types = placer.types_of(entry);
  // A request that only a mix of types can satisfy has no single type to compare.
  RC_PRE(std::find(types.begin(), types.end(), kAnyGpu) == types.end());

  const std::optional<Placement> placed = placer.place(entry);
  const std::optional<Objective> best = BruteForce(snapshot, job, models).best();
  RC_CLASSIFY(best.has_value(), "feasible");
  RC_ASSERT(placed.has_value() == best.has_value());
  if (!placed) {
    RC_ASSERT(placer.failure(entry)->shortage < Shortage::kReserved);
    return;
  }
  const std::string type = capacity.type_name(placed->type);
  RC_ASSERT(check_gang(snapshot, job, type, placed->shares) == "");
  const NodeScore& score = placed->score;
  const double slow = job.request.wants_gpus() ? -models.speed(type) : 0;
  const Objective found{score.powered_down > 0, slow,         score.nodes,
                        score.powered_down,     score.weight, score.left};
  RC_ASSERT(found == *best);
}

}  // namespace
}  // namespace rubato::test
