// SPDX-License-Identifier: GPL-2.0-or-later
// Throughput of the best plan by allocated resources, and the fewest resources that suffice.
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

/// Larger places count as this large: a curve stays small.
inline constexpr int kMaxCurveGpus = 512;
inline constexpr int kMaxCurveCores = 256;  ///< per GPU
/// More of anything has to bring this much more throughput.
inline constexpr double kCurveGain = 1.01;

/// What a curve is of, besides the place. Memory in MiB; 0 where it is not known.
struct CurveQuestion {
  std::int64_t batch = 1;
  Plans plans{true, {}};
  std::int64_t gpu_memory_mib = 0;           ///< of one GPU
  std::int64_t host_memory_mib_per_gpu = 0;  ///< of the job
};

struct PlanCurvePoint {
  bool feasible = false;  ///< false: nothing fits in as much or less, and the rest is empty
  ExecutionPlan plan;
  double throughput = 0;        ///< samples/s
  PlanConfiguration effective;  ///< what `plan` uses: in no member more than was granted
};

/// Resource-sensitivity curves (Zhang et al., Rubick, MLSys 2025, section 5) along GPUs, nodes and
/// cores. A place where no plan gains 1 % over the best with a GPU, a node or a core a GPU less
/// has the point of that place, so rates never fall along GPUs and cores, nor from n-1 full nodes
/// to n. Lazy, cached, thread-safe; the same answers in any order of questions.
class PlanCurve {
 public:
  PlanCurve(std::shared_ptr<const PlanModel> model, CurveQuestion question);

  /// `granted` with nodes <= gpus; an impossible one is replaced by the nearest possible one.
  [[nodiscard]] PlanCurvePoint at(const PlanConfiguration& granted) const;

  /// Throughput of one plan there, samples/s; 0 when it cannot run.
  [[nodiscard]] double throughput_of(const ExecutionPlan& plan,
                                     const PlanConfiguration& configuration) const;

  /// The fewest GPUs, on the fewest nodes, with the fewest cores, whose best plan is as fast as
  /// `plan` at `configuration`; nothing needs more GPUs, nodes or cores in all than `configuration`
  /// has. None when `plan` cannot run there: then nothing is promised.
  [[nodiscard]] std::optional<PlanCurvePoint> least(const ExecutionPlan& plan,
                                                    const PlanConfiguration& configuration) const;

  [[nodiscard]] const PlanModel& model() const { return *model_; }
  [[nodiscard]] const CurveQuestion& question() const { return question_; }

 private:
  /// Only plans with the optimiser on the host care for cores.
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
