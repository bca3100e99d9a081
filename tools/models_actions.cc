// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/models_actions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "lib/config/nearest.h"
#include "lib/model/predictor.h"
#include "lib/model/teach.h"
#include "tools/output.h"
#include "tools/own_fields.h"
#include "tools/read_input.h"
#include "tools/site_store.h"
#include "tools/table.h"
#include "tools/write_file.h"

namespace rubato::tools {
namespace {

struct Action {
  const char* name;
  std::size_t words;  ///< behind the name: at most
  std::size_t least;  ///< and at least
  const char* usage;
  std::vector<const char*> options;  ///< of its own
};

const std::vector<Action>& actions() {
  static const std::vector<Action> kActions{
      {"list", 0, 0, "list", {}},
      {"show", 1, 1, "show TYPE", {}},
      {"fit", 1, 0, "fit [TYPE]", {"--file"}},
      {"export", 0, 0, "export", {"--format", "--output"}},
      {"import", 1, 1, "import FILE", {"--dry-run"}},
      {"forget", 1, 1, "forget TYPE", {"--before", "--dry-run"}}};
  return kActions;
}

/// Options that not every action takes, if they were given.
std::vector<std::string> given(const ModelsOptions& options) {
  std::vector<std::string> given;
  if (!options.format.empty()) given.emplace_back("--format");
  if (!options.output.empty()) given.emplace_back("--output");
  if (!options.file.empty()) given.emplace_back("--file");
  if (!options.before.empty()) given.emplace_back("--before");
  if (options.dry_run) given.emplace_back("--dry-run");
  return given;
}

bool chosen(const ModelsOptions& options, const store::ProfileRow& row) {
  return (row.type.shared || wanted(options.account, row.type.account)) &&
         wanted(options.type, row.type.name) && wanted(options.gpu_type, row.gpu_type);
}

/// Job types that say their shape in rubato.conf.
std::map<std::string, ModelShape> shapes_of(const Config& config) {
  std::map<std::string, ModelShape> shapes;
  for (const JobTypeConfig& type : config.job_types) {
    if (type.hints.model) shapes.emplace(type.name, *type.hints.model);
  }
  return shapes;
}

Json fit_json(const FitSummary& fit) {
  Json parameters = Json::object();
  for (const auto& [name, value] : fit.parameters) parameters[name] = value;
  return {{"account", fit.profile.account},
          {"job_type", fit.profile.job_type},
          {"gpu_type", fit.gpu_type},
          {"model", to_string(fit.back_end)},
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
               dashed(fit.gpu_type), to_string(fit.back_end), fmt::format("{}", fit.configurations),
               fmt::format("{}", fit.samples), fmt::format("{:.1f}%", fit.mean_error * 100),
               fmt::format("{:.1f}%", fit.max_error * 100),
               dashed(fmt::format("{}", fmt::join(fit.flags, ",")))});
  }
  fmt::print("{}", table.text());
  if (!parameters) return;
  for (const FitSummary& fit : fits) {
    fmt::print("\n{} on {}, {}:\n", fit.profile.job_type, dashed(fit.gpu_type),
               to_string(fit.back_end));
    for (const auto& [name, value] : fit.parameters) fmt::print("  {:<16}{:.6g}\n", name, value);
  }
}

/// What would teach most of these profiles: on the GPU types of rubato.conf and of the rows.
std::vector<Lesson> lessons_from(const std::vector<store::ProfileRow>& rows, const Config& config) {
  constexpr std::size_t kOfAProfile = 3;
  std::vector<RateCell> cells;
  std::set<std::string> types;
  for (const GpuTypeConfig& type : config.gpu_types) types.insert(type.name);
  for (const store::ProfileRow& row : rows) {
    const store::KindGroup& group = row.group;
    if (row.gpus < 1 || group.samples <= group.flagged) continue;
    if (row.gpu_type.find('+') == std::string::npos) types.insert(row.gpu_type);
    cells.push_back({.profile = {row.type.shared ? "" : row.type.account, row.type.name},
                     .gpu_type = row.gpu_type,
                     .gpus = row.gpus,
                     .rate = group.mean_rate,
                     .samples = group.samples - group.flagged,
                     .nodes = group.nodes,
                     .batch = group.batch,
                     .plan = group.plan});
  }
  if (cells.empty()) return {};
  return lessons(ThroughputModel(TypeSpeeds(config.speeds()), std::move(cells)), types,
                 kOfAProfile);
}

