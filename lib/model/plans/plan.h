// SPDX-License-Identifier: GPL-2.0-or-later
// Execution plans: how a training step is distributed over the GPUs of a job.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "lib/base/error.h"
#include "lib/hints/types.h"

namespace rubato {

/// Location of optimiser state and gradients: on every GPU, sharded over the data-parallel group
/// (ZeRO-2), or sharded in host memory (ZeRO-Offload).
enum class Zero { kNone, kSharded, kOffload };

/// One way to run a step of a fixed global batch (Zhang et al., Rubick, MLSys 2025, section 3). All
/// degrees are at least 1. The order is total: members in declaration order.
struct ExecutionPlan {
  int data = 1;      ///< data-parallel replicas
  int tensor = 1;    ///< tensor-parallel degree, inside a node
  int pipeline = 1;  ///< pipeline stages
  Zero zero = Zero::kNone;
  int steps = 1;               ///< gradient accumulation: micro-batches per replica and step
  bool checkpointing = false;  ///< activations are recomputed in the backward pass

  [[nodiscard]] std::int64_t gpus() const { return std::int64_t{1} * data * tensor * pipeline; }
  /// True for tensor or pipeline parallelism: family B of the step time.
  [[nodiscard]] bool split() const { return tensor > 1 || pipeline > 1; }
  /// clang-tidy 14 reads the implied comparison with 0 as a null pointer.
  auto operator<=>(const ExecutionPlan&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// The plan in the words of the hint `plans`, each with its degree: "dp=4,tp=2,ga=2,gc", "zero=8",
/// "zero-offload=4". Omits degrees of 1, except that of the first word.
[[nodiscard]] std::string to_text(const ExecutionPlan& plan);

/// Parses the output of to_text, with words in any order. One of dp, zero, zero-offload, tp and pp
/// may lack its degree and gets the GPUs that the others leave of `gpus`. Without one of the first
/// three, the data-parallel degree gets them. `gpus` 0: unknown, so all degrees are required.
/// Errors name the word and a correct form.
[[nodiscard]] Result<ExecutionPlan> parse_execution_plan(std::string_view text, int gpus = 0);

/// The one spelling of a plan on `gpus` GPUs, whatever their number: to_text() of what
/// parse_execution_plan() reads without the number of replicas, which follows from the GPUs. "zero"
/// and "zero=8" on 8 GPUs are "zero", "dp=2,tp=4" is "tp=4". A text that is no plan stays.
[[nodiscard]] std::string canonical_plan(const std::string& text, int gpus);

/// The words of the hint `plans` that a plan needs. A single GPU without ZeRO needs none. The
/// micro-batches of a pipeline do not count as gradient accumulation.
[[nodiscard]] std::set<PlanKind> kinds_of(const ExecutionPlan& plan);

/// True if `plans` allows the plan: it is `auto`, or lists all words that the plan needs. A plan
/// without needs is allowed by dp, tp or pp.
[[nodiscard]] bool allows(const Plans& plans, const ExecutionPlan& plan);

/// Resources of a plan. GPUs are spread over the nodes as evenly as possible.
struct PlanConfiguration {
  int gpus = 1;
  int nodes = 1;  ///< at most `gpus`
  int cores_per_gpu = 1;

  [[nodiscard]] int min_per_node() const { return gpus / (nodes > 0 ? nodes : 1); }
  [[nodiscard]] int max_per_node() const {
    return (gpus + (nodes > 0 ? nodes : 1) - 1) / (nodes > 0 ? nodes : 1);
  }
  auto operator<=>(const PlanConfiguration&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// Why a plan cannot run at a configuration with a global batch of `batch`; "" if it can. Ignores
/// memory (plan_memory.h). Rules: no TP or PP with ZeRO; degrees multiply to the GPUs; the batch
/// divides into replicas and micro-batches; TP stays inside a node and divides the heads; PP
/// divides the layers; TP and PP need the whole shape.
[[nodiscard]] std::string why_not(const ExecutionPlan& plan, const PlanConfiguration& configuration,
                                  const ModelShape& shape, std::int64_t batch);

}  // namespace rubato
