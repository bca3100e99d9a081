// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/explain/explain_job.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/nearest.h"
#include "tools/rubato/explain/explain_ended.h"
#include "tools/rubato/explain/explain_records.h"
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

ExplainedJob explained(const SqueueJob& job) {
  ExplainedJob out;
  out.source = "squeue";
  out.label = job.label;
  out.partition = job.partition;
  out.squeue = job;
  out.squeue->state = lower(job.state);
  if (!known(job.reason)) out.squeue->reason.clear();
  out.end = end_of(job);
  if (job.facts.start > 0) out.expected.earliest = std::max(job.facts.start, now());
  return out;
}

}  // namespace rubato::tools
