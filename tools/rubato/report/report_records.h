// SPDX-License-Identifier: GPL-2.0-or-later
// The document of `rubato report`, described as those of lib/json/records.h.
#pragma once

#include <optional>
#include <string>

#include "lib/base/json_value.h"
#include "lib/json/period_records.h"
#include "lib/replay/counterfactual_records.h"

namespace rubato::tools {

inline constexpr const char* kReportSchema = "rubato.report/1";

struct SentReport {
  std::string job;
  std::string message;
  std::string way;  ///< program that sent it
};

/// The document. It has the sent report alone, or the summary.
struct ReportAnswer {
  std::optional<SentReport> sent{};
  std::string mode{};
  JsonValue days{};  ///< of stats.json
  std::optional<CounterfactualEstimate> gain{};
};

}  // namespace rubato::tools

namespace rubato::json {

template <typename Visitor, Is<tools::SentReport> R>
void describe(Visitor& v, R& sent) {
  v.text("job", sent.job, kAlways);
  v.text("message", sent.message, kAlways);
  v.text("by", sent.way, kAlways);
}

template <typename Visitor, Is<tools::ReportAnswer> R>
void describe(Visitor& v, R& answer) {
  v.object("sent", answer.sent);
  v.note("sent", "of a report in a job, without the other members");
  if (!v.rest(!answer.sent)) return;
  v.text("mode", answer.mode, kAlways);
  v.copied("days", answer.days, Period{});
  v.object("gain", answer.gain);
  v.note("gain",
         "in the modes observe and place: estimate of what the modes place and elastic would have "
         "gained; observed, place and elastic are left out if nothing could be compared");
}

}  // namespace rubato::json
