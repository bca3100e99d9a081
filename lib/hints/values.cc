// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/hints/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lib/base/lex.h"
#include "lib/base/nearest.h"
#include "lib/base/text.h"
#include "lib/hints/numbers.h"
#include "lib/hints/signals.h"

namespace rubato {
namespace {

constexpr std::size_t kMaxNameLength = 64;
// In enum order.
constexpr std::array kPlanNames{"dp", "zero", "zero-offload", "tp", "pp", "ga", "gc"};
constexpr std::array kResizeNames{"none", "restart", "live"};
constexpr std::array kDeviceNames{"gpu", "cpu", "any"};

bool is_name(std::string_view text, std::string_view also) {
  return !text.empty() && text.size() <= kMaxNameLength &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  also.find(c) != std::string_view::npos;
         });
}

/// The index of `value` among the words of `def`.
Result<std::size_t> parse_word(const HintDef& def, std::string_view value) {
  const auto names = word_names(def);
  const auto found = std::find(names.begin(), names.end(), lower(value));
  if (found == names.end()) {
    return fail(fmt::format("{} is not {}{}", in_quotes(value), describe_values(def),
                            did_you_mean(value, names)));
  }
  return static_cast<std::size_t>(found - names.begin());
}

tl::unexpected<Error> empty_place(std::string_view value) {
  return fail(fmt::format("{} has an empty list item", in_quotes(value)));
}

Result<std::string> parse_name(std::string_view value) {
  if (is_name(value, "._+:@-")) return std::string(value);
  if (value.empty()) return fail("no name; write one such as resnet50");
  if (value.size() > kMaxNameLength) {
    return fail(fmt::format("{} is longer than {} characters", in_quotes(value), kMaxNameLength));
  }
  return fail(
      fmt::format("{} is not a name; use letters, digits and . _ + : @ -", in_quotes(value)));
}

/// "256-1024" for the ranges 256..1024, 256:1024 and "256 to 1024".
std::optional<std::string> other_range(std::string_view value, std::int64_t most) {
  for (const std::string_view mark : {"...", "..", ":", " to "}) {
    const std::size_t at = value.find(mark);
    if (at == std::string_view::npos) continue;
    const auto from = parse_count(trimmed(value.substr(0, at)), 1, most);
    const auto to = parse_count(trimmed(value.substr(at + mark.size())), 1, most);
    if (from && to && *from <= *to) {
      return fmt::format("{}-{}", show_count(*from), show_count(*to));
    }
  }
  return std::nullopt;
}

/// FROM-TO or one number; `example` is a valid one.
template <typename Number>
Result<std::pair<Number, Number>> parse_range(std::string_view value, Number most,
                                              const char* example) {
  const auto other = other_range(value, most);
  if (other) {
    return fail(fmt::format("{} is not a range; write {}", in_quotes(value), *other));
  }
  const std::size_t dash = value.find('-', 1);
  const auto number = [&](std::string_view text) { return parse_count(trimmed(text), 1, most); };
  const auto from = number(value.substr(0, dash));
  if (!from) return tl::unexpected(from.error());
  if (dash == std::string_view::npos) return std::pair<Number, Number>(*from, *from);
  if (trimmed(value.substr(dash + 1)).empty()) {
    return fail(
        fmt::format("{} has no upper end; write a range such as {}", in_quotes(value), example));
  }
  const auto to = number(value.substr(dash + 1));
  if (!to) return tl::unexpected(to.error());
  if (*from > *to) {
    return fail(fmt::format("{} is in the wrong order; write {}-{}", in_quotes(value),
                            show_count(*to), show_count(*from)));
  }
  return std::pair<Number, Number>(*from, *to);
}

Result<GpuSizes> parse_sizes(std::string_view value) {
  std::vector<GpuSizes::Range> ranges;
  for (const std::string_view part : split_at(value, ',')) {
    if (trimmed(part).empty()) return empty_place(value);
    const auto range = parse_range<int>(trimmed(part), kMaxGpus, "2-16");
    if (!range) return tl::unexpected(range.error());
    ranges.push_back(*range);
  }
  return GpuSizes(std::move(ranges));
}

Result<Batch> parse_batch(std::string_view value) {
  const auto range = parse_range<std::int64_t>(value, kMaxBatch, "256-1024");
  if (!range) return tl::unexpected(range.error());
  return Batch{range->first, range->second};
}

