// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato validate`: the errors of the models on measured data, and whether they are small enough.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "lib/base/nearest.h"
#include "lib/validate/validate.h"
#include "lib/validate/validate_bert.h"
#include "lib/validate/validate_gavel.h"
#include "lib/validate/validate_left_out.h"
#include "lib/validate/validate_rubick.h"
#include "lib/validate/validate_sia.h"
#include "tools/rubato/simulate/launched.h"
#include "tools/rubato/validate/store_replay.h"
#include "tools/shared/command.h"
#include "tools/shared/command_line.h"
#include "tools/shared/output.h"
#include "tools/shared/site.h"
#include "tools/shared/table.h"

namespace rubato::tools {
namespace {

constexpr const char* kValidateSchema = "rubato.validate/1";

/// A data set that models are held to.
struct SectionMaker {
  const char* name;
  Result<ValidateSection> (*make)(const std::string& data_dir);
};

std::span<const SectionMaker> sections() {
  static const std::vector<SectionMaker> table{{"bert", &validate_bert},
                                               {"rubick", &validate_rubick},
                                               {"gavel", &validate_gavel},
                                               {"sia", &validate_sia},
                                               {"left-out", &validate_left_out}};
  return table;
}

struct Options {
  std::string data;
  std::vector<std::string> names;
  std::string store;
  std::string config;
};

struct NamedSection {
  std::string name;
  ValidateSection found;
};

/// What is being measured, on the last line of a terminal while it lasts.
class Progress {
 public:
  void show(const std::string& name, std::size_t number, std::size_t of) const {
    if (!on_) return;
    fmt::print(stderr, "\r\033[Kvalidating {} ({} of {}) ...", name, number, of);
    std::fflush(stderr);
  }
  void clear() const {
    if (!on_) return;
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
  }

 private:
  bool on_ = ::isatty(STDERR_FILENO) != 0;
};

/// What is wrong with the words of the command line; "" if nothing is.
std::string complaint(const Options& options) {
  if (!options.store.empty()) {
    const char* other = !options.data.empty() ? "--data" : "--section";
    const bool both = !options.data.empty() || !options.names.empty();
    return both ? fmt::format("--store and {} exclude each other", other) : "";
  }
  if (!options.config.empty()) return "--config requires --store";
  if (options.data.empty()) return "missing data directory: set --data DIR or RUBATO_DATA";
  std::vector<std::string> names;
  for (const SectionMaker& section : sections()) names.emplace_back(section.name);
  for (const std::string& name : options.names) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string mean = did_you_mean(name, names);
    return fmt::format("--section: '{}': must be one of {}{}", name, fmt::join(names, ", "), mean);
  }
  return {};
}

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool wanted(const Options& options, const char* name) {
  return options.names.empty() ||
         std::find(options.names.begin(), options.names.end(), name) != options.names.end();
}

Result<std::vector<NamedSection>> measure(const Options& options) {
  std::vector<SectionMaker> chosen;
  for (const SectionMaker& section : sections()) {
    if (wanted(options, section.name)) chosen.push_back(section);
  }
  std::vector<NamedSection> measured;
  const Progress progress;
  for (const SectionMaker& section : chosen) {
    progress.show(section.name, measured.size() + 1, chosen.size());
    auto found = section.make(options.data);
    progress.clear();
    if (!found) return fail(fmt::format("{}: {}", section.name, found.error().text));
    measured.push_back({section.name, std::move(*found)});
  }
  return measured;
}

bool all_hold(const std::vector<NamedSection>& measured) {
  return std::all_of(measured.begin(), measured.end(), [](const NamedSection& section) {
    const auto& gates = section.found.gates;
    return std::all_of(gates.begin(), gates.end(), [](const auto& gate) { return gate.second; });
  });
}

/// JSON has no number for what is not finite: null.
Json number_json(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == std::floor(value) && std::abs(value) < 1e15) return static_cast<std::int64_t>(value);
  return value;
}

Json cell_json(const ValidatedObservation& observation) {
  return {{"source", observation.source},
          {"model", observation.model},
          {"plan", observation.plan},
          {"fit_samples", observation.fit_samples},
          {"test_rows", observation.test_rows},
          {"mean_error", number_json(observation.mean_error)},
          {"max_error", number_json(observation.max_error)}};
}

void print_as_json(const std::vector<NamedSection>& measured) {
  Json json = document(kValidateSchema, "");
  json["schema"] = kValidateSchema;
  json["cells"] = Json::array();
  json["summary"] = Json::object();
  json["notes"] = Json::array();
  Json gates = Json::object();
  for (const NamedSection& section : measured) {
    for (const ValidatedObservation& observation : section.found.observations)
      json["cells"].push_back(cell_json(observation));
    Json& summary = json["summary"][section.name] = Json::object();
    for (const auto& [key, value] : section.found.summary) summary[key] = number_json(value);
    for (const auto& [gate, holds] : section.found.gates) gates[gate] = holds;
    for (const std::string& note : section.found.notes) {
      json["notes"].push_back({{"section", section.name}, {"text", note}});
    }
  }
  json["summary"]["gates"] = std::move(gates);
  print_json(json);
}

