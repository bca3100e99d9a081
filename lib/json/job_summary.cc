// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/job_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace rubato {
namespace {

/// A value of the annotation's grammar.
bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._+:@/,-").find(c) != std::string_view::npos;
  });
}

}  // namespace

std::string summary_line(const StartRecord& record) {
  const RunSummary& run = record.summary;
  if (!run.known()) return "";
  std::string line =
      fmt::format("{{rubato waited={} ran={}", std::max<Seconds>(0, record.start - run.eligible),
                  std::max<Seconds>(0, record.end - record.start));
  if (run.gpus > 0) line += fmt::format(" gpus={}", run.gpus);
  if (is_word(run.gpu_type)) line += " gpu-type=" + run.gpu_type;
  line += fmt::format(" gpu-hours={:.2f}", run.gpu_seconds / 3600);
  if (run.restarts > 0) line += fmt::format(" restarts={}", run.restarts);
  if (record.samples > 0) line += fmt::format(" samples={}", record.samples);
  if (record.throughput > 0) line += fmt::format(" rate={:.4g}", record.throughput);
  if (run.forecast > 0) line += fmt::format(" forecast={:.4g}", run.forecast);
  if (run.better.gpus > 0 && is_word(run.better.gpu_type))
    line += fmt::format(" better={}:{}", run.better.gpus, run.better.gpu_type);
  return line + "}";
}

}  // namespace rubato
