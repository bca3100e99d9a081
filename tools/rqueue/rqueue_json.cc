// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rqueue/rqueue_json.h"

#include <charconv>
#include <iterator>
namespace rubato::tools {
namespace {

bool absent(std::string_view text) {
  return text.empty() || text == "(null)" || text == "N/A" || text == "None";
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::vector<FormatField> json_fields() {
  std::vector<FormatField> fields;
  for (const JsonField& field : kJsonFields) fields.push_back({field.field, nullptr, 0, false, ""});
  return fields;
}

std::optional<Seconds> seconds_of_duration(std::string_view text) {
  Seconds days = 0;
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
    const auto value = number(text.substr(0, dash));
    if (!value || *value < 0) return std::nullopt;
    days = *value;
    text.remove_prefix(dash + 1);
  }
  Seconds sum = 0;
  int parts = 0;
  while (true) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const auto value = number(text.substr(0, colon));
    if (!value || *value < 0 || ++parts > 3) return std::nullopt;
    sum = sum * 60 + *value;
    if (colon == text.size()) break;
    text.remove_prefix(colon + 1);
  }
  if (parts < 2) return std::nullopt;
  return days * 86400 + sum;
}

RqueueJob rqueue_job(const SqueueRow& row, const JobFacts& facts) {
  RqueueJob job;
  job.id = number(row.job_id).value_or(0);
  job.facts = facts;
  if (!absent(row.texts.comment)) job.comment = row.texts.comment;
  for (std::size_t i = 0; i < std::size(kJsonFields); ++i) {
    const std::string& text = row.fields[i];
    const JsonField& field = kJsonFields[i];
    if (absent(text)) continue;
    if (field.kind == JsonFieldKind::kText) {
      job.texts[i] = text;
    } else {
      job.numbers[i] =
          field.kind == JsonFieldKind::kNumber ? number(text) : seconds_of_duration(text);
    }
  }
  // For a job that is not in an array, squeue prints its own id here.
  if (!job.numbers[kArrayTaskField] && job.numbers[kArrayJobField] == job.id &&
      row.fields[kLabelField].find('_') == std::string::npos) {
    job.numbers[kArrayJobField].reset();
  }
  return job;
}

}  // namespace rubato::tools
