// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/formats/write_native.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rubato::sim {
namespace {

/// Prints all digits; "" for infinity and NaN.
std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string count(std::int64_t value) { return fmt::format("{}", value); }

std::string text(const std::string& value) {
  if (value.find_first_of(",\"\r\n") == std::string::npos) return value;
  std::string out = "\"";
  for (const char c : value) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

/// A property of the job that the format has no column for; null: none.
const char* beyond(const SimJob& job) {
  if (!job.step) return "the speed";
  if (!job.plan.empty() || job.guaranteed || !job.more.empty()) return "all that is told";
  return nullptr;
}

/// A column of the format; `text` takes jobs with a speed.
struct NativeColumn {
  std::string_view name;
  std::string (*text)(const SimJob& job);
};

constexpr NativeColumn kColumns[] = {
    {"job", [](const SimJob& job) { return text(job.key); }},
    {"arrival_s", [](const SimJob& job) { return number(job.arrival); }},
    {"gpus", [](const SimJob& job) { return count(job.gpus); }},
    {"min_gpus", [](const SimJob& job) { return count(job.min_gpus); }},
    {"max_gpus", [](const SimJob& job) { return count(job.max_gpus); }},
    {"sizes", [](const SimJob& job) { return text(fmt::format("{}", fmt::join(job.sizes, "/"))); }},
    {"work", [](const SimJob& job) { return number(job.work); }},
    {"model", [](const SimJob& job) { return text(job.model); }},
    {"types", [](const SimJob& job) { return text(fmt::format("{}", fmt::join(job.types, "/"))); }},
    {"weight", [](const SimJob& job) { return number(job.weight); }},
    {"batch", [](const SimJob& job) { return number(job.batch); }},
    {"min_batch", [](const SimJob& job) { return number(job.min_batch); }},
    {"max_batch", [](const SimJob& job) { return number(job.max_batch); }},
    {"start_s", [](const SimJob& job) { return number(job.start_s); }},
    {"restart_s", [](const SimJob& job) { return number(job.restart_s); }},
    {"resize_s", [](const SimJob& job) { return job.resize_s < 0 ? "" : number(job.resize_s); }},
    {"restarts", [](const SimJob& job) { return count(job.restarts ? 1 : 0); }},
    {"time_limit_s", [](const SimJob& job) { return number(job.time_limit); }},
    {"cores_per_gpu", [](const SimJob& job) { return count(job.cores_per_gpu); }},
    {"memory_mib_per_gpu", [](const SimJob& job) { return count(job.memory_per_gpu); }},
    {"account", [](const SimJob& job) { return text(job.account); }},
    {"servers", [](const SimJob& job) { return count(job.servers); }},
    {"predictable", [](const SimJob& job) { return count(job.predictable ? 1 : 0); }},
    {"hints", [](const SimJob& job) { return count(job.hints ? 1 : 0); }},
    {"forecast_error", [](const SimJob& job) { return number(job.forecast_error); }},
    {"step_fixed_s", [](const SimJob& job) { return number(job.step->fixed_s); }},
    {"step_sample_s", [](const SimJob& job) { return number(job.step->sample_s); }},
    {"step_gradient_mb", [](const SimJob& job) { return number(job.step->gradient_mb); }},
    {"step_link_mb_s", [](const SimJob& job) { return number(job.step->link_mb_s); }},
    {"step_exchange_s", [](const SimJob& job) { return number(job.step->exchange_s); }},
    {"step_worker_s", [](const SimJob& job) { return number(job.step->worker_s); }},
    {"step_server_s", [](const SimJob& job) { return number(job.step->server_s); }},
    {"step_most_local", [](const SimJob& job) { return number(job.step->max_local); }},
};

std::string heading() {
  std::vector<std::string_view> names;
  for (const NativeColumn& column : kColumns) names.push_back(column.name);
  return fmt::format("{}\n", fmt::join(names, ","));
}

std::string row(const SimJob& job) {
  std::vector<std::string> values;
  for (const NativeColumn& column : kColumns) values.push_back(column.text(job));
  return fmt::format("{}\n", fmt::join(values, ","));
}

}  // namespace

Result<std::string> native_text(const Suite& suite) {
  std::string out = heading();
  for (const SimJob& job : suite.jobs) {
    if (const char* what = beyond(job); what != nullptr) {
      return fail(
          fmt::format("suite {}, job {}: the native format cannot hold {} of it; it can hold "
                      "those of the suites aiturbo-mix and elastic",
                      suite.name, job.key, what));
    }
    out += row(job);
  }
  return out;
}

}  // namespace rubato::sim
