// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/page/page_view.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "lib/base/version.h"
#include "tools/page/html.h"
#include "tools/page/page_text.h"
#include "tools/rubato/explain/explain_parts.h"
#include "tools/rubato/explain/explain_view.h"
#include "tools/rubato/page/page_holders.h"
#include "tools/rubato/page/page_lanes.h"
#include "tools/rubato/stats/verdict.h"
#include "tools/shared/gpu_use.h"
#include "tools/shared/own_fields.h"
#include "tools/shared/pause_view.h"

namespace rubato::tools {
namespace {

constexpr std::size_t kMaxRows = 200;
constexpr Seconds kDay = 86400;

std::string left_out_html(std::size_t all) {
  if (all <= kMaxRows) return "";
  return fmt::format("<p class=\"quiet\">The first {} of {}.</p>\n", kMaxRows,
                     html_count(static_cast<long long>(all)));
}

std::string heading(const char* text) { return fmt::format("<h2>{}</h2>\n", text); }

std::string nothing(const char* text) { return fmt::format("<p class=\"quiet\">{}</p>\n", text); }

/// There is nothing, or it is hidden.
std::string no_jobs(const PageInput& input, const char* text) {
  return nothing(input.snapshot.private_data.jobs ? "PrivateData of slurm.conf hides jobs." : text);
}

/// "12:30" on the day of the page, else "11-22 12:30".
std::string short_time(Seconds time, Seconds now) {
  const std::time_t at = time;
  const std::time_t today = now;
  std::tm a{};
  std::tm b{};
  localtime_r(&at, &a);
  localtime_r(&today, &b);
  const bool same = a.tm_year == b.tm_year && a.tm_yday == b.tm_yday;
  return same ? fmt::format("{:%H:%M}", a) : fmt::format("{:%m-%d %H:%M}", a);
}

/// "0:09:58", as the headings of columns say.
std::string clock_text(Seconds seconds) {
  const Seconds whole = std::max<Seconds>(0, seconds);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

// -- GPUs -------------------------------------------------------------------------------------

std::string gpus_table(const std::vector<GpuTypeUse>& use) {
  const bool priced = std::ranges::any_of(use, [](const auto& type) { return type.price > 0; });
  HtmlTable table{.caption = "GPUs by type",
                  .columns = {{"GPU type", true},
                              {"Nodes"},
                              {"GPUs"},
                              {"Held"},
                              {"Free"},
                              {"Down or drained"},
                              {"Free on empty nodes"},
                              {"Most free on a node"}},
                  .rows = {},
                  .stacks = true};
  if (priced) table.columns.push_back({"Price (mean of types = 1)"});
  for (const GpuTypeUse& type : use) {
    std::vector<std::string> row{type.type.empty() ? "gpu" : type.type};
    for (const int count :
         {type.nodes, type.total, type.held, type.free, type.out, type.whole, type.largest})
      row.push_back(html_count(count));
    if (priced) row.push_back(fmt::format("{:.2f}", type.price));
    table.rows.push_back(std::move(row));
  }
  return html_table(table);
}

// -- Jobs -------------------------------------------------------------------------------------

/// Whether the start of a job was promised to it.
bool promised(const PageInput& input, const Job& job) {
  return std::ranges::any_of(input.plan.reservations, [&](const Reservation& one) {
    return one.job == job.key && one.partition == job.partition && one.promised > 0;
  });
}

std::string start_text(const PageInput& input, const PlanEntry& entry) {
  const Explanation& e = *entry.explanation;
  const Seconds now = input.snapshot.taken;
  if (e.verdict == Verdict::kStart || e.verdict == Verdict::kAttempt) return "now";
  const bool from = tells_earliest(e, now);
  const bool to = e.start_latest > 0 && e.start_latest < kForever;
  if (!from && !to) return "";
  if (!to) return "not before " + short_time(e.start_earliest, now);
  const bool sure = entry.job != nullptr && promised(input, *entry.job);
  return fmt::format("by {}{}", short_time(e.start_latest, now), sure ? " (promised)" : "");
}

std::string wanted_gpus(const Job& job) {
  const int gpus = job.request.gpus_on(std::max(job.request.min_nodes, 1));
  if (gpus == 0) return "";
  return job.request.gpu_type.empty() ? html_count(gpus)
                                      : fmt::format("{} {}", gpus, job.request.gpu_type);
}

std::string queue_section(const PageInput& input) {
  HtmlTable table{.caption = "Waiting jobs in the order of the last round",
                  .columns = {{"Job", true},
                              {holder_word(input.snapshot), true},
                              {"Partition", true},
                              {"GPUs", true},
                              {"Waited (h:mm:ss)"},
                              {"Starts", true},
                              {"Why", true}},
                  .rows = {},
                  .stacks = true};
  std::size_t all = 0;
  const Seconds now = input.snapshot.taken;
  for (const PlanEntry& entry : queue_of(input.snapshot, input.plan)) {
    if (entry.job != nullptr && entry.job->state == JobState::kRunning) continue;
    if (++all > kMaxRows) continue;
    std::vector<std::string> row(table.columns.size());
    if (entry.job != nullptr) {
      row = {entry.job->label, holder_of(*entry.job), entry.job->partition, wanted_gpus(*entry.job),
             clock_text(now - entry.job->eligible)};
    } else {
      row = {entry.explanation->label, "", entry.explanation->partition, "", ""};
    }
    row.push_back(entry.explanation != nullptr ? start_text(input, entry) : "");
    row.push_back(entry.explanation != nullptr ? entry.explanation->reason
                                               : "submitted after the last round");
    table.rows.push_back(std::move(row));
  }
  if (all == 0) return heading("Waiting jobs") + no_jobs(input, "No job waits.");
  return heading("Waiting jobs") + html_table(table) + left_out_html(all);
}

/// "4 a100" and its nodes.
std::pair<std::string, std::string> held_text(const Job& job, const Snapshot& snapshot) {
  std::map<std::string, int> gpus;
  std::string nodes;
  for (const NodeShare& share : job.allocation) {
    for (const GpuCount& group : share.gpus) gpus[group.type] += group.count;
    nodes += (nodes.empty() ? "" : ", ") + node_name(snapshot, share.node);
  }
  std::string text;
  for (const auto& [type, count] : gpus)
    text += fmt::format("{}{} {}", text.empty() ? "" : " + ", count, type.empty() ? "GPUs" : type);
  return {text, nodes};
}

std::string running_section(const PageInput& input) {
  const Snapshot& snapshot = input.snapshot;
  const Seconds now = snapshot.taken;
  HtmlTable table{.caption = "Running jobs with GPUs",
                  .columns = {{"Job", true},
                              {holder_word(snapshot), true},
                              {"Name", true},
                              {"GPUs", true},
                              {"Nodes", true},
                              {"Running (h:mm:ss)"},
                              {"Time limit ends", true},
                              {"Forecast left (h:mm:ss)"},
                              {"Throughput (samples/s)"}},
                  .rows = {},
                  .stacks = true};
  std::size_t all = 0;
  for (const Job& job : snapshot.jobs) {
    if (job.state != JobState::kRunning || !job.request.wants_gpus()) continue;
    if (++all > kMaxRows) continue;
    const auto [gpus, nodes] = held_text(job, snapshot);
    const ProgressHistory* history = progress_history_of(snapshot.memory, job.key);
    const Progress* progress = progress_of(snapshot.memory, job.key);
    table.rows.push_back(
        {job.label, holder_of(job), job.name, gpus, nodes, clock_text(now - job.start),
         job.end_limit < kForever ? short_time(job.end_limit, now) : "none",
         history != nullptr && history->left >= 0
             ? clock_text(whole_seconds(history->left) -
                          (progress != nullptr ? std::max<Seconds>(0, now - progress->time) : 0))
             : "",
         progress != nullptr ? throughput_text(progress->throughput) : ""});
  }
  if (all == 0) return heading("Running jobs") + no_jobs(input, "No job with GPUs runs.");
  return heading("Running jobs") + html_table(table) + left_out_html(all);
}

// -- Profiles ---------------------------------------------------------------------------------

std::string profiles_section(const PageInput& input) {
  if (!input.models) return heading("Job types") + nothing("No profiles are published.");
  HtmlTable table{.caption = "Throughput of job types",
                  .columns = {{"Job type", true},
                              {"Account", true},
                              {"GPU type", true},
                              {"GPUs"},
                              {"Forecast (samples/s)"},
                              {"Two in three between (samples/s)", true},
                              {"Reports"}},
                  .rows = {},
                  .stacks = true};
  const auto& forecasts = input.models->forecasts;
  for (const ForecastRow& row : forecasts) {
    if (table.rows.size() == kMaxRows) break;
    table.rows.push_back({row.job_type, row.shared ? "all" : row.account, row.gpu_type,
                          html_count(row.gpus), throughput_text(row.throughput),
                          fmt::format("{} and {}", throughput_text(row.throughput_low),
                                      throughput_text(row.throughput_high)),
                          row.samples > 0 ? html_count(row.samples) : "none here"});
  }
  if (table.rows.empty()) return heading("Job types") + nothing("Nothing was measured yet.");
  return heading("Job types") + html_table(table) + left_out_html(forecasts.size());
}

// -- What Rubato did --------------------------------------------------------------------------

std::string mean_wait(const WaitCount& waits) {
  return waits.jobs > 0 ? clock_text(waits.total / waits.jobs) : "";
}

std::string week_section(const PageInput& input, const Periods& periods) {
  HtmlTable table{.caption = "Managed jobs by day",
                  .columns = {{"Day (UTC)", true},
                              {"Mode", true},
                              {"Started (jobs)"},
                              {"Mean wait (h:mm:ss)"},
                              {"Longest wait (h:mm:ss)"},
                              {"Held (GPU hours)"},
                              {"Changed (running jobs)"},
                              {"Gained by that, forecast (h:mm:ss)"},
                              {"Reports"}},
                  .rows = {},
                  .stacks = true};
  const Seconds from = periods.until - periods.until % kDay - (kVerdictDays - 1) * kDay;
  for (const Period& day : periods.all()) {
    if (day.day < from) continue;
    table.rows.push_back({day_text(day.day), day.mode, html_count(day.waits.jobs),
                          mean_wait(day.waits),
                          day.waits.jobs > 0 ? clock_text(day.waits.longest) : "",
                          fmt::format("{:.1f}", day.gpu_seconds / 3600),
                          day.changes.done() > 0 ? html_count(day.changes.done()) : "",
                          day.changes.gain > 0 ? clock_text(whole_seconds(day.changes.gain)) : "",
                          html_count(day.reports)});
  }
  const char* title = "The last seven days";
  if (!input.stats) return heading(title) + nothing("No counters are published.");
  if (table.rows.empty()) return heading(title) + nothing("No managed job has started.");
  return heading(title) + html_table(table);
}

std::string verdict_of_page(const PageInput& input, const Periods& periods) {
  if (!input.stats) return "What Rubato did is not known: no counters are published.";
  return verdict_of(periods, input.stats->mode, kVerdictDays).sentence;
}

std::string state_html(const PageInput& input) {
  std::string html;
  if (!input.stopped.empty())
    html += "<p class=\"cut\">Rubato's loop does not run. What follows is old.</p>\n";
  if (input.stats && input.stats->pause) {
    html += fmt::format("<p class=\"cut\">Scheduling is {}: stock Slurm schedules.</p>\n",
                        html_text(pause_words(*input.stats->pause)));
  }
  return html;
}

/// What the cluster does at the time of the page.
struct Now {
  int held = 0;  ///< GPUs
  int total = 0;
  long long running = 0;  ///< GPU jobs
  long long waiting = 0;
  std::ptrdiff_t promises = 0;
};

Now now_of(const PageInput& input, const std::vector<GpuTypeUse>& use) {
  Now now;
  for (const GpuTypeUse& type : use) {
    now.held += type.held;
    now.total += type.total;
  }
  std::set<JobKey> seen;  // a job in several partitions waits once
  for (const Job& job : input.snapshot.jobs) {
    if (!job.request.wants_gpus()) continue;
    if (job.state == JobState::kRunning)
      ++now.running;
    else if (seen.insert(job.key).second)
      now.waiting += job.tasks;
  }
  now.promises = std::ranges::count_if(input.plan.reservations,
                                       [](const Reservation& one) { return one.promised > 0; });
  return now;
}

/// " The first in the queue is job 1003 of ann, which starts by 13:00."; "" where no waiting job
/// asks for GPUs.
std::string first_waiting_text(const PageInput& input) {
  for (const PlanEntry& entry : queue_of(input.snapshot, input.plan)) {
    if (entry.job == nullptr || entry.job->state == JobState::kRunning ||
        !entry.job->request.wants_gpus())
      continue;
    const std::string start = entry.explanation != nullptr ? start_text(input, entry) : "";
    const std::string& holder = holder_of(*entry.job);
    return fmt::format(" The first in the queue is job {}{}{}.", entry.job->label,
                       holder.empty() ? "" : " of " + holder,
                       start.empty() ? "" : ", which starts " + start);
  }
  return "";
}

/// The sentence that the page opens with.
std::string now_text(const PageInput& input, const Now& now) {
  if (input.snapshot.private_data.nodes)
    return "PrivateData of slurm.conf hides nodes and their GPUs.";
  if (now.total == 0) return "The snapshot has no node with GPUs.";
  std::string text =
      fmt::format("{} of {} GPUs are held", html_count(now.held), html_count(now.total));
  if (input.snapshot.private_data.jobs) return text + ".";
  if (now.running > 0)
    text += fmt::format(" by {} job{}", html_count(now.running), now.running == 1 ? "" : "s");
  if (now.waiting == 0) return text + "; no GPU job waits.";
  text += fmt::format("; {} GPU job{}.", html_count(now.waiting),
                      now.waiting == 1 ? " waits" : "s wait");
  return text + first_waiting_text(input);
}

std::string tiles_html(const PageInput& input, const Now& now) {
  std::string html = "<div class=\"tiles\">\n";
  if (now.total > 0) {
    html +=
        html_tile(fmt::format("{} / {}", html_count(now.held), html_count(now.total)), "GPUs held");
  }
  if (!input.snapshot.private_data.jobs) {
    html += html_tile(html_count(now.running), "GPU jobs run");
    html += html_tile(html_count(now.waiting), "GPU jobs wait");
    html += html_tile(html_count(now.promises), "starts promised");
  }
  if (input.stats) html += html_tile(input.stats->mode, "mode");
  return html + "</div>\n";
}

std::string hidden_text(const PrivateData& hidden) {
  std::string text;
  const auto add = [&text](bool yes, const char* word) {
    if (yes) text += (text.empty() ? "" : ", ") + std::string(word);
  };
  add(hidden.jobs, "jobs");
  add(hidden.nodes, "nodes");
  add(hidden.partitions, "partitions");
  add(hidden.users, "users");
  add(hidden.accounts, "accounts");
  add(hidden.usage, "usage");
  return text;
}

std::string foot_html(const PageInput& input) {
  const std::time_t at = input.snapshot.taken;
  std::tm parts{};
  localtime_r(&at, &parts);
  std::string text = fmt::format("Snapshot of {} ({:%Z}), round {}. Rubato {}, Slurm {}.",
                                 format_time(input.snapshot.taken), parts, input.plan.round,
                                 version(), input.snapshot.slurm_version);
  const std::string hidden = hidden_text(input.snapshot.private_data);
  if (!hidden.empty()) text += fmt::format(" PrivateData of slurm.conf hides: {}.", hidden);
  return fmt::format(
      "<h2>About this page</h2>\n<p>{}</p>\n<p>The same published files give the same page, byte "
      "for byte. Write it again with <code>rubato page -o FILE</code>.</p>\n",
      html_text(text));
}

}  // namespace

std::string cluster_page(const PageInput& input) {
  const std::string& name = input.snapshot.cluster;
  const std::string title = name.empty() ? "Cluster" : "Cluster " + name;
  const std::vector<GpuTypeUse> use = gpu_use(input.snapshot, &input.plan);
  const Holders holders(input);
  const Periods periods = input.stats ? periods_of(*input.stats) : Periods{};
  std::string html = html_head(title, {kPageStyle, kLanesStyle});
  html += fmt::format("<h1>{}</h1>\n", html_text(title));
  const Now now = now_of(input, use);
  html += state_html(input) + html_verdict(now_text(input, now)) + tiles_html(input, now);
  html += fmt::format("<p>{}</p>\n", html_text(verdict_of_page(input, periods)));
  html += heading("GPUs") + gpus_table(use);
  if (use.empty()) html += nothing("No nodes with GPUs are shown.");
  html += holders_table(holders, use, holder_word(input.snapshot));
  if (!use.empty()) html += heading("Who holds which GPUs") + lanes_section(input, holders);
  html += queue_section(input) + running_section(input) + profiles_section(input);
  return html + week_section(input, periods) + foot_html(input) + html_end();
}

}  // namespace rubato::tools
