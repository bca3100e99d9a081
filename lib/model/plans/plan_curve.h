// SPDX-License-Identifier: GPL-2.0-or-later
// Throughput of the best plan by resources, and the fewest resources that suffice.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "lib/model/plans/plan_model.h"

namespace rubato {

/// Larger sizes are treated as this size, to keep the curve small.
inline constexpr int kMaxCurveGpus = 512;
inline constexpr int kMaxCurveCores = 256;  ///< per GPU
/// Minimum throughput ratio for which more resources count as used.
inline constexpr double kCurveGain = 1.01;

/// Input of a curve besides the resources. Memory in MiB; 0 if unknown.
struct CurveQuestion {
  std::int64_t batch = 1;
  Plans plans{true, {}};
  std::int64_t gpu_memory_mib = 0;           ///< of one GPU
  std::int64_t host_memory_mib_per_gpu = 0;  ///< of the job
};

struct PlanCurvePoint {
  bool feasible = false;  ///< false: no plan fits with at most these resources; the rest is empty
  ExecutionPlan plan;
  double throughput = 0;        ///< samples/s
  PlanConfiguration effective;  ///< resources that `plan` uses; no member exceeds the granted ones
};

/// Resource-sensitivity curves (Zhang et al., Rubick, MLSys 2025, section 5) along GPUs, nodes and
/// cores. If no plan gains 1 % over the best with one GPU, node or core per GPU less, the point of
/// those fewer resources is used. Throughput thus never decreases along GPUs and cores, nor from
/// n-1 full nodes to n. Lazy, cached, thread-safe; the order of calls does not matter.
class PlanCurve {
 public:
  PlanCurve(std::shared_ptr<const PlanModel> model, CurveQuestion question);

  /// The point for `granted`, with nodes <= gpus; invalid resources are replaced by the nearest
  /// valid ones.
  [[nodiscard]] PlanCurvePoint at(const PlanConfiguration& granted) const;

  /// Throughput of one plan there, samples/s; 0 if it cannot run.
  [[nodiscard]] double throughput_of(const ExecutionPlan& plan,
                                     const PlanConfiguration& configuration) const;

  /// The fewest GPUs, on the fewest nodes, with the fewest cores, whose best plan is as fast as
  /// `plan` at `configuration`. Uses at most its GPUs, nodes and total cores. nullopt if `plan`
  /// cannot run there: then nothing is guaranteed.
  [[nodiscard]] std::optional<PlanCurvePoint> least(const ExecutionPlan& plan,
                                                    const PlanConfiguration& configuration) const;

  [[nodiscard]] const PlanModel& model() const { return *model_; }
  [[nodiscard]] const CurveQuestion& question() const { return question_; }

 private:
  /// Only plans with the optimiser on the host depend on cores.
  struct Best {
    PlanCurvePoint others;
    std::vector<ExecutionPlan> offload;
  };
  using Key = std::tuple<int, int, int>;  ///< GPUs, nodes, cores per GPU

  [[nodiscard]] PlanQuery query_at(const PlanConfiguration& configuration) const;
  const Best& best_at(int gpus, int nodes) const;
  PlanCurvePoint raw(const PlanConfiguration& configuration) const;
  PlanCurvePoint envelope(const PlanConfiguration& configuration) const;

  std::shared_ptr<const PlanModel> model_;
  CurveQuestion question_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<int, int>, Best> best_;
  mutable std::map<Key, PlanCurvePoint> points_;
};

}  // namespace rubato
