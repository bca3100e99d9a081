// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/simulate/simulate_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/json/record_writer.h"
#include "tools/rubato/simulate/simulate_records.h"
#include "tools/shared/output.h"
#include "tools/shared/table.h"

namespace rubato::tools {
namespace {

constexpr double kHour = 3600;
/// Columns of the table before RULES.
constexpr std::ptrdiff_t kBeforeRules = 3;
/// From this time on, prints hours.
constexpr double kInHours = 3 * kHour;

/// A number of jobs, or seconds.
std::string figure_text(const std::string& metric, double value) {
  if (metric != kFinished) return time_text(value);
  return std::isfinite(value) ? fmt::format("{:g} jobs", value) : "-";
}

std::string plain(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "-";
}

/// Empty if the value is infinite or NaN.
std::string cell(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string suite_text(const SimulatedRun& run) {
  return run.seeds > 1 ? fmt::format("{} ({} seeds)", run.suite, run.seeds) : run.suite;
}

/// Whether any run used the rules of a peer's simulator.
bool any_by_peer(const std::vector<SimulatedRun>& runs) {
  return std::ranges::any_of(runs, [](const SimulatedRun& run) {
    return !run.record.rules.empty() && run.record.rules != sim::kByEngine;
  });
}

void add_row(Table& table, const SimulatedRun& run, bool rules) {
  const sim::Metrics& m = run.metrics;
  std::vector<std::string> row{suite_text(run),
                               run.policy + (run.record.cut ? " (cut)" : ""),
                               sim::known_to(run.policy, run.record.information),
                               fmt::format("{}/{}", m.finished, m.jobs),
                               spread_text(run, &sim::Metrics::avg_jct_s),
                               spread_text(run, &sim::Metrics::p50_jct_s),
                               spread_text(run, &sim::Metrics::p99_jct_s),
                               time_text(m.ideal_avg_jct_s),
                               spread_text(run, &sim::Metrics::makespan_s),
                               plain(m.gpu_utilisation, 2),
                               plain(m.gpu_hours_per_job, 1),
                               plain(m.restarts_per_job, 1),
                               plain(m.jain, 2)};
  if (rules) row.insert(row.begin() + kBeforeRules, run.record.rules);
  table.add(std::move(row));
}

std::string gates_text(const std::vector<SimulatedRun>& runs, bool color) {
  Table table({{"SUITE"},
               {"POLICY"},
               {"FIGURE"},
               {"PUBLISHED", true},
               {"FOUND", true},
               {"OFF", true},
               {"WITHIN", true},
               {""}});
  bool some = false;
  for (const SimulatedRun& run : runs) {
    for (const sim::PublishedFigure& published : run.published) {
      some = true;
      const double off = difference(run, published);
      const bool good = holds(run, published);
      const char* word = good ? "ok" : published.must ? "FAIL" : "differs";
      const Color paint_in = good ? Color::kGreen : published.must ? Color::kRed : Color::kYellow;
      table.add({suite_text(run), run.policy, published.metric,
                 figure_text(published.metric, published.value),
                 figure_text(published.metric, figure_of(run.metrics, published.metric)),
                 std::isfinite(off) ? fmt::format("{:+.2f} %", off * 100) : "-",
                 fmt::format("{:g} %", published.within * 100), paint(word, paint_in, color)});
    }
  }
  return some ? "\n" + table.text() : "";
}

/// AVG and IDEAL are over different jobs if some did not finish; prints both over the same jobs.
std::string unfinished_text(const std::vector<SimulatedRun>& runs) {
  std::string text;
  for (const SimulatedRun& run : runs) {
    const sim::Metrics& m = run.metrics;
    if (m.finished == m.jobs || m.finished == 0) continue;
    if (!(std::abs(m.ideal_finished_s - m.ideal_avg_jct_s) > 0)) continue;
    text += fmt::format(
        "{}, {}: over the {} that finished AVG is {} and IDEAL {}; IDEAL of all jobs is {}.\n",
        suite_text(run), run.policy, m.finished, time_text(m.avg_jct_s),
        time_text(m.ideal_finished_s), time_text(m.ideal_avg_jct_s));
  }
  return text.empty() ? text : "\n" + text;
}

}  // namespace

std::string time_text(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  return seconds < kInHours ? fmt::format("{:.1f} s", seconds)
                            : fmt::format("{:.2f} h", seconds / kHour);
}

static std::string with_spread(std::string text, const SimulatedRun& run,
                               double sim::Metrics::*figure, const char* sign) {
  const double mean = run.metrics.*figure;
  if (!run.spread || !(mean > 0) || !std::isfinite((*run.spread).*figure)) return text;
  return text + fmt::format(" {}{:.1f} %", sign, 100 * (*run.spread).*figure / mean);
}

std::string spread_text(const SimulatedRun& run, double sim::Metrics::*figure, const char* sign) {
  return with_spread(time_text(run.metrics.*figure), run, figure, sign);
}

const char* time_unit(double longest) { return longest < kInHours ? "s" : "h"; }

std::string time_in(double seconds, const char* unit) {
  if (!std::isfinite(seconds)) return "-";
  return *unit == 's' ? fmt::format("{:.1f}", seconds) : fmt::format("{:.2f}", seconds / kHour);
}

std::string spread_in(const SimulatedRun& run, double sim::Metrics::*figure, const char* unit,
                      const char* sign) {
  return with_spread(time_in(run.metrics.*figure, unit), run, figure, sign);
}

double figure_of(const sim::Metrics& metrics, const std::string& name) {
  if (name == kFinished) return metrics.finished;
  for (const SimulatedFigure& figure : kSimulatedFigures) {
    if (name == figure.name) return metrics.*figure.value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double difference(const SimulatedRun& run, const sim::PublishedFigure& published) {
  return figure_of(run.metrics, published.metric) / published.value - 1;
}

bool holds(const SimulatedRun& run, const sim::PublishedFigure& published) {
  return std::abs(difference(run, published)) <= published.within && !run.record.cut;
}

bool all_hold(const std::vector<SimulatedRun>& runs) {
  return std::all_of(runs.begin(), runs.end(), [](const SimulatedRun& run) {
    return std::all_of(run.published.begin(), run.published.end(), [&](const auto& published) {
      return !published.must || holds(run, published);
    });
  });
}

std::string run_json(const SimulatedRun& run) {
  Json json{{"schema", kSimulateSchema}};
  json.update(json::json_of(run));
  return json_text(json);
}

std::string runs_text(const std::vector<SimulatedRun>& runs, bool color) {
  std::vector<TableColumn> columns{
      {"SUITE"},          {"POLICY"},         {"KNOWS"},       {"DONE", true},     {"AVG", true},
      {"P50", true},      {"P99", true},      {"IDEAL", true}, {"MAKESPAN", true}, {"UTIL", true},
      {"GPUH/JOB", true}, {"RESTARTS", true}, {"JAIN", true}};
  const bool rules = any_by_peer(runs);
  if (rules) columns.insert(columns.begin() + kBeforeRules, {"RULES"});
  Table table(std::move(columns));
  for (const SimulatedRun& run : runs) add_row(table, run, rules);
  return table.text() + unfinished_text(runs) + gates_text(runs, color);
}

std::string jobs_csv(const std::vector<SimulatedRun>& runs, const std::vector<sim::Suite>& suites) {
  std::string text =
      "suite,policy,seed,job,model,gpus,arrival_s,first_start_s,finish_s,jct_s,ideal_s,"
      "gpu_seconds,restarts\n";
  const auto add = [&text](const SimulatedRun& run, std::uint64_t seed, const sim::JobList& jobs,
                           const std::vector<sim::JobResult>& results) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      const sim::JobResult& job = results[i];
      const sim::SimJob& from = jobs[i];
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", quoted(run.suite),
                          quoted(run.policy), seed, quoted(from.key), quoted(from.model), from.gpus,
                          job.arrival, cell(job.first_start), cell(job.finish), cell(job.jct()),
                          cell(job.ideal_s), job.gpu_seconds, job.restarts);
    }
  };
  for (const SimulatedRun& run : runs) {
    const auto suite = std::find_if(suites.begin(), suites.end(),
                                    [&](const auto& one) { return one.name == run.suite; });
    if (suite == suites.end()) continue;
    add(run, run.seed, suite->jobs, run.record.jobs);
    for (const SeedResult& other : run.others) add(run, other.seed, other.jobs, other.results);
  }
  return text;
}

}  // namespace rubato::tools