void print_lessons(const std::vector<Lesson>& lessons) {
  if (lessons.empty()) return;
  fmt::print("\nWhat a measurement would teach, most first:\n");
  for (const Lesson& lesson : lessons) {
    fmt::print("  {} on {} {}: forecasts of it within {:.0f}% instead of {:.0f}%\n",
               lesson.profile.job_type, lesson.gpus, lesson.gpu_type,
               100 * std::expm1(std::max(lesson.mean - lesson.reduction, 0.0)),
               100 * std::expm1(lesson.mean));
  }
}

Json lesson_json(const Lesson& lesson) {
  return {{"account", lesson.profile.account},
          {"job_type", lesson.profile.job_type},
          {"gpu_type", lesson.gpu_type},
          {"gpus", lesson.gpus},
          {"within", std::expm1(lesson.mean)},
          {"after", std::expm1(std::max(lesson.mean - lesson.reduction, 0.0))}};
}

/// Rows of a file, or of the site.
Result<std::vector<store::ProfileRow>> rows_to_fit(const ModelsOptions& options, const Site& site) {
  if (!options.file.empty()) {
    return read_bounded_file(options.file).and_then([&](const std::string& text) {
      return store::profiles_from(text, options.file);
    });
  }
  return read_profiles(site).map([](SiteProfiles profiles) { return std::move(profiles.rows); });
}

/// "no profile of job type 'resnt'; did you mean resnet?"
std::string no_such_type(const std::string& type, const std::vector<store::ProfileRow>& rows) {
  std::set<std::string> names;
  for (const store::ProfileRow& row : rows) names.insert(row.type.name);
  const std::vector<std::string> list(names.begin(), names.end());
  const std::string mean = did_you_mean(type, list);
  const std::string known =
      list.empty() ? "; none is known" : fmt::format("; known: {}", fmt::join(list, ", "));
  return fmt::format("no profile of job type '{}'{}", type, mean.empty() ? known : mean);
}

}  // namespace

bool wanted(const std::string& list, const std::string& word) {
  const std::vector<std::string> words = split(list, ',');
  return words.empty() || std::find(words.begin(), words.end(), word) != words.end();
}

std::string wrong_action(const ModelsOptions& options) {
  const std::string name = options.words.empty() ? "list" : options.words.front();
  std::vector<std::string> names;
  for (const Action& action : actions()) names.emplace_back(action.name);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    return fmt::format("'{}' is none of {}{}", name, fmt::join(names, ", "),
                       did_you_mean(name, names));
  }
  const Action& action = actions()[static_cast<std::size_t>(found - names.begin())];
  const std::size_t words = options.words.empty() ? 0 : options.words.size() - 1;
  if (words < action.least) return fmt::format("usage: rubato models {}", action.usage);
  if (words > action.words) {
    return fmt::format("unexpected argument '{}'; usage: rubato models {}",
                       options.words[action.words + 1], action.usage);
  }
  for (const std::string& option : given(options)) {
    if (std::find(action.options.begin(), action.options.end(), option) == action.options.end()) {
      std::vector<std::string> takers;
      for (const Action& other : actions()) {
        if (std::find(other.options.begin(), other.options.end(), option) != other.options.end()) {
          takers.emplace_back(other.name);
        }
      }
      return fmt::format("{} belongs to {}, not to {}", option, fmt::join(takers, " and "),
                         action.name);
    }
  }
  if (!options.format.empty() && options.format != "json" && options.format != "csv") {
    const std::vector<std::string> formats{"csv", "json"};
    return fmt::format("--format: '{}' is none of csv, json{}", options.format,
                       did_you_mean(options.format, formats));
  }
  return {};
}

