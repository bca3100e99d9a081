// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/simulate/simulate_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>

#include "lib/base/nearest.h"
#include "lib/json/json.h"
#include "lib/sim/engine/cluster_snapshot.h"
#include "lib/sim/engine/config_lines.h"
#include "tools/rubato/models/read_input.h"
#include "tools/shared/output.h"
#include "tools/shared/published.h"
#include "tools/shared/site.h"
#include "tools/shared/source.h"

namespace rubato::tools {
namespace {

constexpr int kMaxSeeds = 1000;

template <typename Entries>
std::vector<std::string> names_of(const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(entry.name);
  return names;
}

/// All of `text` as a number, without sign or spaces; nullopt if it does not fit the type.
template <typename Number>
std::optional<Number> number_of(const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (text.starts_with('-') || read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return number;
}

/// Parses the given numbers. Returns what is wrong with one of them, or "".
std::string read_numbers(SimulateOptions& options) {
  if (!options.seed_said.empty()) {
    const auto seed = number_of<std::uint64_t>(options.seed_said);
    if (!seed) {
      return fmt::format("--seed: '{}': expected a whole number from 0 to 18446744073709551615",
                         options.seed_said);
    }
    options.seed = *seed;
  }
  if (!options.seeds_said.empty()) {
    const auto seeds = number_of<int>(options.seeds_said);
    if (!seeds || *seeds < 1 || *seeds > kMaxSeeds) {
      return fmt::format("--seeds: '{}': expected a whole number from 1 to {}", options.seeds_said,
                         kMaxSeeds);
    }
    options.seeds = *seeds;
  }
  if (!options.jobs_said.empty()) {
    const auto jobs = number_of<std::size_t>(options.jobs_said);
    if (!jobs || *jobs == 0) {
      return fmt::format("--jobs: '{}': expected a whole number of at least 1", options.jobs_said);
    }
    options.jobs = *jobs;
  }
  if (!options.until_said.empty()) {
    const auto until = number_of<double>(options.until_said);
    if (!until || !std::isfinite(*until) || *until <= 0) {
      return fmt::format("--until: '{}': expected a finite number of seconds above 0",
                         options.until_said);
    }
    options.until = *until;
  }
  return {};
}

/// Reports two options of which one would be ignored silently, or "".
std::string contradiction(const SimulateOptions& options) {
  struct Said {
    const char* name;
    bool said;
  };
  const Said suite{"--suite", !options.suites.empty()};
  const Said workload{"--workload", !options.workload.empty()};
  const Said sacct{"--from-sacct", options.from_sacct};
  const Said format{"--format", !options.format.empty()};
  const Said profiles{"--profiles", !options.profiles.empty()};
  const Said cluster{"--cluster", !options.cluster.empty()};
  const Said gates{"--gates", options.gates};
  const Said config{"--config", !options.config.empty()};
  const Said jobs{"--jobs", options.jobs > 0};
  const Said until{"--until", options.until > 0};
  const Said list{"--list", options.list};
  const Said policy{"--policy", !options.policies.empty()};
  const Said json{"--json", options.json_said};
  const Said csv{"--csv", !options.csv.empty()};
  const Said report{"--report", !options.report.empty()};
  const Said write{"--write-workload", options.write_said};
  const Said seeds{"--seeds", options.seeds > 1};
  const std::pair<Said, std::vector<Said>> pairs[] = {
      {gates, {jobs, until, workload, sacct, write, cluster, format, profiles, config, seeds}},
      {suite, {workload, sacct, cluster, format, profiles}},
      {sacct, {workload, format, profiles, seeds}},
      {write, {config, until, json, csv, report, seeds}},
      {list, {gates, suite, workload, sacct, write, policy, json, csv, report, seeds}},
  };
  for (const auto& [one, others] : pairs) {
    for (const Said& other : others) {
      if (one.said && other.said) {
        return fmt::format("{} and {} exclude each other", one.name, other.name);
      }
    }
  }
  return {};
}

/// The last published snapshot for "@", else that of the file after it.
Result<std::string> snapshot_text(const std::string& file, const std::string& publish_dir) {
  if (!file.empty()) return read_bounded_file(file);
  const auto site = find_source(publish_dir);
  if (!site) return tl::unexpected(site.error());
  auto published = read_snapshot(*site);
  if (!published) return tl::unexpected(published.error());
  return std::move(published->text);
}

tl::unexpected<InputError> wrong_word(std::string text) {
  return tl::unexpected<InputError>(InputError{std::move(text), true});
}

tl::unexpected<InputError> not_read(std::string text) {
  return tl::unexpected<InputError>(InputError{std::move(text), false});
}

/// A shape, or @FILE for the shape of a snapshot.
tl::expected<sim::SnapshotShape, InputError> read_cluster(const std::string& said,
                                                          const std::string& publish_dir) {
  if (said.empty()) {
    return wrong_word(
        "a workload needs --cluster TYPE:NODESxGPUS,..., for example t4:6x4,a100:2x8, or --cluster "
        "@FILE with the output of rubato snapshot");
  }
  if (!said.starts_with('@')) {
    auto cluster = sim::parse_cluster_shape(said);
    if (!cluster) return wrong_word("--" + cluster.error().text);
    return sim::SnapshotShape{std::move(*cluster), {}};
  }
  const auto text = snapshot_text(said.substr(1), publish_dir);
  if (!text) return not_read("--cluster: " + text.error().text);
  const auto snapshot = snapshot_from_json(*text);
  if (!snapshot) return not_read(fmt::format("--cluster: {}: {}", said, snapshot.error().text));
  auto shape = sim::shape_of(*snapshot);
  if (!shape) return not_read(fmt::format("--cluster: {}: {}", said, shape.error().text));
  if (test_off(ToolMechanism::kSnapshotShape)) shape->cluster.groups.resize(1);
  shape->notes.insert(
      shape->notes.begin(),
      fmt::format("Cluster of {}: {}.", said == "@" ? "the last snapshot" : said.substr(1),
                  shape->cluster.text()));
  return std::move(*shape);
}

tl::expected<sim::Suite, InputError> read_workload(const SimulateOptions& options,
                                                   const std::string& publish_dir,
                                                   std::vector<std::string>& notes) {
  const auto all = sim::formats();
  const auto format = std::find_if(all.begin(), all.end(), [&](const sim::FormatEntry& one) {
    return one.name == options.format;
  });
  if (format == all.end()) {
    return wrong_word(fmt::format("--format: '{}': must be one of {}{}", options.format,
                                  fmt::join(names_of(all), ", "),
                                  did_you_mean(options.format, names_of(all))));
  }
  if (format->needs_profiles && options.profiles.empty()) {
    return wrong_word(
        fmt::format("format {} needs --profiles PATH: {}", format->name, format->summary));
  }
  auto shape = read_cluster(options.cluster, publish_dir);
  if (!shape) return tl::unexpected(shape.error());
  notes = std::move(shape->notes);
  if (options.from_sacct && options.cluster.starts_with('@')) {
    // A snapshot counts cores, sacct counts CPUs.
    for (sim::NodeGroup& group : shape->cluster.groups) group.cores = 0, group.memory = 0;
    notes.emplace_back(
        "Cores and memory are unlimited in this simulation; a SHAPE can limit them.");
  }
  auto suite = format->read(options.workload, options.profiles, shape->cluster);
  if (!suite) return not_read(suite.error().text);
  if (suite->name.empty()) suite->name = options.workload;
  return std::move(*suite);
}

/// Applies --limits and --jobs.
void shape_by(const SimulateOptions& options, sim::Suite& suite) {
  if (options.limits) suite.limits = *options.limits;
  // Jobs that run when a history begins are not of its workload.
  const std::size_t before = options.format == "sacct" ? suite.window.first : 0;
  if (options.jobs == 0 || options.jobs >= suite.jobs.size() - before) return;
  suite.jobs.resize(before + options.jobs);
  suite.window = {};
  suite.window.first = before;
  suite.published.clear();  // those are of the whole workload
}

/// Warns of jobs that can never run. The peers' loops have their own rules for that.
void warn_of_never(const sim::Suite& suite, bool history = false) {
  if (suite.rules != nullptr && !history) return;
  const std::string never = sim::never_run_text(*suite.truth, suite.cluster, suite.jobs);
  if (!never.empty()) print_warning(fmt::format("simulate: {}: {}", suite.name, never));
}

}  // namespace

tl::expected<SimulateInput, InputError> read_input(const SimulateOptions& options,
                                                   const std::string& publish_dir) {
  SimulateInput input;
  std::vector<sim::Suite>& suites = input.suites;
  if (!options.workload.empty()) {
    auto suite = read_workload(options, publish_dir, input.notes);
    if (!suite) return tl::unexpected(suite.error());
    warn_of_never(*suite, options.format == "sacct");
    suites.push_back(std::move(*suite));
  }
  std::vector<std::string> wanted = options.suites;
  if (options.gates && wanted.empty()) {
    for (const sim::SuiteEntry& entry : sim::suites()) {
      if (entry.separator == 0) wanted.push_back(entry.name);
      for (const std::string& one : entry.arguments) {
        wanted.push_back(entry.name + entry.separator + one);
      }
    }
  }
  for (const std::string& name : wanted) {
    auto suite = sim::make_suite(name, options.data, options.seed);
    if (!suite) {
      return tl::unexpected<InputError>(
          InputError{"--suite: " + suite.error().text, suite.error().word});
    }
    if (suite->jobs.empty()) {
      return wrong_word(
          fmt::format("--suite: {}: no job arrives with seed {}", name, options.seed));
    }
    warn_of_never(*suite);
    if (!options.gates || !suite->published.empty()) suites.push_back(std::move(*suite));
  }
  for (sim::Suite& suite : suites) shape_by(options, suite);
  return input;
}

tl::expected<sim::Suite, InputError> with_seed(const SimulateOptions& options,
                                               const sim::Suite& suite, std::uint64_t seed) {
  if (!options.workload.empty()) return suite;
  auto other = sim::make_suite(suite.name, options.data, seed);
  if (!other) {
    return tl::unexpected<InputError>(
        InputError{"--suite: " + other.error().text, other.error().word});
  }
  if (other->jobs.empty()) {
    return wrong_word(fmt::format("--suite: {}: no job arrives with seed {}", suite.name, seed));
  }
  shape_by(options, *other);
  return std::move(*other);
}

std::string complaint(SimulateOptions& options) {
  if (options.data.empty()) {
    const char* said = std::getenv("RUBATO_DATA");  // NOLINT(concurrency-mt-unsafe)
    if (said != nullptr) options.data = said;
  }
  if (std::string wrong = read_numbers(options); !wrong.empty()) return wrong;
  if (std::string wrong = contradiction(options); !wrong.empty()) return wrong;
  if (options.list) return {};
  if (options.from_sacct) {
    if (options.history.empty()) return "--from-sacct needs a file name";
    options.workload = options.history;
    options.format = "sacct";
  }
  if (options.format.empty()) options.format = "native";
  if (options.write_said && options.write_workload.empty()) {
    return "--write-workload needs a file name";
  }
  for (const auto& [option, names] :
       {std::pair{"--policy", &options.policies}, std::pair{"--suite", &options.suites}}) {
    std::set<std::string_view> seen;
    for (const std::string& name : *names) {
      if (!seen.insert(name).second) return fmt::format("{}: '{}' is named twice", option, name);
    }
  }
  if (options.suites.empty() && options.workload.empty() && !options.gates) {
    return "missing --suite NAME or --workload FILE; rubato simulate --list shows all suites";
  }
  const bool measured = std::any_of(options.suites.begin(), options.suites.end(), sim::needs_data);
  if (options.data.empty() && (measured || (options.gates && options.suites.empty()))) {
    return "missing data directory: set --data DIR or RUBATO_DATA";
  }
  const auto information = sim::information_of(options.information_said);
  if (!information) {
    const std::vector<std::string> words(sim::kInformationWords.begin(),
                                         sim::kInformationWords.end());
    return fmt::format("--information: '{}': must be one of {}{}", options.information_said,
                       fmt::join(words, ", "), did_you_mean(options.information_said, words));
  }
  options.information = *information;
  if (options.limits_said.empty()) return {};
  options.limits = sim::limits_of(options.limits_said);
  if (!options.limits) {
    const std::vector<std::string> words(sim::kLimitsWords.begin(), sim::kLimitsWords.end());
    return fmt::format("--limits: '{}': must be one of {}{}", options.limits_said,
                       fmt::join(words, ", "), did_you_mean(options.limits_said, words));
  }
  return {};
}

tl::expected<std::optional<Config>, InputError> read_rubato_conf(
    const SimulateOptions& options, const std::vector<sim::Suite>& suites,
    std::vector<std::string>& notes) {
  if (options.config.empty()) return std::nullopt;
  const bool read = std::ranges::any_of(suites, [&](const sim::Suite& suite) {
    const auto policies = policies_for(options, suite);
    return std::ranges::any_of(policies, [](const std::string& policy) {
      return sim::calls_round(sim::ruled_policy(policy).name);
    });
  });
  if (!read)
    return wrong_word(
        "--config: only policies rubato and rubato-place read this file; add --policy "
        "rubato-place");
  auto loaded = load_config(options.config);
  if (!loaded) return not_read("--config: " + loaded.error().text);
  if (!loaded->present)
    return not_read("--config: " + options.config + ": No such file or directory");
  for (const sim::Suite& suite : suites) {
    std::vector<std::string> types;
    for (const sim::NodeGroup& group : suite.cluster.groups) types.push_back(group.type);
    for (const std::string& name : sim::other_types(loaded->config, suite.cluster)) {
      const std::string mean = did_you_mean(name, types);
      notes.push_back(fmt::format("{}: GpuType={} is not a GPU type of {} ({}) and has no effect{}",
                                  options.config, name, suite.name, fmt::join(types, ", "),
                                  mean.empty() ? "." : mean));
    }
  }
  return std::move(loaded->config);
}

namespace {

/// What is wrong with the rules of POLICY@RULES; "" if nothing.
std::string wrong_rules(const std::string& word, const sim::Suite& suite) {
  const std::string rules = sim::ruled_policy(word).rules;
  if (rules.empty() && word.find('@') == std::string::npos) return "";
  const std::vector<std::string> known{sim::kByEngine, sim::kByPeer};
  if (std::find(known.begin(), known.end(), rules) == known.end()) {
    return fmt::format("{}: rules '{}': must be one of {}{}", word, rules, fmt::join(known, ", "),
                       did_you_mean(rules, known));
  }
  const bool own = suite.rules != nullptr || suite.host != nullptr;
  if (rules != sim::kByPeer || own) return "";
  return fmt::format("{}: {} has no rules of a peer's simulator", word, suite.name);
}

}  // namespace

Result<void> check_policies(const SimulateOptions& options, const sim::Suite& suite) {
  // Replays may know policies that the engine lacks.
  std::vector<std::string> names = names_of(sim::policies());
  for (const sim::PublishedFigure& one : suite.published) names.push_back(one.policy);
  for (const std::string& word : options.policies) {
    const auto [policy, rules] = sim::ruled_policy(word);
    if (std::find(names.begin(), names.end(), policy) == names.end()) {
      const std::string mean = did_you_mean(policy, names);
      return fail(fmt::format("--policy: unknown policy '{}'{}", policy,
                              mean.empty() ? "; see: rubato simulate --list" : mean));
    }
    if (const std::string wrong = wrong_rules(word, suite); !wrong.empty()) {
      return fail("--policy: " + wrong);
    }
  }
  return {};
}

std::vector<std::string> policies_for(const SimulateOptions& options, const sim::Suite& suite) {
  if (!options.policies.empty()) return options.policies;
  std::vector<std::string> names;
  for (const sim::PublishedFigure& one : suite.published) {
    if (std::find(names.begin(), names.end(), one.policy) == names.end()) {
      names.push_back(one.policy);
    }
  }
  if (options.from_sacct) return {"backfill", sim::kRubatoPlace};
  if (names.empty()) names.emplace_back("fifo");
  return names;
}

}  // namespace rubato::tools
