// SPDX-License-Identifier: GPL-2.0-or-later
// Rules about interruption, resizing, plans and work.
#include <fmt/format.h>

#include "lib/base/text.h"
#include "lib/hints/rules.h"
#include "lib/hints/values.h"

namespace rubato {
namespace {

using Errors = std::vector<std::string>;

bool consents(const Hints& hints) { return hints.checkpoint && hints.checkpoint->consents(); }

bool resizes(const Hints& hints, Resize how) { return hints.resize == how; }

void check_interactive(const RuleCase& at, Errors& errors) {
  if (at.request.batch) return;
  if (at.hints.resize.value_or(Resize::kNone) != Resize::kNone) {
    errors.push_back(
        fmt::format("{}: an interactive job is never resized; submit with sbatch, or "
                    "write {}",
                    at.word(HintField::kResize), at.line(HintField::kResize, "none")));
  }
  if (consents(at.hints)) {
    errors.push_back(
        fmt::format("{}: an interactive job is never interrupted; submit with sbatch, or write {}",
                    at.word(HintField::kCheckpoint), at.line(HintField::kCheckpoint, "none")));
  }
  if (at.hints.device == Device::kAny) {
    errors.push_back(
        fmt::format("{}: an interactive job starts as requested; submit with "
                    "sbatch, or write {}",
                    at.word(HintField::kDevice), at.line(HintField::kDevice, "gpu")));
  }
}

void check_restart(const RuleCase& at, Errors& errors) {
  if (!resizes(at.hints, Resize::kRestart) || consents(at.hints) || !at.request.batch) return;
  errors.push_back(fmt::format("{}: restart interrupts the job, which requires {}; write {}",
                               at.word(HintField::kResize), at.word(HintField::kCheckpoint),
                               at.line(HintField::kCheckpoint, "B:USR1@60")));
}

void check_requeue(const RuleCase& at, Errors& errors) {
  if (!consents(at.hints) || at.request.requeue || !at.request.batch) return;
  errors.push_back(
      fmt::format("{}: an interrupted job is requeued, but the request does not "
                  "allow it; add --requeue, or write {}",
                  at.word(HintField::kCheckpoint), at.line(HintField::kCheckpoint, "none")));
}

void check_lead(const RuleCase& at, Errors& errors) {
  const Seconds limit = at.request.time_limit;
  if (!consents(at.hints) || limit <= 0 || limit >= kForever) return;
  if (at.hints.checkpoint->lead < limit) return;
  Checkpoint shorter = *at.hints.checkpoint;
  shorter.lead = static_cast<int>(limit > 120 ? 60 : limit / 2);
  errors.push_back(fmt::format("{}: {} seconds is not less than the time limit, {}; write {}",
                               at.word(HintField::kCheckpoint), at.hints.checkpoint->lead,
                               duration_text(limit),
                               at.line(HintField::kCheckpoint, to_text(shorter))));
}

void check_live_size(const RuleCase& at, Errors& errors) {
  if (!resizes(at.hints, Resize::kLive) || at.request.total_gpus() == 0) return;
  if (at.request.open() || !at.request.batch) return;
  if (at.hints.gpus && !at.hints.gpus->multiples(at.request.size_unit()).single()) return;
  const std::int64_t own = at.request.total_gpus();
  errors.push_back(fmt::format("{}: the job has only one size, {}; write {}",
                               at.word(HintField::kResize), own,
                               at.line(HintField::kGpus, fmt::format("{},{}", own, 2 * own))));
}

/// Refuses live growth if `broken`; `why` ends the sentence.
void refuse_live(const RuleCase& at, bool broken, const char* why, Errors& errors) {
  if (!broken || !resizes(at.hints, Resize::kLive) || !at.request.batch) return;
  errors.push_back(fmt::format("{}: {}; write {}", at.word(HintField::kResize), why,
                               at.line(HintField::kResize, "restart")));
}

void check_live_mix(const RuleCase& at, Errors& errors) {
  refuse_live(at, at.hints.mix_types.value_or(false),
              "a job that spans GPU types cannot be resized while it runs", errors);
}

void check_live_exclusive(const RuleCase& at, Errors& errors) {
  refuse_live(at, at.request.exclusive, "an exclusive job cannot be resized while it runs", errors);
}

void check_live_array(const RuleCase& at, Errors& errors) {
  refuse_live(at, at.request.array, "an array task cannot be resized while it runs", errors);
}

void check_plans_model(const RuleCase& at, Errors& errors) {
  if (!at.hints.plans || at.hints.model) return;
  errors.push_back(fmt::format("{}: plans require the shape of the model; write {}",
                               at.word(HintField::kPlans),
                               at.line(HintField::kModel, "params=COUNT")));
}

void check_plans_shape(const RuleCase& at, Errors& errors) {
  if (!at.hints.plans || !at.hints.model || at.hints.model->whole()) return;
  const auto& kinds = at.hints.plans->kinds;
  const bool tensor = kinds.contains(PlanKind::kTp);
  if (!tensor && !kinds.contains(PlanKind::kPp)) return;
  const ModelShape& shape = *at.hints.model;
  std::string missing;
  const auto need = [&](const char* name, std::int64_t value) {
    if (value == 0) missing += fmt::format(",{}=COUNT", name);
  };
  need("hidden", shape.hidden);
  need("layers", shape.layers);
  need("seq", shape.seq);
  need("heads", shape.heads);
  errors.push_back(fmt::format("{}: {} requires the complete shape of the model; write {}",
                               at.word(HintField::kPlans), tensor ? "tp" : "pp",
                               at.line(HintField::kModel, to_text(shape) + missing)));
}

void check_steps(const RuleCase& at, Errors& errors) {
  if (!at.hints.work || at.hints.work->unit != WorkUnit::kSteps) return;
  if (!at.hints.batch || at.hints.batch->fixed()) return;
  const std::string prefix = at.spelling == Spelling::kOption ? "--dl-" : "";
  errors.push_back(
      fmt::format("{}steps: with a batch of {} a step is not a fixed amount of work; "
                  "write {}samples=COUNT, or {}",
                  prefix, to_text(*at.hints.batch), prefix,
                  at.line(HintField::kBatch, std::to_string(at.hints.batch->min))));
}

}  // namespace

std::vector<HintRule> rules_of_change() {
  return {
      {"interactive",
       "resize=restart, resize=live, a checkpoint signal or device=any on a job of salloc or srun: "
       "it is never resized or interrupted",
       {HintField::kCheckpoint, HintField::kResize, HintField::kDevice},
       check_interactive},
      {"restart-needs-checkpoint",
       "resize=restart without a checkpoint signal",
       {HintField::kResize, HintField::kCheckpoint},
       check_restart},
      {"checkpoint-needs-requeue",
       "A checkpoint signal on a job that Slurm may not requeue (--no-requeue, JobRequeue=0)",
       {HintField::kCheckpoint},
       check_requeue},
      {"lead-above-limit",
       "A checkpoint signal with a lead time of at least the time limit",
       {HintField::kCheckpoint},
       check_lead},
      {"live-one-size",
       "resize=live with a single size",
       {HintField::kResize, HintField::kGpus},
       check_live_size},
      {"live-mix-types",
       "resize=live with mix-types",
       {HintField::kResize, HintField::kMixTypes},
       check_live_mix},
      {"live-exclusive",
       "resize=live with --exclusive",
       {HintField::kResize},
       check_live_exclusive},
      {"live-array", "resize=live on a job array", {HintField::kResize}, check_live_array},
  };
}

std::vector<HintRule> rules_of_work() {
  return {
      {"plans-need-model", "plans without model", {HintField::kPlans}, check_plans_model},
      {"plans-need-shape",
       "tp or pp in plans without hidden, layers, seq and heads in model",
       {HintField::kPlans},
       check_plans_shape},
      {"steps-with-batch-range",
       "steps with a range as batch",
       {HintField::kBatch, HintField::kWork},
       check_steps},
  };
}

}  // namespace rubato
