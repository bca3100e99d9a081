// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/simulate_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "lib/config/nearest.h"
#include "lib/core/json.h"
#include "lib/sim/cluster_snapshot.h"
#include "tools/published.h"
#include "tools/read_input.h"
#include "tools/source.h"

namespace rubato::tools {
namespace {

template <typename Entries>
std::vector<std::string> names_of(const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(entry.name);
  return names;
}

/// What was published last for "@", else of the file behind it.
Result<std::string> snapshot_text(const std::string& file, const std::string& publish_dir) {
  if (!file.empty()) return read_bounded_file(file);
  const auto site = find_source(publish_dir);
  if (!site) return tl::unexpected(site.error());
  auto published = read_snapshot(*site);
  if (!published) return tl::unexpected(published.error());
  return std::move(published->text);
}

/// A shape, or @FILE for that of a snapshot.
Result<sim::SnapshotShape> read_cluster(const std::string& said, const std::string& publish_dir) {
  if (said.empty()) {
    return fail(
        "a workload needs --cluster TYPE:NODESxGPUS,..., as t4:6x4,a100:2x8; or --cluster @FILE "
        "with what rubato snapshot wrote");
  }
  if (!said.starts_with('@')) {
    auto cluster = sim::parse_cluster_shape(said);
    if (!cluster) return fail("--" + cluster.error().text);
    return sim::SnapshotShape{std::move(*cluster), {}};
  }
  const auto text = snapshot_text(said.substr(1), publish_dir);
  if (!text) return fail("--cluster: " + text.error().text);
  const auto snapshot = snapshot_from_json(*text);
  if (!snapshot) return fail(fmt::format("--cluster: {}: {}", said, snapshot.error().text));
  auto shape = sim::shape_of(*snapshot);
  if (!shape) return fail(fmt::format("--cluster: {}: {}", said, shape.error().text));
  if (test_off("snapshot-shape")) shape->cluster.groups.resize(1);
  shape->notes.insert(
      shape->notes.begin(),
      fmt::format("The cluster is that of {}: {}.",
                  said == "@" ? "the last snapshot" : said.substr(1), shape->cluster.text()));
  return shape;
}

Result<sim::Suite> read_workload(const SimulateOptions& options, const std::string& publish_dir,
                                 std::vector<std::string>& notes) {
  const auto all = sim::formats();
  const auto format = std::find_if(all.begin(), all.end(), [&](const sim::FormatEntry& one) {
    return one.name == options.format;
  });
  if (format == all.end()) {
    return fail(fmt::format("--format: '{}' is none of {}{}", options.format,
                            fmt::join(names_of(all), ", "),
                            did_you_mean(options.format, names_of(all))));
  }
  auto shape = read_cluster(options.cluster, publish_dir);
  if (!shape) return tl::unexpected(shape.error());
  notes = std::move(shape->notes);
  if (options.from_sacct && options.cluster.starts_with('@')) {
    // A snapshot counts cores, sacct counts CPUs.
    for (sim::NodeGroup& group : shape->cluster.groups) group.cores = 0, group.memory = 0;
    notes.emplace_back("Cores and memory are never short here: a SHAPE can say them.");
  }
  return format->read(options.workload, options.profiles, shape->cluster);
}

}  // namespace

Result<SimulateInput> read_input(const SimulateOptions& options, const std::string& publish_dir) {
  SimulateInput input;
  std::vector<sim::Suite>& suites = input.suites;
  if (!options.workload.empty()) {
    auto suite = read_workload(options, publish_dir, input.notes);
    if (!suite) return tl::unexpected(suite.error());
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
    if (!suite) return fail("--suite: " + suite.error().text);
    if (!options.gates || !suite->published.empty()) suites.push_back(std::move(*suite));
  }
  for (sim::Suite& suite : suites) {
    if (options.jobs == 0 || options.jobs >= suite.jobs.size()) continue;
    suite.jobs.resize(options.jobs);
    suite.window = {};
    suite.published.clear();  // they are of the whole
  }
  return input;
}

std::string complaint(SimulateOptions& options) {
  if (options.data.empty()) {
    const char* said = std::getenv("RUBATO_DATA");  // NOLINT(concurrency-mt-unsafe)
    if (said != nullptr) options.data = said;
  }
  if (options.suites.empty() && options.workload.empty() && !options.gates) {
    return "say --suite NAME, or --workload FILE; rubato simulate --list shows all";
  }
  const bool measured = std::any_of(options.suites.begin(), options.suites.end(), sim::needs_data);
  if (options.data.empty() && (measured || (options.gates && options.suites.empty()))) {
    return "--data DIR or RUBATO_DATA says where the measured data are";
  }
  const std::vector<std::string> kinds{"known", "learned"};
  if (std::find(kinds.begin(), kinds.end(), options.information) == kinds.end()) {
    return fmt::format("--information: '{}' is none of known, learned{}", options.information,
                       did_you_mean(options.information, kinds));
  }
  const std::vector<std::string> solvers{"auto", "glpk", "own"};
  if (std::find(solvers.begin(), solvers.end(), options.solver) == solvers.end()) {
    return fmt::format("--solver: '{}' is none of auto, glpk, own{}", options.solver,
                       did_you_mean(options.solver, solvers));
  }
  return {};
}

Result<void> check_policies(const SimulateOptions& options, const sim::Suite& suite) {
  // Replays may know policies that the engine has not.
  std::vector<std::string> names = names_of(sim::policies());
  for (const sim::Published& one : suite.published) names.push_back(one.policy);
  for (const std::string& policy : options.policies) {
    if (std::find(names.begin(), names.end(), policy) != names.end()) continue;
    const std::string mean = did_you_mean(policy, names);
    return fail(fmt::format("--policy: no policy '{}'{}", policy,
                            mean.empty() ? "; see: rubato simulate --list" : mean));
  }
  return {};
}

std::vector<std::string> policies_for(const SimulateOptions& options, const sim::Suite& suite) {
  if (!options.policies.empty()) return options.policies;
  std::vector<std::string> names;
  for (const sim::Published& one : suite.published) {
    if (std::find(names.begin(), names.end(), one.policy) == names.end()) {
      names.push_back(one.policy);
    }
  }
  if (options.from_sacct) return {"backfill", "rubato"};
  if (names.empty()) names.emplace_back("fifo");
  return names;
}

}  // namespace rubato::tools