int show_fits(const Globals& globals, const ModelsOptions& options, const Site& site) {
  const bool show = options.words.front() == "show";
  auto rows = rows_to_fit(options, site);
  if (!rows) return report_failure(globals, kModelsFitsSchema, kUnreachable, rows.error().text);
  const std::string type = options.words.size() > 1 ? options.words[1] : "";
  const auto other = [&](const store::ProfileRow& row) {
    return !type.empty() && row.type.name != type;
  };
  if (!type.empty() && std::all_of(rows->begin(), rows->end(), other)) {
    return report_failure(globals, kModelsFitsSchema, kNoMatch, no_such_type(type, *rows));
  }
  std::erase_if(*rows,
                [&](const store::ProfileRow& row) { return other(row) || !chosen(options, row); });
  const BackEnds back_ends(measured_rows(*rows));
  const std::vector<FitSummary> fits = back_ends.summaries(shapes_of(site.config));
  if (globals.json) {
    Json json = document(kModelsFitsSchema, "");
    json["fits"] = Json::array();
    for (const FitSummary& fit : fits) json["fits"].push_back(fit_json(fit));
    if (show) {
      json["lessons"] = Json::array();
      for (const Lesson& lesson : lessons_from(*rows, site.config))
        json["lessons"].push_back(lesson_json(lesson));
    }
    print_json(json);
    return kOk;
  }
  if (fits.empty()) {
    fmt::print("{}\n", rows->empty() ? "No profile matches."
                                     : "Nothing to fit: reports that name a batch are needed.");
  } else {
    print_fits(fits, show);
  }
  if (show) print_lessons(lessons_from(*rows, site.config));
  return kOk;
}

int export_profiles(const Globals& globals, const ModelsOptions& options, const Site& site) {
  auto profiles = read_profiles(site);
  if (!profiles) {
    return report_failure(globals, store::kProfilesSchema, kUnreachable, profiles.error().text);
  }
  if (!profiles->from_store) {
    print_warning(
        "the database cannot be read: what models.json shows is exported, without cores, tasks and "
        "times of parts");
  }
  std::erase_if(profiles->rows,
                [&](const store::ProfileRow& row) { return !chosen(options, row); });
  const bool csv = options.format == "csv";
  const std::string text = csv ? store::profiles_to_csv(std::move(profiles->rows))
                               : store::profiles_to_json(std::move(profiles->rows));
  const auto written = write_whole(options.output, text);
  if (!written) {
    return report_failure(globals, store::kProfilesSchema, kFailed, written.error().text);
  }
  return kOk;
}

namespace {

/// Whose the rows are here: what the file says, or --account; shared where this site shares.
Result<void> settle_owners(const ModelsOptions& options, const Site& site,
                           std::vector<store::ProfileRow>& rows) {
  const Config& config = site.config;
  // Without accounting no job has an account.
  const bool accounts =
      !site.slurm.get_or("AccountingStorageType", "accounting_storage/none").ends_with("none");
  for (store::ProfileRow& row : rows) {
    const JobTypeConfig* line = config.job_type(row.type.name);
    row.type.shared = line != nullptr && line->shared;
    if (!options.account.empty()) row.type.account = options.account;
    if (row.type.shared) {
      row.type.account.clear();
    } else if (accounts && row.type.account.empty()) {
      return fail(
          fmt::format("job type '{}' has no account in the file, and is not shared by all "
                      "here; say whose it is with --account NAME, or set Shared=yes in its "
                      "JobType= line",
                      row.type.name));
    }
  }
  std::sort(rows.begin(), rows.end(), store::profile_before);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (!store::profile_before(rows[i - 1], rows[i])) {
      return fail(
          fmt::format("job type '{}': two accounts of the file would become one; import "
                      "one at a time with --account",
                      rows[i].type.name));
    }
  }
  return {};
}

