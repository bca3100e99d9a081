// SPDX-License-Identifier: GPL-2.0-or-later
// Rules about where a job can run: left to Slurm or not, GPUs or not, GPU types.
#include <fmt/format.h>

#include <algorithm>

#include "lib/base/lex.h"
#include "lib/base/nearest.h"
#include "lib/hints/rules.h"
#include "lib/hints/values.h"

namespace rubato {
namespace {

using Errors = std::vector<std::string>;

/// Hints that request an action of Rubato, beyond describing the job.
std::vector<HintField> acting(const Hints& hints) {
  std::vector<HintField> out;
  const auto add = [&](HintField field, bool acts) {
    if (acts) out.push_back(field);
  };
  add(HintField::kGpus, hints.gpus.has_value());
  add(HintField::kGpuTypes, hints.gpu_types.has_value());
  add(HintField::kPlans, hints.plans.has_value());
  add(HintField::kResize, hints.resize.value_or(Resize::kNone) != Resize::kNone);
  add(HintField::kMixTypes, hints.mix_types.value_or(false));
  return out;
}

void check_het(const RuleCase& at, Errors& errors) {
  if (!at.request.het) return;
  for_each_field(at.hints, [&](HintField field, const auto& member) {
    if (member) {
      errors.push_back(fmt::format("{}: Rubato does not manage heterogeneous jobs; remove the hint",
                                   at.word(field)));
    }
  });
}

void check_shared(const RuleCase& at, Errors& errors) {
  if (!at.request.shared_gpus) return;
  auto fields = acting(at.hints);
  if (at.hints.device.value_or(Device::kGpu) != Device::kGpu) fields.push_back(HintField::kDevice);
  for (const HintField field : fields) {
    errors.push_back(
        fmt::format("{}: Rubato does not manage shards, MPS and slices of GPUs; request "
                    "whole GPUs (--gpus=1) or remove the hint",
                    at.word(field)));
  }
}

void check_cpu_with_gpus(const RuleCase& at, Errors& errors) {
  if (at.hints.device != Device::kCpu || at.request.total_gpus() == 0) return;
  errors.push_back(fmt::format("{}: cpu, but the request has {} GPUs; remove them, or write {}",
                               at.word(HintField::kDevice), at.request.total_gpus(),
                               at.line(HintField::kDevice, "any")));
}

void check_gpu_without(const RuleCase& at, Errors& errors) {
  if (at.request.total_gpus() > 0) return;
  if (at.hints.device != Device::kGpu && at.hints.device != Device::kAny) return;
  const int size = at.hints.gpus ? at.hints.gpus->smallest() : 1;
  errors.push_back(
      fmt::format("{}: {}, but the request has no GPUs; add --gpus={} to it, or write {}",
                  at.word(HintField::kDevice), to_string(*at.hints.device), size,
                  at.line(HintField::kDevice, "cpu")));
}

void check_no_gpus(const RuleCase& at, Errors& errors) {
  if (at.request.total_gpus() > 0) return;
  const bool cpu = at.hints.device == Device::kCpu;
  const int size = at.hints.gpus ? at.hints.gpus->smallest() : 1;
  const std::string instead =
      cpu ? "remove the hint" : fmt::format("add --gpus={} to it, or remove the hint", size);
  for (const HintField field : acting(at.hints)) {
    errors.push_back(fmt::format("{}: the request has no GPUs; {}", at.word(field), instead));
  }
}

void check_typed(const RuleCase& at, Errors& errors) {
  if (!at.hints.gpu_types || at.request.gpu_types.empty()) return;
  errors.push_back(
      fmt::format("{}: the request already names type {}; request GPUs without a type (--gpus={}), "
                  "or remove the hint",
                  at.word(HintField::kGpuTypes), printable(at.request.gpu_types.front()),
                  at.request.total_gpus()));
}

void check_unknown_type(const RuleCase& at, Errors& errors) {
  const auto& known = at.request.cluster_types;
  if (!at.hints.gpu_types || known.empty()) return;
  for (const auto& group : *at.hints.gpu_types) {
    for (const std::string& type : group) {
      if (std::find(known.begin(), known.end(), type) != known.end()) continue;
      const std::string near = did_you_mean(type, known);
      errors.push_back(
          fmt::format("{}: {} is not a GPU type of this cluster{}", at.word(HintField::kGpuTypes),
                      in_quotes(type),
                      near.empty() ? fmt::format("; it has {}", fmt::join(known, ", ")) : near));
    }
  }
}

void check_mix_typed(const RuleCase& at, Errors& errors) {
  if (!at.hints.mix_types.value_or(false) || at.request.gpu_types.empty()) return;
  errors.push_back(
      fmt::format("{}: the request already names type {}; request GPUs without a type "
                  "(--gpus={}), or remove the hint",
                  at.word(HintField::kMixTypes), printable(at.request.gpu_types.front()),
                  at.request.total_gpus()));
}

void check_mix_one_type(const RuleCase& at, Errors& errors) {
  if (!at.hints.mix_types.value_or(false) || !at.hints.gpu_types) return;
  if (at.hints.gpu_types->size() != 1 || at.hints.gpu_types->front().size() != 1) return;
  errors.push_back(
      fmt::format("{}: {} is the only type, so nothing can be mixed; add another to {} "
                  "or remove the hint",
                  at.word(HintField::kMixTypes), at.hints.gpu_types->front().front(),
                  at.word(HintField::kGpuTypes)));
}

void check_mix_one_gpu(const RuleCase& at, Errors& errors) {
  if (!at.hints.mix_types.value_or(false) || at.request.total_gpus() == 0) return;
  const std::int64_t most = at.hints.gpus ? at.hints.gpus->largest() : at.request.total_gpus();
  if (most > 1 || at.request.open()) return;
  errors.push_back(fmt::format("{}: a job with one GPU has one type; remove the hint, or write {}",
                               at.word(HintField::kMixTypes), at.line(HintField::kGpus, "1-4")));
}

}  // namespace

std::vector<HintRule> rules_of_place() {
  const std::vector<HintField> all_acting{HintField::kGpus, HintField::kGpuTypes, HintField::kPlans,
                                          HintField::kResize, HintField::kMixTypes};
  std::vector<HintField> shared = all_acting;
  shared.push_back(HintField::kDevice);
  std::vector<HintField> every;
  const Hints none;
  for_each_field(none, [&](HintField field, const auto&) { every.push_back(field); });
  return {
      {"het", "A heterogeneous job with any hint: Rubato does not manage it", every, check_het,
       true},
      {"shared-gpus",
       "gpus, gpu-types, plans, resize, mix-types, device=cpu or device=any on a request for "
       "shards, MPS or slices of GPUs: Rubato does not manage it",
       shared, check_shared, true},
      {"cpu-with-gpus",
       "device=cpu on a request with GPUs",
       {HintField::kDevice},
       check_cpu_with_gpus},
      {"gpu-without-gpus",
       "device=gpu or device=any on a request without GPUs",
       {HintField::kDevice},
       check_gpu_without},
      {"no-gpus", "gpus, gpu-types, plans, resize or mix-types on a request without GPUs",
       all_acting, check_no_gpus},
      {"typed",
       "gpu-types on a request that already names a type",
       {HintField::kGpuTypes},
       check_typed},
      {"unknown-type",
       "A type in gpu-types that the cluster does not have",
       {HintField::kGpuTypes},
       check_unknown_type},
      {"mix-typed",
       "mix-types on a request that names a type",
       {HintField::kMixTypes},
       check_mix_typed},
      {"mix-one-type",
       "mix-types with a single type in gpu-types",
       {HintField::kMixTypes, HintField::kGpuTypes},
       check_mix_one_type},
      {"mix-one-gpu",
       "mix-types on a job that has one GPU at every size",
       {HintField::kMixTypes},
       check_mix_one_gpu},
  };
}

}  // namespace rubato
