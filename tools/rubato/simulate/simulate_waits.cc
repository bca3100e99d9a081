// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/simulate/simulate_waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "lib/base/statistics.h"
#include "lib/sim/formats/format_sacct.h"
#include "lib/sim/formats/sacct_fields.h"
#include "tools/page/chart.h"
#include "tools/page/html.h"
#include "tools/rubato/simulate/simulate_charts.h"
#include "tools/rubato/simulate/simulate_view.h"
#include "tools/shared/table.h"

namespace rubato::tools {
namespace {

constexpr const char* kStock = "backfill";
/// The names of Rubato's policies begin with this.
constexpr const char* kRubato = "rubato";
constexpr const char* kOther = "other";
constexpr double kHour = 3600;

using Rows = std::vector<std::vector<std::string>>;

/// Where tables have their units: in each cell on a terminal, in the headings of a page.
enum class Units { kInCells, kInHeadings };

std::string hours(double seconds, Units units = Units::kInCells) {
  if (!std::isfinite(seconds)) return "-";
  return fmt::format("{:.2f}{}", seconds / kHour, units == Units::kInCells ? " h" : "");
}

/// "-12.3 %"; "-" without a base.
std::string change(double now, double before, Units units = Units::kInCells) {
  if (!(before > 0)) return "-";
  return fmt::format("{:+.1f}{}", (now / before - 1) * 100, units == Units::kInCells ? " %" : "");
}

double end_of(const SimulatedRun& run, const sim::Suite& suite) {
  return suite.horizon < sim::kNoHorizon ? suite.horizon : run.record.last_event();
}

/// The jobs that are compared.
std::vector<std::size_t> compared_jobs(const SimulatedRun& real, const sim::Suite& suite) {
  std::vector<std::size_t> jobs;
  for (std::size_t i = suite.window.first; i < real.record.jobs.size(); ++i) {
    if (real.record.jobs[i].ideal_s < sim::kNever) jobs.push_back(i);
  }
  return jobs;
}

double wait_of(const SimulatedRun& run, const sim::Suite& suite, std::size_t job) {
  const sim::JobResult& result = run.record.jobs[job];
  return std::max(0.0, std::min(result.first_start, end_of(run, suite)) - result.arrival);
}

/// "1", "2", "3-4", "5-8", ...
std::string size_class(int gpus) {
  int top = 1;
  while (top < gpus) top *= 2;
  return top <= 2 ? fmt::format("{}", top) : fmt::format("{}-{}", top / 2 + 1, top);
}

using NameOf = std::function<std::string(const sim::SimJob&)>;

std::string name_or_dash(const std::string& name) { return name.empty() ? "-" : name; }

/// Names by total wait in the history; only the first kMaxWaitGroups.
std::vector<std::string> names_by_wait(const SimulatedRun& real, const sim::Suite& suite,
                                       const NameOf& name_of) {
  std::map<std::string, double> sums;
  for (const std::size_t job : compared_jobs(real, suite)) {
    sums[name_of(suite.jobs[job])] += wait_of(real, suite, job);
  }
  std::vector<std::string> names;
  for (const auto& [name, sum] : sums) names.push_back(name);
  std::ranges::stable_sort(names, std::ranges::greater(),
                           [&](const std::string& name) { return sums[name]; });
  if (names.size() > kMaxWaitGroups) names.resize(kMaxWaitGroups - 1);
  return names;
}

/// Size classes in use, smallest first.
std::vector<std::string> sizes_in_use(const SimulatedRun& real, const sim::Suite& suite) {
  std::map<int, std::string> found;
  for (const std::size_t job : compared_jobs(real, suite)) {
    const int gpus = suite.jobs[job].gpus;
    int top = 1;
    while (top < gpus) top *= 2;
    found.emplace(top, size_class(gpus));
  }
  std::vector<std::string> names;
  for (const auto& [top, name] : found) names.push_back(name);
  return names;
}

std::vector<WaitGroup> groups_of(const SimulatedRun& run, const sim::Suite& suite,
                                 const std::vector<std::size_t>& jobs,
                                 const std::vector<std::string>& names, const NameOf& name_of) {
  std::vector<WaitGroup> groups;
  for (const std::string& name : names) groups.push_back({name});
  WaitGroup others{kOther};
  for (const std::size_t job : jobs) {
    const auto at = std::ranges::find(groups, name_of(suite.jobs[job]), &WaitGroup::name);
    WaitGroup& group = at == groups.end() ? others : *at;
    ++group.jobs;
    if (run.record.jobs[job].restarts > 0) ++group.restarted;
    group.mean_s += wait_of(run, suite, job);
  }
  if (others.jobs > 0) groups.push_back(others);
  for (WaitGroup& group : groups) group.mean_s /= group.jobs;
  return groups;
}

const SimulatedRun* find_run(const std::vector<SimulatedRun>& runs, const char* policy) {
  const auto at = std::ranges::find_if(
      runs, [&](const SimulatedRun& run) { return run.policy.starts_with(policy); });
  return at == runs.end() || !at->waits ? nullptr : &*at;
}

std::string day_of(const std::string& time) { return time.substr(0, 10); }

Rows waits_rows(const std::vector<SimulatedRun>& runs, Units units) {
  Rows rows{{"POLICY", "JOBS", "WAITING", "WAITED", "P50", "P90", "P99", "CHANGE"}};
  if (units == Units::kInHeadings) {
    rows = {{"Policy", "Jobs", "Still waiting (jobs)", "Mean wait (h)", "Median (h)",
             "90th percentile (h)", "99th percentile (h)", "Change of the mean (%)"}};
  }
  for (const SimulatedRun& run : runs) {
    if (!run.waits) continue;
    const Waits& waits = *run.waits;
    rows.push_back(
        {run.policy, fmt::format("{}", waits.jobs), fmt::format("{}", waits.waiting),
         hours(waits.mean_s, units), hours(waits.p50_s, units), hours(waits.p90_s, units),
         hours(waits.p99_s, units),
         &run == &runs.front() ? "" : change(waits.mean_s, runs.front().waits->mean_s, units)});
  }
  return rows;
}

struct Split {
  const char* heading;  ///< on a terminal
  const char* title;    ///< the same on a page
  const char* caption;
  std::vector<WaitGroup> Waits::*member;
};
constexpr Split kSplits[] = {{"ACCOUNT", "Account", "Mean wait by account", &Waits::accounts},
                             {"GPUS", "GPUs", "Mean wait by size", &Waits::sizes},
                             {"JOB TYPE", "Job type", "Mean wait by job type", &Waits::types}};

/// Mean waits by group, a column per run; empty if there is one group only.
Rows split_rows(const std::vector<SimulatedRun>& runs, const Split& split, Units units) {
  Rows rows;
  const bool in_cells = units == Units::kInCells;
  const std::vector<WaitGroup>& real = runs.front().waits.value().*split.member;
  if (real.size() < 2) return rows;
  rows.push_back({in_cells ? split.heading : split.title, in_cells ? "JOBS" : "Jobs"});
  for (const WaitGroup& group : real) {
    rows.push_back({group.name, fmt::format("{}", group.jobs)});
  }
  for (const SimulatedRun& run : runs) {
    if (!run.waits) continue;
    rows.front().push_back(run.policy + (in_cells ? "" : " (h)"));
    for (std::size_t i = 0; i < real.size(); ++i) {
      rows[i + 1].push_back(hours((run.waits.value().*split.member)[i].mean_s, units));
    }
  }
  return rows;
}

bool restarts_any(const SimulatedRun& run) {
  return run.waits && std::ranges::any_of(run.waits->accounts, [](const WaitGroup& group) {
           return group.restarted > 0;
         });
}

/// Whose jobs the policies interrupted, a column per run that did; empty if none did.
Rows restarted_rows(const std::vector<SimulatedRun>& runs, Units units) {
  Rows rows;
  if (std::ranges::none_of(runs, restarts_any)) return rows;
  const bool in_cells = units == Units::kInCells;
  const std::vector<WaitGroup>& real = runs.front().waits.value().accounts;
  rows.push_back({in_cells ? "INTERRUPTED" : "Account", in_cells ? "JOBS" : "Jobs"});
  for (const WaitGroup& group : real) rows.push_back({group.name, fmt::format("{}", group.jobs)});
  for (const SimulatedRun& run : runs) {
    if (!restarts_any(run)) continue;
    rows.front().push_back(run.policy);
    for (std::size_t i = 0; i < real.size(); ++i)
      rows[i + 1].push_back(fmt::format("{}", run.waits->accounts[i].restarted));
  }
  return rows;
}

std::string table_text(const Rows& rows) {
  std::vector<TableColumn> columns;
  for (std::size_t i = 0; i < rows.front().size(); ++i) {
    columns.push_back({rows.front()[i], i > 0});
  }
  Table table(std::move(columns));
  for (std::size_t i = 1; i < rows.size(); ++i) table.add(rows[i]);
  return table.text();
}

/// The first row has the headings, the first column words.
std::string table_html(const char* caption, const Rows& rows) {
  HtmlTable table{.caption = caption, .columns = {}, .rows = {rows.begin() + 1, rows.end()}};
  for (const std::string& heading : rows.front())
    table.columns.push_back({heading, table.columns.empty()});
  return html_table(table);
}

/// Runs that are not compared because they were cut.
std::string cut_sentence(const std::vector<SimulatedRun>& runs) {
  std::string names;
  for (const SimulatedRun& run : runs) {
    if (run.waits) continue;
    names += (names.empty() ? "" : ", ") + run.policy;
  }
  return names.empty() ? "" : fmt::format("Cut short, so not compared: {}.", names);
}

std::string bars_of_waits(const std::vector<SimulatedRun>& runs, const char* title,
                          double Waits::*member) {
  std::vector<Bar> bars;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].waits) continue;
    const double value = runs[i].waits.value().*member;
    bars.push_back({runs[i].policy, static_cast<int>(i), value, hours(value, Units::kInHeadings)});
  }
  return bars_html(title, bars, 0);
}

}  // namespace

