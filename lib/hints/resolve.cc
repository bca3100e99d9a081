// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "lib/hints/rules.h"
#include "lib/hints/statements.h"
#include "lib/hints/table.h"
#include "lib/hints/values.h"

namespace rubato {
namespace {

std::vector<HintRule> make_rules() {
  std::vector<HintRule> out;
  for (auto* part : {rules_of_place, rules_of_size, rules_of_change, rules_of_work}) {
    for (HintRule& rule : part()) out.push_back(std::move(rule));
  }
  return out;
}

std::vector<std::string> broken(const HintRule& rule, const Hints& hints,
                                const HintRequest& request, Spelling spelling) {
  std::vector<std::string> found;
  rule.check({hints, request, spelling}, found);
  return found;
}

/// A field only from the JobType= line, without which there are fewer errors.
std::optional<HintField> to_leave_out(const HintRule& rule, std::size_t errors, const Hints& said,
                                      const Hints& job_type, const HintRequest& request) {
  for (const HintField field : rule.fields) {
    if (says(said, field) || said.unset.contains(field) || !says(job_type, field)) continue;
    Hints without = job_type;
    forget(without, field);
    const auto left = broken(rule, merge(said, without), request, Spelling::kComment);
    if (left.size() < errors) return field;
  }
  return std::nullopt;
}

std::string value_of(const Hints& hints, HintField field) {
  for (const HintDef& def : hint_table()) {
    const std::string value = show_hint(def, hints);
    if (def.field == field && !value.empty()) return def.key + "=" + value;
  }
  return "";
}

/// The smallest kMaxSizes of `sizes`, plus `own`: a list of multiples has no length limit.
GpuSizes bounded(const GpuSizes& sizes, int own) {
  if (std::ssize(sizes.ranges()) <= kMaxSizes) return sizes;
  std::vector<GpuSizes::Range> some(sizes.ranges().begin(), sizes.ranges().begin() + kMaxSizes);
  some.emplace_back(own, own);
  return GpuSizes(std::move(some));
}

GpuSizes sizes_of(const Hints& hints, const HintRequest& request) {
  const auto clip = [](std::int64_t gpus) {
    return static_cast<int>(std::min<std::int64_t>(gpus, kMaxGpus));
  };
  if (request.total_gpus() == 0) return {};
  const int own = clip(request.total_gpus());
  if (hints.gpus) return bounded(hints.gpus->multiples(request.size_unit()), own);
  if (!request.open()) return GpuSizes({{own, own}});
  const int most = clip(std::int64_t{request.gpus_per_node} * request.max_nodes);
  return bounded(GpuSizes({{own, most}}).multiples(request.gpus_per_node), own);
}

GpuTypes types_of(const Hints& hints, const HintRequest& request) {
  if (hints.gpu_types) return *hints.gpu_types;
  GpuTypes out;
  if (request.gpu_types.empty()) return out;
  out.push_back(request.gpu_types);
  std::sort(out.front().begin(), out.front().end());
  return out;
}

ResolvedHints with_defaults(const Hints& hints, const HintRequest& request) {
  ResolvedHints out;
  out.job_type = hints.job_type.value_or("");
  out.request_gpus = request.total_gpus();
  out.unit = request.size_unit();
  out.sizes = sizes_of(hints, request);
  out.gpu_types = types_of(hints, request);
  out.batch = hints.batch;
  out.work = hints.work;
  out.model = hints.model;
  out.plans = hints.plans;
  out.checkpoint = hints.checkpoint.value_or(Checkpoint{});
  out.resize = hints.resize.value_or(Resize::kNone);
  out.device = hints.device.value_or(request.total_gpus() > 0 ? Device::kGpu : Device::kCpu);
  out.mix_types = hints.mix_types.value_or(false);
  return out;
}

/// Removes unsuitable values from `job_type`, until only errors of `said` remain.
std::vector<std::string> drop_unfit(const Hints& said, Hints& job_type,
                                    const HintRequest& request) {
  std::vector<std::string> notes;
  bool again = true;
  while (again) {
    again = false;
    const Hints merged = merge(said, job_type);
    for (const HintRule& rule : hint_rules()) {
      const auto found = broken(rule, merged, request, Spelling::kComment);
      if (found.empty()) continue;
      if (const auto field = to_leave_out(rule, found.size(), said, job_type, request)) {
        notes.push_back(fmt::format("{} of the JobType line is ignored: {}",
                                    value_of(job_type, *field), rule.summary));
        forget(job_type, *field);
        again = true;  // each pass removes one value
        break;
      }
      if (rule.ends) break;
    }
  }
  return notes;
}

}  // namespace

std::string RuleCase::word(HintField field) const {
  const HintDef* def = &hint_of(field);
  for (const HintDef& row : hint_table()) {
    if (row.field == field && !show_hint(row, hints).empty()) def = &row;
  }
  return spelling == Spelling::kOption ? "--" + def->option : def->key;
}

std::string RuleCase::line(HintField field, const std::string& value) const {
  const HintDef& def = hint_of(field);
  return fmt::format("{}={}", spelling == Spelling::kOption ? "--" + def.option : def.key, value);
}

const std::vector<HintRule>& hint_rules() {
  static const std::vector<HintRule> rules = make_rules();
  return rules;
}

Result<ResolvedHints> resolve_hints(const Hints& said, const Hints& job_type,
                                    const HintRequest& request, Spelling spelling) {
  Hints fallback = job_type;
  std::vector<std::string> notes = drop_unfit(said, fallback, request);
  const Hints merged = merge(said, fallback);
  HintErrors errors;
  for (const HintRule& rule : hint_rules()) {
    const auto found = broken(rule, merged, request, spelling);
    for (const std::string& line : found) errors.add(line);
    if (!found.empty() && rule.ends) break;
  }
  if (!errors.none()) return tl::unexpected(errors.all());
  ResolvedHints out = with_defaults(merged, request);
  out.notes = std::move(notes);
  return out;
}

}  // namespace rubato
