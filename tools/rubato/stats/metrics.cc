// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/stats/metrics.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "lib/base/json_value.h"
#include "lib/json/statistics_table.h"
#include "tools/rubato/stats/queue_metrics.h"

namespace rubato::tools {
namespace {

constexpr double kSecondsPerMs = 1e-3;
constexpr const char* kUse = "use";  ///< the label that replaces "*" of a key

/// Numbers of stats.json by "member", "group.member" and so on.
using Numbers = std::map<std::string, double>;

/// What a number of stats.json is multiplied by: metrics have base units.
double unit_of(StatisticKind kind) {
  return kind == StatisticKind::kMilliseconds ? kSecondsPerMs : 1;
}

std::optional<double> number_of(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1.0 : 0.0;
  if (value.is_number()) return value.get<double>();
  return std::nullopt;
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
std::string metric_name(const Statistic& row) {
  if (!row.metric.empty()) return std::string(row.metric);
  const std::string name = "rubato_" + metric_word(std::string(row.key));
  if (row.kind == StatisticKind::kCounter) return name + "_total";
  return row.kind == StatisticKind::kTime ? name + "_timestamp_seconds" : name;
}

/// Arrays are left out, and the daily report too.
void take_numbers(const Json& group, const std::string& head, Numbers& to) {
  for (const auto& [member, value] : group.items()) {
    if (const auto number = number_of(value)) to[head + member] = *number;
    if (value.is_object() && (!head.empty() || member != "report"))
      take_numbers(value, head + member + ".", to);
  }
}

/// What stands for "*" in `key`, the part after `row`'s text before it and up to the next dot.
std::string use_of(const Statistic& row, const std::string& key) {
  const std::size_t star = row.key.find('*');
  return star == std::string_view::npos ? "" : key.substr(star, key.find('.', star) - star);
}

/// The counter whose mean `row` is, for the same use.
const double* count_of(const Statistic& row, const std::string& use, const Numbers& numbers) {
  std::string key(row.count);
  if (const std::size_t star = key.find('*'); star != std::string::npos) key.replace(star, 1, use);
  const auto it = numbers.find(key);
  return it == numbers.end() ? nullptr : &it->second;
}

/// The family of one row of the table. A mean with its count is a summary: the sum grows, so that
/// Prometheus can work out the mean of any time.
void add_statistic(MetricText& text, const Statistic& row, const std::vector<std::string>& keys,
                   const Numbers& numbers) {
  const bool summary = !row.count.empty();
  const std::string_view type = summary                               ? kSummary
                                : row.kind == StatisticKind::kCounter ? kCounter
                                                                      : kGauge;
  text.family(metric_name(row), type, summary ? row.sum_meaning : row.meaning);
  for (const std::string& key : keys) {
    const std::string use = use_of(row, key);
    const MetricLabels labels = use.empty() ? MetricLabels{} : MetricLabels{{kUse, use}};
    const double value = numbers.at(key) * unit_of(row.kind);
    if (!summary) {
      text.sample(value, labels);
    } else if (const double* count = count_of(row, use, numbers)) {
      text.sample(value * *count, labels, "_sum");
      text.sample(*count, labels, "_count");
    }
  }
}

void add_statistics(MetricText& text, const Numbers& numbers) {
  std::map<const Statistic*, std::vector<std::string>> known;
  for (const auto& [key, value] : numbers) known[find_statistic(key)].push_back(key);
  for (const Statistic& row : statistics::kTable) {
    if (const auto it = known.find(&row); it != known.end())
      add_statistic(text, row, it->second, numbers);
  }
  for (const std::string& key : known[nullptr])
    text.single("rubato_" + metric_word(key), "untyped", key + " of stats.json", numbers.at(key));
}

/// The store writes; a store that is off, has stopped or has trouble does not.
bool store_writes(const Json& store) {
  const std::string state = store.value("state", std::string());
  return store.value("trouble", std::string()).empty() && state != "off" && state != "stopped" &&
         state != "abandoned";
}

void add_stats(MetricText& text, const PublishedStats& stats) {
  text.family("rubato_info", kGauge, "Version of the plugins and mode");
  text.sample(
      1,
      {{"version", stats.version}, {"slurm_version", stats.slurm_version}, {"mode", stats.mode}});
  Numbers numbers;
  take_numbers(*stats.all, "", numbers);
  add_statistics(text, numbers);
  if (const Json* store = stats.all->find("store"); store != nullptr && store->is_object()) {
    text.single("rubato_store_up", kGauge, "1 if the database takes records",
                store_writes(*store) ? 1 : 0);
  }
}

/// Mean error of forecasts by GPU type, each report counted once.
void add_errors(MetricText& text, const ModelsTable& models) {
  struct Errors {
    double sum = 0;
    std::int64_t reports = 0;
  };
  std::map<std::string, Errors> types;
  for (const ErrorRow& row : models.errors) {
    if (row.reports <= 0) continue;
    Errors& of_type = types[row.gpu_type];
    of_type.sum += row.error * static_cast<double>(row.reports);
    of_type.reports += row.reports;
  }
  if (types.empty()) return;
  text.family("rubato_forecast_error_ratio", kGauge,
              "Mean relative error of throughput forecasts for recent reports of a GPU type");
  for (const auto& [type, errors] : types)
    text.sample(errors.sum / static_cast<double>(errors.reports), {{"gpu_type", type}});
  text.family("rubato_forecast_error_reports", kGauge, "Reports in that mean");
  for (const auto& [type, errors] : types)
    text.sample(static_cast<double>(errors.reports), {{"gpu_type", type}});
}

MetricLabels labels_of(const ModelRow& row) {
  return {{"account", row.account},
          {"job_type", row.job_type},
          {"gpu_type", row.gpu_type},
          {"gpus", fmt::format("{}", row.gpus)},
          {"nodes", fmt::format("{}", row.nodes)},
          {"plan", row.plan},
          {"batch", fmt::format("{}", row.batch)}};
}

void add_profiles(MetricText& text, const ModelsTable& models) {
  if (models.rows.empty()) return;
  text.family("rubato_profile_samples", kGauge, "Reports of a profile, including flagged ones");
  for (const ModelRow& row : models.rows)
    text.sample(static_cast<double>(row.samples), labels_of(row));
  text.family("rubato_profile_samples_flagged", kGauge, "Flagged reports of a profile (not used)");
  for (const ModelRow& row : models.rows)
    text.sample(static_cast<double>(row.flagged), labels_of(row));
  text.family("rubato_profile_samples_per_second", kGauge, "Mean throughput of a profile");
  for (const ModelRow& row : models.rows)
    if (row.measured()) text.sample(row.throughput_mean, labels_of(row));
}

void add_profile_errors(MetricText& text, const ModelsTable& models) {
  if (models.errors.empty()) return;
  text.family("rubato_profile_forecast_error_ratio", kGauge,
              "Mean relative error of throughput forecasts for recent reports of a profile");
  for (const ErrorRow& row : models.errors)
    text.sample(row.error,
                {{"account", row.account}, {"job_type", row.job_type}, {"gpu_type", row.gpu_type}});
}

}  // namespace

std::string metrics_text(const MetricSources& sources) {
  MetricText text;
  text.single("rubato_up", kGauge, "1 if Rubato's loop is running", sources.up ? 1 : 0);
  if (sources.stats != nullptr) add_stats(text, *sources.stats);
  if (sources.snapshot != nullptr) add_queue_metrics(text, *sources.snapshot, sources.jobs_known);
  if (sources.plan != nullptr && sources.jobs_known)
    add_promise_metrics(text, sources.plan->reservations);
  if (sources.models != nullptr) {
    add_errors(text, *sources.models);
    if (sources.profiles) add_profiles(text, *sources.models);
    if (sources.profiles) add_profile_errors(text, *sources.models);
  }
  return text.text();
}

}  // namespace rubato::tools
