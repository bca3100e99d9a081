// SPDX-License-Identifier: GPL-2.0-or-later
// What the store keeps. Times are Unix seconds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lib/base/units.h"

namespace rubato::store {

/// A family of jobs with the same profile. Its profile belongs to (account, name); with
/// `JobType=NAME Shared=yes` in rubato.conf all accounts have one profile of that name.
struct JobType {
  std::string account;
  std::string name;
  bool shared = false;

  bool operator==(const JobType&) const = default;
};

/// Why a report is implausible.
enum class Flag {
  kNone,
  kNotMonotone,   ///< fewer samples done, or an earlier time, than the report before
  kWallTime,      ///< samples/s and samples done over time do not agree
  kAboveBest,     ///< more than three times the best of its kind
  kUnlikeOthers,  ///< other jobs of the type measure something else
};

/// One report of a running job.
struct Sample {
  JobKey job;
  int restarts = 0;       ///< tells the runs of a job apart; samples done may fall at a restart
  Seconds time = 0;       ///< when it was reported
  Seconds run_start = 0;  ///< when this run of the job began; 0: not known
  JobType type;
  std::string gpu_type;
  int gpus = 0;
  int nodes = 0;
  std::string plan;               ///< execution plan, "" as submitted
  std::int64_t batch = 0;         ///< global batch in samples
  std::int64_t samples_done = 0;  ///< since the job began, over all its runs
  double throughput = 0;          ///< samples/s
  int cores = 0;                  ///< of the whole allocation, as all counts below: 0: not known
  MiB memory = 0;                 ///< of the whole allocation
  int workers = 0;                ///< of a job with parameter servers
  int servers = 0;                ///< parameter servers
  int server_cores = 0;           ///< cores of one of them
  std::optional<double> loss;
  std::optional<double> forward_time;    ///< seconds a forward pass
  std::optional<double> iteration_time;  ///< seconds an iteration
  std::optional<double> sync_time;       ///< seconds an iteration waits for communication
  std::optional<double> optimise_time;   ///< seconds an iteration updates parameters
  std::optional<double> gradient_noise;  ///< noise scale in samples (McCandlish et al. 2018)
  Flag flag = Flag::kNone;               ///< set by the store when it is written

  bool operator==(const Sample&) const = default;
};

/// Usable samples of one speed: with the same GPUs, nodes, plan, batch, cores and tasks.
struct JobTypeGroup {
  int nodes = 0;
  std::string plan;
  std::int64_t batch = 0;
  int cores = 0;
  int workers = 0;
  int servers = 0;
  int server_cores = 0;
  std::int64_t samples = 0;  ///< flagged ones included
  std::int64_t flagged = 0;
  /// Flagged ones by the word of their flag.
  std::map<std::string, std::int64_t> flags{};
  std::int64_t jobs = 0;  ///< that sent them
  /// samples/s of those that are not flagged; 0 without one.
  double mean_throughput = 0;
  double min_throughput = 0;
  double max_throughput = 0;
  double last_throughput = 0;
  /// Means over those that are not flagged and say it.
  std::optional<double> forward_time;
  std::optional<double> sync_time;
  std::optional<double> optimise_time;
  std::optional<double> iteration_time;
  std::optional<double> gradient_noise;
  Seconds last = 0;       ///< time of the last one, flagged or not
  bool imported = false;  ///< measured at another site, nothing of it here

  bool operator==(const JobTypeGroup&) const = default;
};

/// A group of samples, and whose they are: what sites share.
struct ProfileRow {
  JobType type;
  std::string gpu_type;
  int gpus = 0;
  JobTypeGroup group;

  bool operator==(const ProfileRow&) const = default;
};

/// Parameters of one model, fitted to the samples of a job type on a GPU type. A later fit takes
/// the place of the earlier one.
struct Fit {
  JobType type;
  std::string gpu_type;
  std::string model;               ///< which back-end
  std::vector<double> parameters;  ///< in the order of that back-end
  std::int64_t samples = 0;        ///< how many it was fitted to
  double error = 0;                ///< relative error of its forecasts
  Seconds time = 0;

  bool operator==(const Fit&) const = default;
};

enum class JobClass { kBestEffort, kGuaranteed };

/// Result of a job so far. A later record takes the place of the earlier one.
struct JobRecord {
  JobKey job;
  JobType type;
  JobClass job_class = JobClass::kBestEffort;
  double attained = 0;  ///< attained service in GPU-seconds
  int level = 0;        ///< of the multi-level queue
  std::int64_t samples_done = 0;
  int restarts = 0;
  Seconds updated = 0;

  bool operator==(const JobRecord&) const = default;
};

/// What was decided about a job, and why.
struct Decision {
  JobKey job;
  Seconds time = 0;
  std::string kind;  ///< one word: start, reserve, wait, ...
  std::string text;  ///< the explanation record as JSON

  bool operator==(const Decision&) const = default;
};

/// One run of a job. Of a later record of the same run only the end counts.
struct RunRecord {
  JobKey job;
  Seconds start = 0;
  Seconds enters = 0;  ///< from when on Slurm would have let it start
  Seconds end = 0;     ///< 0: it had not ended when this was written
  std::string text;    ///< the job and where it ran (lib/store/run_text.h)

  bool operator==(const RunRecord&) const = default;
};

using AnyRecord = std::variant<Sample, Fit, JobRecord, Decision, RunRecord>;

/// The word in the database and in what people read; "" for kNone.
[[nodiscard]] const char* to_string(Flag);
[[nodiscard]] const char* to_string(JobClass);
[[nodiscard]] std::optional<Flag> flag_from(const std::string&);
[[nodiscard]] std::optional<JobClass> job_class_from(const std::string&);

/// False for what no job can have measured and no column can hold: a number that is not finite, a
/// negative count, more than 1e15 samples/s, a text above 1 MiB (64 KiB for a name). Such an entry
/// is rejected, not flagged.
[[nodiscard]] bool storable(const AnyRecord&);
[[nodiscard]] bool storable(const ProfileRow&);

}  // namespace rubato::store
