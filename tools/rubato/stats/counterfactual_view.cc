// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/stats/counterfactual_view.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include "lib/store/folder.h"
#include "lib/store/reader.h"
#include "lib/store/summary.h"
#include "tools/shared/output.h"
#include "tools/shared/published.h"

namespace rubato::tools {
namespace {

constexpr Seconds kDay = 86400;
/// More runs take so long to replay that people are told.
constexpr std::size_t kManyRuns = 500;

/// One cell a profile, GPU type and number of GPUs: the mean of its reports.
std::vector<ThroughputObservation> observations_of(const std::vector<store::SummaryRow>& rows) {
  std::map<std::tuple<ProfileName, std::string, int>, ThroughputObservation> observations;
  for (const store::SummaryRow& row : rows) {
    const std::int64_t good = row.group.samples - row.group.flagged;
    if (row.job_type.empty() || good <= 0 || row.group.mean_throughput <= 0) continue;
    const ProfileName profile{row.shared ? "" : row.account, row.job_type};
    ThroughputObservation& observation = observations[{profile, row.gpu_type, row.gpus}];
    const auto before = static_cast<double>(observation.samples);
    const auto more = static_cast<double>(good);
    observation = {
        profile, row.gpu_type, row.gpus,
        (observation.throughput * before + row.group.mean_throughput * more) / (before + more),
        observation.samples + good};
  }
  std::vector<ThroughputObservation> list;
  list.reserve(observations.size());
  for (auto& [place, observation] : observations) list.push_back(std::move(observation));
  return list;
}

Result<Models> learnt_models(const std::string& database, const Config& config) {
  std::map<std::string, double> speeds = config.speeds();
  std::set<std::string> shared;
  for (const JobTypeConfig& type : config.job_types)
    if (type.shared) shared.insert(type.name);
  store::Summary summary(database);
  const auto read = summary.refresh(shared, true);
  if (!read) return tl::unexpected(read.error());
  auto observations = observations_of(summary.rows());
  if (observations.empty()) return Models(std::move(speeds));
  auto throughput_model =
      std::make_shared<const ThroughputModel>(TypeSpeeds(speeds), std::move(observations));
  return Models(std::move(speeds), std::move(throughput_model));
}

std::string runs_of(std::int64_t count) {
  return fmt::format("{} run{}", count, count == 1 ? "" : "s");
}

std::string ratio(double observed, double estimated) {
  return estimated > 0 ? fmt::format("{:.2f}", observed / estimated) : "-";
}

std::string row(const char* name, double observed, double place, std::optional<double> elastic) {
  const auto time = [](std::optional<double> seconds) {
    return seconds ? format_duration(std::llround(*seconds)) : "-";
  };
  return fmt::format("{:<27}{:>12}{:>12}{:>7}{:>12}{:>7}\n", name, time(observed), time(place),
                     ratio(observed, place), time(elastic),
                     elastic ? ratio(observed, *elastic) : "-");
}

std::string wrapped(const std::string& text, std::size_t width) {
  std::string out;
  for (const std::string& line : wrap(text, width)) out += line + "\n";
  return out;
}

}  // namespace

Result<CounterfactualEstimate> read_counterfactual(const Site& site, Mode mode, int days) {
  const std::string folder =
      site.config.store_dir.empty() ? site.state_dir + "/rubato" : site.config.store_dir;
  const std::string database = folder + "/" + store::kDatabaseName;
  if (access(database.c_str(), R_OK) != 0) {
    return fail(fmt::format("{}: {}{}", database, std::strerror(errno),
                            errno == EACCES ? "; root and SlurmUser can read it" : ""));
  }
  const auto reader = store::Reader::open(database);
  if (!reader) return tl::unexpected(reader.error());
  const auto snapshot = read_snapshot(site);
  if (!snapshot) return tl::unexpected(snapshot.error());
  const Seconds from = std::max<Seconds>(1, snapshot->snapshot.taken - days * kDay);
  const auto records = reader->runs(from, static_cast<std::int64_t>(kMaxCounterfactualRuns) + 1);
  if (!records) return tl::unexpected(records.error());
  const auto models = learnt_models(database, site.config);
  if (!models) return tl::unexpected(models.error());
  if (records->size() > kManyRuns && isatty(STDERR_FILENO) != 0)
    fmt::print(stderr, "Replaying {} runs; this may take a few minutes\n", records->size());
  std::vector<RecordedRun> runs;
  runs.reserve(records->size());
  for (const store::RunRecord& one : *records)
    runs.push_back({one.job, one.start, one.enters, one.end, one.text});
  Config config = site.config;
  config.mode = mode;
  return estimate_counterfactual(snapshot->snapshot, runs, *models, config, from);
}

namespace {

std::string compared_text(const CounterfactualEstimate& estimate, std::size_t width) {
  const char* const mode = to_string(estimate.mode);
  if (estimate.compared == 0) {
    return wrapped(fmt::format("no estimate yet: none of {} is of a managed job that started in "
                               "mode {} and ended since {}",
                               runs_of(estimate.runs), mode, format_time(estimate.from)),
                   width);
  }
  std::string out =
      wrapped(fmt::format("from {} of managed jobs that started in mode {} since {}",
                          runs_of(estimate.compared), mode, format_time(estimate.from)),
              width);
  const bool observes = estimate.mode == Mode::kObserve;
  out += fmt::format("{:<27}{:>12}{:>12}{:>7}{:>12}{:>7}\n", "", observes ? "STOCK" : "REAL",
                     "PLACE", "RATIO", "ELASTIC", "RATIO");
  const bool elastic = estimate.elastic_complete;
  const auto known = [&](double value) { return elastic ? std::optional(value) : std::nullopt; };
  out +=
      row("mean wait", estimate.observed.wait, estimate.place.wait, known(estimate.elastic.wait));
  out += row("mean time, eligible to end", estimate.observed.jct, estimate.place.jct,
             known(estimate.elastic.jct));
  out += wrapped(fmt::format("on another GPU type or at another size in mode place: {}, of these "
                             "{} at a measured throughput; other jobs in the replay: {}",
                             estimate.moved, estimate.rescaled, estimate.beside),
                 width);
  return out;
}

// Whom mode elastic would have interrupted.
std::string interrupted_text(const CounterfactualEstimate& estimate, std::size_t width) {
  if (!estimate.elastic_complete) {
    return wrapped("mode elastic: no estimate: the replay is too large; use fewer --days", width);
  }
  std::int64_t consenting = 0;
  for (const InterruptedAccount& account : estimate.accounts) consenting += account.consenting;
  if (consenting == 0) {
    return wrapped(
        "no run consents to changes (hint checkpoint, see rubato-hints(7)), so mode "
        "elastic changes none",
        width);
  }
  std::string out = fmt::format("{:<21}{:>8}{:>12}{:>13}{:>10}{:>9}\n", "IN MODE ELASTIC", "RUNS",
                                "CONSENTING", "INTERRUPTED", "RESTARTS", "RESIZES");
  for (const InterruptedAccount& account : estimate.accounts) {
    const std::string name = account.account.empty() ? "-" : account.account;
    out += fmt::format("{:<21}{:>8}{:>12}{:>13}{:>10}{:>9}\n", name, account.runs,
                       account.consenting, account.interrupted, account.restarts, account.resizes);
  }
  return out;
}

}  // namespace

std::string counterfactual_text(const CounterfactualEstimate& estimate, std::size_t width) {
  std::string out =
      fmt::format("Counterfactual estimate: modes place and elastic, against mode {}\n",
                  to_string(estimate.mode));
  if (!estimate.complete) {
    return out + wrapped("no estimate: the replay is too large; use fewer --days", width);
  }
  out += compared_text(estimate, width);
  if (estimate.compared > 0) out += interrupted_text(estimate, width);
  for (const auto& [why, count] : estimate.left_out)
    out += wrapped(fmt::format("excluded, {}: {}", why, runs_of(count)), width);
  out += "Assumptions:\n";
  for (const std::string& sentence : counterfactual_assumptions()) {
    std::string mark = "- ";
    for (const std::string& line : wrap(sentence, width - mark.size())) {
      out += mark + line + "\n";
      mark = "  ";
    }
  }
  return out;
}

}  // namespace rubato::tools