std::string percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.2f}%", share * 100) : "-";
}

std::string figure(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                              : fmt::format("{:.4f}", value);
}

/// With their sources where these differ.
std::string cells_text(const std::vector<ValidatedObservation>& observations) {
  const bool sources =
      std::ranges::any_of(observations, [&](const ValidatedObservation& observation) {
        return observation.source != observations.front().source;
      });
  std::vector<TableColumn> columns{{"MODEL"},      {"PLAN"},       {"FIT", true},
                                   {"TEST", true}, {"MEAN", true}, {"MAX", true}};
  if (sources) columns.insert(columns.begin(), TableColumn{"SOURCE"});
  Table table(columns);
  for (const ValidatedObservation& observation : observations) {
    std::vector<std::string> row{observation.model,
                                 observation.plan.empty() ? "-" : observation.plan,
                                 fmt::format("{}", observation.fit_samples),
                                 fmt::format("{}", observation.test_rows),
                                 percent(observation.mean_error),
                                 percent(observation.max_error)};
    if (sources) row.insert(row.begin(), observation.source);
    table.add(row);
  }
  return table.text();
}

void print_as_text(const std::vector<NamedSection>& measured, bool color) {
  bool first = true;
  for (const auto& [name, found] : measured) {
    fmt::print("{}{}\n\n", first ? "" : "\n", paint(name, Color::kBold, color));
    first = false;
    if (!found.observations.empty()) fmt::print("{}\n", cells_text(found.observations));
    Table summary({{"FIGURE"}, {"VALUE", true}});
    for (const auto& [key, value] : found.summary) summary.add({key, figure(value)});
    fmt::print("{}", summary.text());
    if (!found.notes.empty()) fmt::print("\n");
    for (const std::string& note : found.notes) {
      const auto lines = wrap(note, 76);
      for (std::size_t i = 0; i < lines.size(); ++i) {
        fmt::print("{} {}\n", i == 0 ? "-" : " ", lines[i]);
      }
    }
    if (!found.gates.empty()) fmt::print("\n");
    for (const auto& [gate, holds] : found.gates) {
      fmt::print("{} {}\n",
                 paint(holds ? "ok  " : "FAIL", holds ? Color::kGreen : Color::kRed, color), gate);
    }
  }
}

int run_store(const Globals& globals, const Options& options) {
  Config config;
  if (!options.config.empty()) {
    const auto loaded = load_config(options.config);
    if (!loaded) {
      return report_failure(globals, kValidateSchema, kUnreachable, loaded.error().text);
    }
    if (!loaded->present) {
      return report_failure(globals, kValidateSchema, kUnreachable,
                            "--config: " + options.config + ": No such file or directory");
    }
    config = loaded->config;
  }
  auto found = replay_store(options.store, config);
  if (!found) return report_failure(globals, kValidateSchema, kUnreachable, found.error().text);
  const std::vector<NamedSection> measured{{"store", std::move(*found)}};
  if (globals.json)
    print_as_json(measured);
  else
    print_as_text(measured, use_color(globals));
  return all_hold(measured) ? kOk : kFailed;
}

int run(const Globals& globals, Options& options) {
  if (options.data.empty() && options.store.empty()) {
    const char* said = std::getenv("RUBATO_DATA");  // NOLINT(concurrency-mt-unsafe)
    if (said != nullptr) options.data = said;
  }
  if (const std::string wrong = complaint(options); !wrong.empty()) {
    return report_failure(globals, kValidateSchema, kUsage, "validate: " + wrong);
  }
  if (!options.store.empty()) return run_store(globals, options);
  if (!is_folder(options.data)) {
    return report_failure(globals, kValidateSchema, kUnreachable,
                          fmt::format("--data: '{}' is not a directory", options.data));
  }
  const auto measured = measure(options);
  if (!measured) {
    return report_failure(globals, kValidateSchema, kUnreachable, measured.error().text);
  }
  if (globals.json) {
    print_as_json(*measured);
  } else {
    print_as_text(*measured, use_color(globals));
  }
  return all_hold(*measured) ? kOk : kFailed;
}

std::function<int()> setup(CommandLine& line, const Globals& globals) {
  auto options = std::make_shared<Options>();
  line.text("-d,--data", options->data, "DIR",
            "Directory of the measured data (default: RUBATO_DATA)");
  line.list("-s,--section", options->names, "NAMES", "Only these data sets");
  line.text("--store", options->store, "FILE",
            "Predict each report of this rubato.db from those before it");
  line.text("--config", options->config, "FILE", "With --store: the rubato.conf to use");
  return [options, &globals] { return run(globals, *options); };
}

}  // namespace

Command validate_command() { return {kValidateName, kValidateSummary, "", &setup}; }

}  // namespace rubato::tools
