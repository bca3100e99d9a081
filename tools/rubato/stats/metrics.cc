// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/stats/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "lib/base/json_value.h"
#include "lib/json/statistics_table.h"

namespace rubato::tools {
namespace {

constexpr const char* kCounter = "counter";
constexpr const char* kGauge = "gauge";
constexpr double kSecondsPerMs = 1e-3;

const char* type_of(StatisticKind kind) {
  return kind == StatisticKind::kCounter ? kCounter : kGauge;
}

/// What a number of stats.json is multiplied by: metrics have base units.
double unit_of(StatisticKind kind) {
  return kind == StatisticKind::kMilliseconds ? kSecondsPerMs : 1;
}

std::optional<double> number_of(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1.0 : 0.0;
  if (value.is_number()) return value.get<double>();
  return std::nullopt;
}

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

void family(std::string& text, const std::string& name, const char* type, const std::string& help) {
  text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void single(std::string& text, const std::string& name, const char* type, const std::string& help,
            double value) {
  family(text, name, type, help);
  text += fmt::format("{} {}\n", name, number_text(value));
}

/// Letters, digits and underscores, as the name of a metric.
std::string metric_word(std::string text) {
  for (char& c : text) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    if (!good) c = '_';
  }
  return text;
}

/// The name of a statistic that has none in the table: with its unit, and _total for counters.
std::string metric_name(const std::string& member, StatisticKind kind) {
  std::string name = "rubato_" + metric_word(member);
  if (kind == StatisticKind::kCounter) return name + "_total";
  if (kind == StatisticKind::kTime) return name + "_seconds";
  if (kind != StatisticKind::kMilliseconds) return name;
  if (const auto at = name.find("_ms_"); at != std::string::npos) name.erase(at, 3);
  return name + "_seconds";
}

/// Numbers by "member", "group.member" and so on; arrays are left out.
void take_numbers(const Json& group, const std::string& head, std::map<std::string, double>& to) {
  for (const auto& [member, value] : group.items()) {
    if (const auto number = number_of(value)) to[head + member] = *number;
    if (value.is_object()) take_numbers(value, head + member + ".", to);
  }
}

void add_stats(std::string& text, const PublishedStats& stats, Seconds now) {
  family(text, "rubato_info", kGauge, "Version of the plugins and mode");
  text += fmt::format("rubato_info{{version=\"{}\",slurm_version=\"{}\",mode=\"{}\"}} 1\n",
                      escape_label(stats.version), escape_label(stats.slurm_version),
                      escape_label(stats.mode));
  single(text, "rubato_heartbeat_age_seconds", kGauge, "Time since Rubato's loop last ran",
         static_cast<double>(std::max<Seconds>(0, now - stats.heartbeat)));
  std::map<std::string, double> numbers;
  take_numbers(*stats.all, "", numbers);
  numbers.erase("heartbeat");
  for (const Statistic& row : statistics::kTable) {
    const auto it = numbers.find(std::string(row.key));
    if (it == numbers.end() || row.metric.empty()) continue;
    single(text, std::string(row.metric), type_of(row.kind), std::string(row.meaning),
           it->second * unit_of(row.kind));
    numbers.erase(it);
  }
  for (const auto& [member, value] : numbers) {
    if (member.starts_with("report.")) continue;
    const Statistic* row = find_statistic(member);
    if (row == nullptr) {
      single(text, "rubato_" + metric_word(member), "untyped",
             fmt::format("{} of stats.json", member), value);
    } else {
      single(text, metric_name(member, row->kind), type_of(row->kind),
             fmt::format("{}: {} of stats.json", row->meaning, member), value * unit_of(row->kind));
    }
  }
}

/// GPUs of one type.
struct GpuCounts {
  int total = 0;
  int free = 0;     ///< on nodes that jobs may start on
  int managed = 0;  ///< held by running jobs that Rubato manages
};

void add_gpus(std::string& text, const Snapshot& snapshot) {
  std::map<std::string, GpuCounts> types;
  for (const Node& node : snapshot.nodes) {
    for (const GpuGroup& group : node.gpus) {
      types[group.type].total += group.total;
      if (node.usable) types[group.type].free += group.free;
    }
  }
  for (const Job& job : snapshot.jobs) {
    if (job.state != JobState::kRunning || !job.managed) continue;
    for (const NodeShare& share : job.allocation)
      for (const GpuCount& group : share.gpus) types[group.type].managed += group.count;
  }
  if (types.empty()) return;  // PrivateData may hide the nodes
  const auto gauge = [&](const char* name, const char* help, int GpuCounts::*count) {
    family(text, name, kGauge, help);
    for (const auto& [type, counts] : types) {
      text += fmt::format("{}{{gpu_type=\"{}\"}} {}\n", name, escape_label(type), counts.*count);
    }
  };
  gauge("rubato_gpus", "GPUs of a type", &GpuCounts::total);
  gauge("rubato_gpus_free", "Free GPUs of a type on nodes where jobs may start", &GpuCounts::free);
  gauge("rubato_gpus_managed", "GPUs of a type held by running managed jobs", &GpuCounts::managed);
}

std::string labels_of(const ModelRow& row) {
  return fmt::format(
      "{{account=\"{}\",job_type=\"{}\",gpu_type=\"{}\",gpus=\"{}\",nodes=\"{}\",plan=\"{}\","
      "batch=\"{}\"}}",
      escape_label(row.account), escape_label(row.job_type), escape_label(row.gpu_type), row.gpus,
      row.nodes, escape_label(row.plan), row.batch);
}

void add_models(std::string& text, const ModelsTable& models) {
  if (models.rows.empty()) return;
  family(text, "rubato_profile_samples", kGauge, "Reports of a profile, including flagged ones");
  for (const ModelRow& row : models.rows) {
    text += fmt::format("rubato_profile_samples{} {}\n", labels_of(row), row.samples);
  }
  family(text, "rubato_profile_flagged", kGauge, "Flagged reports of a profile (not used)");
  for (const ModelRow& row : models.rows) {
    text += fmt::format("rubato_profile_flagged{} {}\n", labels_of(row), row.flagged);
  }
  family(text, "rubato_profile_rate", kGauge, "Mean throughput of a profile, samples/s");
  for (const ModelRow& row : models.rows) {
    if (row.samples <= row.flagged) continue;
    text +=
        fmt::format("rubato_profile_rate{} {}\n", labels_of(row), number_text(row.throughput_mean));
  }
}

}  // namespace

std::string escape_label(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out;
}

std::string metrics_text(const PublishedStats* stats, const Snapshot* snapshot,
                         const ModelsTable* models, bool up, Seconds now) {
  std::string text;
  single(text, "rubato_up", kGauge, "1 if Rubato's loop is running", up ? 1 : 0);
  if (stats != nullptr) add_stats(text, *stats, now);
  if (snapshot != nullptr) add_gpus(text, *snapshot);
  if (models != nullptr) add_models(text, *models);
  return text;
}

}  // namespace rubato::tools
