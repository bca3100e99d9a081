// SPDX-License-Identifier: GPL-2.0-or-later
// The hints of a job. The table in table.cc generates parser, options, help and man page.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "lib/hints/types.h"

namespace rubato {

/// A member of Hints, in man page order. Samples, steps and target loss are one member: total work.
enum class HintField {
  kJobType,
  kGpus,
  kGpuTypes,
  kBatch,
  kWork,
  kModel,
  kPlans,
  kCheckpoint,
  kResize,
  kDevice,
  kMixTypes,
};

/// Hints of one layer (options, comment, JobType= line) or of several merged. Unset fields have no
/// value. A no- option puts a field in `unset`: it has no value here, and weaker layers do not set
/// it.
struct Hints {
  std::optional<std::string> job_type;
  std::optional<GpuSizes> gpus;
  std::optional<GpuTypes> gpu_types;
  std::optional<Batch> batch;
  std::optional<Work> work;
  std::optional<ModelShape> model;
  std::optional<Plans> plans;
  std::optional<Checkpoint> checkpoint;
  std::optional<Resize> resize;
  std::optional<Device> device;
  std::optional<bool> mix_types;
  std::set<HintField> unset = {};

  /// True if no hint is set or unset.
  [[nodiscard]] bool empty() const { return *this == Hints{}; }
  bool operator==(const Hints&) const = default;
};

/// Whether `field` has a value.
[[nodiscard]] bool says(const Hints& hints, HintField field);

/// Calls `each(field, member)` for every member in man page order; `member` is the std::optional.
/// `SomeHints` is Hints or const Hints.
template <typename SomeHints, typename Each>
void for_each_field(SomeHints& hints, Each each) {
  each(HintField::kJobType, hints.job_type);
  each(HintField::kGpus, hints.gpus);
  each(HintField::kGpuTypes, hints.gpu_types);
  each(HintField::kBatch, hints.batch);
  each(HintField::kWork, hints.work);
  each(HintField::kModel, hints.model);
  each(HintField::kPlans, hints.plans);
  each(HintField::kCheckpoint, hints.checkpoint);
  each(HintField::kResize, hints.resize);
  each(HintField::kDevice, hints.device);
  each(HintField::kMixTypes, hints.mix_types);
}

/// Takes fields that `strong` sets or unsets, and all others from `weak`. Associative, with Hints{}
/// as neutral element. The layers from strong to weak: option, environment, comment, JobType= line.
[[nodiscard]] Hints merge(const Hints& strong, const Hints& weak);
template <typename... More>
[[nodiscard]] Hints merge(const Hints& strong, const Hints& weak, const More&... weaker) {
  return merge(strong, merge(weak, weaker...));
}

/// Removes the value of `field` without marking it as unset.
void forget(Hints& hints, HintField field);

inline constexpr const char* kHintsSchema = "rubato.hints/1";

/// One line of JSON: {"schema":"rubato.hints/1",...}. Omits fields that are not set; "unset" lists
/// unset fields. rubato-hints(7) describes the members.
[[nodiscard]] std::string hints_json(const Hints& hints);

}  // namespace rubato
