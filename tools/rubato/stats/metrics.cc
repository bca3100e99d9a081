// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/stats/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

namespace rubato::tools {
namespace {

struct Metric {
  const char* member;  ///< of stats.json, "mail.taken" in a group
  const char* name;
  const char* type;
  const char* help;
  double unit = 1;  ///< what the member is multiplied by
};

constexpr const char* kCounter = "counter";
constexpr const char* kGauge = "gauge";
constexpr double kMs = 1e-3;

/// Base units and names as Prometheus asks for: seconds, _total for what only grows.
const std::vector<Metric>& metrics() {
  static const std::vector<Metric> table{
      {"gate_open", "rubato_gate_open", kGauge, "1 while stock Slurm may start managed jobs"},
      {"records_fit", "rubato_records_fit", kGauge,
       "1 if slurmctld's records have the sizes that the plugins were built for"},
      {"config_good", "rubato_config_good", kGauge, "1 if the last rubato.conf was accepted"},
      {"guard_failures", "rubato_guard_failures_total", kCounter, "Failures caught by the plugins"},
      {"pending", "rubato_jobs_pending", kGauge, "Pending jobs in the last round"},
      {"pending_managed", "rubato_jobs_pending_managed", kGauge, "Pending managed jobs"},
      {"started", "rubato_jobs_started_total", kCounter, "Jobs started by Rubato"},
      {"started_unmanaged", "rubato_jobs_started_unmanaged_total", kCounter,
       "Unmanaged jobs started in Rubato's scheduling pass"},
      {"started_elsewhere", "rubato_jobs_started_elsewhere_total", kCounter,
       "Jobs that started on other nodes than planned"},
      {"refused_by_slurm", "rubato_starts_refused_total", kCounter, "Starts refused by Slurm"},
      {"rounds", "rubato_rounds_total", kCounter, "Rounds"},
      {"rounds_failed", "rubato_rounds_failed_total", kCounter, "Rounds that failed"},
      {"rounds_late", "rubato_rounds_late_total", kCounter, "Rounds whose plan came too late"},
      {"round_ms_mean", "rubato_round_mean_seconds", kGauge, "Mean time of a round", kMs},
      {"round_ms_longest", "rubato_round_longest_seconds", kGauge, "Longest round", kMs},
      {"wakes", "rubato_wakes_total", kCounter, "Events that woke the loop"},
      {"wake_to_end_ms_mean", "rubato_wake_mean_seconds", kGauge,
       "Mean time from an event to the end of its round", kMs},
      {"wake_to_end_ms_longest", "rubato_wake_longest_seconds", kGauge,
       "Longest time from an event to the end of its round", kMs},
      {"lock_holds", "rubato_lock_holds_total", kCounter, "Holds of slurmctld's locks"},
      {"lock_ms_mean", "rubato_lock_mean_seconds", kGauge,
       "Mean time that slurmctld's locks are held", kMs},
      {"lock_ms_longest", "rubato_lock_longest_seconds", kGauge,
       "Longest time that slurmctld's locks are held", kMs},
      {"gate_refused_run_now", "rubato_gate_refused_run_now_total", kCounter,
       "Starts of managed jobs that the gate refused"},
      {"gate_refused_will_run", "rubato_gate_refused_will_run_total", kCounter,
       "Tests of stock backfill for managed jobs that the gate refused"},
      {"gate_masked", "rubato_gate_masked_total", kCounter,
       "Tests of stock Slurm without the nodes of a reservation"},
      {"gate_immediate", "rubato_gate_immediate_total", kCounter,
       "Requests for an immediate start"},
      {"gate_opened", "rubato_gate_opened_total", kCounter, "Times that the gate opened by itself"},
      {"mail.taken", "rubato_messages_taken_total", kCounter, "Messages accepted from jobs"},
      {"mail.too_soon", "rubato_messages_too_soon_total", kCounter,
       "Reports dropped because they came too soon after the last"},
      {"mail.full", "rubato_messages_full_total", kCounter,
       "Messages dropped because the queue was full"},
      {"mail.off", "rubato_messages_off_total", kCounter,
       "Messages dropped because the loop did not read them"},
      {"mail.malformed", "rubato_messages_malformed_total", kCounter,
       "Messages refused because they were malformed"},
      {"mail.foreign", "rubato_messages_foreign_total", kCounter,
       "Messages refused because of their sender"},
      {"mail.not_running", "rubato_messages_not_running_total", kCounter,
       "Messages refused because their job does not run"},
      {"mail.mode", "rubato_messages_mode_total", kCounter, "Messages refused because of the mode"},
      {"mail.waiting", "rubato_messages_waiting", kGauge, "Messages in the queue"},
      {"hints.jobs", "rubato_hinted_jobs_total", kCounter, "Submissions with hints"},
      {"hints.refused", "rubato_hinted_jobs_refused_total", kCounter,
       "Submissions refused because of their hints"},
      {"hints.updates", "rubato_hint_updates_total", kCounter, "Updates of hints"},
      {"hints.updates_refused", "rubato_hint_updates_refused_total", kCounter,
       "Updates of hints that were refused"},
      {"store.accepted", "rubato_store_accepted_total", kCounter, "Records handed to the store"},
      {"store.dropped", "rubato_store_dropped_total", kCounter,
       "Records dropped because the store's queue was full"},
      {"store.written", "rubato_store_written_total", kCounter, "Records written"},
      {"store.flagged", "rubato_store_flagged_total", kCounter,
       "Samples stored but not used for a profile"},
      {"learning.cells", "rubato_learnt_places", kGauge,
       "Measured configurations in the current model fit"},
      {"learning.refused_fits", "rubato_fits_refused_total", kCounter,
       "Rejected model fits: they predict recent reports worse"},
      {"store.rejected", "rubato_store_rejected_total", kCounter, "Records refused by the store"},
      {"store.waiting", "rubato_store_waiting", kGauge, "Records in the store's queue"},
      {"store.batches", "rubato_store_batches_total", kCounter, "Transactions"},
      {"store.failures", "rubato_store_failures_total", kCounter, "Transactions that failed"},
      {"store.removed", "rubato_store_removed_total", kCounter,
       "Records deleted because of age or limits"},
      {"store.reports", "rubato_reports_total", kCounter, "Reports of running jobs"},
      {"store.reports_stored", "rubato_reports_stored_total", kCounter,
       "Reports handed to the store"},
  };
  return table;
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
  for (const Metric& metric : metrics()) {
    const auto it = numbers.find(metric.member);
    if (it == numbers.end()) continue;
    single(text, metric.name, metric.type, metric.help, it->second * metric.unit);
    numbers.erase(it);
  }
  for (const auto& [member, value] : numbers) {
    if (member.starts_with("report.")) continue;
    single(text, "rubato_" + metric_word(member), "untyped",
           fmt::format("{} of stats.json", member), value);
  }
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

std::string metrics_text(const PublishedStats* stats, const ModelsTable* models, bool up,
                         Seconds now) {
  std::string text;
  single(text, "rubato_up", kGauge, "1 if Rubato's loop is running", up ? 1 : 0);
  if (stats != nullptr) add_stats(text, *stats, now);
  if (models != nullptr) add_models(text, *models);
  return text;
}

}  // namespace rubato::tools
