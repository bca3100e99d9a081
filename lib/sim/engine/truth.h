// SPDX-License-Identifier: GPL-2.0-or-later
// The true throughputs of a simulation. Policies that learn never see them.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "lib/sim/engine/cluster_shape.h"
#include "lib/sim/engine/workload.h"

namespace rubato::sim {

/// What a job runs on, and how.
struct Setting {
  TypeIndex type;              ///< not valid(): nothing
  std::vector<int> placement;  ///< GPUs on each of its nodes, in the order of allocation
  double batch = 0;            ///< global; 0: the truth chooses (the user's batch, or tuned)
  std::string plan;            ///< "": the user's plan

  [[nodiscard]] int gpus() const;
  [[nodiscard]] int nodes() const { return static_cast<int>(placement.size()); }
  [[nodiscard]] bool holds() const { return type.valid() && !placement.empty(); }
  bool operator==(const Setting&) const = default;
};

/// Measurements that a running job can take of itself.
struct Observation {
  double samples_per_s = 0;
  double batch = 0;   ///< global
  double noise = 0;   ///< gradient noise, samples; 0: not measured
  double step_s = 0;  ///< of an iteration with all its passes; 0: not measured
  double sync_s = 0;  ///< the part of step_s that exchanges gradients
  int passes = 1;     ///< of an iteration; more than 1: gradient accumulation
  int workers = 0;    ///< of a job with parameter servers; 0: it has none
  int servers = 0;
};

/// Ground truth. Functions are pure: the same arguments give the same answer.
class Truth {
 public:
  Truth() = default;
  Truth(const Truth&) = delete;
  Truth& operator=(const Truth&) = delete;
  virtual ~Truth() = default;

  /// Units of SimJob::work per second after `done` units; 0: the job cannot run with this setting.
  /// Constant in `done` up to next_change().
  [[nodiscard]] virtual double throughput(const SimJob& job, const Setting& setting,
                                          double done) const = 0;
  /// The value of `done` at which the throughput may change next (an epoch ends).
  [[nodiscard]] virtual double next_change(const SimJob& /*job*/, double /*done*/) const {
    return std::numeric_limits<double>::infinity();
  }
  /// The report of a job. Default: its throughput, times its batch if known, since work is steps.
  [[nodiscard]] virtual Observation observe(const SimJob& job, const Setting& setting,
                                            double done) const;
  /// Samples per unit of SimJob::work, for policies that count samples. Default: the job's batch,
  /// or 1 if it has none.
  [[nodiscard]] virtual double samples_per_unit(const SimJob& job) const;
  /// The execution plans that a job can run with on these GPUs, for choices and messages. Default:
  /// none but the user's.
  [[nodiscard]] virtual std::vector<std::string> plans(const SimJob& /*job*/,
                                                       const Setting& /*setting*/) const {
    return {};
  }

  /// Seconds for all of the job's work with this setting, without start costs. Infinity: it cannot
  /// run.
  [[nodiscard]] double seconds(const SimJob& job, const Setting& setting) const;
};

/// `gpus` GPUs of a type on the fewest nodes: full nodes, then the rest.
[[nodiscard]] Setting packed(const ClusterShape& cluster, TypeIndex type, int gpus);

/// Time of the job alone on its fastest type, with its requested GPUs, packed, without start cost.
/// Infinity: it can run nowhere.
[[nodiscard]] double ideal_seconds(const Truth& truth, const ClusterShape& cluster,
                                   const SimJob& job);

/// The job's true time alone, start included, on its slowest type and at its slowest size.
/// Infinity: it can run nowhere.
[[nodiscard]] double longest_seconds(const Truth& truth, const ClusterShape& cluster,
                                     const SimJob& job);

/// A warning about jobs that no type of the cluster can run as requested. It names the first one
/// with its line and the reason. "" if all can run.
[[nodiscard]] std::string never_run_text(const Truth& truth, const ClusterShape& cluster,
                                         const JobList& jobs);

}  // namespace rubato::sim
