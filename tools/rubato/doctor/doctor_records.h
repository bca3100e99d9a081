// SPDX-License-Identifier: GPL-2.0-or-later
// The document of `rubato doctor`, described as those of lib/json/records.h.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "lib/json/record_description.h"
#include "tools/rubato/doctor/doctor.h"

namespace rubato::tools {

inline constexpr const char* kDoctorSchema = "rubato.doctor/1";

/// The document. It has the removal alone, or the checks.
struct DoctorReport {
  Checks checks{};
  std::vector<InstallLine> install_lines{};  ///< empty without slurm.conf
  std::string removal{};
};

[[nodiscard]] inline int count_of(const Checks& checks, Status status) {
  return static_cast<int>(std::count_if(checks.begin(), checks.end(),
                                        [status](const Check& c) { return c.status == status; }));
}

}  // namespace rubato::tools

namespace rubato::json {

template <typename Visitor, Is<tools::Check> R>
void describe(Visitor& v, R& check) {
  v.required_word("status", check.status, from_word<tools::Status>);
  v.text("name", check.name, kAlways);
  v.text("text", check.text, kAlways);
  v.text("line", check.line);
  v.note("line", "the line that fixes it; left out if there is none");
}

template <typename Visitor, Is<tools::InstallLine> R>
void describe(Visitor& v, R& line) {
  v.text("file", line.file, kAlways);
  v.text("line", line.line, kAlways);
  v.yes("present", line.present, kAlways);
  v.text("effect", line.effect, kAlways);
  v.text("without_rubato", line.without_rubato, kAlways);
  v.note("without_rubato", "what the line means to stock Slurm");
}

template <typename Visitor, Is<tools::DoctorReport> R>
void describe(Visitor& v, R& report) {
  v.text("remove", report.removal);
  v.note("remove", "of --remove, without the other members: how to uninstall Rubato");
  if (!v.rest(report.removal.empty())) return;
  v.count("ok", tools::count_of(report.checks, tools::Status::kOk), kAlways);
  v.count("warn", tools::count_of(report.checks, tools::Status::kWarn), kAlways);
  v.count("fail", tools::count_of(report.checks, tools::Status::kFail), kAlways);
  v.list("checks", report.checks, kUnlimited, kAlways);
  v.list("install_lines", report.install_lines);
  v.note("install_lines", "lines that an installation adds; left out without slurm.conf");
}

}  // namespace rubato::json
