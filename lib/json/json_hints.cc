// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/json_hints.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lib/hints/values.h"

namespace rubato::json {
namespace {

// Members whose names are not those of hints.
constexpr const char* kSizes = "sizes";
constexpr const char* kTypes = "gpu_types";

/// "job_type" for job-type; the sizes are more than what the job said.
std::string member_of(const HintDef& def) {
  if (def.field == HintField::kGpus) return kSizes;
  std::string name = def.key;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// What has a value other than the default, without the GPU types.
Hints said_of(const ResolvedHints& hints) {
  Hints said;
  if (!hints.job_type.empty()) said.job_type = hints.job_type;
  if (!hints.sizes.empty()) said.gpus = hints.sizes;
  said.batch = hints.batch;
  said.work = hints.work;
  said.model = hints.model;
  said.plans = hints.plans;
  if (hints.checkpoint.consents()) said.checkpoint = hints.checkpoint;
  if (hints.resize != Resize::kNone) said.resize = hints.resize;
  if (hints.device != Device::kGpu) said.device = hints.device;
  if (hints.mix_types) said.mix_types = true;
  return said;
}

ResolvedHints resolved(const Hints& said) {
  ResolvedHints out;
  out.job_type = said.job_type.value_or("");
  out.sizes = said.gpus.value_or(GpuSizes{});
  out.batch = said.batch;
  out.work = said.work;
  out.model = said.model;
  out.plans = said.plans;
  out.checkpoint = said.checkpoint.value_or(Checkpoint{});
  out.resize = said.resize.value_or(Resize::kNone);
  out.device = said.device.value_or(Device::kGpu);
  out.mix_types = said.mix_types.value_or(false);
  return out;
}

void write_texts(JsonWriter& json, const char* name, const std::vector<std::string>& texts) {
  if (name != nullptr) json.key(name);
  json.begin_array();
  for (const std::string& text : texts) json.value(text);
  json.end_array();
}

std::vector<std::string> read_texts(const JsonItem& item) {
  std::vector<std::string> out;
  item.elements([&](const JsonItem& element) { out.push_back(element.text()); });
  return out;
}

}  // namespace

void write_hints(JsonWriter& json, const ResolvedHints& hints) {
  json.begin_object();
  const Hints said = said_of(hints);
  for (const HintDef& def : hint_table()) {
    json.member(member_of(def), show_hint(def, said));
  }
  if (!hints.gpu_types.empty()) {
    json.key(kTypes);
    json.begin_array();
    for (const auto& group : hints.gpu_types) write_texts(json, nullptr, group);
    json.end_array();
  }
  json.member("request_gpus", hints.request_gpus);
  json.member("unit", hints.unit, std::int64_t{1});
  if (!hints.notes.empty()) write_texts(json, "notes", hints.notes);
  json.end_object();
}

ResolvedHints read_hints(const JsonItem& item) {
  JsonObject object(item);
  Hints said;
  // The object keeps views of the names it was asked for.
  std::vector<std::string> names;
  names.reserve(hint_table().size());
  for (const HintDef& def : hint_table()) {
    if (def.field == HintField::kGpuTypes) continue;
    object.optional(names.emplace_back(member_of(def)), [&](const JsonItem& member) {
      const std::string text = member.text();
      if (member.failed()) return;
      if (const auto good = set_hint(def, text, said); !good) member.error(good.error().text);
    });
  }
  GpuTypes types;
  object.optional(kTypes, [&](const JsonItem& groups) {
    groups.elements([&](const JsonItem& group) { types.push_back(read_texts(group)); });
  });
  ResolvedHints out = resolved(said);
  out.gpu_types = std::move(types);
  const auto count = [&](const char* name, std::int64_t& to) {
    object.optional(name, [&](const JsonItem& member) {
      to = static_cast<std::int64_t>(member.number(kJsonMaxTime));
    });
  };
  count("request_gpus", out.request_gpus);
  count("unit", out.unit);
  if (out.unit < 1) object.error_at("unit", "expected a number from 1 on");
  object.optional("notes", [&](const JsonItem& notes) { out.notes = read_texts(notes); });
  object.finish();
  return out;
}

}  // namespace rubato::json