int print_change(const Globals& globals, const store::OrderDone& done, bool import_order,
                 bool dry_run) {
  if (globals.json) {
    Json json = document(kModelsChangeSchema, "");
    json["dry_run"] = dry_run;
    json["imported"] = done.imported;
    json["forgotten"] = {{"samples", done.samples}, {"imported", done.rows}, {"fits", done.fits}};
    print_json(json);
    return kOk;
  }
  const char* would = dry_run ? "Would be " : "";
  if (import_order) {
    fmt::print("{}{} rows\n", dry_run ? "Would be imported: " : "Imported: ", done.imported);
    return kOk;
  }
  fmt::print("{}{}: {} samples, {} imported rows, {} fits\n", would,
             dry_run ? "forgotten" : "Forgotten", done.samples, done.rows, done.fits);
  return kOk;
}

}  // namespace

int import_profiles(const Globals& globals, const ModelsOptions& options, const Site& site) {
  const std::string& file = options.words[1];
  const auto refuse = [&](Exit exit, const std::string& text) {
    return report_failure(globals, kModelsChangeSchema, exit, text);
  };
  const auto text = read_bounded_file(file);
  if (!text) return refuse(kFailed, text.error().text);
  auto rows = store::profiles_from(*text, file == "-" ? "standard input" : file);
  if (!rows) return refuse(kFailed, rows.error().text);
  if (const auto owners = settle_owners(options, site, *rows); !owners) {
    return refuse(kFailed, fmt::format("{}: {}", file, owners.error().text));
  }
  if (options.dry_run) {
    const store::OrderDone would{.imported = static_cast<std::int64_t>(rows->size())};
    return print_change(globals, would, true, true);
  }
  if (const std::string why = why_not_admin(site); !why.empty()) return refuse(kFailed, why);
  const auto done = give_order(site, store::ImportOrder{std::move(*rows)});
  if (!done) return refuse(kFailed, done.error().text);
  return print_change(globals, *done, true, false);
}

int forget_profiles(const Globals& globals, const ModelsOptions& options, const Site& site) {
  const auto refuse = [&](Exit exit, const std::string& text) {
    return report_failure(globals, kModelsChangeSchema, exit, text);
  };
  store::ForgetOrder order;
  order.job_type = options.words[1];
  if (!options.account.empty()) order.account = options.account;
  if (!options.gpu_type.empty()) order.gpu_type = options.gpu_type;
  if (!options.before.empty()) {
    const auto time = parse_time(options.before);
    if (!time) return refuse(kUsage, fmt::format("models: --before: {}", time.error().text));
    order.before = *time;
  }
  if (const std::string why = why_not_admin(site); !why.empty()) return refuse(kFailed, why);
  const auto reader = open_site_store(site);
  if (!reader) return refuse(kUnreachable, reader.error().text);
  const auto would = reader->count_forgotten(order);
  if (!would) return refuse(kUnreachable, would.error().text);
  if (*would == store::OrderDone{}) {
    const auto profiles = read_profiles(site);
    std::vector<store::ProfileRow> rows;
    if (profiles) rows = profiles->rows;
    const bool known = std::any_of(rows.begin(), rows.end(), [&](const store::ProfileRow& row) {
      return row.type.name == order.job_type;
    });
    return refuse(kNoMatch, known ? "nothing is that old, or of that account and GPU type"
                                  : no_such_type(order.job_type, rows));
  }
  if (options.dry_run) return print_change(globals, *would, false, true);
  const auto done = give_order(site, order);
  if (!done) return refuse(kFailed, done.error().text);
  return print_change(globals, *done, false, false);
}

}  // namespace rubato::tools
