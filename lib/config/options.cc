// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/config/options.h"

#include "lib/base/nearest.h"
#include "lib/config/mechanism.h"
#include "lib/hints/table.h"

namespace rubato {
namespace {

constexpr double kDay = 86400;

std::vector<OptionWord> test_off_words() {
  std::vector<OptionWord> words;
  for (const MechanismWord& row : kMechanisms)
    words.push_back({.name = std::string(row.word), .help = std::string(row.help)});
  return words;
}

std::vector<OptionWord> test_inject_words() {
  return {
      {"throw-round", "each round throws", ""},
      {"throw-gate", "the gate throws", ""},
      {"throw-submit", "the check at submit throws", ""},
      {"hang-round", "each round hangs for so many seconds", "SECONDS"},
      {"stop-loop", "the loop stops", ""},
      {"slow-round", "each round takes so many milliseconds longer", "MILLISECONDS"},
      {"start-size", "jobs that offer so many GPUs are planned with them", "GPUS"},
      {"start-cpu", "jobs that offer it are planned without GPUs", ""},
      {"start-fails", "a start fails after the request was rewritten", ""},
      {"segment-interval", "segments are written again after so many seconds", "SECONDS"},
  };
}

/// A JobType line says hints in the words that jobs use.
Option job_type_hint(const char* name, const char* key, const char* example) {
  const HintDef& hint = *find_hint(key);
  return {.name = name,
          .type = OptionType::kHint,
          .example = example,
          .help = hint.help,
          .record = "JobType",
          .hint = key};
}

void add_job_type(std::vector<Option>& table) {
  table.push_back(
      {.name = "JobType",
       .type = OptionType::kName,
       .example = "resnet50",
       .help = "begins a line about one job type, as in JobType=resnet50 Shared=yes Gpus=1-8",
       .text = "What the line says holds for every job with this job type that does not say it "
               "itself; rubato-hints(7) explains the values. A value that does not fit what a job "
               "asks Slurm for is left out for that job, and never refuses it. One line a type."});
  table.push_back({.name = "Shared",
                   .type = OptionType::kYesNo,
                   .example = "yes",
                   .help = "all accounts share one profile of the type; else each has its own",
                   .record = "JobType"});
  table.push_back(job_type_hint("Gpus", "gpus", "1-8"));
  table.push_back(job_type_hint("GpuTypes", "gpu-types", "h100/a100"));
  table.push_back(job_type_hint("Batch", "batch", "256-1024"));
  table.push_back(job_type_hint("Model", "model", "params=25e6"));
  table.push_back(job_type_hint("Plans", "plans", "dp,ga"));
  table.push_back(job_type_hint("Checkpoint", "checkpoint", "USR1@60"));
  table.push_back(job_type_hint("Resize", "resize", "restart"));
  table.push_back(job_type_hint("Device", "device", "gpu"));
  table.push_back(job_type_hint("MixTypes", "mix-types", "no"));
}

std::vector<Option> make_options() {
  std::vector<Option> table;
  table.push_back(
      {.name = "Mode",
       .type = OptionType::kChoice,
       .default_text = "observe",
       .field = &Config::mode,
       .words = {{"observe", "plan and record, leave every decision to stock Slurm", ""},
                 {"place", "decide order and place of the jobs in ManagedPartitions", ""}},
       .help = "what Rubato may do",
       .text =
           "In mode observe Rubato plans and records what it would do; every job starts as "
           "under stock Slurm, and no field of a job is written but the comment of one that was "
           "submitted with hints. In mode place it decides the "
           "order and the place of the GPU jobs in ManagedPartitions; a running job is never "
           "touched."});
  table.push_back(
      {.name = "ManagedPartitions",
       .type = OptionType::kPartitions,
       .example = "gpu",
       .help = "partitions whose GPU jobs Rubato places",
       .text = "Partition names as in slurm.conf, with commas between, or the word all. All jobs "
               "of these partitions that ask for GPUs are managed; other jobs, and jobs of other "
               "partitions, start as under stock Slurm. Mode=place needs this line."});
  table.push_back(
      {.name = "HeartbeatTimeout",
       .type = OptionType::kDuration,
       .default_text = "10",
       .field = &Config::heartbeat_timeout,
       .min = 1,
       .max = 3600,
       .unit = "seconds",
       .help = "managed jobs go back to stock Slurm when the loop was silent for this long",
       .text = "Must be longer than RoundDeadline."});
  table.push_back(
      {.name = "RoundInterval",
       .type = OptionType::kFineDuration,
       .default_text = "1",
       .field = &Config::round_interval,
       .min = 0.1,
       .max = 600,
       .unit = "seconds",
       .help = "longest time between two rounds while jobs wait",
       .text = "A submission and resources that come free start a round without waiting for it."});
  table.push_back({.name = "RoundDeadline",
                   .type = OptionType::kFineDuration,
                   .default_text = "2",
                   .field = &Config::round_deadline,
                   .min = 0.01,
                   .max = 600,
                   .unit = "seconds",
                   .help = "a plan that took longer to make is dropped",
                   .text = "Stock Slurm starts all jobs then, until a round is in time again."});
  table.push_back(
      {.name = "ReserveDepth",
       .type = OptionType::kInteger,
       .default_text = "4",
       .field = &Config::reserve_depth,
       .min = 1,
       .max = 1000,
       .help = "most jobs that hold a reservation at a time",
       .text = "The first job of the order that cannot start has one, then jobs that waited longer "
               "than ReserveAfter and jobs whose StarvationBound is due."});
  table.push_back({.name = "ReserveAfter",
                   .type = OptionType::kDuration,
                   .default_text = "600",
                   .field = &Config::reserve_after,
                   .min = 0,
                   .max = 30 * kDay,
                   .unit = "seconds",
                   .help = "a job that waited longer may hold a reservation"});
  table.push_back({.name = "StarvationBound",
                   .type = OptionType::kDuration,
                   .default_text = "86400",
                   .field = &Config::starvation_bound,
                   .min = 1,
                   .max = 365 * kDay,
                   .unit = "seconds",
                   .help = "longest time for which lower jobs may pass a waiting one",
                   .text = "After it the job gets a reservation before all others."});
  table.push_back(
      {.name = "PriorityBand",
       .type = OptionType::kBand,
       .default_text = "auto",
       .field = &Config::priority_band,
       .min = 0,
       .max = 4294967295,
       .help = "managed jobs whose Slurm priorities fall into one band of this width go by level",
       .text = "Inside a band a job that has had much of the GPUs, or still needs much, comes "
               "after one that has had and needs little; between bands Slurm's priority decides. "
               "auto takes a fifth of the span of the priorities of the pending jobs, or one band "
               "for all where they only count submissions (priority/basic); 0 makes Slurm's "
               "priority strict, inf puts the level first. A job whose priority was set "
               "by a person keeps its place."});
  table.push_back(
      {.name = "LockSlice",
       .type = OptionType::kInteger,
       .default_text = "5",
       .field = &Config::lock_slice_ms,
       .min = 1,
       .max = 1000,
       .unit = "milliseconds",
       .help = "longest time for which the loop holds slurmctld's locks while it starts jobs",
       .text = "After it the loop lets go of the locks, lets others in, and goes on. One start is "
               "never cut in two."});
  table.push_back(
      {.name = "PublishDir",
       .type = OptionType::kPath,
       .field = &Config::publish_dir,
       .example = "/var/lib/rubato",
       .help = "folder of the files that the rubato command reads",
       .text = "Without it the folder is rubato/publish under StateSaveLocation of slurm.conf."});
  table.push_back({.name = "PublishInterval",
                   .type = OptionType::kFineDuration,
                   .default_text = "1",
                   .field = &Config::publish_interval,
                   .min = 0.1,
                   .max = 3600,
                   .unit = "seconds",
                   .help = "shortest time between two writes of these files"});
  table.push_back(
      {.name = "StoreDir",
       .type = OptionType::kPath,
       .field = &Config::store_dir,
       .example = "/var/lib/rubato",
       .help = "folder of rubato.db, which keeps what jobs report",
       .text = "Without it the folder is rubato under StateSaveLocation of slurm.conf. One "
               "slurmctld at a time writes it. Scheduling goes on without it when it cannot be "
               "written.",
       .reload_safe = false});
  table.push_back({.name = "StoreRetentionDays",
                   .type = OptionType::kInteger,
                   .default_text = "180",
                   .field = &Config::store_retention_days,
                   .min = 1,
                   .max = 3650,
                   .unit = "days",
                   .help = "what is older is forgotten",
                   .reload_safe = false});
  table.push_back(
      {.name = "WarmUp",
       .type = OptionType::kDuration,
       .default_text = "60",
       .field = &Config::warm_up,
       .min = 0,
       .max = 86400,
       .unit = "seconds",
       .help = "reports of so long after a start or resize teach little",
       .text =
           "A report speaks of the time since the one before it, and is left out if the middle "
           "of that is so near to the start. It ends earlier for a job whose last three reports "
           "differ by at most a tenth. Where a profile has no other reports these count, with "
           "little weight unless jobs that settled have shown that they agree: short jobs send "
           "no others. 0: every report counts."});
  table.push_back(
      {.name = "ModelHalfLife",
       .type = OptionType::kInteger,
       .default_text = "30",
       .field = &Config::model_half_life_days,
       .min = 0,
       .max = 3650,
       .unit = "days",
       .help = "a run so much older than the newest report weighs half as much",
       .text = "So that forecasts follow other drivers, libraries or file systems. 0: age does not "
               "count. Of each place the last 32 runs count in any case."});
  table.push_back({.name = "LogLevel",
                   .type = OptionType::kChoice,
                   .default_text = "info",
                   .field = &Config::log_level,
                   .words = {{"error", "failures", ""},
                             {"warning", "failures and what an admin should look at", ""},
                             {"info", "the same, and changes of state", ""},
                             {"debug", "the same, and every round", ""}},
                   .help = "how much Rubato writes into slurmctld's log"});
  table.push_back({.name = "MessageInterval",
                   .type = OptionType::kDuration,
                   .default_text = "60",
                   .field = &Config::message_interval,
                   .min = 0,
                   .max = 86400,
                   .unit = "seconds",
                   .help = "shortest time between two reports of a running job",
                   .text = "A report that comes sooner is dropped and counted; its sender is not "
                           "told, so that a training loop never fails for it. One may come early "
                           "by a tenth of the time. 0 takes every report."});
  table.push_back(
      {.name = "GpuType",
       .type = OptionType::kName,
       .example = "a100",
       .help = "begins a line about one GPU type, as in GpuType=a100 Speed=1.0",
       .text = "The name is the Type of gres.conf, in the same case. One line a type."});
  table.push_back(
      {.name = "Speed",
       .type = OptionType::kReal,
       .default_text = "1",
       .min = 0.001,
       .max = 1000,
       .example = "1.0",
       .help = "speed of the type, relative to the other types",
       .text =
           "What is held to be true until jobs have reported how fast they run; what they report "
           "corrects it, also for jobs that report nothing. A type without a line has speed 1.",
       .record = "GpuType"});
  table.push_back({.name = "Memory",
                   .type = OptionType::kMemory,
                   .min = 1,
                   .max = 100e6,
                   .unit = "MiB",
                   .example = "80G",
                   .help = "memory of one GPU of the type",
                   .text = "A number is MiB, as in slurm.conf; K, M, G or T may stand behind it. "
                           "Execution plans that need more are not chosen on the type. "
                           "Without it they are taken to fit where nothing was measured.",
                   .record = "GpuType"});
  add_job_type(table);
  table.push_back({.name = "TestOff",
                   .type = OptionType::kWords,
                   .words = test_off_words(),
                   .help = "mechanisms to switch off",
                   .test_only = true});
  table.push_back({.name = "TestInject",
                   .type = OptionType::kWords,
                   .words = test_inject_words(),
                   .max = 1e6,
                   .help = "failures to inject",
                   .test_only = true});
  return table;
}

}  // namespace

const std::vector<Option>& options() {
  static const std::vector<Option> table = make_options();
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
