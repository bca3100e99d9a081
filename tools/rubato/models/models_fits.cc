// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato models show` and `fit`: the models of step times, fitted now.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "lib/model/predictor.h"
#include "tools/rubato/models/models_rows.h"
#include "tools/rubato/models/site_store.h"
#include "tools/shared/own_fields.h"
#include "tools/shared/table.h"

namespace rubato::tools {
namespace {

Json fit_json(const FitSummary& fit) {
  Json parameters = Json::object();
  for (const auto& [name, value] : fit.parameters) parameters[name] = value;
  return {{"account", fit.profile.account},
          {"job_type", fit.profile.job_type},
          {"gpu_type", fit.gpu_type},
          {"model", to_string(fit.model_kind)},
          {"configurations", fit.configurations},
          {"samples", fit.samples},
          {"mean_error", fit.mean_error},
          {"max_error", fit.max_error},
          {"parameters", std::move(parameters)},
          {"flags", fit.flags}};
}

std::string dashed(const std::string& text) { return text.empty() ? kUnknown : text; }

void print_fits(const std::vector<FitSummary>& fits, bool parameters) {
  Table table({{"JOBTYPE"},
               {"ACCOUNT"},
               {"GPU"},
               {"MODEL"},
               {"CONFIGS", true},
               {"SAMPLES", true},
               {"MEAN", true},
               {"MAX", true},
               {"FLAGS"}});
  for (const FitSummary& fit : fits) {
    table.add({fit.profile.job_type, fit.profile.account.empty() ? "(all)" : fit.profile.account,
               dashed(fit.gpu_type), to_string(fit.model_kind),
               fmt::format("{}", fit.configurations), fmt::format("{}", fit.samples),
               fmt::format("{:.1f}%", fit.mean_error * 100),
               fmt::format("{:.1f}%", fit.max_error * 100),
               dashed(fmt::format("{}", fmt::join(fit.flags, ",")))});
  }
  fmt::print("{}", table.text());
  if (!parameters) return;
  for (const FitSummary& fit : fits) {
    fmt::print("\n{} on {}, {}:\n", fit.profile.job_type, dashed(fit.gpu_type),
               to_string(fit.model_kind));
    for (const auto& [name, value] : fit.parameters) fmt::print("  {:<16}{:.6g}\n", name, value);
  }
}

/// Reports that are kept and not used, by account, GPU type and reason.
using Flags = std::map<std::tuple<std::string, std::string, std::string>, std::int64_t>;

Flags flags_of(const std::vector<store::ProfileRow>& rows) {
  Flags flags;
  for (const store::ProfileRow& row : rows)
    for (const auto& [flag, reports] : row.group.flags)
      flags[{row.type.shared ? "" : row.type.account, row.gpu_type, flag}] += reports;
  return flags;
}

void print_flags(const Flags& flags) {
  if (!flags.empty()) fmt::print("\nFlagged reports (stored, not used):\n");
  for (const auto& [whose, reports] : flags) {
    const auto& [account, gpu_type, flag] = whose;
    fmt::print("  {} on {}: {}\n", account.empty() ? "(all)" : account, dashed(gpu_type),
               flag_text(flag, reports));
  }
}

Json flags_json(const Flags& flags) {
  Json list = Json::array();
  for (const auto& [whose, reports] : flags) {
    const auto& [account, gpu_type, flag] = whose;
    list.push_back(
        {{"account", account}, {"gpu_type", gpu_type}, {"flag", flag}, {"reports", reports}});
  }
  return list;
}

/// What would teach most of these profiles: on the GPU types of rubato.conf and of the rows.
std::vector<InformativeMeasurement> most_informative_from(
    const std::vector<store::ProfileRow>& rows, const Config& config) {
  constexpr std::size_t kOfAProfile = 3;
  std::vector<ThroughputObservation> observations = observations_of(rows);
  if (observations.empty()) return {};
  const std::set<std::string> types = gpu_types_of(observations, config);
  return most_informative(ThroughputModel(TypeSpeeds(config.speeds()), std::move(observations)),
                          types, kOfAProfile);
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
  const std::vector<FitSummary> fits = step_time_models.summaries(shapes_of(site.config));
  if (globals.json) {
    Json json = document(kModelsFitsSchema, "");
    json["fits"] = Json::array();
    for (const FitSummary& fit : fits) json["fits"].push_back(fit_json(fit));
    if (show) {
      json["flagged"] = flags_json(flags_of(*rows));
      json["lessons"] = Json::array();
      for (const InformativeMeasurement& measurement : most_informative_from(*rows, site.config))
        json["lessons"].push_back(measurement_json(measurement));
    }
    print_json(json);
    return kOk;
  }
  if (fits.empty()) {
    fmt::print("{}\n",
               rows->empty() ? "No profile matches." : "Nothing to fit: no report names a batch.");
  } else {
    print_fits(fits, show);
  }
  if (!show) return kOk;
  print_flags(flags_of(*rows));
  print_most_informative(most_informative_from(*rows, site.config));
  return kOk;
}

}  // namespace rubato::tools
