// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/models/models_actions.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/nearest.h"
#include "lib/json/record_writer.h"
#include "tools/rubato/models/change_records.h"
#include "tools/rubato/models/models_rows.h"
#include "tools/rubato/models/read_input.h"
#include "tools/rubato/models/site_store.h"
#include "tools/shared/output.h"
#include "tools/shared/write_file.h"

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
  static const std::vector<Action> table{
      {"list", 0, 0, "list", {"--type", "--gpu-type"}},
      {"show", 1, 1, "show TYPE", {"--type", "--gpu-type"}},
      {"curve",
       1,
       1,
       "curve TYPE",
       {"--type", "--gpu-type", "--gpus", "--batch", "--plans", "--model", "--file"}},
      {"fit", 1, 0, "fit [TYPE]", {"--type", "--gpu-type", "--file"}},
      {"export", 0, 0, "export", {"--type", "--gpu-type", "--format", "--output"}},
      {"import", 1, 1, "import FILE", {"--dry-run"}},
      {"forget", 1, 1, "forget TYPE", {"--gpu-type", "--before", "--dry-run"}}};
  return table;
}

/// Options that not every action takes, if they were given.
std::vector<std::string> given(const ModelsOptions& options) {
  std::vector<std::string> given;
  if (!options.type.empty()) given.emplace_back("--type");
  if (!options.gpu_type.empty()) given.emplace_back("--gpu-type");
  if (!options.format.empty()) given.emplace_back("--format");
  if (!options.output.empty()) given.emplace_back("--output");
  if (!options.file.empty()) given.emplace_back("--file");
  if (!options.before.empty()) given.emplace_back("--before");
  if (options.dry_run) given.emplace_back("--dry-run");
  if (options.gpus != 0) given.emplace_back("--gpus");
  if (!options.batch.empty()) given.emplace_back("--batch");
  if (!options.plans.empty()) given.emplace_back("--plans");
  if (!options.model.empty()) given.emplace_back("--model");
  return given;
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
    return fmt::format("'{}': must be one of {}{}", name, fmt::join(names, ", "),
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
      return fmt::format("{} is an option of {}, not of {}", option,
                         fmt::join(takers, takers.size() > 2 ? ", " : " and "), action.name);
    }
  }
  if (name == "import" && options.account.find(',') != std::string::npos) {
    return fmt::format("--account: '{}': import takes only one account", options.account);
  }
  if (!options.format.empty() && options.format != "json" && options.format != "csv") {
    const std::vector<std::string> formats{"csv", "json"};
    return fmt::format("--format: '{}': must be csv or json{}", options.format,
                       did_you_mean(options.format, formats));
  }
  return {};
}

int export_profiles(const Globals& globals, const ModelsOptions& options, const Site& site) {
  auto profiles = read_profiles(site);
  if (!profiles) {
    return report_failure(globals, store::kProfilesSchema, kUnreachable, profiles.error().text);
  }
  if (!profiles->from_store) {
    print_warning(
        "cannot read the database: exporting the rows of models.json, without cores, tasks and "
        "step times");
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
          fmt::format("job type '{}' has no account in the file and is not shared here; name an "
                      "account with --account NAME, or set Shared=yes in its JobType= line",
                      row.type.name));
    }
  }
  std::sort(rows.begin(), rows.end(), store::profile_before);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (!store::profile_before(rows[i - 1], rows[i])) {
      return fail(
          fmt::format("job type '{}': --account would merge two accounts of the file; import one "
                      "account at a time",
                      rows[i].type.name));
    }
  }
  return {};
}

int print_change(const Globals& globals, const store::OrderDone& done, bool import_order,
                 bool dry_run) {
  if (globals.json) {
    Json json = document(kModelsChangeSchema, "");
    json.update(json::json_of(ModelsChange{dry_run, done}));
    print_json(json);
    return kOk;
  }
  const char* would = dry_run ? "Would be " : "";
  if (import_order) {
    fmt::print("{}{} {}\n", dry_run ? "Would be imported: " : "Imported: ", done.imported,
               done.imported == 1 ? "row" : "rows");
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
    return refuse(kNoMatch, known ? "no record is that old, or has that account and GPU type"
                                  : no_such_type(order.job_type, types_of(rows)));
  }
  if (options.dry_run) return print_change(globals, *would, false, true);
  const auto done = give_order(site, order);
  if (!done) return refuse(kFailed, done.error().text);
  return print_change(globals, *done, false, false);
}

}  // namespace rubato::tools
