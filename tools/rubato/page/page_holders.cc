// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/page/page_holders.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "tools/page/html.h"

namespace rubato::tools {
namespace {

constexpr std::size_t kMaxRows = 50;

std::string shown_name(const std::string& name) { return name.empty() ? "(not shown)" : name; }

std::string type_name(const std::string& type) { return type.empty() ? "gpu" : type; }

}  // namespace

const std::string& holder_of(const Job& job) { return job.user.empty() ? job.account : job.user; }

std::string holder_word(const Snapshot& snapshot) {
  if (!snapshot.private_data.users) return "User";
  return snapshot.private_data.accounts ? "Holder" : "Account";
}

Holders::Holders(const PageInput& input) {
  std::set<JobKey> seen;  // a job in several partitions waits once
  for (const Job& job : input.snapshot.jobs) {
    if (!job.request.wants_gpus()) continue;
    Counts& counts = counts_[holder_of(job)];
    if (job.state == JobState::kPending) {
      counts.waiting += seen.insert(job.key).second ? job.tasks : 0;
      continue;
    }
    ++counts.running;
    for (const NodeShare& share : job.allocation) {
      for (const GpuCount& group : share.gpus) {
        counts.gpus[group.type] += group.count;
        counts.total += group.count;
      }
    }
  }
  for (const PastRun& run : input.past) {
    int gpus = 0;
    for (const NodeShare& share : run.job.allocation) gpus += share.gpu_count();
    counts_[holder_of(run.job)].past +=
        static_cast<double>(gpus) * static_cast<double>(run.end - run.start);
  }
  for (const auto& [name, counts] : counts_) names_.push_back(name);
  std::ranges::stable_sort(names_, [&](const std::string& a, const std::string& b) {
    if (a.empty() != b.empty()) return b.empty();  // it has no colour of its own
    const Counts& x = counts_.at(a);
    const Counts& y = counts_.at(b);
    return std::tie(y.total, y.past, y.waiting) < std::tie(x.total, x.past, x.waiting);
  });
}

const Holders::Counts* Holders::find(const std::string& name) const {
  const auto at = counts_.find(name);
  return at != counts_.end() ? &at->second : nullptr;
}

int Holders::style_of(const Job& job) const {
  const std::string& name = holder_of(job);
  const auto at = std::ranges::find(names_, name);
  const auto place = static_cast<std::size_t>(at - names_.begin());
  return name.empty() || place >= kMaxStyles ? kOtherStyle : static_cast<int>(place);
}

const std::map<std::string, int>& Holders::gpus_of(const std::string& name) const {
  static const std::map<std::string, int> none;
  const Counts* counts = find(name);
  return counts != nullptr ? counts->gpus : none;
}

int Holders::running(const std::string& name) const {
  const Counts* counts = find(name);
  return counts != nullptr ? counts->running : 0;
}

int Holders::waiting(const std::string& name) const {
  const Counts* counts = find(name);
  return counts != nullptr ? counts->waiting : 0;
}

std::string holders_legend(const Holders& holders) {
  std::string html = "<div class=\"legend\">";
  const auto add = [&html](int style, const std::string& name) {
    html += fmt::format(
        "<span><svg viewBox=\"0 0 14 14\" aria-hidden=\"true\"><rect class=\"bar s{}\" "
        "width=\"14\" height=\"14\" rx=\"2\"/></svg>{}</span>",
        style, html_text(name));
  };
  int style = 0;
  bool others = false;
  for (const std::string& name : holders.names()) {
    if (!name.empty() && static_cast<std::size_t>(style) < Holders::kMaxStyles)
      add(style++, name);
    else
      others = true;
  }
  if (others) add(Holders::kOtherStyle, style > 0 ? "others" : "all jobs");
  return html +
         "<span><svg viewBox=\"0 0 14 14\" aria-hidden=\"true\"><rect class=\"bar s7 planned\" "
         "width=\"14\" height=\"14\" rx=\"2\"/></svg>until the time limit, or reserved</span>"
         "</div>\n";
}

std::string holders_table(const Holders& holders, const std::vector<GpuTypeUse>& use,
                          const std::string& word) {
  HtmlTable table{.caption = "Who holds the GPUs", .columns = {{word, true}}, .rows = {}};
  for (const GpuTypeUse& type : use) table.columns.push_back({type_name(type.type) + " (GPUs)"});
  table.columns.push_back({"Running (jobs)"});
  table.columns.push_back({"Waiting (jobs)"});
  for (const std::string& name : holders.names()) {
    const auto& gpus = holders.gpus_of(name);
    if (holders.running(name) + holders.waiting(name) == 0) continue;
    if (table.rows.size() == kMaxRows) break;
    std::vector<std::string> row{shown_name(name)};
    for (const GpuTypeUse& type : use) {
      const auto at = gpus.find(type.type);
      row.push_back(at != gpus.end() ? html_count(at->second) : "");
    }
    row.push_back(html_count(holders.running(name)));
    row.push_back(html_count(holders.waiting(name)));
    table.rows.push_back(std::move(row));
  }
  return html_table(table);
}

}  // namespace rubato::tools
