// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/simulate/simulate_gantt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "lib/base/json_value.h"
#include "tools/page/chart.h"
#include "tools/page/html.h"

namespace rubato::tools {
namespace {

/// Maximum number of bars on a page, over all runs: about 5 MB.
constexpr std::size_t kMaxBars = 200'000;
/// Number of job kinds with their own colour.
constexpr std::size_t kMaxKinds = 6;
/// Maximum number of rows in a Gantt chart.
constexpr int kMaxRows = 8192;
/// Resolution of bar times: units per span.
constexpr double kUnits = 4e6;
/// GPU time below this share is a rounding error.
constexpr double kDust = 1e-3;
/// From this share on, a remark mentions GPU time that is not drawn.
constexpr double kMuch = 0.01;

/// Kinds of jobs by the GPU time of all runs, largest first.
std::vector<std::string> kinds_of(const PageSuite& suite) {
  std::map<std::string, double> held;
  for (const PageRun& one : suite.runs) {
    const auto& results = one.run->record.jobs;
    for (std::size_t i = 0; i < std::min(results.size(), suite.suite->jobs.size()); ++i) {
      held[suite.suite->jobs[i].model] += results[i].gpu_seconds;
    }
  }
  std::vector<std::pair<double, std::string>> sorted;
  sorted.reserve(held.size());
  for (const auto& [name, seconds] : held) sorted.emplace_back(-seconds, name);
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::string> names;
  names.reserve(sorted.size());
  for (const auto& [seconds, name] : sorted) names.push_back(name);
  return names;
}

bool drawn(const PageSuite& suite, const PageRun& one) {
  return !one.lanes.bars.empty() && suite.suite->cluster.gpus() <= kMaxRows;
}

/// What a chart of this run omits.
std::string remarks(const PageSuite& suite, const PageRun& one) {
  std::string text;
  const auto say = [&text](const std::string& sentence) {
    text += (text.empty() ? "" : " ") + sentence;
  };
  if (one.run->record.intervals.empty()) {
    say("The GPUs of each job are not recorded.");
  } else if (suite.suite->cluster.gpus() > kMaxRows) {
    say(fmt::format("A chart shows at most {} GPUs; this cluster has {}.", kMaxRows,
                    suite.suite->cluster.gpus()));
  } else if (!one.lanes.nodes_known) {
    say("Nodes are not recorded here: GPU types and counts are as recorded, rows are chosen for "
        "the chart.");
  } else {
    say("Nodes and GPU counts are recorded, GPU indices are not.");
  }
  const double lost = one.lanes.undrawn_gpu_seconds / std::max(1.0, one.time.held_gpu_seconds);
  if (lost > kDust) {
    say(fmt::format("{} of the allocated GPU time is not drawn: no GPU was free.", percent(lost)));
  }
  const double counted = one.run->record.busy_gpu_seconds;
  if (one.time.held_gpu_seconds > 0 && counted > one.time.held_gpu_seconds * (1 + kMuch)) {
    say(fmt::format(
        "Its simulator counts {} of the GPU time as allocated, including jobs that continue "
        "without GPUs; {:.1f} % of that is drawn.",
        percent(one.run->metrics.gpu_utilisation), one.time.held_gpu_seconds / counted * 100));
  }
  if (one.left_out > 0) {
    say(fmt::format("{} of {} bars are shorter than {} and not drawn.", one.left_out,
                    one.left_out + one.lanes.bars.size(), length_text(one.shortest)));
  }
  const auto& jobs = one.run->record.jobs;
  const auto given_up =
      std::count_if(jobs.begin(), jobs.end(), [](const auto& job) { return job.dropped; });
  if (given_up > 0) say(fmt::format("{} jobs were abandoned.", given_up));
  if (sim::learns(one.run->record.information))
    say("Throughputs were learned during the run, not known in advance.");
  return text;
}

std::string gantt(const PageSuite& suite, const PageRun& one) {
  const std::string name = html_text(one.run->policy);
  std::string html = fmt::format("<h3>{}</h3>\n", name);
  if (drawn(suite, one)) {
    html += fmt::format(
        "<div class=\"gantt\"><div class=\"view\"><canvas id=\"gantt{}\" tabindex=\"0\" "
        "role=\"img\" aria-label=\"Gantt chart of {}: {} bars on {} GPUs, {} of the GPU time "
        "allocated. The file of --csv lists every job.\"></canvas></div></div>\n",
        one.number, name, one.lanes.bars.size(), suite.suite->cluster.gpus(),
        percent(one.run->metrics.gpu_utilisation));
  }
  return html + fmt::format("<p class=\"quiet\">{}</p>\n", html_text(remarks(suite, one)));
}

double tenths(double seconds) { return std::round(seconds * 10) / 10; }

Json time_or_null(double seconds) {
  if (!std::isfinite(seconds)) return nullptr;
  return tenths(seconds);
}

}  // namespace

std::string gantts(const PageSuite& suite) {
  std::string html = "<h2>GPUs of each job</h2>\n";
  html +=
      "<noscript><p class=\"cut\">These charts need JavaScript, which is switched "
      "off.</p></noscript>\n"
      "<p class=\"quiet screen\">Point at a bar to highlight its job in all charts. Drag to zoom "
      "in, double-click to reset; or use the keys + - 0 and the arrows.</p>\n"
      "<div class=\"tools\">";
  if (kinds_of(suite).size() > 1) {
    html +=
        "<label>Colours: <select class=\"by\"><option value=\"kind\">job type</option>"
        "<option value=\"size\">GPUs requested</option></select></label>";
  }
  for (const auto& [how, sign, words] :
       {std::tuple{"in", "+", "zoom in"}, std::tuple{"out", "−", "zoom out"},
        std::tuple{"left", "←", "earlier"}, std::tuple{"right", "→", "later"},
        std::tuple{"all", "all", "show all"}}) {
    html += fmt::format(
        "<button type=\"button\" class=\"zoom\" data-zoom=\"{}\" title=\"{}\">{}</button>", how,
        words, sign);
  }
  html += "</div>\n<div class=\"legend kinds\"></div>\n";
  for (const PageRun& one : suite.runs) html += gantt(suite, one);
  return html;
}

void thin_out(std::vector<PageSuite>& suites) {
  std::vector<double> lengths;
  for (const PageSuite& suite : suites) {
    for (const PageRun& one : suite.runs) {
      for (const sim::LaneBar& bar : one.lanes.bars) {
        lengths.push_back((bar.to - bar.from) / suite.span);
      }
    }
  }
  if (lengths.size() <= kMaxBars) return;
  const auto at = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() - kMaxBars);
  std::nth_element(lengths.begin(), at, lengths.end());
  const double least = *at;
  for (PageSuite& suite : suites) {
    for (PageRun& one : suite.runs) {
      one.shortest = least * suite.span;
      one.left_out = std::erase_if(one.lanes.bars, [&](const sim::LaneBar& bar) {
        return (bar.to - bar.from) / suite.span <= least;
      });
    }
  }
}

