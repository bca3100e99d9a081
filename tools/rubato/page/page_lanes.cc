// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/page/page_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "tools/page/html.h"
#include "tools/page/lanes.h"
#include "tools/shared/own_fields.h"

namespace rubato::tools {
namespace {

constexpr Seconds kHour = 3600;

/// The charts by type, and where a node is in each.
class Charts {
 public:
  Charts(const PageInput& input, const Holders& holders) : input_(input), holders_(holders) {
    const Snapshot& snapshot = input.snapshot;
    for (const NodeIndex node : indices<NodeIndex>(snapshot.nodes)) {
      for (const GpuGroup& group : snapshot.nodes[node].gpus) {
        LaneChart& chart = charts_[group.type];
        place_[{group.type, node}] = chart.nodes.size();
        chart.nodes.push_back({snapshot.nodes[node].name, group.total});
        gpus_ += group.total;
      }
    }
    for (auto& [type, chart] : charts_) {
      chart.now = snapshot.taken;
      chart.from = snapshot.taken - input.hours * kHour;
      chart.until = snapshot.taken + input.hours * kHour;
    }
  }

  [[nodiscard]] int gpus() const { return gpus_; }
  [[nodiscard]] std::map<std::string, LaneChart>& all() { return charts_; }

  void add_past() {
    for (const PastRun& run : input_.past) {
      add(run.job, run.job.allocation, run.start, run.end, run.end,
          fmt::format("ran from {} to {}", format_time(run.start), format_time(run.end)));
    }
  }

  void add_running() {
    for (const Job& job : input_.snapshot.jobs) {
      if (job.state != JobState::kRunning) continue;
      const bool limited = job.end_limit < kForever;
      // A job beyond its limit ends soon (OverTimeLimit, or it is completing).
      const Seconds until = limited ? std::max(job.end_limit, input_.snapshot.taken + 1) : kForever;
      add(job, job.allocation, job.start, input_.snapshot.taken, until,
          fmt::format(
              "runs since {}, {}", format_time(job.start),
              limited ? "time limit until " + format_time(job.end_limit) : "without a time limit"));
    }
  }

  void add_reserved() {
    for (const Reservation& one : input_.plan.reservations) {
      const auto& jobs = input_.snapshot.jobs;
      const auto job = std::ranges::find_if(
          jobs, [&](const Job& it) { return it.key == one.job && it.partition == one.partition; });
      if (job == jobs.end()) continue;
      add(*job, one.shares, one.start, 0, add_seconds(one.start, job->time_limit),
          fmt::format("{} from {}", one.promised > 0 ? "promised" : "reserved",
                      format_time(one.start)));
    }
  }

 private:
  void add(const Job& job, const std::vector<NodeShare>& shares, Seconds from, Seconds held,
           Seconds until, const std::string& what) {
    for (const NodeShare& share : shares) {
      for (const GpuCount& group : share.gpus) {
        const auto at = place_.find({group.type, share.node});
        if (at == place_.end()) continue;
        LaneChart& chart = charts_[group.type];
        if (from >= chart.until || until <= chart.from) continue;
        const std::string& holder = holder_of(job);
        chart.bars.push_back(
            {.node = at->second,
             .gpus = group.count,
             .from = from,
             .held = held,
             .until = std::min(until, chart.until),
             .style = holders_.style_of(job),
             .label = job.label,
             .about = fmt::format("Job {}{}{}: {} of {}, {}", job.label,
                                  holder.empty() ? "" : " of ", holder,
                                  group.count == 1 ? "1 GPU" : fmt::format("{} GPUs", group.count),
                                  chart.nodes[at->second].name, what)});
      }
    }
  }

  const PageInput& input_;
  const Holders& holders_;
  std::map<std::string, LaneChart> charts_;
  std::map<std::pair<std::string, NodeIndex>, std::size_t> place_;
  int gpus_ = 0;
};

std::string remark(const PageInput& input) {
  std::string text =
      "The dashed line is the time of this page. Slurm records how many GPUs of a node a job "
      "holds, "
      "not which; a job that changed its size is drawn at its last size.";
  if (!input.stored && input.hours > 1)
    text +=
        " Of jobs that have ended only those of the last hour that Rubato placed are known here.";
  return fmt::format("<p class=\"quiet\">{}</p>\n", html_text(text));
}

}  // namespace

std::string lanes_section(const PageInput& input, const Holders& holders) {
  Charts charts(input, holders);
  if (charts.all().empty()) return "";
  const int row = lane_row(charts.gpus());
  if (row == 0) {
    return fmt::format("<p class=\"quiet\">No chart: {} GPUs are too many for one.</p>\n",
                       html_count(charts.gpus()));
  }
  charts.add_past();
  charts.add_running();
  charts.add_reserved();
  std::string html = holders_legend(holders);
  for (auto& [type, chart] : charts.all()) {
    const std::string name = type.empty() ? "GPUs" : type;
    chart.row = row;
    chart.title = fmt::format("{}: which job holds which GPUs", name);
    chart.about = fmt::format(
        "{} runs and reservations on {} nodes, from {} to {}; the tables below list the jobs.",
        chart.bars.size(), chart.nodes.size(), format_time(chart.from), format_time(chart.until));
    html += fmt::format("<h3>{}</h3>\n", html_text(name)) + lanes_html(chart);
  }
  return html + remark(input);
}

}  // namespace rubato::tools
