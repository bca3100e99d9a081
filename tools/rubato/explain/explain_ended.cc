// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/explain/explain_ended.h"

#include <fmt/format.h>

#include <charconv>

#include "lib/base/nearest.h"
#include "tools/shared/own_fields.h"

namespace rubato::tools {
namespace {

/// squeue prints the status of wait(2); that of 24.11 the exit code and the signal, as "3:0".
std::string exit_text(const std::string& status) {
  int code = 0;
  int signal = 0;
  const char* const last = status.data() + status.size();
  auto [end, error] = std::from_chars(status.data(), last, code);
  if (error != std::errc() || code < 0) return "";
  if (end == last) {
    signal = code & 0x7F;
    code >>= 8;
  } else {
    if (*end != ':') return "";
    const auto rest = std::from_chars(end + 1, last, signal);
    if (rest.ec != std::errc() || rest.ptr != last || signal < 0) return "";
  }
  if (signal != 0) return fmt::format("signal {}", signal);
  return code != 0 ? fmt::format("exit code {}", code) : "";
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
