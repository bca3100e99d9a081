// SPDX-License-Identifier: GPL-2.0-or-later
// The statistics of stats.json, one row each. plugin/sched/stats.cc writes them, `rubato stats`
// and `rubato metrics` print them, and docs/schema/rubato.stats.1.json describes them.
#pragma once

#include <string_view>

#include "lib/base/json_value.h"

namespace rubato {

enum class StatisticKind {
  kText,
  kMode,          ///< a word of Mode= in rubato.conf
  kYesNo,         ///< as a metric: a gauge, 1 or 0
  kTime,          ///< Unix seconds
  kCounter,       ///< starts at 0 when slurmctld loads Rubato and only grows
  kGauge,         ///< a whole number that rises and falls
  kMilliseconds,  ///< as a metric: a gauge in seconds
};

struct Statistic {
  std::string_view key;  ///< "mail.taken" is member taken of the group mail; "*" is any name
  StatisticKind kind;
  std::string_view meaning;    ///< HELP of the metric, description in the schema
  std::string_view metric{};   ///< name in `rubato metrics`; "": named after the key
  std::string_view heading{};  ///< section of `rubato stats`; "": that of the group
  std::string_view label{};    ///< in `rubato stats`; "": made from the key
  /// Key of the counter whose mean this is. As a metric: a summary of sum and count.
  std::string_view count{};
  std::string_view sum_meaning{};  ///< HELP of that summary
};

namespace statistics {

using enum StatisticKind;
inline constexpr std::string_view kRubato = "Rubato";
inline constexpr std::string_view kJobs = "Jobs";
inline constexpr std::string_view kRounds = "Rounds";
inline constexpr std::string_view kLocks = "Locks of slurmctld";
inline constexpr std::string_view kGate = "Gate";

/// In the order in which `rubato stats` and `rubato metrics` print them.
inline constexpr Statistic kTable[] = {
    {"mode", kMode, "Mode in effect", "", kRubato, "Mode"},
    {"paused", kYesNo, "1 while rubato pause lets stock Slurm start all jobs", "rubato_paused",
     kRubato, "Paused"},
    {"version", kText, "Version of the plugins", "", kRubato, "Version"},
    {"slurm_version", kText, "Slurm release that the plugins were built for", "", kRubato,
     "For Slurm"},
    {"gate_open", kYesNo, "1 while stock Slurm may start managed jobs", "rubato_gate_open", kRubato,
     "Gate open"},
    {"records_fit", kYesNo,
     "1 if slurmctld's records have the sizes that the plugins were built for",
     "rubato_records_fit", kRubato, "Slurm records match"},
    {"records", kText, "Sizes of slurmctld's records, and which one differs", "", kRubato,
     "Slurm records"},
    {"records_of_jobs", kYesNo, "1 if a job's record was compared", "rubato_records_of_jobs",
     kRubato, "Job records compared"},
    {"config_good", kYesNo, "1 if the last rubato.conf was accepted", "rubato_config_good", kRubato,
     "Configuration valid"},
    {"guard_failures", kCounter, "Failures caught by the plugins", "rubato_guard_failures_total",
     kRubato, "Failures caught"},
    {"heartbeat", kTime, "Time when Rubato's loop last ran", "rubato_heartbeat_timestamp_seconds",
     kRubato, "Last heartbeat"},
    {"pending", kGauge, "Pending jobs in the last round", "rubato_jobs_pending", kJobs, "Pending"},
    {"pending_managed", kGauge, "Pending managed jobs", "rubato_jobs_pending_managed", kJobs,
     "Pending, managed"},
    {"started", kCounter, "Jobs started by Rubato", "rubato_jobs_started_total", kJobs, "Started"},
    {"started_unmanaged", kCounter, "Unmanaged jobs started in Rubato's scheduling pass",
     "rubato_jobs_started_unmanaged_total", kJobs, "Started, unmanaged"},
    {"started_elsewhere", kCounter, "Jobs that started on other nodes than planned",
     "rubato_jobs_started_elsewhere_total", kJobs, "Started elsewhere than planned"},
    {"refused_by_slurm", kCounter, "Starts refused by Slurm", "rubato_starts_refused_total", kJobs,
     "Starts refused by Slurm"},
    {"rounds", kCounter, "Rounds", "rubato_rounds_total", kRounds, "Rounds"},
    {"rounds_failed", kCounter, "Rounds that failed", "rubato_rounds_failed_total", kRounds,
     "Failed"},
    {"rounds_late", kCounter, "Rounds whose plan came too late", "rubato_rounds_late_total",
     kRounds, "Late"},
    {"round_ms_mean", kMilliseconds, "Mean time of a round", "rubato_round_duration_seconds",
     kRounds, "Mean time (ms)", "rounds", "Time of rounds"},
    {"round_ms_longest", kMilliseconds, "Longest round", "rubato_round_longest_seconds", kRounds,
     "Longest time (ms)"},
    {"wakes", kCounter, "Events that woke the loop", "rubato_wakes_total", kRounds, "Wakes"},
    {"wake_to_end_ms_mean", kMilliseconds, "Mean time from an event to the end of its round",
     "rubato_wake_mean_seconds", kRounds, "Mean time from event to end (ms)"},
    {"wake_to_end_ms_longest", kMilliseconds, "Longest time from an event to the end of its round",
     "rubato_wake_longest_seconds", kRounds, "Longest time from event to end (ms)"},
    {"lock_holds", kCounter, "Holds of slurmctld's locks", "rubato_lock_holds_total", kLocks,
     "Holds"},
    {"lock_ms_mean", kMilliseconds, "Mean time that slurmctld's locks are held",
     "rubato_lock_duration_seconds", kLocks, "Mean time held (ms)", "lock_holds",
     "Time that slurmctld's locks are held"},
    {"lock_ms_longest", kMilliseconds, "Longest time that slurmctld's locks are held",
     "rubato_lock_longest_seconds", kLocks, "Longest time held (ms)"},
    {"pause.by", kText, "User who paused Rubato; left out where PrivateData hides something"},
    {"pause.since", kTime, "Begin of the pause", "rubato_pause_since_timestamp_seconds"},
    {"pause.until", kTime, "End of the pause; left out if it lasts until rubato pause --resume",
     "rubato_pause_until_timestamp_seconds"},
    {"locks.*.holds", kCounter, "Holds", "rubato_lock_use_holds_total"},
    {"locks.*.ms_mean", kMilliseconds, "Mean time held", "rubato_lock_use_duration_seconds", "", "",
     "locks.*.holds", "Time that slurmctld's locks are held, by use"},
    {"locks.*.ms_longest", kMilliseconds, "Longest time held", "rubato_lock_use_longest_seconds"},
    {"locks.*.cpu_ms_mean", kMilliseconds, "Mean processor time while held",
     "rubato_lock_use_cpu_seconds", "", "", "locks.*.holds", "Processor time while held, by use"},
    {"locks.*.cpu_ms_longest", kMilliseconds, "Longest processor time while held",
     "rubato_lock_use_cpu_longest_seconds"},
    {"gate_refused_run_now", kCounter, "Starts of managed jobs that the gate refused",
     "rubato_gate_refused_run_now_total", kGate, "Starts refused"},
    {"gate_refused_will_run", kCounter,
     "Tests of stock backfill for managed jobs that the gate refused",
     "rubato_gate_refused_will_run_total", kGate, "Backfill tests refused"},
    {"gate_masked", kCounter, "Tests of stock Slurm without the nodes of a reservation",
     "rubato_gate_masked_total", kGate, "Tests without reserved nodes"},
    {"gate_immediate", kCounter, "Requests for an immediate start", "rubato_gate_immediate_total",
     kGate, "Immediate requests"},
    {"gate_opened", kCounter, "Times that the gate opened by itself", "rubato_gate_opened_total",
     kGate, "Opened"},
    {"mail.taken", kCounter, "Messages accepted from jobs", "rubato_messages_taken_total"},
    {"mail.too_soon", kCounter, "Reports dropped because they came too soon after the last",
     "rubato_messages_too_soon_total"},
    {"mail.full", kCounter, "Messages dropped because the queue was full",
     "rubato_messages_full_total"},
    {"mail.off", kCounter, "Messages dropped because the loop did not read them",
     "rubato_messages_off_total"},
    {"mail.malformed", kCounter, "Messages refused because they were malformed",
     "rubato_messages_malformed_total"},
    {"mail.foreign", kCounter, "Messages refused because of their sender",
     "rubato_messages_foreign_total"},
    {"mail.not_running", kCounter, "Messages refused because their job does not run",
     "rubato_messages_not_running_total"},
    {"mail.mode", kCounter, "Messages refused because of the mode", "rubato_messages_mode_total",
     "", "Refused by mode"},
    {"mail.waiting", kGauge, "Messages in the queue", "rubato_messages_waiting"},
    {"hints.jobs", kCounter, "Submissions with hints", "rubato_hinted_jobs_total"},
    {"hints.refused", kCounter, "Submissions refused because of their hints",
     "rubato_hinted_jobs_refused_total"},
    {"hints.updates", kCounter, "Updates of hints", "rubato_hint_updates_total"},
    {"hints.updates_refused", kCounter, "Updates of hints that were refused",
     "rubato_hint_updates_refused_total"},
    {"store.state", kText, "State of the database"},
    {"store.trouble", kText, "Why the store does not write; empty: it writes"},
    {"store.journal_mode", kText, "Journal mode of SQLite"},
    {"store.accepted", kCounter, "Records handed to the store", "rubato_store_accepted_total"},
    {"store.dropped", kCounter, "Records dropped because the store's queue was full",
     "rubato_store_dropped_total"},
    {"store.written", kCounter, "Records written", "rubato_store_written_total"},
    {"store.flagged", kCounter, "Samples stored but not used for a profile",
     "rubato_store_flagged_total"},
    {"learning.cells", kGauge, "Measured configurations in the current model fit",
     "rubato_learnt_configurations"},
    {"learning.refused_fits", kCounter, "Rejected model fits: they predict recent reports worse",
     "rubato_fits_refused_total"},
    {"learning.reports.*", kCounter, "Reports received, by use", "rubato_learning_reports_total"},
    {"store.rejected", kCounter, "Records refused by the store", "rubato_store_rejected_total"},
    {"store.waiting", kGauge, "Records in the store's queue", "rubato_store_waiting"},
    {"store.batches", kCounter, "Transactions", "rubato_store_batches_total"},
    {"store.failures", kCounter, "Transactions that failed", "rubato_store_failures_total"},
    {"store.removed", kCounter, "Records deleted because of age or limits",
     "rubato_store_removed_total"},
    {"store.orders", kCounter, "Orders about profiles that were done or refused"},
    {"store.reports", kCounter, "Reports of running jobs", "rubato_reports_total"},
    {"store.reports_stored", kCounter, "Reports handed to the store",
     "rubato_reports_stored_total"},
    {"store.last_report", kTime, "Time of the last stored report",
     "rubato_store_last_report_timestamp_seconds"},
    {"store.reports_untyped", kCounter, "Reports of jobs without a job type"},
    {"store.reports_without_gpu", kCounter, "Reports of jobs without GPUs"},
    {"store.reports_unknown", kCounter, "Reports without a running job"},
    {"store.other_messages", kCounter, "Messages other than reports"},
};

}  // namespace statistics

/// An object of stats.json.
struct StatisticGroup {
  std::string_view key;
  std::string_view heading;  ///< section of `rubato stats`
  std::string_view meaning;  ///< description in the schema
};

inline constexpr StatisticGroup kStatisticGroups[] = {
    {"pause", "Pause", "The pause in effect; left out without one"},
    {"locks", "Locks by use", "Time that slurmctld's locks were held, by use"},
    {"mail", "Messages of jobs", "Messages of jobs"},
    {"hints", "Hints", "Checks at submission"},
    {"store", "Store", "The database"},
    {"learning", "Learning", "What is learnt from reports"},
    {"report", "Report", "What Rubato did, or in mode observe would have done, by day"},
};

inline constexpr const char* kStatisticsSchema = "rubato.stats/1";

/// A key of the table. Another text does not compile.
class StatisticKey {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor)
  consteval StatisticKey(const char* key) : text_(key) {
    bool known = false;
    for (const Statistic& row : statistics::kTable) known = known || row.key == text_;
    if (!known) throw "no row of the table has this key";
  }
  [[nodiscard]] std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

/// Sets member `key` of `stats` and makes its group if there is none. `name` replaces "*".
void put(JsonValue& stats, StatisticKey key, JsonValue value, std::string_view name = {});

/// Makes the object that holds member `key` if there is none.
void put_object(JsonValue& stats, StatisticKey key);

/// Sets a member for each name of `values`. `key` ends with "*"; its object is made even if there
/// are no values.
template <typename Values>
void put_all(JsonValue& stats, StatisticKey key, const Values& values) {
  put_object(stats, key);
  for (const auto& [name, value] : values) put(stats, key, value, name);
}

/// The row of member `key`, or null. A "*" of the table matches any name without a dot.
[[nodiscard]] const Statistic* find_statistic(std::string_view key);

}  // namespace rubato
