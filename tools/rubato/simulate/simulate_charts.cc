// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/simulate/simulate_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/base/statistics.h"
#include "tools/page/chart.h"
#include "tools/page/html.h"
#include "tools/rubato/simulate/simulate_gantt.h"

namespace rubato::tools {
namespace {

/// Maximum number of points of a distribution.
constexpr std::size_t kMaxPoints = 400;
/// Number of line colours in the page's style.
constexpr int kColours = 8;

/// A number for each finished job of the window, sorted.
template <typename Of>
std::vector<double> of_finished(const PageSuite& suite, const SimulatedRun& run, Of&& of) {
  std::vector<double> found;
  const sim::Window& window = suite.suite->window;
  const std::size_t last = std::min(window.last, run.record.jobs.size());
  for (std::size_t i = window.first; i < last; ++i) {
    const sim::JobResult& job = run.record.jobs[i];
    if (job.finished() && std::isfinite(of(job))) found.push_back(of(job));
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<double> times_of(const PageSuite& suite, const SimulatedRun& run) {
  return of_finished(suite, run, [](const sim::JobResult& job) { return job.jct(); });
}

/// Completion times relative to ideal times.
std::vector<double> slowdowns_of(const PageSuite& suite, const SimulatedRun& run) {
  return of_finished(suite, run, [](const sim::JobResult& job) {
    return job.ideal_s > 0 && job.ideal_s < sim::kNever ? job.jct() / job.ideal_s : sim::kNever;
  });
}

// -- Policies compared ------------------------------------------------------------------------

struct Figure {
  const char* title;
  const char* name;  ///< for figure_of()
  bool time;
};

constexpr Figure kCompared[] = {{"Mean time from arrival to end", "avg_jct_s", true},
                                {"99th percentile of that time", "p99_jct_s", true},
                                {"Makespan", "makespan_s", true},
                                {"Share of GPU time allocated", "gpu_utilisation", false}};

/// Without its unit.
std::string figure_text(const Figure& figure, double value, const char* unit) {
  if (figure.time) return time_in(value, unit);
  return std::isfinite(value) ? fmt::format("{:.1f}", value * 100) : "-";
}

/// The published value of a run's figure; NaN if there is none.
double published_of(const SimulatedRun& run, const char* name) {
  for (const sim::PublishedFigure& one : run.published) {
    if (one.metric == name) return one.value;
  }
  return std::nan("");
}

std::string bars_of(const PageSuite& suite, const Figure& figure) {
  double longest = 0;
  for (const PageRun& one : suite.runs) {
    for (const double value :
         {figure_of(one.run->metrics, figure.name), published_of(*one.run, figure.name)})
      if (std::isfinite(value)) longest = std::max(longest, value);
  }
  const char* const unit = figure.time ? time_unit(longest) : "%";
  std::vector<Bar> bars;
  for (const PageRun& one : suite.runs) {
    const double value = figure_of(one.run->metrics, figure.name);
    const double published = published_of(*one.run, figure.name);
    bars.push_back({one.run->policy, one.style, value, figure_text(figure, value, unit), published,
                    figure_text(figure, published, unit)});
  }
  return bars_html(fmt::format("{} ({})", figure.title, unit), bars, figure.time ? 0 : 1);
}

std::string compared(const PageSuite& suite) {
  std::string html = "<h3 class=\"away\">Policies compared</h3>\n<div class=\"pair\">\n";
  for (const Figure& figure : kCompared) html += bars_of(suite, figure);
  html += "</div>\n";
  const bool some = std::any_of(suite.runs.begin(), suite.runs.end(),
                                [](const PageRun& one) { return !one.run->published.empty(); });
  if (some) html += "<p class=\"quiet\">A vertical line marks the published figure.</p>\n";
  return html;
}

constexpr const char* kSign = "\u00b1";

/// The unit of a column of times: for the makespan that of the longest one, for times of jobs that
/// of the longest mean, so that they can be compared.
const char* column_unit(const PageSuite& suite, double sim::Metrics::*figure) {
  if (figure != &sim::Metrics::makespan_s) figure = &sim::Metrics::avg_jct_s;
  double longest = 0;
  for (const PageRun& one : suite.runs) {
    const double value = one.run->metrics.*figure;
    if (std::isfinite(value)) longest = std::max(longest, value);
  }
  return time_unit(longest);
}

/// Columns of times in the table of figures.
constexpr std::pair<const char*, double sim::Metrics::*> kTimes[] = {
    {"Mean", &sim::Metrics::avg_jct_s},
    {"Median", &sim::Metrics::p50_jct_s},
    {"99th", &sim::Metrics::p99_jct_s},
    {"Ideal", &sim::Metrics::ideal_avg_jct_s},
    {"Makespan", &sim::Metrics::makespan_s}};

std::string figures_table(const PageSuite& suite) {
  HtmlTable table{.caption = "Figures of each policy",
                  .columns = {{"Policy", true}, {"Knows", true}, {"Done (jobs)"}},
                  .rows = {}};
  for (const auto& [name, figure] : kTimes)
    table.columns.push_back({fmt::format("{} ({})", name, column_unit(suite, figure))});
  for (const char* heading :
       {"GPUs allocated (%)", "GPU h per job", "Restarts per job", "Jain", "Max. waiting (jobs)"})
    table.columns.push_back({heading});
  const auto plain = [](double value, int digits) {
    return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : std::string("-");
  };
  for (const PageRun& one : suite.runs) {
    const sim::Metrics& m = one.run->metrics;
    std::vector<std::string> row{one.run->policy + (one.run->record.cut ? " (cut)" : ""),
                                 sim::known_to(one.run->policy, one.run->record.information),
                                 fmt::format("{}/{}", m.finished, m.jobs)};
    for (const auto& [name, figure] : kTimes) {
      const char* const unit = column_unit(suite, figure);
      row.push_back(figure == &sim::Metrics::ideal_avg_jct_s
                        ? time_in(m.ideal_avg_jct_s, unit)
                        : spread_in(*one.run, figure, unit, kSign));
    }
    for (const std::string& cell :
         {plain(m.gpu_utilisation * 100, 1), plain(m.gpu_hours_per_job, 1),
          plain(m.restarts_per_job, 1), plain(m.jain, 2), std::to_string(one.time.max_waiting)})
      row.push_back(cell);
    table.rows.push_back(std::move(row));
  }
  return html_table(table);
}

/// "Makespan (h)", and how to write its values.
std::pair<std::string, bool> published_title(const std::string& metric, const char* unit) {
  for (const Figure& figure : kCompared) {
    if (metric == figure.name)
      return {fmt::format("{} ({})", figure.title, figure.time ? unit : "%"), figure.time};
  }
  return {metric == kFinished ? "Finished (jobs)" : metric, false};
}

std::string published_table(const PageSuite& suite) {
  HtmlTable table{.caption = "Published figures",
                  .columns = {{"Policy", true},
                              {"Figure", true},
                              {"Published"},
                              {"Found"},
                              {"Difference (%)"},
                              {"Tolerance (%)"},
                              {"Result", true}},
                  .rows = {}};
  double longest = 0;
  for (const PageRun& one : suite.runs)
    for (const sim::PublishedFigure& published : one.run->published)
      longest = std::max(longest, published.value);
  for (const PageRun& one : suite.runs) {
    for (const sim::PublishedFigure& published : one.run->published) {
      const char* const unit = time_unit(longest);
      const auto [title, time] = published_title(published.metric, unit);
      const auto value = [&, in_time = time](double found) {
        return in_time ? time_in(found, unit) : fmt::format("{:g}", found);
      };
      const double off = difference(*one.run, published);
      table.rows.push_back({one.run->policy, title, value(published.value),
                            value(figure_of(one.run->metrics, published.metric)),
                            std::isfinite(off) ? fmt::format("{:+.2f}", off * 100) : "-",
                            fmt::format("{:g}", published.within * 100),
                            holds(*one.run, published) ? "yes"
                            : published.must           ? "no"
                                                       : "documented"});
    }
  }
  if (table.rows.empty()) return "";
  return "<h3>Comparison with published figures</h3>\n" + html_table(table);
}

// -- Curves -----------------------------------------------------------------------------------

/// The share of jobs up to each of `values`, which are sorted; at most kMaxPoints points.
Line share_line(const PageRun& one, const std::vector<double>& values) {
  Line line{one.run->policy, one.style, {{0, 0}}, true};
  const double jobs = one.run->metrics.jobs;
  const std::size_t points = std::min(values.size(), kMaxPoints);
  for (std::size_t i = 1; i <= points; ++i) {
    const std::size_t at = i * values.size() / points;  // number of jobs up to this point
    line.points.emplace_back(values[at - 1], static_cast<double>(at) / jobs);
  }
  return line;
}

/// Extends lines from the start of the axis to its end.
void span_axis(Chart& chart) {
  for (Line& line : chart.lines) {
    line.points.front().first = chart.x.low;
    line.points.emplace_back(chart.x.high, line.points.back().second);
  }
}

Chart distribution(const PageSuite& suite) {
  Chart chart;
  chart.title = "Share of jobs that finished within a time";
  double low = sim::kNever;
  double high = 1;
  for (const PageRun& one : suite.runs) {
    const std::vector<double> times = times_of(suite, *one.run);
    if (times.empty()) continue;
    low = std::min(low, std::max(times.front(), 1.0));
    high = std::max(high, times.back());
    chart.about += fmt::format("{}{}: half within {}", chart.about.empty() ? "" : "; ",
                               one.run->policy, time_text(one.run->metrics.p50_jct_s));
    chart.lines.push_back(share_line(one, times));
  }
  chart.x = wide_time_axis(low, high, "time from arrival to end");
  chart.y = share_axis("jobs");
  span_axis(chart);
  return chart;
}

Chart slowdown(const PageSuite& suite) {
  Chart chart;
  chart.title = "Share of jobs with at most this slowdown against their ideal time";
  double high = 2;
  for (const PageRun& one : suite.runs) {
    const std::vector<double> ratios = slowdowns_of(suite, *one.run);
    if (ratios.empty()) continue;
    high = std::max(high, ratios.back());
    chart.about += fmt::format("{}{}: half at most {:.2f} times", chart.about.empty() ? "" : "; ",
                               one.run->policy, percentile(ratios, 0.5));
    chart.lines.push_back(share_line(one, ratios));
  }
  chart.x = ratio_axis(high, "time from arrival to end / ideal time");
  chart.y = share_axis("jobs");
  span_axis(chart);
  return chart;
}

/// `values` are means of bins of the run, drawn until the run ends.
Line over_time(const PageRun& one, const std::vector<double>& values, double divisor) {
  Line line{one.run->policy, one.style, {}, true};
  const double end = one.run->record.last_event();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double time = one.time.from + one.time.bin * static_cast<double>(i);
    if (i > 0 && time > end) break;
    // The run may end within the last bin.
    const double part = std::min(one.time.bin, end - time);
    const double whole = part > 0 ? values[i] * one.time.bin / part : values[i];
    line.points.emplace_back(time, whole / divisor);
  }
  if (!line.points.empty()) line.points.emplace_back(end, line.points.back().second);
  return line;
}

Chart use(const PageSuite& suite) {
  Chart chart;
  chart.title = "Share of GPUs allocated over time";
  chart.x = time_axis(suite.span, "simulated time");
  chart.y = share_axis("GPUs");
  for (const PageRun& one : suite.runs) {
    if (one.time.held.empty()) continue;
    chart.lines.push_back(over_time(one, one.time.held, suite.suite->cluster.gpus()));
    chart.about += fmt::format("{}{}: mean {}", chart.about.empty() ? "" : "; ", one.run->policy,
                               percent(one.run->metrics.gpu_utilisation));
  }
  return chart;
}

Chart queue(const PageSuite& suite) {
  Chart chart;
  chart.title = "Waiting jobs over time";
  chart.unit = 'n';
  chart.x = time_axis(suite.span, "simulated time");
  double most = 1;
  for (const PageRun& one : suite.runs) {
    Line line = over_time(one, one.time.waiting, 1);
    for (const auto& [time, value] : line.points) most = std::max(most, value);
    chart.lines.push_back(std::move(line));
    chart.about += fmt::format("{}{}: at most {}", chart.about.empty() ? "" : "; ", one.run->policy,
                               one.time.max_waiting);
  }
  chart.y = count_axis(most, "jobs");
  return chart;
}

std::string legend(const PageSuite& suite) {
  std::string html = "<div class=\"legend\">";
  for (const PageRun& one : suite.runs) {
    html += fmt::format(
        "<button type=\"button\" aria-pressed=\"true\" data-name=\"{0}\">{1}{0}</button>",
        html_text(one.run->policy), swatch_svg(one.style));
  }
  return html + "</div>\n";
}

std::string curves(const PageSuite& suite) {
  const double bin = suite.span / static_cast<double>(kBins);
  std::string html = legend(suite) + "<div class=\"pair\">\n";
  const auto add = [&html](const char* title, const Chart& chart) {
    html += fmt::format("<div><h3>{}</h3>{}</div>\n", title, chart_svg(chart));
  };
  add("Jobs finished within a time", distribution(suite));
  add("Slowdown against the ideal time", slowdown(suite));
  add("GPUs allocated", use(suite));
  add("Waiting jobs", queue(suite));
  html += "</div>\n";
  return html + fmt::format(
                    "<p class=\"quiet\">Values over time are means over {}. Unfinished jobs keep a "
                    "curve below 100 %.</p>\n",
                    length_text(bin));
}

}  // namespace

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string bars_html(const std::string& title, const std::vector<Bar>& bars, double most) {
  for (const Bar& bar : bars) {
    for (const double value : {bar.value, bar.published}) {
      if (std::isfinite(value)) most = std::max(most, value);
    }
  }
  std::string html = fmt::format("<div><h3>{}</h3><div class=\"bars\">", title);
  for (const Bar& bar : bars) {
    const auto share = [most](double of) { return most > 0 ? of / most * 100 : 0; };
    html += fmt::format("<span>{}</span><span class=\"bar\"><span class=\"track\">",
                        html_text(bar.label));
    if (std::isfinite(bar.value)) {
      html += fmt::format("<i class=\"s{}\" style=\"width:{:.2f}%\"></i>", bar.style % kColours,
                          share(bar.value));
    }
    html += fmt::format("<b>{}</b>", bar.text);
    if (std::isfinite(bar.published)) {
      html += fmt::format("<u style=\"left:{:.2f}%\" title=\"published: {}\"></u>",
                          share(bar.published), bar.published_text);
    }
    html += "</span></span>\n";
  }
  return html + "</div></div>\n";
}

std::string suite_section(const PageSuite& suite, std::size_t number, bool named) {
  const sim::Suite& from = *suite.suite;
  std::string html = fmt::format("<section id=\"suite{}\">\n", number);
  if (named) html += fmt::format("<h2>{}</h2>\n", html_text(from.name));
  html += fmt::format(
      "<p>{} jobs on {} GPUs of {} nodes: <code>{}</code>{}.</p>\n", from.jobs.size(),
      from.cluster.gpus(), from.cluster.nodes(), html_text(from.cluster.text()),
      suite.runs.empty() ||
              suite.runs.front().run->metrics.jobs == static_cast<int>(from.jobs.size())
          ? ""
          : fmt::format(", figures over {} of them", suite.runs.front().run->metrics.jobs));
  html += compared(suite) + figures_table(suite) + published_table(suite);
  return html + curves(suite) + gantts(suite) + "</section>\n";
}

}  // namespace rubato::tools
