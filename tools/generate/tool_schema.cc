// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/generate/tool_schema.h"

#include "tools/generate/command_schema.h"
#include "tools/rqueue/rqueue_records.h"
#include "tools/rubato/doctor/doctor_records.h"
#include "tools/rubato/explain/explain_records.h"
#include "tools/rubato/pause/pause_records.h"
#include "tools/rubato/report/report_records.h"
#include "tools/rubato/resize/hold_size_records.h"
#include "tools/rubato/resize/rehearse_records.h"
#include "tools/rubato/resize/resize_records.h"
#include "tools/rubato/simulate/simulate_records.h"
#include "tools/rubato/wait_resize/wait_resize_records.h"
#include "tools/rubato/whatif/mode_change.h"
#include "tools/rubato/whatif/whatif_records.h"

namespace rubato {

using json::Members;

std::string doctor_schema() {
  return document_schema<tools::DoctorReport>(
      command_schema(tools::kDoctorSchema, "rubato doctor --json",
                     "The checks of an installation. What is not known is left out."),
      Members::kClosed);
}

std::string explain_schema() {
  return document_schema<tools::ExplainAnswer>(
      command_schema(tools::kExplainSchema, "rubato explain --json",
                     "The decisions about jobs. What is not known is left out."),
      Members::kClosed);
}

std::string pause_schema() {
  return document_schema<std::optional<Pause>>(
      command_schema(tools::kPauseSchema, "rubato pause --json", "Whether Rubato is paused."),
      Members::kOpen);
}

std::string report_schema() {
  return document_schema<tools::ReportAnswer>(
      command_schema(tools::kReportSchema, "rubato report --json",
                     "What Rubato did, day by day, or the report that a job sent. What is not "
                     "known is left out."),
      Members::kClosed);
}

std::string rqueue_schema() {
  JsonValue schema = command_schema(tools::kRqueueSchema, "rqueue --json",
                                    "The queue. What is not known is left out.");
  schema["required"].push_back("jobs");  // documents of errors have it too
  return document_schema<tools::RqueueJobs>(std::move(schema), Members::kClosed);
}

std::string simulate_schema() {
  json::SchemaWriter writer;
  writer.constant("schema", tools::kSimulateSchema);
  writer.add<tools::SimulatedRun>();
  JsonValue members = writer.take();
  members["properties"]["seeds"]["minimum"] = 2;
  return file_schema(
      tools::kSimulateSchema, "A line of rubato simulate --json",
      "A run of a policy in a suite. Times are seconds, of jobs in the window of the suite; null "
      "where no job finished. New members may be added; the number in the schema changes when a "
      "member is removed or changes its meaning.",
      members);
}

std::string hold_size_schema() {
  return document_schema<tools::HoldAnswer>(
      command_schema(tools::kHoldSizeSchema, "rubato hold-size --json",
                     "Whether a running job keeps its size."),
      Members::kClosed);
}

std::string rehearse_schema() {
  return document_schema<tools::RehearseAnswer>(
      command_schema(tools::kRehearseSchema, "rubato rehearse --json",
                     "What was seen of a running job that was restarted at the same size."),
      Members::kClosed);
}

std::string resize_schema() {
  return document_schema<tools::ResizeAnswer>(
      command_schema(tools::kResizeSchema, "rubato resize --json",
                     "What a restart of a running job at another size would do, or did."),
      Members::kClosed);
}

std::string wait_resize_schema() {
  return document_schema<tools::WaitAnswer>(
      command_schema(tools::kWaitResizeSchema, "rubato wait-resize --json",
                     "What a running job heard about a change of its size."),
      Members::kClosed);
}

std::string whatif_schema() {
  return document_schema<tools::WhatIfAnswer>(
      command_schema(tools::kWhatIfSchema, "rubato whatif --json",
                     "When a job would start and end, if it were submitted now."),
      Members::kClosed);
}

std::string whatif_mode_schema() {
  return document_schema<tools::ModeAnswer>(
      command_schema(tools::kWhatIfModeSchema, "rubato whatif --mode elastic --json",
                     "What mode elastic would do in the next round."),
      Members::kClosed);
}

}  // namespace rubato
