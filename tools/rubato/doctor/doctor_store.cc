// SPDX-License-Identifier: GPL-2.0-or-later
// Checks the database, by slurmctld's stats.json, and models.json.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "lib/base/json_value.h"
#include "tools/rubato/doctor/doctor.h"
#include "tools/shared/published.h"

namespace rubato::tools {
namespace {

constexpr const char* kSeeLog = "see slurmctld's log for lines with 'rubato'";
// models.json is written seconds after a report; a site with very many samples needs longer.
constexpr Seconds kModelsLate = 120;

std::string word(const Json& group, const char* key) { return group.at(key).text(); }

std::int64_t number(const Json& group, const char* key) {
  const Json& value = group.at(key);
  return value.is_number_integer() ? value.get<std::int64_t>() : 0;
}

void check_models(const Machine& machine, const PublishedStats& stats, Seconds reported,
                  Checks& checks) {
  const char* name = "models.json";
  const std::string path = machine.site.publish_dir + "/models.json";
  const bool missing = access(path.c_str(), F_OK) != 0 && errno == ENOENT;
  // The usual time for a fit has passed.
  const bool due = stats.heartbeat - reported > kModelsLate;
  if (missing) {
    if (due)
      checks.push_back(
          {Status::kWarn, name,
           fmt::format("{} does not exist, but a job reported at {}", path, format_time(reported)),
           kSeeLog});
    return;
  }
  const auto table = read_models(machine.site);
  if (!table) {
    checks.push_back({Status::kWarn, name, table.error().text, ""});
  } else if (due && table->generated < reported) {
    checks.push_back({Status::kWarn, name,
                      fmt::format("dates from {}, but a job reported at {}",
                                  format_time(table->generated), format_time(reported)),
                      kSeeLog});
  } else {
    checks.push_back(
        {Status::kOk, name, "contains all reports up to " + format_time(reported), ""});
  }
}

/// Checks the learnt models, and whether rounds use newer fits.
void check_learning(const PublishedStats& stats, Checks& checks) {
  const Json* found = stats.all->find("learning");
  if (found == nullptr || !found->is_object()) return;
  const std::int64_t places = number(*found, "cells");
  const std::int64_t refused = number(*found, "refused_fits");
  if (places == 0 && refused == 0) return;
  std::string text = fmt::format("{} measured configuration{}", places, places == 1 ? "" : "s");
  if (refused > 0)
    text += fmt::format(
        "; {} model fit{} rejected since slurmctld started, because recent reports are predicted "
        "worse: see rubato models",
        refused, refused == 1 ? "" : "s");
  checks.push_back({Status::kOk, "learning", text, ""});
}

}  // namespace

void check_store(const Machine& machine, const PublishedStats& stats, Checks& checks) {
  check_learning(stats, checks);
  const char* name = "store";
  const Json* found = stats.all->find("store");
  if (found == nullptr || !found->is_object()) return;
  const std::string state = word(*found, "state");
  if (state != "ready") {
    const std::string trouble = word(*found, "trouble");
    checks.push_back({Status::kWarn, name,
                      fmt::format("is {}{}; job reports are not stored", state,
                                  trouble.empty() ? "" : ": " + trouble),
                      kSeeLog});
    return;
  }
  const std::int64_t gone = number(*found, "dropped") + number(*found, "lost");
  if (gone > 0) {
    checks.push_back({Status::kWarn, name,
                      fmt::format("is ready, but {} records were lost since slurmctld started, "
                                  "because the disk was unavailable or too slow",
                                  gone),
                      kSeeLog});
  } else {
    checks.push_back({Status::kOk, name,
                      fmt::format("is ready, {} records written since slurmctld started",
                                  number(*found, "written")),
                      ""});
  }
  // If profiles are hidden from this user, the public file omits them, but is equally recent.
  if (const Seconds reported = number(*found, "last_report"); reported > 0)
    check_models(machine, stats, reported, checks);
}

}  // namespace rubato::tools