Result<GpuTypes> parse_types(std::string_view value) {
  std::string text(value);
  std::replace(text.begin(), text.end(), '>', '/');
  GpuTypes out;
  std::set<std::string> seen;
  for (const std::string_view group : split_at(text, '/')) {
    std::vector<std::string> types;
    for (const std::string_view part : split_at(group, ',')) {
      std::string type(trimmed(part));
      if (type.empty()) return empty_place(value);
      if (!is_name(type, "._+-")) {
        return fail(
            fmt::format("{} is not a GPU type; use letters, digits and . _ + -", in_quotes(type)));
      }
      if (!seen.insert(type).second) {
        return fail(fmt::format("{} is listed twice", in_quotes(type)));
      }
      types.push_back(std::move(type));
    }
    std::sort(types.begin(), types.end());
    out.push_back(std::move(types));
  }
  return out;
}

Result<double> parse_loss(std::string_view value) {
  const auto loss = parse_real(value);
  if (!loss) return fail(loss.error().text + "; write a loss such as 2.1");
  return *loss == 0 ? 0.0 : *loss;  // -0 is 0
}

Result<ModelShape> parse_model(const HintDef& def, std::string_view value) {
  ModelShape shape;
  const std::array members{&shape.params, &shape.hidden, &shape.layers, &shape.seq, &shape.heads};
  const auto names = word_names(def);
  for (const std::string_view part : split_at(value, ',')) {
    if (trimmed(part).empty()) return empty_place(value);
    const std::size_t equals = part.find('=');
    const std::string name = lower(trimmed(part.substr(0, equals)));
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      return fail(fmt::format("{} is not one of {}{}", in_quotes(name), fmt::join(names, ", "),
                              did_you_mean(name, names)));
    }
    if (equals == std::string_view::npos) {
      return fail(fmt::format("{} has no value; write {}=COUNT", name, name));
    }
    std::int64_t& member = *members[static_cast<std::size_t>(found - names.begin())];
    if (member != 0) return fail(fmt::format("{} is set twice", name));
    const std::int64_t most = &member == &shape.params ? kMaxWork : kMaxBatch;
    const auto count = parse_count(trimmed(part.substr(equals + 1)), 1, most);
    if (!count) return fail(fmt::format("{}: {}", name, count.error().text));
    member = *count;
  }
  if (shape.params == 0) return fail("params is missing; add it, for example params=7e9");
  return shape;
}

Result<Plans> parse_plans(const HintDef& def, std::string_view value) {
  Plans plans;
  const auto parts = split_at(value, ',');
  for (const std::string_view part : parts) {
    const std::string word = lower(trimmed(part));
    if (word.empty()) return empty_place(value);
    if (word == "auto") {
      if (parts.size() > 1) return fail("auto cannot be combined with other plans");
      plans.automatic = true;
      return plans;
    }
    const auto names = word_names(def);
    const auto found = std::find(names.begin(), names.end(), word);
    if (found == names.end()) {
      std::vector<std::string> choices = names;
      choices.emplace_back("auto");
      return fail(fmt::format("{} is not a plan; choose {} or auto{}", in_quotes(word),
                              fmt::join(names, ", "), did_you_mean(word, choices)));
    }
    if (!plans.kinds.insert(static_cast<PlanKind>(found - names.begin())).second) {
      return fail(fmt::format("{} is listed twice", in_quotes(word)));
    }
  }
  return plans;
}

Result<Work> parse_work(const HintDef& def, std::string_view value) {
  Work work;
  if (def.type == HintType::kLoss) {
    const auto loss = parse_loss(value);
    if (!loss) return tl::unexpected(loss.error());
    work.unit = WorkUnit::kTargetLoss;
    work.target_loss = *loss;
    return work;
  }
  const auto count = parse_count(value, 1, kMaxWork);
  if (!count) return tl::unexpected(count.error());
  work.unit = def.key == "steps" ? WorkUnit::kSteps : WorkUnit::kSamples;
  work.count = *count;
  return work;
}

template <typename Enum>
Result<Enum> parse_choice(const HintDef& def, std::string_view value) {
  const auto place = parse_word(def, value);
  if (!place) return tl::unexpected(place.error());
  return static_cast<Enum>(*place);
}

/// Moves a valid value to its member.
template <typename T>
Result<void> put(Result<T> value, std::optional<T>& member) {
  if (!value) return tl::unexpected(std::move(value.error()));
  member = std::move(*value);
  return {};
}

}  // namespace

const char* to_string(Resize resize) { return kResizeNames.at(static_cast<std::size_t>(resize)); }
const char* to_string(Device device) { return kDeviceNames.at(static_cast<std::size_t>(device)); }
const char* to_string(PlanKind kind) { return kPlanNames.at(static_cast<std::size_t>(kind)); }

