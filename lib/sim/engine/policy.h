// SPDX-License-Identifier: GPL-2.0-or-later
// Interface of scheduling policies in the simulator, and their table. To add a policy, write a file
// policy_NAME.cc with a class and a maker, and add a line to the table in policies.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/sim/engine/cluster_shape.h"
#include "lib/sim/engine/information.h"
#include "lib/sim/engine/truth.h"
#include "lib/sim/engine/workload.h"

namespace rubato {
struct Config;
struct Snapshot;
}  // namespace rubato

namespace rubato::sim {

/// GPUs on one node of a group.
struct NodeGpus {
  GroupNodeIndex node = 0;
  int gpus = 0;

  bool operator==(const NodeGpus&) const = default;
};

/// The allocation of a job until the next decision.
struct Grant {
  TypeIndex type;               ///< not valid(): no allocation, the job waits
  int gpus = 0;                 ///< of that type
  std::vector<NodeGpus> where;  ///< empty: the engine places it, see engine.h
  double batch = 0;             ///< 0: the truth chooses
  std::string plan;
  int cores_per_gpu = -1;  ///< below 0: as requested
  bool restarts = false;  ///< a running job is restarted for it, even if its size could change live

  [[nodiscard]] bool holds() const { return type.valid() && gpus > 0; }
  bool operator==(const Grant&) const = default;
};

/// An active job (arrived, not finished) as a policy sees it.
struct JobView {
  JobIndex index = 0;
  const SimJob* job = nullptr;
  double done = 0;           ///< part of job->work done so far
  double ran_s = 0;          ///< time with GPUs, start costs included
  double gpu_seconds = 0;    ///< held so far
  double waiting_since = 0;  ///< its arrival, or the last time it lost its GPUs
  double cost_left = 0;      ///< remaining start cost, s
  int restarts = 0;
  bool started = false;       ///< it runs or has run
  Grant now;                  ///< `where` is always set while it holds
  double samples = 0;         ///< its total work, as it declares it
  double limit = 0;           ///< s; its time limit, or a substitute (time_limits.h)
  std::span<const char> can;  ///< a flag per type: it can run there with its request

  [[nodiscard]] bool fits(TypeIndex type) const { return can[type] != 0; }
};

/// A noisy report of a running job: all that a learning policy knows of its throughput.
struct JobReport {
  JobIndex job = 0;
  double time = 0;
  double done = 0;    ///< processed samples since the start of the job
  double useful = 0;  ///< of its work, in its samples; not for policies that learn
  Setting setting;
  Observation seen;
};

/// Input of a decision.
struct PolicyState {
  double now = 0;
  const ClusterShape& cluster;
  std::span<const JobView> jobs;       ///< active, by arrival, then in the order of the workload
  const Truth* truth = nullptr;        ///< null for a policy that learns
  std::span<const JobReport> reports;  ///< since the last decision
  std::span<const char> node_up;       ///< a flag per node, group by group; empty: all are up
};

/// A policy. It may keep state between decisions; one object serves one run.
class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;

  /// Returns one grant per entry of state.jobs, in that order. Grants must fit.
  [[nodiscard]] virtual std::vector<Grant> decide(const PolicyState& state) = 0;
  /// Seconds between decisions, which happen at multiples of the period. 0: decide at each arrival
  /// and end of a job.
  [[nodiscard]] virtual double period() const { return 0; }
  /// Next time at which the policy wants to decide (after `now`); kNever: none.
  [[nodiscard]] virtual double wake(double /*now*/) const { return 1e300; }
  /// Whether it takes GPUs from running jobs.
  [[nodiscard]] virtual bool moves_jobs() const { return false; }
  /// What the policy is told. One that learns() gets no PolicyState::truth.
  [[nodiscard]] virtual Information information() const { return Information::kKnown; }
  /// Whether the policy receives reports.
  [[nodiscard]] virtual bool hears() const { return learns(information()); }
};

/// Input of the functions that make policies.
struct PolicyContext {
  const ClusterShape& cluster;
  const JobList& jobs;
  std::uint64_t seed = 0;
  Information information = Information::kLearned;  ///< requested; for policies that calls_round()
  const Config* config = nullptr;                   ///< likewise; null: defaults
  /// Such a policy fits its models again when it has this share more reports; 0: each round.
  double refit_share = 0;
  /// Policies that ignore GPU types search the groups in their order (TypeOrder).
  bool types_in_order = false;
  std::function<void(const Snapshot& snapshot)> watch{};  ///< see RunControl
};

struct PolicyEntry {
  std::string name;
  std::string summary;  ///< one line, for --list
  /// What it knows of jobs beside their requests: "limits", "rates", ...; "": PolicyContext says.
  std::string knows;
  std::unique_ptr<Policy> (*make)(const PolicyContext& context);
  /// Why the policy cannot run on these jobs and this cluster ("needs ..."); "" if it can.
  std::string (*unfit)(const PolicyContext& context) = nullptr;
  std::string where = "all";  ///< suites and formats in which it runs, for --list
};

/// A policy and the rules by which it runs, as a user writes them: POLICY[@RULES].
struct RuledPolicy {
  std::string name;
  std::string rules;  ///< kByEngine, kByPeer, or "": the suite's rules if they know the policy
};
inline constexpr const char* kByEngine = "engine";
inline constexpr const char* kByPeer = "peer";
[[nodiscard]] RuledPolicy ruled_policy(const std::string& text);

/// Rubato in mode elastic, and in mode place.
inline constexpr const char* kRubato = "rubato";
inline constexpr const char* kRubatoPlace = "rubato-place";
/// A policy that calls round(): it takes --information and --config.
[[nodiscard]] inline bool calls_round(const std::string& policy) {
  return policy == kRubato || policy == kRubatoPlace;
}

/// All policies, sorted by name.
[[nodiscard]] std::span<const PolicyEntry> policies();
/// Null if the policy is unknown.
[[nodiscard]] const PolicyEntry* find_policy(const std::string& name);
/// What the policy, with or without rules, knows of jobs beside their requests, in a word or two;
/// "-" if it is unknown.
[[nodiscard]] std::string known_to(const std::string& policy, Information information);

}  // namespace rubato::sim