Json suite_data(const PageSuite& suite) {
  Json data;
  data["span"] = suite.span;
  data["unit"] = suite.span / kUnits;
  data["groups"] = Json::array();
  for (const sim::NodeGroup& group : suite.suite->cluster.groups) {
    data["groups"].push_back({group.type, group.nodes, group.gpus_per_node});
  }
  std::vector<std::string> kinds = kinds_of(suite);
  kinds.resize(std::min(kinds.size(), kMaxKinds));
  data["kinds"] = kinds;
  data["jobs"] = Json::array();
  for (const sim::SimJob& job : suite.suite->jobs) {
    data["jobs"].push_back({job.key, job.model, job.gpus, tenths(job.arrival)});
  }
  return data;
}

Json run_data(const PageSuite& suite, const PageRun& run, std::size_t suite_number) {
  Json data;
  data["suite"] = suite_number;
  data["nodes"] = run.lanes.nodes_known;
  data["jobs"] = Json::array();
  for (const sim::JobResult& job : run.run->record.jobs) {
    data["jobs"].push_back({time_or_null(job.first_start), time_or_null(job.finish), job.restarts});
  }
  data["bars"] = Json::array();
  if (!drawn(suite, run)) return data;
  const double unit = suite.span / kUnits;
  for (const sim::LaneBar& bar : run.lanes.bars) {
    const auto from = static_cast<std::int64_t>(std::llround(bar.from / unit));
    const auto to = static_cast<std::int64_t>(std::llround(bar.to / unit));
    for (const std::int64_t value :
         {static_cast<std::int64_t>(bar.job.value()), static_cast<std::int64_t>(bar.lane.value()),
          static_cast<std::int64_t>(bar.lanes), from, to - from}) {
      data["bars"].push_back(value);
    }
  }
  return data;
}

}  // namespace rubato::tools
