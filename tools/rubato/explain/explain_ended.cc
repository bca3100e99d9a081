// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/explain/explain_ended.h"

#include <fmt/format.h>

#include <charconv>

#include "lib/base/nearest.h"
#include "tools/shared/own_fields.h"

namespace rubato::tools {
namespace {

/// squeue prints the status of wait(2).
std::string exit_text(const std::string& status) {
  int value = 0;
  const auto [end, error] = std::from_chars(status.data(), status.data() + status.size(), value);
  if (error != std::errc() || end != status.data() + status.size() || value <= 0) return "";
  const int signal = value & 0x7F;
  return signal != 0 ? fmt::format("signal {}", signal) : fmt::format("exit code {}", value >> 8);
}

std::string fact_of(const Explanation& told, const std::string& name) {
  for (const auto& [key, value] : told.facts) {
    if (key == name) return value;
  }
  return "";
}

}  // namespace

std::optional<JobEnd> end_of(const SqueueJob& job) {
  if (phase_of(job.state) != JobPhase::kEnded) return std::nullopt;
  const bool reason = job.reason != "None" && job.reason != "(null)";
  return JobEnd{lower(job.state), reason ? job.reason : "", exit_text(job.exit_code)};
}

std::optional<JobEnd> ask_for_end(const std::string& label) {
  const auto selector = parse_selector(label);
  if (!selector) return std::nullopt;
  const auto jobs = ask_for_job(*selector);
  if (!jobs) return std::nullopt;
  for (const SqueueJob& job : *jobs) {
    if (job.label == label) return end_of(job);
  }
  return std::nullopt;
}

std::string end_text(const JobEnd& end) {
  std::string why = end.exit;
  if (!end.reason.empty()) why += (why.empty() ? "" : "; ") + end.reason;
  return end.state + (why.empty() ? "" : " (" + why + ")");
}

std::string measured_text(const StartRecord& record) {
  if (record.throughput <= 0) return "";
  std::string text = fmt::format("{} samples/s at its last report, after {} samples",
                                 throughput_text(record.throughput), record.samples);
  const std::string given = fact_of(record.told, "rate_given");
  const std::string forecast =
      given.empty() ? fact_of(record.told, "rate." + record.told.gpu_type) : given + " samples/s";
  return text + (forecast.empty() ? "; at its start there was no forecast"
                                  : "; forecast at its start: " + forecast);
}

}  // namespace rubato::tools
