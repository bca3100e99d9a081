// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato models`: how fast jobs were measured to be, by job type, GPU type and number of GPUs.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "lib/config/nearest.h"
#include "tools/command.h"
#include "tools/output.h"
#include "tools/own_fields.h"
#include "tools/published.h"
#include "tools/source.h"
#include "tools/table.h"

namespace rubato::tools {
namespace {

struct Options {
  std::string account;
  std::string type;
  std::string gpu_type;
};

bool wanted(const std::string& list, const std::string& word) {
  const std::vector<std::string> words = split(list, ',');
  return words.empty() || std::find(words.begin(), words.end(), word) != words.end();
}

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

/// "16%": two of three jobs should be within so much of the forecast.
std::string within_text(const ForecastRow& row) {
  return fmt::format("{:.0f}%", (row.rate_high / row.rate - 1) * 100);
}

std::string or_unknown(const std::string& text) { return text.empty() ? kUnknown : text; }

/// The width of the range of rates, in percent of their mean.
std::string spread_text(const ModelRow& row) {
  if (row.rate_mean <= 0) return kUnknown;
  return fmt::format("{:.0f}%", (row.rate_max - row.rate_min) / row.rate_mean * 100);
}

std::vector<std::string> cells_of(const ModelRow& row) {
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
          measured ? rate_text(row.rate_mean) : kUnknown,
          measured ? spread_text(row) : kUnknown,
          row.last > 0 ? format_time(row.last) : kUnknown};
}

/// Rate and uncertainty of the forecast for a row; "-" where there is none.
std::vector<std::string> forecast_cells(const ModelRow& row, const Forecasts& forecasts) {
  const auto found = forecasts.find(place_of(row));
  if (found == forecasts.end() || found->second.rate <= 0) return {kUnknown, kUnknown};
  return {rate_text(found->second.rate), within_text(found->second)};
}

Json row_json(const ForecastRow& row) {
  return {{"account", row.account},   {"job_type", row.job_type},   {"shared", row.shared},
          {"gpu_type", row.gpu_type}, {"gpus", row.gpus},           {"rate", row.rate},
          {"rate_low", row.rate_low}, {"rate_high", row.rate_high}, {"samples", row.samples}};
}

Json row_json(const ModelRow& row) {
  return {{"account", row.account},   {"job_type", row.job_type}, {"shared", row.shared},
          {"gpu_type", row.gpu_type}, {"gpus", row.gpus},         {"nodes", row.nodes},
          {"plan", row.plan},         {"batch", row.batch},       {"samples", row.samples},
          {"flagged", row.flagged},   {"jobs", row.jobs},         {"rate_mean", row.rate_mean},
          {"rate_min", row.rate_min}, {"rate_max", row.rate_max}, {"rate_last", row.rate_last},
          {"last", row.last}};
}

/// What of Slurm's configuration keeps from this user.
std::vector<std::string> warnings_of(const Site& site) {
  const std::vector<std::string> hidden = split(lower(site.slurm.get_or("PrivateData", "")), ',');
  const bool hides = std::any_of(hidden.begin(), hidden.end(), [](const std::string& word) {
    return word == "jobs" || word == "usage" || word == "accounts" || word == "all";
  });
  if (!hides || sees_all(site, "models.json")) return {};
  return {
      fmt::format("PrivateData={} in slurm.conf: only profiles that all accounts share are "
                  "shown; root and SlurmUser see all",
                  site.slurm.get_or("PrivateData", ""))};
}

int run(const Globals& globals, const Options& options) {
  const auto site = find_source(globals.publish_dir);
  if (!site) return report_failure(globals, kModelsSchema, kFailed, site.error().text);
  const auto table = read_models(*site);
  if (!table) return report_failure(globals, kModelsSchema, kUnreachable, table.error().text);
  const std::vector<std::string> warnings = warnings_of(*site);
  for (const std::string& warning : warnings) print_warning(warning);
  std::vector<ModelRow> rows = chosen(table->rows, options);
  const std::vector<ForecastRow> forecasts = chosen(table->forecasts, options);
  if (globals.json) {
    Json json = document(kModelsSchema, "", warnings);
    json["schema"] = kModelsSchema;  // the members of models.json stand beside the head
    json["generated"] = table->generated;
    json["models"] = Json::array();
    for (const ModelRow& row : rows) json["models"].push_back(row_json(row));
    json["forecasts"] = Json::array();
    for (const ForecastRow& row : forecasts) json["forecasts"].push_back(row_json(row));
    print_json(json);
    return kOk;
  }
  add_unmeasured(rows, forecasts);
  Forecasts by_place;
  for (const ForecastRow& row : forecasts) by_place.emplace(place_of(row), row);
  if (rows.empty()) {
    fmt::print("{}\n", !table->rows.empty() ? "No profile matches."
                       : warnings.empty()   ? "No job has reported yet."
                                            : "No profile is shared.");
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
              {"RATE", true},
              {"SPREAD", true},
              {"FORECAST", true},
              {"WITHIN", true},
              {"LAST"}});
  for (const ModelRow& row : rows) {
    std::vector<std::string> cells = cells_of(row);
    const std::vector<std::string> expected = forecast_cells(row, by_place);
    cells.insert(cells.end() - 1, expected.begin(), expected.end());
    text.add(cells);
  }
  fmt::print("{}", text.text());
  return kOk;
}

std::function<int()> setup(CLI::App& app, const Globals& globals) {
  auto options = std::make_shared<Options>();
  app.add_option("-A,--account", options->account,
                 "Only profiles of these accounts, and those that all accounts share")
      ->type_name("NAMES");
  app.add_option("-t,--type", options->type, "Only these job types")->type_name("NAMES");
  app.add_option("-g,--gpu-type", options->gpu_type, "Only these types of GPU")->type_name("NAMES");
  return [options, &globals] { return run(globals, *options); };
}

}  // namespace

Command models_command() {
  return {"models", "How fast jobs of each type were measured to be", "", &setup};
}

}  // namespace rubato::tools
