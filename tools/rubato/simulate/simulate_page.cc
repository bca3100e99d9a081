// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/simulate/simulate_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "lib/base/json_reader.h"
#include "lib/sim/engine/timeline.h"
#include "tools/page/chart.h"
#include "tools/page/html.h"
#include "tools/page/page_text.h"
#include "tools/rubato/simulate/simulate_charts.h"
#include "tools/rubato/simulate/simulate_gantt.h"
#include "tools/shared/output.h"

namespace rubato::tools {
namespace {

/// The runs of a suite, and the data that their charts share. A cut run is not drawn beside whole
/// ones: its figures are of fewer jobs.
PageSuite page_suite(const sim::Suite& suite, const std::vector<SimulatedRun>& runs,
                     const std::vector<std::string>& policies, std::size_t& number) {
  PageSuite found;
  found.suite = &suite;
  const bool whole = std::ranges::any_of(
      runs, [&](const SimulatedRun& run) { return run.suite == suite.name && !run.record.cut; });
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].suite != suite.name || (whole && runs[i].record.cut)) continue;
    const auto at = std::find(policies.begin(), policies.end(), runs[i].policy);
    found.runs.push_back({&runs[i], number++, static_cast<int>(at - policies.begin()), {}, {}, 0});
    found.span = std::max(found.span, runs[i].record.last_event());
  }
  for (PageRun& one : found.runs) {
    one.time = sim::timeline(one.run->record, 0, found.span, kBins);
    one.lanes = sim::lanes(one.run->record, suite.cluster);
  }
  return found;
}

std::string title_of(const std::vector<sim::Suite>& suites) {
  return suites.size() == 1 ? "Simulation of " + suites.front().name
                            : fmt::format("Simulation of {} workloads", suites.size());
}

std::string summary(const std::vector<SimulatedRun>& runs, const PageFacts& facts) {
  std::string cut;
  bool some_whole = false;
  for (const SimulatedRun& run : runs) {
    some_whole = some_whole || !run.record.cut;
    if (!run.record.cut) continue;
    cut += fmt::format("{}{} at {}, {} of {} jobs finished", cut.empty() ? "" : "; ",
                       html_text(run.policy), time_text(run.record.last_event()),
                       run.metrics.finished, run.metrics.jobs);
  }
  std::string html;
  if (!cut.empty()) {
    html = fmt::format("<p class=\"cut\">Runs cut short, at simulated time: {}. {}</p>\n", cut,
                       some_whole ? "They are not drawn beside whole runs."
                                  : "Figures cover the jobs that had finished.");
  }
  for (const std::string& note : facts.notes) html += fmt::format("<p>{}</p>\n", html_text(note));
  return html;
}

/// Who had the shortest mean time from arrival to end in a suite, and by how much. "" where there
/// are not two whole runs to compare.
std::string verdict(const PageSuite& suite, bool named) {
  std::vector<const SimulatedRun*> runs;
  for (const PageRun& one : suite.runs) {
    const double mean = one.run->metrics.avg_jct_s;
    if (!one.run->record.cut && std::isfinite(mean) && mean > 0) runs.push_back(one.run);
  }
  if (runs.size() < 2) return "";
  std::ranges::stable_sort(runs, {},
                           [](const SimulatedRun* run) { return run->metrics.avg_jct_s; });
  const sim::Metrics& best = runs[0]->metrics;
  const sim::Metrics& next = runs[1]->metrics;
  std::string text = named ? suite.suite->name + ": " : "";
  const char* const unit = time_unit(next.avg_jct_s);
  text += fmt::format(
      "jobs took {0} {4} on average from arrival to end under {1}, the least; under {2} {3} {4}",
      time_in(best.avg_jct_s, unit), runs[0]->policy, runs[1]->policy,
      time_in(next.avg_jct_s, unit), unit);
  text += fmt::format(" ({:.2f} times as long)", next.avg_jct_s / best.avg_jct_s);
  if (runs.size() > 2) {
    text += fmt::format(", and up to {:.2f} times as long under {}",
                        runs.back()->metrics.avg_jct_s / best.avg_jct_s, runs.back()->policy);
  }
  if (best.finished < best.jobs || next.finished < next.jobs)
    text += fmt::format("; of {} jobs {} and {} finished", best.jobs, best.finished, next.finished);
  if (!named) text[0] = static_cast<char>(std::toupper(text[0]));
  return html_verdict(text + ".");
}

