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
  int type = -1;               ///< of ClusterShape::groups; -1: nothing
  std::vector<int> placement;  ///< GPUs on each of its nodes, in the order of allocation
  double batch = 0;            ///< global; 0: the truth's own choice (as the user set it, or tuned)
  std::string plan;            ///< "": as the user set it

  [[nodiscard]] int gpus() const;
  [[nodiscard]] int nodes() const { return static_cast<int>(placement.size()); }
  [[nodiscard]] bool holds() const { return type >= 0 && !placement.empty(); }
  bool operator==(const Setting&) const = default;
};

/// What a job that runs could measure of itself.
struct Observation {
  double samples_per_s = 0;
  double batch = 0;   ///< global
  double noise = 0;   ///< gradient noise, samples; 0: not measured
  double step_s = 0;  ///< of an iteration; 0: not measured
  double sync_s = 0;  ///< of it, exchange of gradients
};

/// Ground truth. Pure: same arguments, same answer.
class Truth {
 public:
  Truth() = default;
  Truth(const Truth&) = delete;
  Truth& operator=(const Truth&) = delete;
  virtual ~Truth() = default;

  /// Units of SimJob::work a second, after `done` of them; 0: it cannot run so. Constant in `done`
  /// up to next_change().
  [[nodiscard]] virtual double throughput(const SimJob& job, const Setting& setting,
                                          double done) const = 0;
  /// The work above `done` at which the rate may change (an epoch ends).
  [[nodiscard]] virtual double next_change(const SimJob& /*job*/, double /*done*/) const {
    return std::numeric_limits<double>::infinity();
  }
  /// What it reports: by default its throughput, times its batch if known, since work is steps.
  [[nodiscard]] virtual Observation observe(const SimJob& job, const Setting& setting,
                                            double done) const;
  /// Samples in a unit of SimJob::work, for policies that count samples. By default its batch where
  /// it has one, else 1.
  [[nodiscard]] virtual double samples_per_unit(const SimJob& job) const;

  /// Seconds for all of its work on this setting, no costs of starting; infinity: it cannot run so.
  [[nodiscard]] double seconds(const SimJob& job, const Setting& setting) const;
};

/// `gpus` GPUs of a type on as few nodes as hold them: full nodes, then the rest.
[[nodiscard]] Setting packed(const ClusterShape& cluster, int type, int gpus);

/// Its time alone on its fastest type, with the GPUs it requests, packed; the cost of the first
/// start is left out. Infinity: it can run nowhere.
[[nodiscard]] double ideal_seconds(const Truth& truth, const ClusterShape& cluster,
                                   const SimJob& job);

/// The time limit of its submission, seconds: that of the workload, else twice its true time
/// alone on the slowest type and at the slowest size that it takes, start included, in whole
/// minutes: a limit stays when the size is another, and users leave room (Mu'alem and Feitelson,
/// IEEE TPDS 12(6), 2001, model that as a multiple of the run time). Infinity: it can run nowhere.
[[nodiscard]] double asked_limit(const Truth& truth, const ClusterShape& cluster,
                                 const SimJob& job);

/// A warning about jobs that no type of the cluster can run as requested, the first one
/// named with its line and why; "" where all can run.
[[nodiscard]] std::string never_run_text(const Truth& truth, const ClusterShape& cluster,
                                         const JobList& jobs);

}  // namespace rubato::sim
