// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/stats/stats_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/json_reader.h"
#include "lib/base/nearest.h"
#include "lib/json/statistics_table.h"
#include "tools/rubato/stats/verdict.h"
#include "tools/shared/own_fields.h"
#include "tools/shared/table.h"

namespace rubato::tools {
namespace {

std::string value_text(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_float()) return fmt::format("{:.3f}", value.get<double>());
  if (value.is_string())
    return value.get<std::string>().empty() ? kUnknown : value.get<std::string>();
  return json_text(value);
}

/// "reports_without_gpu" as "Reports without gpu".
std::string label_of(std::string member) {
  std::replace(member.begin(), member.end(), '_', ' ');
  if (!member.empty()) member[0] = static_cast<char>(std::toupper(member[0]));
  return member;
}

void add_line(std::string& text, const std::string& label, const std::string& value) {
  text += fmt::format("  {:<38}{}\n", label + ":", value);
}

/// `path` is "mail." in the group mail.
void add_members(std::string& text, const Json& group, const std::string& head,
                 const std::string& path) {
  for (const auto& [member, value] : group.items()) {
    const Statistic* row = find_statistic(path + member);
    const std::string own =
        row != nullptr && !row->label.empty() ? std::string(row->label) : label_of(member);
    const std::string label = head.empty() ? own : head + ", " + lower(own);
    if (value.is_object()) {
      add_members(text, value, label, path + member + ".");
    } else if (row != nullptr && row->kind == StatisticKind::kTime) {
      add_line(text, label, format_time(value.get<Seconds>()));
    } else if (!value.is_array()) {
      add_line(text, label, value_text(value));
    }
  }
}

/// The section of a group of stats.json.
std::string heading_of(const std::string& group) {
  for (const StatisticGroup& known : kStatisticGroups) {
    if (known.key == group) return std::string(known.heading);
  }
  return label_of(group);
}

/// The statistics beside the groups, in their sections.
std::string sections(const PublishedStats& stats, Seconds now) {
  std::string text;
  std::string_view heading;
  for (const Statistic& row : statistics::kTable) {
    const Json* value_of = stats.all->find(row.key);
    if (row.heading.empty() || value_of == nullptr) continue;
    if (heading != row.heading) {
      text += fmt::format("{}{}\n", text.empty() ? "" : "\n", row.heading);
      heading = row.heading;
    }
    const std::string value =
        row.kind == StatisticKind::kTime
            ? fmt::format("{} ({} s ago)", format_time(value_of->get<Seconds>()),
                          now - value_of->get<Seconds>())
            : value_text(*value_of);
    add_line(text, std::string(row.label), value);
  }
  return text;
}

std::int64_t number(const Json& object, const char* member) {
  return object.at(member).get<std::int64_t>();
}

/// "12, 3:20" for twelve jobs that waited 3:20 on the average.
std::string mean_text(const Json& count) {
  const std::int64_t jobs = number(count, "jobs");
  return jobs > 0 ? squeue_duration(number(count, "seconds") / jobs) : kUnknown;
}

}  // namespace

std::string stats_text(const PublishedStats& stats, Seconds now) {
  std::string text = sections(stats, now);
  std::string others;
  for (const auto& [member, value] : stats.all->items()) {
    if (member == "schema" || member == "report") continue;
    if (value.is_object()) {
      text += fmt::format("\n{}\n", heading_of(member));
      add_members(text, value, "", member + ".");
    } else if (value.is_primitive() && find_statistic(member) == nullptr) {
      add_line(others, label_of(member), value_text(value));
    }
  }
  return others.empty() ? text : text + "\nOther\n" + others;
}

std::string gpus_text(const std::vector<GpuTypeUse>& types) {
  if (types.empty()) return "";
  Table table({{"GPU_TYPE"},
               {"GPUS", true},
               {"HELD", true},
               {"FREE", true},
               {"OUT", true},
               {"EMPTY_NODES", true},
               {"LARGEST", true},
               {"SCATTERED", true},
               {"PRICE", true}});
  for (const GpuTypeUse& use : types) {
    std::vector<std::string> row{use.type.empty() ? "gpu" : use.type};
    for (const int count : {use.total, use.held, use.free, use.out, use.whole, use.largest})
      row.push_back(fmt::format("{}", count));
    row.push_back(use.free > 0 ? fmt::format("{:.0f}%", use.scattered() * 100) : kUnknown);
    row.push_back(use.price > 0 ? fmt::format("{:.2f}", use.price) : kUnknown);
    table.add(std::move(row));
  }
  return "GPUs by type\n" + table.text() + "\n";
}

std::string days_text(const Json& report, int days) {
  const Json& found = report.at("days");
  if (found.empty()) {
    return "No managed job has started yet.\n";
  }
  Table table({{"DAY"},
               {"MODE"},
               {"STARTED", true},
               {"WAIT", true},
               {"LONGEST", true},
               {"EARLIER", true},
               {"BY", true},
               {"GPU_HOURS", true},
               {"REPORTS", true}});
  const std::size_t count = found.size();
  const std::size_t first = count > static_cast<std::size_t>(days) ? count - days : 0;
  for (std::size_t i = first; i < count; ++i) {
    const Json& day = found[i];
    const Json waits = day.value("waits", Json::object());
    const Json earlier = day.value("earlier", Json::object());
    const bool observe = day.at("mode").text() == "observe";
    const std::int64_t scored = number(earlier, "jobs") + number(day, "not_earlier");
    table.add({day_text(number(day, "day")), day.value("mode", std::string(kUnknown)),
               fmt::format("{}", number(waits, "jobs")), mean_text(waits),
               number(waits, "jobs") > 0 ? squeue_duration(number(waits, "longest")) : kUnknown,
               observe ? fmt::format("{}/{}", number(earlier, "jobs"), scored) : kUnknown,
               observe ? mean_text(earlier) : kUnknown,
               fmt::format("{:.1f}", day.value("gpu_seconds", 0.0) / 3600),
               fmt::format("{}", number(day, "reports"))});
  }
  return table.text();
}

}  // namespace rubato::tools
