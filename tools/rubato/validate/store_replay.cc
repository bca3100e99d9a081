// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/validate/store_replay.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <vector>

#include "lib/model/throughput/error_replay.h"
#include "lib/store/measured.h"
#include "lib/store/reader.h"

namespace rubato::tools {
namespace {

constexpr double kDaySeconds = 86400;
// Of the paired difference: beyond so many standard errors it is more than chance.
constexpr double kBeyondChance = 2;

ValidatedObservation observation_of(const ReplayError& row, const char* source, double mean,
                                    double most) {
  return {.source = source,
          .model = row.profile.job_type,
          .plan = row.gpu_type,
          .fit_samples = 0,  // each report is foreseen from all before it
          .test_rows = static_cast<int>(row.reports),
          .mean_error = mean,
          .max_error = most};
}

/// What SQLite would say in fewer words.
std::string why_no_store(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return std::strerror(errno);
  if (S_ISDIR(status.st_mode)) return "is a directory; name the rubato.db in it";
  if (!S_ISREG(status.st_mode)) return "is not a regular file";
  if (status.st_size == 0) return "is empty, not a rubato.db";
  if (::access(file.c_str(), R_OK) != 0) return std::strerror(errno);
  return {};
}

/// A database is read beside two files of its own, which SQLite makes.
std::string hint_for(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  const std::string folder =
      slash == std::string::npos ? "." : file.substr(0, std::max<std::size_t>(slash, 1));
  if (::access(folder.c_str(), W_OK) == 0) return {};
  return "; SQLite must write to its directory: copy the file to a writable one";
}

}  // namespace

Result<ValidateSection> replay_store(const std::string& file, const Config& config) {
  if (const std::string why = why_no_store(file); !why.empty())
    return fail(fmt::format("--store: {}: {}", file, why));
  const auto reader = store::Reader::open(file);
  if (!reader) return fail(reader.error().text + hint_for(file));
  std::vector<ThroughputReport> reports;
  const Result<void> read = reader->each_sample([&](store::Sample sample) {
    const JobTypeConfig* line = config.job_type(sample.type.name);
    sample.type.shared = line != nullptr && line->shared;
    if (!sample.type.name.empty()) reports.push_back(store::measured(sample));
  });
  if (!read) return tl::unexpected<Error>(read.error());
  LearnerRules rules;
  rules.use.warm_up = config.warm_up;
  rules.history.half_life = config.model_half_life_days * kDaySeconds;
  ValidateSection section;
  double count = 0;
  double present = 0;
  double plain = 0;
  double repeats = 0;
  double present_repeats = 0;
  double plain_repeats = 0;
  int groups = 0;
  int below = 0;
  int beyond = 0;
  for (const ReplayError& row : replay_both(reports, TypeSpeeds(config.speeds()), rules)) {
    section.observations.push_back(observation_of(row, "present", row.present, row.present_most));
    section.observations.push_back(observation_of(row, "plain", row.plain, row.plain_most));
    const auto n = static_cast<double>(row.reports);
    count += n;
    present += n * row.present;
    plain += n * row.plain;
    const auto again = static_cast<double>(row.repeats);
    repeats += again;
    present_repeats += again * row.present_repeats;
    plain_repeats += again * row.plain_repeats;
    ++groups;
    if (row.present - row.plain > kBeyondChance * row.doubt) ++beyond;
    if (row.present <= row.plain)
      ++below;
    else
      section.notes.push_back(
          fmt::format("{} on {}: error {:.2f} % is above {:.2f} % of the plain model, by {:.1f} "
                      "standard errors; in configurations measured before: {:.2f} % and {:.2f} %",
                      row.profile.job_type, row.gpu_type, 100 * row.present, 100 * row.plain,
                      row.doubt > 0 ? (row.present - row.plain) / row.doubt : 0.0,
                      100 * row.present_repeats, 100 * row.plain_repeats));
  }
  section.summary = {{"reports", static_cast<double>(reports.size())},
                     {"foreseen", count},
                     {"cells", groups},
                     {"cells_not_above_plain", below},
                     {"cells_above_beyond_chance", beyond},
                     {"mean", count > 0 ? present / count : 0},
                     {"plain_mean", count > 0 ? plain / count : 0},
                     {"repeats", repeats},
                     {"repeats_mean", repeats > 0 ? present_repeats / repeats : 0},
                     {"repeats_plain_mean", repeats > 0 ? plain_repeats / repeats : 0}};
  if (count == 0) {
    return fail(fmt::format("--store: {}: none of {} reports can be predicted, so none was scored",
                            file, reports.size()));
  }
  section.gates = {{"store_below_plain", present < plain}};
  return section;
}

}  // namespace rubato::tools
