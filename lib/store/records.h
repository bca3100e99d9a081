// SPDX-License-Identifier: GPL-2.0-or-later
// The records of the store. Times are Unix seconds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lib/base/units.h"

namespace rubato::store {

/// A family of jobs with the same profile. The profile belongs to (account, name). With
/// `JobType=NAME Shared=yes` in rubato.conf, all accounts share one profile of that name.
struct JobType {
  std::string account;
  std::string name;
  bool shared = false;

  bool operator==(const JobType&) const = default;
};

/// Why a report is implausible.
enum class Flag {
  kNone,
  kNotMonotone,   ///< fewer samples done or an earlier time than in the previous report
  kWallTime,      ///< samples/s contradict samples done over time
  kAboveBest,     ///< over three times the best of its kind
  kUnlikeOthers,  ///< contradicts other jobs of the type
};

/// One report of a running job.
struct Sample {
  JobKey job;
  int restarts = 0;       ///< number of the run; samples done may decrease at a restart
  Seconds time = 0;       ///< time of the report
  Seconds run_start = 0;  ///< start of this run; 0: unknown
  JobType type;
  std::string gpu_type;
  int gpus = 0;
  int nodes = 0;
  std::string plan;               ///< execution plan, "" as submitted
  std::int64_t batch = 0;         ///< global batch in samples
  std::int64_t samples_done = 0;  ///< since the job's first start, over all runs
  double throughput = 0;          ///< samples/s
  int cores = 0;                  ///< of the whole allocation, as all counts below; 0: unknown
  MiB memory = 0;                 ///< of the whole allocation
  int workers = 0;                ///< of a job with parameter servers
  int servers = 0;                ///< parameter servers
  int server_cores = 0;           ///< cores of one of them
  std::optional<double> loss;
  std::optional<double> forward_time;    ///< seconds per forward pass
  std::optional<double> iteration_time;  ///< seconds per iteration
  std::optional<double> sync_time;       ///< seconds per iteration that wait for communication
  std::optional<double> optimise_time;   ///< seconds per iteration that update parameters
  std::optional<double> gradient_noise;  ///< noise scale in samples (McCandlish et al. 2018)
  Flag flag = Flag::kNone;               ///< set by the store on writing

  bool operator==(const Sample&) const = default;
};

/// Usable samples with one speed: equal GPUs, nodes, plan, batch, cores and tasks.
struct JobTypeGroup {
  int nodes = 0;
  std::string plan;
  std::int64_t batch = 0;
  int cores = 0;
  int workers = 0;
  int servers = 0;
  int server_cores = 0;
  std::int64_t samples = 0;  ///< including flagged ones
  std::int64_t flagged = 0;
  /// Numbers of flagged samples by the word of their flag.
  std::map<std::string, std::int64_t> flags{};
  std::int64_t jobs = 0;  ///< number of jobs that sent them
  /// samples/s of unflagged samples; 0 if there are none.
  double mean_throughput = 0;
  double min_throughput = 0;
  double max_throughput = 0;
  double last_throughput = 0;
  /// Means over unflagged samples that contain the value.
  std::optional<double> forward_time;
  std::optional<double> sync_time;
  std::optional<double> optimise_time;
  std::optional<double> iteration_time;
  std::optional<double> gradient_noise;
  Seconds last = 0;       ///< time of the last sample, flagged or not
  bool imported = false;  ///< measured at another site; this site has no samples

  bool operator==(const JobTypeGroup&) const = default;
};

/// A group of samples and its job type: the unit that sites share.
struct ProfileRow {
  JobType type;
  std::string gpu_type;
  int gpus = 0;
  JobTypeGroup group;

  bool operator==(const ProfileRow&) const = default;
};

/// Parameters of one model, fitted to the samples of a job type on a GPU type. A later fit replaces
/// the earlier one.
struct Fit {
  JobType type;
  std::string gpu_type;
  std::string model;               ///< name of the model
  std::vector<double> parameters;  ///< in the order of that model
  std::int64_t samples = 0;        ///< number of samples it was fitted to
  double error = 0;                ///< relative error of forecasts
  Seconds time = 0;

  bool operator==(const Fit&) const = default;
};

enum class JobClass { kBestEffort, kGuaranteed };

/// Result of a job so far. A later record replaces the earlier one.
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

/// A decision about a job and its reason.
struct Decision {
  JobKey job;
  Seconds time = 0;
  std::string kind;  ///< one word: start, reserve, wait, ...
  std::string text;  ///< the explanation record as JSON

  bool operator==(const Decision&) const = default;
};

/// One run of a job. A later record of the same run only sets the end.
struct RunRecord {
  JobKey job;
  Seconds start = 0;
  Seconds enters = 0;  ///< time from which Slurm would have let it start
  Seconds end = 0;     ///< 0: it had not ended when this was written
  std::string text;    ///< the job and its nodes (lib/store/run_text.h)

  bool operator==(const RunRecord&) const = default;
};

using AnyRecord = std::variant<Sample, Fit, JobRecord, Decision, RunRecord>;

/// The word for the database and for users; "" for kNone.
[[nodiscard]] const char* to_string(Flag);
[[nodiscard]] const char* to_string(JobClass);
[[nodiscard]] std::optional<Flag> flag_from(const std::string&);
[[nodiscard]] std::optional<JobClass> job_class_from(const std::string&);

/// False for a value that is impossible or fits no column: a number that is not finite, a negative
/// count, more than 1e15 samples/s, a text above 1 MiB (64 KiB for a name). Such a record is
/// rejected, not flagged.
[[nodiscard]] bool storable(const AnyRecord&);
[[nodiscard]] bool storable(const ProfileRow&);

}  // namespace rubato::store