Result<void> set_hint(const HintDef& def, std::string_view value, Hints& hints) {
  value = trimmed(value);
  if (value.empty() && def.type != HintType::kFlag) {
    return fail(fmt::format("no value; write one such as {}", def.example));
  }
  switch (def.field) {
    case HintField::kJobType:
      return put(parse_name(value), hints.job_type);
    case HintField::kGpus:
      return put(parse_sizes(value), hints.gpus);
    case HintField::kGpuTypes:
      return put(parse_types(value), hints.gpu_types);
    case HintField::kBatch:
      return put(parse_batch(value), hints.batch);
    case HintField::kWork:
      return put(parse_work(def, value), hints.work);
    case HintField::kModel:
      return put(parse_model(def, value), hints.model);
    case HintField::kPlans:
      return put(parse_plans(def, value), hints.plans);
    case HintField::kCheckpoint:
      return put(parse_checkpoint(value), hints.checkpoint);
    case HintField::kResize:
      return put(parse_choice<Resize>(def, value), hints.resize);
    case HintField::kDevice:
      return put(parse_choice<Device>(def, value), hints.device);
    case HintField::kMixTypes:
      break;
  }
  const auto place = value.empty() ? Result<std::size_t>(0) : parse_word(def, value);
  if (!place) return tl::unexpected(place.error());
  hints.mix_types = *place == 0;
  return {};
}

std::string to_text(const GpuSizes& sizes) {
  std::vector<std::string> parts;
  for (const auto& [from, to] : sizes.ranges()) {
    parts.push_back(from == to ? std::to_string(from) : fmt::format("{}-{}", from, to));
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

std::string to_text(const GpuTypes& types) {
  std::vector<std::string> groups;
  for (const auto& group : types) groups.push_back(fmt::format("{}", fmt::join(group, ",")));
  return fmt::format("{}", fmt::join(groups, "/"));
}

std::string to_text(const Batch& batch) {
  return batch.fixed() ? show_count(batch.min)
                       : fmt::format("{}-{}", show_count(batch.min), show_count(batch.max));
}

std::string to_text(const ModelShape& shape) {
  std::string out = "params=" + show_count(shape.params);
  const auto add = [&](const char* name, std::int64_t value) {
    if (value > 0) out += fmt::format(",{}={}", name, show_count(value));
  };
  add("hidden", shape.hidden);
  add("layers", shape.layers);
  add("seq", shape.seq);
  add("heads", shape.heads);
  return out;
}

std::string to_text(const Plans& plans) {
  if (plans.automatic) return "auto";
  std::vector<std::string> names;
  for (const PlanKind kind : plans.kinds) names.emplace_back(to_string(kind));
  return fmt::format("{}", fmt::join(names, ","));
}

std::string show_hint(const HintDef& def, const Hints& hints) {
  const auto text = [](const auto& member) { return member ? to_text(*member) : std::string(); };
  switch (def.field) {
    case HintField::kJobType:
      return hints.job_type.value_or("");
    case HintField::kGpus:
      return text(hints.gpus);
    case HintField::kGpuTypes:
      return text(hints.gpu_types);
    case HintField::kBatch:
      return text(hints.batch);
    case HintField::kModel:
      return text(hints.model);
    case HintField::kPlans:
      return text(hints.plans);
    case HintField::kCheckpoint:
      return text(hints.checkpoint);
    case HintField::kResize:
      return hints.resize ? to_string(*hints.resize) : "";
    case HintField::kDevice:
      return hints.device ? to_string(*hints.device) : "";
    case HintField::kMixTypes:
      return !hints.mix_types ? "" : *hints.mix_types ? "yes" : "no";
    case HintField::kWork:
      break;
  }
  if (!hints.work) return "";
  const WorkUnit unit = def.type == HintType::kLoss ? WorkUnit::kTargetLoss
                        : def.key == "steps"        ? WorkUnit::kSteps
                                                    : WorkUnit::kSamples;
  if (hints.work->unit != unit) return "";
  return unit == WorkUnit::kTargetLoss ? show_real(hints.work->target_loss)
                                       : show_count(hints.work->count);
}

std::string describe_values(const HintDef& def) {
  switch (def.type) {
    case HintType::kName:
      return "at most 64 letters, digits and . _ + : @ -";
    case HintType::kSizes:
      return fmt::format("numbers and ranges from 1 to {} separated by commas", kMaxGpus);
    case HintType::kTypes:
      return "names of GPU types separated by / or ,";
    case HintType::kBatch:
      return fmt::format("a whole number from 1 to {}, or a range", show_count(kMaxBatch));
    case HintType::kCount:
      return fmt::format("a whole number from 1 to {}", show_count(kMaxWork));
    case HintType::kLoss:
      return "a number";
    case HintType::kModel:
      return "NAME=COUNT separated by commas";
    case HintType::kPlans:
      return "auto, or words separated by commas";
    case HintType::kSignal:
      return "none, or a signal and a time";
    case HintType::kChoice:
    case HintType::kFlag:
      return fmt::format("one of {}", fmt::join(word_names(def), ", "));
  }
  return "";
}

}  // namespace rubato