void add_waits(std::vector<SimulatedRun>& runs, const sim::Suite& suite) {
  if (runs.empty()) return;
  const SimulatedRun& real = runs.front();
  const sim::SacctHistory& history = *sim::history_of(suite);
  const std::vector<std::size_t> jobs = compared_jobs(real, suite);
  if (jobs.empty()) return;
  const NameOf account = [](const sim::SimJob& job) { return name_or_dash(job.account); };
  const NameOf size = [](const sim::SimJob& job) { return size_class(job.gpus); };
  const NameOf type = [](const sim::SimJob& job) { return name_or_dash(job.model); };
  const auto accounts = names_by_wait(real, suite, account);
  const auto sizes = sizes_in_use(real, suite);
  const auto types = names_by_wait(real, suite, type);
  for (SimulatedRun& run : runs) {
    if (run.record.cut) continue;
    Waits waits;
    waits.from = sim::sacct_time_text(history.begin);
    waits.to = sim::sacct_time_text(history.end);
    waits.jobs = static_cast<int>(jobs.size());
    std::vector<double> all;
    for (const std::size_t job : jobs) {
      all.push_back(wait_of(run, suite, job));
      if (!(run.record.jobs[job].first_start < sim::kNever)) ++waits.waiting;
    }
    waits.mean_s = mean(all);
    waits.p50_s = percentile(all, 0.5);
    waits.p90_s = percentile(all, 0.9);
    waits.p99_s = percentile(all, 0.99);
    waits.accounts = groups_of(run, suite, jobs, accounts, account);
    waits.sizes = groups_of(run, suite, jobs, sizes, size);
    waits.types = groups_of(run, suite, jobs, types, type);
    run.waits = std::move(waits);
  }
}

