// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/config/options.h"

#include <utility>

#include "lib/base/nearest.h"
#include "lib/hints/table.h"

namespace rubato {
namespace {

constexpr double kDay = 86400;

/// Both ends of the range of a number.
struct Range {
  double min = 0;
  double max = 0;
};

Option choice(const char* name, OptionField field, const char* standard,
              std::vector<OptionWord> words, const char* help) {
  return {.name = name,
          .type = OptionType::kChoice,
          .default_text = standard,
          .field = field,
          .words = std::move(words),
          .help = help};
}

Option number(const char* name, OptionType type, OptionField field, const char* standard,
              Range range, const char* unit, const char* help) {
  return {.name = name,
          .type = type,
          .default_text = standard,
          .field = field,
          .min = range.min,
          .max = range.max,
          .unit = unit,
          .help = help};
}

/// An option in whole seconds.
Option seconds(const char* name, Seconds Config::*field, const char* standard, Range range,
               const char* help) {
  return number(name, OptionType::kDuration, field, standard, range, "seconds", help);
}

/// An option in seconds, with fractions.
Option fine_seconds(const char* name, double Config::*field, const char* standard, Range range,
                    const char* help) {
  return number(name, OptionType::kFineDuration, field, standard, range, "seconds", help);
}

Option integer(const char* name, int Config::*field, const char* standard, Range range,
               const char* unit, const char* help) {
  return number(name, OptionType::kInteger, field, standard, range, unit, help);
}

/// An option without a plain member in Config.
Option other(const char* name, OptionType type, const char* example, const char* help) {
  return {.name = name, .type = type, .example = example, .help = help};
}

Option path(const char* name, std::string Config::*field, const char* help) {
  Option row = other(name, OptionType::kPath, "/var/lib/rubato", help);
  row.field = field;
  return row;
}

Option names(const char* name, std::set<std::string> Config::*field, const char* example,
             const char* help) {
  Option row = other(name, OptionType::kNames, example, help);
  row.field = field;
  return row;
}

Option counts(const char* name, std::map<std::string, int> Config::*field, const char* example,
              Range range, const char* help) {
  Option row = other(name, OptionType::kCounts, example, help);
  row.field = field;
  row.min = range.min;
  row.max = range.max;
  return row;
}

/// A member of a record line.
Option member(const char* record, Option row) {
  row.record = record;
  return row;
}

/// A member of a JobType line with the values of a hint.
Option hint(const char* name, const char* key, const char* example) {
  Option row = other(name, OptionType::kHint, example, find_hint(key)->help.c_str());
  row.hint = key;
  return member("JobType", std::move(row));
}

Option at_start(Option row) {
  row.reload_safe = false;
  return row;
}

Option memory() {
  Option row = number("Memory", OptionType::kMemory, {}, "", {1, 100e6}, "MiB",
                      "memory of one GPU of this type");
  row.example = "80G";
  return member("GpuType", std::move(row));
}

Option nvlink() {
  Option row = number("NvLink", OptionType::kReal, {}, "", {0.1, 100e3}, "GB/s",
                      "bandwidth of a GPU of this type to the others of its node");
  row.example = "600";
  return member("GpuType", std::move(row));
}

Option speed() {
  Option row =
      number("Speed", OptionType::kReal, {}, "1", {0.001, 1000}, "", "relative speed of this type");
  row.example = "1.0";
  return member("GpuType", std::move(row));
}

// clang-format off
std::vector<Option> make_options() {
  return {
      choice("Mode", &Config::mode, "observe",
             {{"observe", "plan and record; stock Slurm makes every decision"},
              {"place", "decide order and placement of the jobs in ManagedPartitions"},
              {"elastic", "as place, and change running jobs whose hints consent to it"}},
             "what Rubato may do"),
      other("ManagedPartitions", OptionType::kPartitions, "gpu", "partitions whose GPU jobs Rubato manages"),
      names("ManagedAccounts", &Config::managed_accounts, "vision", "accounts whose jobs Rubato manages there"),
      names("ManagedQOS", &Config::managed_qos, "training", "QOS whose jobs Rubato manages there"),
      names("GuaranteedQOS", &Config::guaranteed_qos, "high",
            "QOS whose jobs start smaller only where the forecast is as fast as their request"),
      seconds("MinRunTime", &Config::min_run_time, "0", {0, 365 * kDay},
              "a job that Rubato may interrupt runs at least this long after each start"),
      seconds("RestartCost", &Config::restart_cost, "60", {0, 86400},
              "time from a start until the job makes progress, for mode elastic"),
      seconds("ResizeCost", &Config::resize_cost, "15", {0, 86400},
              "time without progress when a job changes its size while it runs, for mode elastic"),
      integer("RestartsPerJob", &Config::restarts_per_job, "0", {0, 1e6}, "",
              "maximum number of restarts of a job that Rubato asks for; 0: no maximum"),
      integer("RestartsPerJobDay", &Config::restarts_per_job_day, "0", {0, 1e6}, "",
              "the same of a job within 24 hours"),
      integer("RestartsPerUserDay", &Config::restarts_per_user_day, "0", {0, 1e6}, "",
              "the same of all jobs of a user within 24 hours"),
      number("MinScaling", OptionType::kReal, &Config::min_scaling, "0.3", {0, 1}, "",
             "more GPUs only where a job gains this power of their ratio, for mode elastic"),
      number("ExplorationBudget", OptionType::kReal, &Config::exploration_budget, "0.02", {0, 1}, "",
             "share of a day's GPU time that may go to measuring job types on other GPUs, for mode elastic"),
      counts("GrowthCap", &Config::growth_caps, "normal:16,high:64", {0, 1e6},
             "maximum number of GPUs that the jobs of a QOS hold in all beyond their requests"),
      seconds("HeartbeatTimeout", &Config::heartbeat_timeout, "10", {1, 3600},
              "stock Slurm takes managed jobs over when the scheduling loop is silent for this long"),
      fine_seconds("RoundInterval", &Config::round_interval, "1", {0.1, 600},
                   "maximum time between two rounds while jobs wait"),
      fine_seconds("RoundDeadline", &Config::round_deadline, "2", {0.01, 600},
                   "maximum time to make a plan; a later plan is dropped"),
      integer("ReserveDepth", &Config::reserve_depth, "4", {1, 1000}, "", "maximum number of reservations"),
      seconds("ReserveAfter", &Config::reserve_after, "600", {0, 30 * kDay},
              "a job that waits longer than this may get a reservation"),
      seconds("StarvationBound", &Config::starvation_bound, "86400", {1, 365 * kDay},
              "maximum time that lower jobs may pass a waiting job"),
      number("PriorityBand", OptionType::kBand, &Config::priority_band, "auto", {0, 4294967295}, "",
             "width of a band of Slurm priorities in which jobs are ordered by level"),
      integer("LockSlice", &Config::lock_slice_ms, "5", {1, 1000}, "milliseconds",
              "maximum time to hold slurmctld's locks while starting jobs"),
      path("PublishDir", &Config::publish_dir, "folder of the files that the rubato command reads"),
      fine_seconds("PublishInterval", &Config::publish_interval, "1", {0.1, 3600},
                   "minimum time between two writes of these files"),
      at_start(path("StoreDir", &Config::store_dir, "folder of rubato.db, which keeps what jobs report")),
      at_start(integer("StoreRetentionDays", &Config::store_retention_days, "180", {1, 3650}, "days",
                       "age at which stored reports are deleted")),
      seconds("WarmUp", &Config::warm_up, "60", {0, 86400},
              "warm-up: reports this soon after a start or resize get little weight"),
      integer("ModelHalfLife", &Config::model_half_life_days, "30", {0, 3650}, "days",
              "half-life of a run's weight in the models"),
      choice("LogLevel", &Config::log_level, "info",
             {{"error", "failures"},
              {"warning", "failures, and what an admin should look at"},
              {"info", "as warning, and changes of state"},
              {"debug", "as info, and every round"}},
             "how much Rubato writes to slurmctld's log"),
      choice("JobSummary", &Config::job_summary, "off",
             {{"off", "only rubato explain shows summaries"},
              {"admin-comment", "the AdminComment of each managed job gets its summary at its end"}},
             "where the summary of an ended job is written"),
      seconds("MessageInterval", &Config::message_interval, "60", {0, 86400},
              "minimum time between two reports of a running job"),
      other("GpuType", OptionType::kName, "a100",
            "begins a line about one GPU type, for example GpuType=a100 Speed=1.0"),
      speed(),
      memory(),
      nvlink(),
      other("JobType", OptionType::kName, "resnet50",
            "begins a line about one job type, for example JobType=resnet50 Shared=yes Gpus=1-8"),
      member("JobType", other("Shared", OptionType::kYesNo, "yes",
                              "whether all accounts share one profile of this type; otherwise each account has its own")),
      hint("Gpus", "gpus", "1-8"),
      hint("GpuTypes", "gpu-types", "h100/a100"),
      hint("Batch", "batch", "256-1024"),
      hint("Model", "model", "params=25e6"),
      hint("Plans", "plans", "dp,ga"),
      hint("Checkpoint", "checkpoint", "USR1@60"),
      hint("Resize", "resize", "restart"),
      hint("Device", "device", "gpu"),
      hint("MixTypes", "mix-types", "no"),
  };
}
// clang-format on

/// Man page text of options, in whole sentences.
constexpr std::pair<const char*, const char*> kTexts[] = {
    {"Mode",
     "In mode observe Rubato plans and records what it would do. Every job starts as under stock "
     "Slurm, and Rubato writes only the comment of jobs that were submitted with hints. In mode "
     "place Rubato decides the order and placement of the GPU jobs in ManagedPartitions. It "
     "changes a running job only for rubato resize. In mode elastic it also changes running jobs "
     "by "
     "itself: those whose hints checkpoint and resize consent to it get another number of GPUs, "
     "move "
     "to another GPU type, or stop and wait again, where that pays for what it costs."},
    {"ManagedPartitions",
     "Partition names as in slurm.conf, separated by commas, or the word all. Rubato manages all "
     "jobs of these partitions that request GPUs. Other jobs, and jobs of other partitions, start "
     "as under stock Slurm. The modes place and elastic require this line."},
    {"ManagedAccounts",
     "Accounts as in sacctmgr, separated by commas. Without this line, jobs of all accounts are "
     "managed. With it a site can begin with one group; the other jobs of the partitions start as "
     "under stock Slurm."},
    {"ManagedQOS", "The same by QOS. A job must be in one of the accounts and in one of the QOS."},
    {"GuaranteedQOS",
     "QOS as in sacctmgr, separated by commas. A job of these QOS may start with fewer GPUs than "
     "it requests, but only where its forecast is as fast as that of its request on the slowest "
     "GPU type that it accepts, for example on a faster type. Where no forecast of its request is "
     "known, it never does. Without this line nothing is guaranteed."},
    {"MinRunTime",
     "For mode elastic. Until then the job keeps its GPUs, as before the end of PreemptExemptTime "
     "of "
     "slurm.conf or of its QOS. Hints decide which jobs may be interrupted at all. 0: no such "
     "time."},
    {"RestartCost",
     "Each start counts as so long without progress: the program starts and reads its checkpoint. "
     "A job is not changed while it starts, nor for a gain that is not worth this time. Take the "
     "longest time that is usual on the cluster. Once the reports of jobs show what restarts of "
     "their job type cost, restarts count as that; rubato explain prints it."},
    {"ResizeCost",
     "Until the reports of jobs with resize=live show what changes of their job type cost; then "
     "that counts. It never counts as more than a restart."},
    {"RestartsPerJob",
     "For the same mode. A restart counts once slurmctld has requeued the job because Rubato asked "
     "for it; other requeues do not count. A job at its cap keeps its GPUs and changes in no way. "
     "Restarts are counted from the time on at which one of the three caps is set."},
    {"RestartsPerJobDay",
     "Restarts of one hour of the clock count until 24 hours after the last of them."},
    {"RestartsPerUserDay",
     "If a round would restart more jobs of a user than the cap leaves, it restarts those that "
     "gain the most."},
    {"MinScaling",
     "With 0 a job may get every size that makes it faster, with 1 only those that make it faster "
     "in "
     "proportion to their GPUs. Twice the GPUs must be 1.23 times as fast with 0.3, 1.62 times "
     "with "
     "0.7. A waiting job whose hints allow it starts with fewer GPUs than it requests where the "
     "request gains less. Higher values save GPU-hours, and jobs take longer while GPUs are free."},
    {"ExplorationBudget",
     "A job type whose speed on a GPU type is not certain is measured there by one of its jobs, if "
     "its hints consent to restarts and the others that wait, and as many as have ended, would "
     "gain "
     "more than it costs. What that takes beyond the cheapest GPUs of the job, as forecast, counts "
     "in mean GPUs and over 24 hours. Once its reports show the speed, the job may go elsewhere by "
     "a restart. rubato explain names such jobs. 0: no job gets GPUs for that."},
    {"GrowthCap",
     "For the same mode: one number that counts for each QOS by itself, or QOS as in sacctmgr, "
     "each "
     "with its number, separated by commas; a QOS that is not named has no maximum then. A job "
     "counts from its submitted request, also while it runs at another size. Jobs that "
     "hold more keep what they have. Without this line there is no maximum; with 0 no job gets "
     "more "
     "than it requests."},
    {"HeartbeatTimeout", "Must be longer than RoundDeadline."},
    {"RoundInterval",
     "A submission, and resources that become free, start a round without waiting for it."},
    {"RoundDeadline", "Then stock Slurm starts all jobs, until a round is in time again."},
    {"ReserveDepth",
     "The first job in the queue that cannot start gets a reservation, then jobs that waited "
     "longer than ReserveAfter, and jobs that reached their StarvationBound."},
    {"StarvationBound", "After this time the job gets a reservation before all others."},
    {"PriorityBand",
     "Within a band, a job with much attained service or much work left comes after a job with "
     "little of both. Between bands Slurm's priority decides. auto takes a fifth of the span of "
     "the priorities of managed GPU jobs that could start, without those that a nice value or a "
     "person changed; with priority/basic, which only counts submissions, it is "
     "one band for all jobs. 0 makes Slurm's priority strict, inf orders by level alone. A job "
     "whose priority was set by hand keeps its position."},
    {"LockSlice",
     "Then the loop releases the locks, lets others in, and continues. One start is never "
     "interrupted."},
    {"PublishDir",
     "Without it the folder is rubato/publish under StateSaveLocation of slurm.conf."},
    {"StoreDir",
     "Without it the folder is rubato under StateSaveLocation of slurm.conf. One slurmctld at a "
     "time writes to it. If it cannot be written, scheduling continues without it."},
    {"WarmUp",
     "A report covers the time since the report before it. It is left out if the middle of that "
     "time lies in the warm-up. Warm-up ends earlier if the last three reports of a job differ by "
     "at most a tenth. If a profile has no other reports, as with short jobs, these are used with "
     "little weight. They get full weight once jobs after warm-up agree with them. 0: every "
     "report counts, but after a live change of the size only once two in a row agree."},
    {"ModelHalfLife",
     "A run that is this much older than the newest report has half its weight, so that forecasts "
     "follow new drivers, libraries and file systems. 0: no decay. The last 32 runs of each "
     "configuration always count."},
    {"JobSummary",
     "With admin-comment, modes place and elastic write one line {rubato waited=... ran=... "
     "gpu-hours=... rate=... forecast=...} to the job in slurmctld and, with "
     "accounting_storage/slurmdbd, to its record in the accounting, where sacct shows it. Other "
     "text "
     "in AdminComment stays. rubato-files(5) has the words of the line."},
    {"MessageInterval",
     "An earlier report is dropped and counted. Its update still succeeds, so that a training loop "
     "never fails because of it. A report may come early by a tenth of this time. 0 accepts every "
     "report. After a change of a job that failed, mode elastic tries no other for as long, at "
     "most "
     "ten minutes; with 0, for a minute."},
    {"GpuType", "The name is the Type in gres.conf, in the same case."},
    {"Speed",
     "Used until jobs have reported how fast they run. Their reports correct it, also for jobs "
     "that report nothing. A type without a line has speed 1. Where speeds differ, a job that "
     "names no type gets the faster one, whatever the Weight of its nodes; Weight decides between "
     "nodes of equally fast types."},
    {"Memory",
     "A number is in MiB, as in slurm.conf, or ends in K, M, G or T. Rubato does not choose "
     "execution plans that need more memory. Without it, plans that were not measured are assumed "
     "to fit."},
    {"NvLink",
     "Per GPU, both directions together, as vendors give it: 400 for A800, 600 for A100 and 900 "
     "for "
     "H100 with NVLink, 64 for PCIe 4.0 with 16 lanes. Rubato forecasts execution plans with it "
     "that were not measured. Without it the bandwidth is a guess, which reports correct."},
    {"JobType",
     "The line sets hints for every job of this type that does not set them itself. "
     "rubato-hints(7) explains the values. A value that does not fit the request of a job is "
     "ignored for that job, and never refuses it."},
};

std::vector<Option> with_texts(std::vector<Option> table) {
  for (const auto& [name, text] : kTexts)
    for (Option& row : table)
      if (row.name == name) row.text = text;
  return table;
}

}  // namespace

const std::vector<Option>& options() {
  static const std::vector<Option> table = with_texts(make_options());
  return table;
}

const Option* find_option(std::string_view name, std::string_view record) {
  const std::string wanted = lower(name);
  for (const Option& option : options()) {
    if (option.record == record && lower(option.name) == wanted) return &option;
  }
  return nullptr;
}

std::vector<std::string> word_names(const Option& option) {
  std::vector<std::string> names;
  for (const OptionWord& word : option.words) names.push_back(word.name);
  return names;
}

}  // namespace rubato