std::string how_it_was_made(const std::vector<SimulatedRun>& runs, const PageFacts& facts) {
  const std::uint64_t first = runs.empty() ? 0 : runs.back().seed;
  const int seeds = runs.empty() ? 1 : runs.back().seeds;
  const std::string seed =
      seeds > 1 ? fmt::format(
                      "s {} to {}: figures are means with the standard deviation as a "
                      "share of them, and charts over time show the first seed",
                      first, first + static_cast<std::uint64_t>(seeds) - 1)
                : fmt::format(" {}", first);
  return fmt::format(
      "<h2>How to reproduce this page</h2>\n<pre><code>{}</code></pre>\n"
      "<p>Seed{}; Rubato {}; figures as in <code>--json</code>, schema {}. The same command "
      "writes the same page, byte for byte; only the JSON has the wall time of "
      "decisions.</p>\n<p>Percentiles use linear interpolation over finished jobs. <em>Ideal</em> "
      "is the mean time of a job alone on its fastest GPU type, with its requested resources. It "
      "covers all jobs that can run, finished or not; the other times cover finished jobs. "
      "<em>Jain</em> is Jain's index of ideal time / real time: 1 if all jobs have the same "
      "slowdown.</p>\n",
      html_text(facts.command), seed, html_text(facts.version), html_text(facts.schema));
}

/// For the script. In JSON, '<' occurs only in strings, so it can be escaped.
std::string script_data(const std::vector<PageSuite>& suites) {
  Json data;
  data["suites"] = Json::array();
  std::vector<std::pair<std::size_t, Json>> runs;
  for (std::size_t i = 0; i < suites.size(); ++i) {
    data["suites"].push_back(suite_data(suites[i]));
    for (const PageRun& run : suites[i].runs) {
      runs.emplace_back(run.number, run_data(suites[i], run, i));
    }
  }
  std::sort(runs.begin(), runs.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  data["runs"] = Json::array();
  for (auto& [number, run] : runs) data["runs"].push_back(std::move(run));
  std::string text;
  for (const char c : json_text(data)) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return fmt::format(
      "<div id=\"tip\" role=\"status\" hidden></div>\n<script type=\"application/json\" "
      "id=\"data\">{}</script>\n<script>\n{}</script>\n",
      text, kSimulateScript);
}

}  // namespace

std::string simulate_page(const std::vector<SimulatedRun>& runs,
                          const std::vector<sim::Suite>& suites, const PageFacts& facts) {
  std::vector<std::string> policies;
  for (const SimulatedRun& run : runs) {
    if (std::find(policies.begin(), policies.end(), run.policy) == policies.end()) {
      policies.push_back(run.policy);
    }
  }
  const std::string title = title_of(suites);
  std::string html = html_head(title, {kPageStyle, kSimulateStyle}) +
                     fmt::format("<h1>{}</h1>\n", html_text(title));
  std::vector<PageSuite> sections;
  sections.reserve(suites.size());
  std::size_t number = 0;
  for (const sim::Suite& suite : suites) {
    sections.push_back(page_suite(suite, runs, policies, number));
  }
  for (const PageSuite& section : sections) html += verdict(section, suites.size() > 1);
  html += facts.history + summary(runs, facts);
  thin_out(sections);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    html += suite_section(sections[i], i, suites.size() > 1);
  }
  return html + how_it_was_made(runs, facts) + script_data(sections) + html_end();
}

}  // namespace rubato::tools
