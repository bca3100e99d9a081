// SPDX-License-Identifier: GPL-2.0-or-later
// Hints as JSON, schema rubato.hints/1.

#include "lib/base/json_reader.h"
#include "lib/hints/hints.h"
#include "lib/hints/table.h"
#include "lib/hints/values.h"

namespace rubato {
namespace {

using Json = JsonValue;

Json json_of(const std::string& text) { return text; }
Json json_of(bool yes) { return yes; }
Json json_of(Resize resize) { return to_string(resize); }
Json json_of(Device device) { return to_string(device); }
Json json_of(const GpuTypes& types) { return types; }
Json json_of(const Batch& batch) { return {{"min", batch.min}, {"max", batch.max}}; }

Json json_of(const GpuSizes& sizes) {
  Json out = Json::array();
  for (const auto& [from, to] : sizes.ranges()) out.push_back({{"from", from}, {"to", to}});
  return out;
}

Json json_of(const Work& work) {
  switch (work.unit) {
    case WorkUnit::kSamples:
      return {{"samples", work.count}};
    case WorkUnit::kSteps:
      return {{"steps", work.count}};
    case WorkUnit::kTargetLoss:
      break;
  }
  return {{"target_loss", work.target_loss}};
}

Json json_of(const ModelShape& shape) {
  Json out = {{"params", shape.params}};
  const auto add = [&](const char* name, std::int64_t value) {
    if (value > 0) out[name] = value;
  };
  add("hidden", shape.hidden);
  add("layers", shape.layers);
  add("seq", shape.seq);
  add("heads", shape.heads);
  return out;
}

Json json_of(const Plans& plans) {
  if (plans.automatic) return "auto";
  Json out = Json::array();
  for (const PlanKind kind : plans.kinds) out.push_back(to_string(kind));
  return out;
}

Json json_of(const Checkpoint& checkpoint) {
  if (!checkpoint.consents()) return "none";
  return {{"signal", signal_name(checkpoint.signal)},
          {"seconds", checkpoint.lead},
          {"batch_shell", checkpoint.batch_only},
          {"reservation", checkpoint.reservation}};
}

/// Name of a field: its key with underscores, "work" for the three that share one.
std::string name_of(HintField field) {
  if (field == HintField::kWork) return "work";
  std::string name = hint_of(field).key;
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

}  // namespace

std::string hints_json(const Hints& hints) {
  Json out;
  out["schema"] = kHintsSchema;
  for_each_field(hints, [&](HintField field, const auto& member) {
    if (member) out[name_of(field)] = json_of(*member);
  });
  if (!hints.unset.empty()) {
    Json& unset = out["unset"] = Json::array();
    for (const HintField field : hints.unset) unset.push_back(name_of(field));
  }
  return json_text(out);
}

}  // namespace rubato
