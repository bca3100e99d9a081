// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato models`: how fast jobs were measured to be, by job type, GPU type and number of GPUs; and
// the actions on these profiles, which stand in models_actions.cc.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "lib/base/nearest.h"
#include "lib/model/plans/plan_curve.h"
#include "tools/rubato/models/models_actions.h"
#include "tools/rubato/models/models_rows.h"
#include "tools/shared/command.h"
#include "tools/shared/output.h"
#include "tools/shared/own_fields.h"
#include "tools/shared/published.h"
#include "tools/shared/source.h"
#include "tools/shared/table.h"

namespace rubato::tools {
namespace {

using Options = ModelsOptions;

template <typename Row>
std::vector<Row> chosen(const std::vector<Row>& all, const Options& options) {
  std::vector<Row> rows;
  for (const Row& row : all) {
    // A profile that all share is each account's.
    if ((row.shared || wanted(options.account, row.account)) &&
        wanted(options.type, row.job_type) && wanted(options.gpu_type, row.gpu_type)) {
      rows.push_back(row);
    }
  }
  return rows;
}

/// Where a row is: what it shares with the forecast for it.
template <typename Row>
auto place_of(const Row& row) {
  return std::tuple(row.job_type, row.account, row.shared, row.gpu_type, row.gpus);
}

using Forecasts = std::map<decltype(place_of(ForecastRow{})), ForecastRow>;

/// Rows in which nothing was measured, for forecasts of what no job ran on.
void add_unmeasured(std::vector<ModelRow>& rows, const std::vector<ForecastRow>& forecasts) {
  std::set<decltype(place_of(ModelRow{}))> measured;
  for (const ModelRow& row : rows) measured.insert(place_of(row));
  for (const ForecastRow& forecast : forecasts) {
    if (measured.contains(place_of(forecast))) continue;
    rows.push_back({.account = forecast.account,
                    .job_type = forecast.job_type,
                    .shared = forecast.shared,
                    .gpu_type = forecast.gpu_type,
                    .gpus = forecast.gpus,
                    .plan = {}});
  }
  std::sort(rows.begin(), rows.end());
}

/// Measured errors by profile and GPU type.
using Errors = std::map<std::tuple<std::string, std::string, bool, std::string>, ErrorRow>;

std::string error_text(const ModelRow& row, const Errors& errors) {
  const auto found = errors.find({row.job_type, row.account, row.shared, row.gpu_type});
  return found != errors.end() ? fmt::format("{:.1f}%", found->second.error * 100) : kUnknown;
}

/// "16%": two of three jobs should be within so much of the forecast.
std::string within_text(const ForecastRow& row) {
  return fmt::format("{:.0f}%", (row.throughput_high / row.throughput - 1) * 100);
}

std::string or_unknown(const std::string& text) { return text.empty() ? kUnknown : text; }

/// The width of the range of rates, in percent of their mean.
std::string stddev_text(const ModelRow& row) {
  if (row.throughput_mean <= 0) return kUnknown;
  return fmt::format("{:.0f}%",
                     (row.throughput_max - row.throughput_min) / row.throughput_mean * 100);
}

std::vector<std::string> observations_of(const ModelRow& row) {
  const bool measured = row.samples > row.flagged;
  return {row.job_type,
          row.shared ? "(all)" : or_unknown(row.account),
          or_unknown(row.gpu_type),
          fmt::format("{}", row.gpus),
          row.nodes > 0 ? fmt::format("{}", row.nodes) : kUnknown,
          or_unknown(row.plan),
          row.samples > 0 ? fmt::format("{}", row.batch) : kUnknown,
          fmt::format("{}", row.samples),
          fmt::format("{}", row.flagged),
          fmt::format("{}", row.jobs),
          measured ? throughput_text(row.throughput_mean) : kUnknown,
          measured ? stddev_text(row) : kUnknown,
          row.last > 0 ? format_time(row.last) : kUnknown};
}

/// Rate and uncertainty of the forecast for a row; "-" where there is none.
std::vector<std::string> forecast_cells(const ModelRow& row, const Forecasts& forecasts) {
  const auto found = forecasts.find(place_of(row));
  if (found == forecasts.end() || found->second.throughput <= 0) return {kUnknown, kUnknown};
  return {throughput_text(found->second.throughput), within_text(found->second)};
}

Json row_json(const ForecastRow& row) {
  return {{"account", row.account},
          {"job_type", row.job_type},
          {"shared", row.shared},
          {"gpu_type", row.gpu_type},
          {"gpus", row.gpus},
          {"rate", row.throughput},
          {"rate_low", row.throughput_low},
          {"rate_high", row.throughput_high},
          {"samples", row.samples}};
}

Json row_json(const ErrorRow& row) {
  return {{"account", row.account},   {"job_type", row.job_type}, {"shared", row.shared},
          {"gpu_type", row.gpu_type}, {"error", row.error},       {"reports", row.reports}};
}

Json row_json(const RefusalRow& row) {
  return {{"account", row.account},       {"job_type", row.job_type}, {"shared", row.shared},
          {"gpu_type", row.gpu_type},     {"fits", row.fits},         {"error", row.error},
          {"kept_error", row.kept_error}, {"reports", row.reports}};
}

Json row_json(const InformativeMeasurementRow& row) {
  return {{"account", row.account},   {"job_type", row.job_type}, {"shared", row.shared},
          {"gpu_type", row.gpu_type}, {"gpus", row.gpus},         {"within", row.within},
          {"after", row.after}};
}

Json row_json(const ModelRow& row) {
  Json json{{"account", row.account},
            {"job_type", row.job_type},
            {"shared", row.shared},
            {"gpu_type", row.gpu_type},
            {"gpus", row.gpus},
            {"nodes", row.nodes},
            {"plan", row.plan},
            {"batch", row.batch},
            {"samples", row.samples},
            {"flagged", row.flagged},
            {"jobs", row.jobs},
            {"rate_mean", row.throughput_mean},
            {"rate_min", row.throughput_min},
            {"rate_max", row.throughput_max},
            {"rate_last", row.throughput_last},
            {"last", row.last}};
  for (const auto& [flag, reports] : row.flags)
    json["flags"].push_back(Json{{"flag", flag}, {"reports", reports}});
  return json;
}

/// What of Slurm's configuration keeps from this user.
std::vector<std::string> warnings_of(const Site& site) {
  const std::vector<std::string> hidden = split(lower(site.slurm.get_or("PrivateData", "")), ',');
  const bool hides = std::any_of(hidden.begin(), hidden.end(), [](const std::string& word) {
    return word == "jobs" || word == "usage" || word == "accounts" || word == "all";
  });
  if (!hides || sees_all(site, "models.json")) return {};
  return {
      fmt::format("PrivateData={} in slurm.conf: only shared profiles are shown; root and "
                  "SlurmUser see all profiles",
                  site.slurm.get_or("PrivateData", ""))};
}

/// Why reports are kept and not used, a line for each place and reason.
void print_flags(const std::vector<ModelRow>& rows) {
  bool first = true;
  for (const ModelRow& row : rows) {
    for (const auto& [flag, reports] : row.flags) {
      if (std::exchange(first, false)) fmt::print("\nFlagged reports (stored, not used):\n");
      fmt::print("  {} on {} {}: {}\n", row.job_type, row.gpus, or_unknown(row.gpu_type),
                 flag_text(flag, reports));
    }
  }
}

/// Fits that stayed away from the rounds, and for whose sake.
void print_refusals(const std::vector<RefusalRow>& refusals) {
  if (refusals.empty()) return;
  fmt::print("\nRejected model fits (they predict recent reports worse than the previous fit):\n");
  for (const RefusalRow& row : refusals) {
    const std::string where = row.job_type.empty()
                                  ? "all"
                                  : fmt::format("{} on {}", row.job_type, or_unknown(row.gpu_type));
    fmt::print("  {}: {} rejected; last one: error {:.1f}% instead of {:.1f}% over {} reports\n",
               where, row.fits, row.error * 100, row.kept_error * 100, row.reports);
  }
}

/// What is worth measuring: a few lines, only where a forecast would gain by a twentieth.
void print_most_informative(const std::vector<InformativeMeasurementRow>& most_informative) {
  constexpr double kWorthIt = 0.05;
  constexpr std::size_t kMaxShown = 5;
  std::size_t shown = 0;
  for (const InformativeMeasurementRow& row : most_informative) {
    if (row.within - row.after < kWorthIt || shown == kMaxShown) break;
    if (shown++ == 0) fmt::print("\nMost informative measurements:\n");
    fmt::print("  {} on {} {}: would cut the forecast error from {:.0f}% to {:.0f}%\n",
               row.job_type, row.gpus, row.gpu_type, row.within * 100, row.after * 100);
  }
}

int list(const Globals& globals, const Options& options) {
  const auto site = find_source(globals.publish_dir);
  if (!site) return report_failure(globals, kModelsSchema, kFailed, site.error().text);
  const auto table = read_models(*site);
  if (!table) return report_failure(globals, kModelsSchema, kUnreachable, table.error().text);
  const std::vector<std::string> warnings = warnings_of(*site);
  for (const std::string& warning : warnings) print_warning(warning);
  std::vector<ModelRow> rows = chosen(table->rows, options);
  const std::vector<ForecastRow> forecasts = chosen(table->forecasts, options);
  const std::vector<ErrorRow> errors = chosen(table->errors, options);
  const std::vector<RefusalRow> refusals = chosen(table->refusals, options);
  const std::vector<InformativeMeasurementRow> most_informative =
      chosen(table->most_informative, options);
  if (globals.json) {
    Json json = document(kModelsSchema, "", warnings);
    json["schema"] = kModelsSchema;  // the members of models.json are members of the same object
    json["generated"] = table->generated;
    json["models"] = Json::array();
    for (const ModelRow& row : rows) json["models"].push_back(row_json(row));
    json["forecasts"] = Json::array();
    for (const ForecastRow& row : forecasts) json["forecasts"].push_back(row_json(row));
    json["forecast_errors"] = Json::array();
    for (const ErrorRow& row : errors) json["forecast_errors"].push_back(row_json(row));
    json["refused_fits"] = Json::array();
    for (const RefusalRow& row : refusals) json["refused_fits"].push_back(row_json(row));
    json["lessons"] = Json::array();
    for (const InformativeMeasurementRow& row : most_informative)
      json["lessons"].push_back(row_json(row));
    print_json(json);
    return kOk;
  }
  add_unmeasured(rows, forecasts);
  Forecasts by_place;
  for (const ForecastRow& row : forecasts) by_place.emplace(place_of(row), row);
  Errors by_profile;
  for (const ErrorRow& row : errors)
    by_profile.emplace(std::tuple(row.job_type, row.account, row.shared, row.gpu_type), row);
  if (rows.empty()) {
    fmt::print("{}\n", !table->rows.empty() ? "No profile matches."
                       : warnings.empty()   ? "No job has reported yet."
                                            : "There is no shared profile.");
    return kOk;
  }
  Table text({{"JOBTYPE"},
              {"ACCOUNT"},
              {"GPU"},
              {"GPUS", true},
              {"NODES", true},
              {"PLAN"},
              {"BATCH", true},
              {"SAMPLES", true},
              {"FLAGGED", true},
              {"JOBS", true},
              {"THROUGHPUT", true},
              {"RANGE", true},
              {"FORECAST", true},
              {"STDDEV", true},
              {"ERROR", true},
              {"LAST"}});
  for (const ModelRow& row : rows) {
    std::vector<std::string> cells = observations_of(row);
    const std::vector<std::string> expected = forecast_cells(row, by_place);
    cells.insert(cells.end() - 1, expected.begin(), expected.end());
    cells.insert(cells.end() - 1, error_text(row, by_profile));
    text.add(cells);
  }
  fmt::print("{}", text.text());
  print_flags(rows);
  print_refusals(refusals);
  print_most_informative(most_informative);
  return kOk;
}

int run(const Globals& globals, const Options& options) {
  if (const std::string wrong = wrong_action(options); !wrong.empty()) {
    return report_failure(globals, kModelsSchema, kUsage, "models: " + wrong);
  }
  const std::string action = options.words.empty() ? "list" : options.words.front();
  if (action == "list") return list(globals, options);
  if (!options.file.empty()) {
    // The file says what was measured; of this machine only rubato.conf counts, where there is one.
    const Site here = find_site().value_or(Site{});
    return action == "curve" ? show_curve(globals, options, here)
                             : show_fits(globals, options, here);
  }
  const auto site = find_source(globals.publish_dir);
  if (!site) return report_failure(globals, kModelsSchema, kFailed, site.error().text);
  if (action == "export") return export_profiles(globals, options, *site);
  if (action == "import") return import_profiles(globals, options, *site);
  if (action == "forget") return forget_profiles(globals, options, *site);
  if (action == "curve") return show_curve(globals, options, *site);
  return show_fits(globals, options, *site);
}

std::function<int()> setup(CLI::App& app, const Globals& globals) {
  auto options = std::make_shared<Options>();
  app.add_option("-A,--account", options->account,
                 "Only profiles of these accounts, and shared profiles")
      ->type_name("NAMES");
  app.add_option("-t,--type", options->type, "Only these job types")->type_name("NAMES");
  app.add_option("-g,--gpu-type", options->gpu_type, "Only these GPU types")->type_name("NAMES");
  app.add_option("--format", options->format, "export: format, json (default) or csv")
      ->type_name("FORMAT");
  app.add_option("-o,--output", options->output, "export: write to FILE (atomically)")
      ->type_name("FILE");
  app.add_option("--file", options->file, "fit, curve: read profiles from an exported FILE")
      ->type_name("FILE");
  app.add_option("--before", options->before, "forget: only records older than TIME")
      ->type_name("TIME");
  app.add_flag("--dry-run", options->dry_run,
               "import, forget: check and print what would change, change nothing");
  app.add_option("--gpus", options->gpus, "curve: maximum number of GPUs")
      ->check(CLI::Range(1, kMaxCurveGpus))
      ->type_name("N");
  app.add_option("--batch", options->batch, "curve: global batch of the job, as in --dl-batch")
      ->type_name("RANGE");
  app.add_option("--plans", options->plans, "curve: execution plans of the job, as in --dl-plans")
      ->type_name("PLANS");
  app.add_option("--model", options->model, "curve: model shape of the job, as in --dl-model")
      ->type_name("SHAPE");
  app.add_option("ACTION", options->words,
                 "list (default), show TYPE, curve TYPE, fit [TYPE], export, import FILE, "
                 "forget TYPE");
  return [options, &globals] { return run(globals, *options); };
}

}  // namespace

Command models_command() {
  return {"models", "Measured and forecast throughput of each job type", "[ACTION [NAME]]", &setup};
}

}  // namespace rubato::tools
