// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/hints/hints.h"

namespace rubato {

bool says(const Hints& hints, HintField field) {
  bool said = false;
  for_each_field(hints, [&](HintField each, const auto& member) {
    if (each == field) said = member.has_value();
  });
  return said;
}

void forget(Hints& hints, HintField field) {
  for_each_field(hints, [&](HintField each, auto& member) {
    if (each == field) member.reset();
  });
}

Hints merge(const Hints& strong, const Hints& weak) {
  Hints out = weak;
  const auto take = [&]<typename T>(HintField field, std::optional<T>& to,
                                    const std::optional<T>& from) {
    if (from) {
      to = from;
      out.unset.erase(field);
    } else if (strong.unset.contains(field)) {
      to.reset();
      out.unset.insert(field);
    }
  };
  take(HintField::kJobType, out.job_type, strong.job_type);
  take(HintField::kGpus, out.gpus, strong.gpus);
  take(HintField::kGpuTypes, out.gpu_types, strong.gpu_types);
  take(HintField::kBatch, out.batch, strong.batch);
  take(HintField::kWork, out.work, strong.work);
  take(HintField::kModel, out.model, strong.model);
  take(HintField::kPlans, out.plans, strong.plans);
  take(HintField::kCheckpoint, out.checkpoint, strong.checkpoint);
  take(HintField::kResize, out.resize, strong.resize);
  take(HintField::kDevice, out.device, strong.device);
  take(HintField::kMixTypes, out.mix_types, strong.mix_types);
  return out;
}

}  // namespace rubato
