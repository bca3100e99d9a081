// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato models`: how fast jobs were measured to be, by job type, GPU type and number of GPUs; and
// the actions on these profiles, which stand in models_actions.cc.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "lib/base/nearest.h"
#include "lib/json/models_table_records.h"
#include "lib/json/record_writer.h"
#include "lib/model/plans/plan_curve.h"
#include "tools/rubato/models/models_actions.h"
#include "tools/rubato/models/models_rows.h"
#include "tools/shared/command.h"
#include "tools/shared/command_line.h"
#include "tools/shared/output.h"
#include "tools/shared/own_fields.h"
#include "tools/shared/published.h"
#include "tools/shared/record_table.h"
#include "tools/shared/source.h"

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

std::string or_unknown(const std::string& text) { return text.empty() ? kUnknown : text; }

/// A row with the forecast and the forecast error for it, before the time of its last report.
ColumnCollector cells_of_row(const ModelRow& row, const Forecasts& forecasts,
                             const Errors& errors) {
  const auto forecast = forecasts.find(place_of(row));
  const auto error = errors.find({row.job_type, row.account, row.shared, row.gpu_type});
  ColumnCollector cells = cells_of(row);
  cells.insert_before_last(
      cells_of(forecast != forecasts.end() ? forecast->second : ForecastRow{}));
  cells.insert_before_last(cells_of(error != errors.end() ? error->second : ErrorRow{}));
  return cells;
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

/// Configurations that a single job measured; imported ones have no jobs of this site.
void print_unproven(const std::vector<ModelRow>& rows) {
  bool first = true;
  for (const ModelRow& row : rows) {
    if (row.jobs != 1 || !row.measured()) continue;
    if (std::exchange(first, false))
      fmt::print("\nUnproven (measured by one job; bounded by other measurements):\n");
    fmt::print("  {} on {} {}\n", row.job_type, row.gpus, or_unknown(row.gpu_type));
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

/// Configurations that the fit does not have for themselves.
void print_merged(const ModelsTable& table) {
  if (table.merged > 0 || table.dropped > 0) fmt::print("\n");
  if (table.merged > 0) {
    fmt::print(
        "Merged with similar configurations in the model fit (maximum {} configurations): {}\n",
        ThroughputModel::kMaxObservations, table.merged);
  }
  if (table.dropped > 0)
    fmt::print("Not in the model fit (fewest reports): {} configurations\n", table.dropped);
}

/// What is worth measuring: a few lines, only where a forecast would gain by a twentieth.
void print_most_informative(const std::vector<InformativeMeasurementRow>& most_informative) {
  constexpr double kWorthIt = 0.05;
  constexpr std::size_t kMaxShown = 5;
  std::size_t shown = 0;
  for (const InformativeMeasurementRow& row : most_informative) {
    if (row.within - row.after < kWorthIt || shown == kMaxShown) break;
    if (shown++ == 0) fmt::print("\nMost informative measurements:\n");
    fmt::print("  {} on {} {}: would cut the mean STDDEV of the job type from {:.0f}% to {:.0f}%\n",
               row.job_type, row.gpus, row.gpu_type, row.within * 100, row.after * 100);
  }
}

void print_table(const std::vector<ModelRow>& rows, const ModelsTable& table) {
  Forecasts forecasts;
  for (const ForecastRow& row : table.forecasts) forecasts.emplace(place_of(row), row);
  Errors errors;
  for (const ErrorRow& row : table.errors)
    errors.emplace(std::tuple(row.job_type, row.account, row.shared, row.gpu_type), row);
  std::vector<ColumnCollector> lines;
  for (const ModelRow& row : rows) lines.push_back(cells_of_row(row, forecasts, errors));
  fmt::print("{}", table_of(lines));
}

int list(const Globals& globals, const Options& options) {
  const auto site = find_source(globals.publish_dir);
  if (!site) return report_failure(globals, kModelsSchema, kFailed, site.error().text);
  const auto table = read_models(*site);
  if (!table) return report_failure(globals, kModelsSchema, kUnreachable, table.error().text);
  const std::vector<std::string> warnings = warnings_of(*site);
  for (const std::string& warning : warnings) print_warning(warning);
  const ModelsTable shown{.generated = table->generated,
                          .rows = chosen(table->rows, options),
                          .forecasts = chosen(table->forecasts, options),
                          .errors = chosen(table->errors, options),
                          .refusals = chosen(table->refusals, options),
                          .most_informative = chosen(table->most_informative, options),
                          .merged = table->merged,
                          .dropped = table->dropped};
  if (globals.json) {
    Json json = document(kModelsSchema, "", warnings);
    json["schema"] = kModelsSchema;  // the members of models.json are members of the same object
    json.update(json::json_of(shown));
    print_json(json);
    return kOk;
  }
  std::vector<ModelRow> rows = shown.rows;
  add_unmeasured(rows, shown.forecasts);
  if (rows.empty()) {
    fmt::print("{}\n", !table->rows.empty() ? "No profile matches."
                       : warnings.empty()   ? "No job has reported yet."
                                            : "There is no shared profile.");
    return kOk;
  }
  print_table(rows, shown);
  print_unproven(rows);
  print_flags(rows);
  print_refusals(shown.refusals);
  print_merged(shown);
  print_most_informative(shown.most_informative);
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

std::function<int()> setup(CommandLine& line, const Globals& globals) {
  auto options = std::make_shared<Options>();
  line.text("-A,--account", options->account, "NAMES",
            "Only profiles of these accounts, and shared profiles");
  line.text("-t,--type", options->type, "NAMES", "Only these job types");
  line.text("-g,--gpu-type", options->gpu_type, "NAMES", "Only these GPU types");
  line.text("--format", options->format, "FORMAT", "export: format, json (default) or csv");
  line.text("-o,--output", options->output, "FILE", "export: write to FILE (atomically)");
  line.text("--file", options->file, "FILE", "fit, curve: read profiles from an exported FILE");
  line.text("--before", options->before, "TIME", "forget: only records older than TIME");
  line.flag("--dry-run", options->dry_run,
            "import, forget: check and print what would change, change nothing");
  line.number("--gpus", options->gpus, 1, kMaxCurveGpus, "N", "curve: maximum number of GPUs");
  line.text("--batch", options->batch, "RANGE", "curve: global batch of the job, as in --dl-batch");
  line.text("--plans", options->plans, "PLANS",
            "curve: execution plans of the job, as in --dl-plans");
  line.text("--model", options->model, "SHAPE", "curve: model shape of the job, as in --dl-model");
  line.arguments("ACTION", options->words,
                 "list (default), show TYPE, curve TYPE, fit [TYPE], export, import FILE, "
                 "forget TYPE");
  return [options, &globals] { return run(globals, *options); };
}

}  // namespace

Command models_command() {
  return {"models", "Measured and forecast throughput of each job type", "[ACTION [NAME]]", &setup};
}

}  // namespace rubato::tools
