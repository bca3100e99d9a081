// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/explain/explain_ended.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

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

/// A time limit is called too long if the run used less than half of it.
constexpr Seconds kUsedPart = 2;
/// The limit proposed instead: a quarter more than the run, in steps of five minutes.
constexpr Seconds kLimitStep = 300;

Seconds shorter_limit(Seconds ran) {
  return (ran + ran / 4 + kLimitStep - 1) / kLimitStep * kLimitStep;
}

std::string times_text(const BetterPlace& better) {
  return fmt::format("{:.2f} times the throughput (90% interval {:.2f} to {:.2f})", better.ratio,
                     better.low, better.high);
}

std::string better_text(const StartRecord& record) {
  const RunSummary& run = record.summary;
  const BetterPlace& better = run.better;
  std::string text;
  if (better.gpus > 0) {
    text = fmt::format("{} {}: {}", better.gpus, better.gpu_type, times_text(better));
    if (better.gpus < run.gpus) text += " with fewer GPUs";
  }
  const Seconds ran = std::max<Seconds>(0, record.end - record.start);
  const Seconds limit = shorter_limit(ran);
  if (run.completed && ran * kUsedPart < run.time_limit && limit < run.time_limit) {
    text += fmt::format(
        "{}--time={}: it ran {} of its time limit of {}; with a shorter one a job "
        "may start in a gap",
        text.empty() ? "" : "; ", format_duration(limit), format_duration(ran),
        format_duration(run.time_limit));
  }
  return text.empty() ? "none that the models are sure of" : text;
}

/// ", 26% too high"; "" if it was right within 1 %, or either is not known.
std::string error_text(const StartRecord& record) {
  const double forecast = record.summary.forecast;
  if (forecast <= 0 || record.throughput <= 0) return "";
  const double off = (forecast / record.throughput - 1) * 100;
  if (std::abs(off) < 1) return "";
  return fmt::format(", {:.0f}% too {}", std::abs(off), off > 0 ? "high" : "low");
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
                                  : "; forecast at its start: " + forecast + error_text(record));
}

std::vector<std::pair<std::string, std::string>> summary_lines(const StartRecord& record) {
  const RunSummary& run = record.summary;
  if (!run.known()) return {};
  std::vector<std::pair<std::string, std::string>> lines;
  lines.emplace_back(
      "Waited", fmt::format("{} from eligible to start",
                            format_duration(std::max<Seconds>(0, record.start - run.eligible))));
  std::string held = fmt::format("{} {}", run.gpus, run.gpu_type.empty() ? "GPUs" : run.gpu_type);
  if (run.nodes > 0) held += fmt::format(" on {} {}", run.nodes, run.nodes == 1 ? "node" : "nodes");
  held += fmt::format("; {:.2f} GPU-hours", run.gpu_seconds / 3600);
  if (run.restarts > 0)
    held += fmt::format("; {} earlier restart{}", run.restarts, run.restarts == 1 ? "" : "s");
  lines.emplace_back("Held", held);
  if (record.throughput <= 0 && record.samples > 0)
    lines.emplace_back("Samples", fmt::format("{} done", record.samples));
  // The store does not tell how the run ended, nor what the models knew then.
  if (record.time != 0) lines.emplace_back("Better request", better_text(record));
  return lines;
}

}  // namespace rubato::tools
