// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/formats/write_native.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace rubato::sim {
namespace {

constexpr const char* kHeading =
    "job,arrival_s,gpus,min_gpus,max_gpus,work,model,types,weight,batch,min_batch,max_batch,"
    "start_s,restart_s,time_limit_s,cores_per_gpu,memory_mib_per_gpu,account,servers,predictable,"
    "forecast_error,step_fixed_s,step_sample_s,step_gradient_mb,step_link_mb_s,step_exchange_s,"
    "step_worker_s,step_server_s,step_most_local\n";

/// Prints all digits; "" for infinity and NaN.
std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string text(const std::string& value) {
  if (value.find_first_of(",\"\r\n") == std::string::npos) return value;
  std::string out = "\"";
  for (const char c : value) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

/// A property of the job that the format has no column for; null: none.
const char* beyond(const SimJob& job) {
  if (!job.step) return "the speed";
  if (job.resize_s >= 0) return "the cost of a resize";
  if (!job.sizes.empty()) return "the list of sizes";
  if (!job.plan.empty() || job.guaranteed || !job.more.empty()) return "all that is told";
  return nullptr;
}

std::string row(const SimJob& job) {
  const StepCosts& step = *job.step;
  return fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
      text(job.key), number(job.arrival), job.gpus, job.min_gpus, job.max_gpus, number(job.work),
      text(job.model), text(fmt::format("{}", fmt::join(job.types, "/"))), number(job.weight),
      number(job.batch), number(job.min_batch), number(job.max_batch), number(job.start_s),
      number(job.restart_s), number(job.time_limit), job.cores_per_gpu, job.memory_per_gpu,
      text(job.account), job.servers, job.predictable ? 1 : 0, number(job.forecast_error),
      number(step.fixed_s), number(step.sample_s), number(step.gradient_mb), number(step.link_mb_s),
      number(step.exchange_s), number(step.worker_s), number(step.server_s),
      number(step.max_local));
}

}  // namespace

Result<std::string> native_text(const Suite& suite) {
  std::string out = kHeading;
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
