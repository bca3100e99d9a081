// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato models show` and `fit`: the models of step times, fitted now.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "lib/base/json_value.h"
#include "lib/json/fit_summary_records.h"
#include "lib/json/record_writer.h"
#include "lib/model/predictor.h"
#include "tools/rubato/models/models_rows.h"
#include "tools/rubato/models/site_store.h"
#include "tools/shared/own_fields.h"
#include "tools/shared/record_table.h"

namespace rubato::tools {
namespace {

std::string dashed(const std::string& text) { return text.empty() ? kUnknown : text; }

void print_fits(const std::vector<FitSummary>& fits, bool parameters) {
  fmt::print("{}", record_table(fits));
  if (!parameters) return;
  for (const FitSummary& fit : fits) {
    fmt::print("\n{} on {}, {}:\n", fit.profile.job_type, dashed(fit.gpu_type),
               to_string(fit.model_kind));
    for (const auto& [name, value] : fit.parameters) fmt::print("  {:<16}{:.6g}\n", name, value);
  }
}

/// By account, GPU type and reason.
std::vector<json::FlaggedReports> flags_of(const std::vector<store::ProfileRow>& rows) {
  std::map<std::tuple<std::string, std::string, std::string>, std::int64_t> flags;
  for (const store::ProfileRow& row : rows)
    for (const auto& [flag, reports] : row.group.flags)
      flags[{row.type.shared ? "" : row.type.account, row.gpu_type, flag}] += reports;
  std::vector<json::FlaggedReports> list;
  for (const auto& [whose, reports] : flags) {
    const auto& [account, gpu_type, flag] = whose;
    list.push_back({account, gpu_type, flag, reports});
  }
  return list;
}

void print_flags(const std::vector<json::FlaggedReports>& flags) {
  if (!flags.empty()) fmt::print("\nFlagged reports (stored, not used):\n");
  for (const json::FlaggedReports& row : flags) {
    fmt::print("  {} on {}: {}\n", json::owner_of(row.account.empty(), row.account),
               dashed(row.gpu_type), flag_text(row.flag, row.reports));
  }
}

/// The most informative measurements of these profiles, by the models of the last round, so that
/// all commands print the same standard deviation. Without them, by a fit of the rows.
std::vector<InformativeMeasurement> most_informative_from(
    const std::vector<store::ProfileRow>& rows, const ModelsOptions& options, const Site& site) {
  constexpr std::size_t kOfAProfile = 3;
  const std::vector<ThroughputObservation> observations = observations_of(rows);
  if (observations.empty()) return {};
  const std::set<std::string> types = gpu_types_of(observations, site.config);
  const auto fit = fit_to_show(options, site);
  if (!fit || fit->observations.empty()) {
    return most_informative(ThroughputModel(TypeSpeeds(site.config.speeds()), observations), types,
                            kOfAProfile);
  }
  std::vector<InformativeMeasurement> all =
      most_informative(*models_of(*fit).throughput_model(), types, kOfAProfile);
  std::erase_if(all, [&](const InformativeMeasurement& one) {
    return std::ranges::none_of(observations, [&](const ThroughputObservation& observation) {
      return observation.profile == one.profile;
    });
  });
  return all;
}

}  // namespace

int show_fits(const Globals& globals, const ModelsOptions& options, const Site& site) {
  const bool show = options.words.front() == "show";
  auto rows = rows_to_fit(options, site);
  if (!rows) return report_failure(globals, kModelsFitsSchema, kUnreachable, rows.error().text);
  const std::string type = options.words.size() > 1 ? options.words[1] : "";
  const auto other = [&](const store::ProfileRow& row) {
    return !type.empty() && row.type.name != type;
  };
  if (!type.empty() && std::all_of(rows->begin(), rows->end(), other)) {
    return report_failure(globals, kModelsFitsSchema, kNoMatch,
                          no_such_type(type, types_of(*rows)));
  }
  std::erase_if(*rows,
                [&](const store::ProfileRow& row) { return other(row) || !chosen(options, row); });
  const StepTimeModels step_time_models(measured_rows(*rows));
  json::FitSummaries answer{.fits = step_time_models.summaries(shapes_of(site.config)),
                            .show = show};
  if (show) {
    answer.flagged = flags_of(*rows);
    answer.most_informative = most_informative_from(*rows, options, site);
  }
  if (globals.json) {
    Json json = document(kModelsFitsSchema, "");
    json.update(json::json_of(answer));
    print_json(json);
    return kOk;
  }
  if (answer.fits.empty()) {
    fmt::print("{}\n",
               rows->empty() ? "No profile matches." : "Nothing to fit: no report names a batch.");
  } else {
    print_fits(answer.fits, show);
  }
  if (!show) return kOk;
  print_flags(answer.flagged);
  print_most_informative(answer.most_informative);
  return kOk;
}

}  // namespace rubato::tools