std::string waits_sentence(const std::vector<SimulatedRun>& runs, const sim::Suite& suite) {
  if (runs.empty() || !runs.front().waits) return "No job of the history can be compared.";
  const sim::SacctHistory& history = *sim::history_of(suite);
  const Waits& real = *runs.front().waits;
  std::string text =
      fmt::format("From {} to {} ({:.1f} days) {} {} waited {} on average.", day_of(real.from),
                  day_of(real.to), (history.end - history.begin) / (24 * kHour), real.jobs,
                  real.jobs == 1 ? "job" : "jobs", hours(real.mean_s));
  const SimulatedRun* stock = find_run(runs, kStock);
  const SimulatedRun* own = find_run(runs, kRubato);
  if (stock == nullptr || own == nullptr) return text;
  const double before = stock->waits->mean_s;
  const double after = own->waits->mean_s;
  const bool unsure = std::abs(after - before) <= std::abs(before - real.mean_s);
  return text + fmt::format(
                    " Under Rubato they would have waited {}, against {} in the replay of stock "
                    "Slurm ({}{}).",
                    hours(after), hours(before), change(after, before),
                    unsure ? ", within the error of the replay" : "");
}

std::string waits_text(const std::vector<SimulatedRun>& runs, const sim::Suite& suite) {
  std::string text = waits_sentence(runs, suite) + "\n\n";
  if (runs.empty() || !runs.front().waits) return text;
  if (const std::string cut = cut_sentence(runs); !cut.empty()) text += cut + "\n\n";
  text += table_text(waits_rows(runs, Units::kInCells)) + "\n";
  for (const Split& split : kSplits) {
    const Rows rows = split_rows(runs, split, Units::kInCells);
    if (!rows.empty()) text += table_text(rows) + "\n";
  }
  const Rows restarted = restarted_rows(runs, Units::kInCells);
  if (!restarted.empty()) text += table_text(restarted) + "\n";
  return text;
}

std::string waits_html(const std::vector<SimulatedRun>& runs, const sim::Suite& suite) {
  std::string html = html_verdict(waits_sentence(runs, suite));
  if (runs.empty() || !runs.front().waits) return html;
  if (const std::string cut = cut_sentence(runs); !cut.empty()) {
    html += fmt::format("<p class=\"cut\">{}</p>\n", html_text(cut));
  }
  html += "<h2>Time waited</h2>\n<div class=\"pair\">\n" +
          bars_of_waits(runs, "Mean wait (h)", &Waits::mean_s) +
          bars_of_waits(runs, "90th percentile of the wait (h)", &Waits::p90_s) + "</div>\n";
  html += table_html("Time waited", waits_rows(runs, Units::kInHeadings));
  for (const Split& split : kSplits) {
    const Rows rows = split_rows(runs, split, Units::kInHeadings);
    if (!rows.empty()) {
      html += fmt::format("<h3>{}</h3>\n", split.caption) + table_html(split.caption, rows);
    }
  }
  const Rows restarted = restarted_rows(runs, Units::kInHeadings);
  if (!restarted.empty()) {
    constexpr const char* kCaption = "Jobs that were interrupted, by account";
    html += fmt::format("<h3>{}</h3>\n", kCaption) + table_html(kCaption, restarted);
  }
  return html;
}

}  // namespace rubato::tools
