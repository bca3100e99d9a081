// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/explain/explain_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/json_value.h"
#include "lib/base/nearest.h"
#include "tools/rubato/explain/explain_ended.h"
#include "tools/shared/own_fields.h"

namespace rubato::tools {
namespace {

constexpr int kLabelWidth = 17;

void add(std::string& text, const char* label, const std::string& value) {
  if (!value.empty()) text += fmt::format("  {:<{}}{}\n", label, kLabelWidth, value);
}

bool known(const std::string& text) {
  return !text.empty() && text != "(null)" && text != "N/A" && text != "None";
}

std::string own(const char* name, const JobFacts& facts) { return own_field(name)->text(facts); }

}  // namespace

std::string squeue_job_text(const SqueueJob& job, bool color) {
  std::string text = paint(fmt::format("Job {} ({}) of {}, partition {}", job.label, job.name,
                                       job.user, job.partition),
                           Color::kBold, color) +
                     "\n";
  const JobFacts& f = job.facts;
  const bool pending = job.state == "PENDING";
  const auto end = end_of(job);
  add(text, "State",
      pending ? "pending"
              : fmt::format("{}, {}", end ? end_text(*end) : lower(job.state), job.time_used));
  if (pending && known(job.reason)) add(text, "Slurm's reason", job.reason);
  add(text, "Waits for", f.wait);
  add(text, "Job type", f.job_type);
  if (f.gpus > 0) add(text, pending ? "Requested GPUs" : "GPUs", own("dlgpus", f));
  add(text, "Possible sizes", own("dlsizes", f));
  add(text, "Level", own("dllevel", f));
  add(text, "Plan", f.plan);
  if (f.throughput >= 0) add(text, "Throughput", throughput_text(f.throughput) + " samples/s");
  if (f.progress()) {
    add(text, "Progress",
        fmt::format("{}, {} of {} samples", own("dlprogress", f), f.samples, f.work));
  } else {
    add(text, "Samples", own("dlsamples", f));
  }
  add(text, "Remaining time", own("dlremaining", f));
  add(text, "90% interval", own("dlinterval", f));
  add(text, "Predictable", f.predictable == "P" ? "yes" : f.predictable == "U" ? "no" : "");
  if (pending && f.start > 0) {
    add(text, "Expected start", format_time(f.start));
  } else if (known(job.start)) {
    add(text, pending ? "Slurm expects" : "Start", job.start);
  }
  if (known(job.node_list)) add(text, "Nodes", job.node_list);
  add(text, "Time limit", job.time_limit);
  return text;
}

Json squeue_job_json(const SqueueJob& job) {
  const JobFacts& f = job.facts;
  Json json{{"source", "squeue"}, {"label", job.label}, {"partition", job.partition},
            {"name", job.name},   {"user", job.user},   {"state", lower(job.state)}};
  if (known(job.reason)) json["slurm_reason"] = job.reason;
  if (const auto end = end_of(job)) add_end(json, *end);
  if (!f.wait.empty()) json["wait"] = f.wait;
  if (!f.job_type.empty()) json["job_type"] = f.job_type;
  if (f.gpus > 0) json["gpus"] = f.gpus;
  if (!f.gpu_type.empty()) json["gpu_type"] = f.gpu_type;
  if (f.level >= 0) json["level"] = f.level;
  if (!f.plan.empty()) json["plan"] = f.plan;
  if (f.throughput >= 0) json["rate"] = f.throughput;
  if (f.samples >= 0) json["samples"] = f.samples;
  if (f.work > 0) json["work"] = f.work;
  if (f.remaining >= 0) json["remaining"] = f.remaining;
  if (f.left_low >= 0) json["remaining_low"] = f.left_low;
  if (f.left_high >= 0) json["remaining_high"] = f.left_high;
  if (!f.predictable.empty()) json["class"] = f.predictable;
  if (f.start > 0) json["expected_start"]["earliest"] = std::max(f.start, now());
  return json;
}

}  // namespace rubato::tools
