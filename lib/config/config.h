// SPDX-License-Identifier: GPL-2.0-or-later
// The values of rubato.conf. The table in options.cc defines the options.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/file_system.h"
#include "lib/base/units.h"
#include "lib/config/fault.h"
#include "lib/config/mechanism.h"
#include "lib/hints/hints.h"

namespace rubato {

/// The scope of Rubato's actions.
enum class Mode {
  kObserve,  ///< plans and records, writes no field of any job
  kPlace,    ///< decides order and placement of pending jobs; changes a running one on request
  kElastic,  ///< changes running jobs too
};

/// A line `GpuType=NAME Speed=X`.
struct GpuTypeConfig {
  std::string name;
  double speed = 1.0;
  std::int64_t memory = 0;  ///< MiB per GPU; 0: unknown
  double nvlink = 0;        ///< GB/s per GPU between the GPUs of a node; 0: unknown

  bool operator==(const GpuTypeConfig&) const = default;
};

/// A line `JobType=NAME Shared=yes Gpus=1-8 ...`: hints for jobs of a type that do not set them.
struct JobTypeConfig {
  std::string name;
  bool shared = false;  ///< all accounts share its profile
  Hints hints = {};     ///< without job_type

  bool operator==(const JobTypeConfig&) const = default;
};

/// PriorityBand=auto.
inline constexpr double kAutoBand = -1;

struct Config {
  Mode mode = Mode::kObserve;
  bool manage_all = false;  ///< ManagedPartitions=all
  std::set<std::string> managed_partitions;
  Seconds heartbeat_timeout = 10;          ///< HeartbeatTimeout, seconds; then the gate opens
  double round_interval = 1.0;             ///< RoundInterval, seconds between full rounds
  double round_deadline = 2.0;             ///< RoundDeadline, seconds; later plans are dropped
  int reserve_depth = 4;                   ///< ReserveDepth
  Seconds reserve_after = 600;             ///< ReserveAfter, seconds
  double priority_band = kAutoBand;        ///< PriorityBand; infinity: inf
  Seconds starvation_bound = 86400;        ///< StarvationBound, seconds
  int lock_slice_ms = 5;                   ///< LockSlice: longest hold while starting jobs
  std::string publish_dir;                 ///< PublishDir; "" = StateSaveLocation/rubato/publish
  double publish_interval = 1.0;           ///< PublishInterval, seconds
  std::string log_level = "info";          ///< LogLevel
  std::string job_summary = "off";         ///< JobSummary
  std::string store_dir;                   ///< StoreDir; "" = StateSaveLocation/rubato
  int store_retention_days = 180;          ///< StoreRetentionDays
  Seconds warm_up = 60;                    ///< WarmUp, seconds; 0: none
  int model_half_life_days = 30;           ///< ModelHalfLife, days; 0: no decay
  Seconds message_interval = 60;           ///< MessageInterval, seconds; 0: no cap
  std::vector<GpuTypeConfig> gpu_types;    ///< sorted by name
  std::vector<JobTypeConfig> job_types;    ///< sorted by name
  std::set<Mechanism> test_off;            ///< TestOff, only with RUBATO_TESTING=1
  std::map<Fault, double> test_inject;     ///< TestInject: argument of each fault (0 without one)
  std::set<std::string> managed_accounts;  ///< ManagedAccounts; empty: all
  std::set<std::string> managed_qos;       ///< ManagedQOS; empty: all
  std::set<std::string> guaranteed_qos;    ///< GuaranteedQOS; empty: none
  Seconds min_run_time = 0;                ///< MinRunTime, seconds; 0: none
  Seconds restart_cost = 60;               ///< RestartCost, seconds
  Seconds resize_cost = 15;                ///< ResizeCost, seconds
  int restarts_per_job = 0;                ///< RestartsPerJob; 0: no cap
  int restarts_per_job_day = 0;            ///< RestartsPerJobDay, in 24 hours; 0: no cap
  int restarts_per_user_day = 0;           ///< RestartsPerUserDay, in 24 hours; 0: no cap
  double exploration_budget = 0.02;        ///< ExplorationBudget: share of GPU time, 0 to 1
  double min_scaling = 0.3;                ///< MinScaling: exponent of GPUs, 0 to 1
  std::map<std::string, int> growth_caps;  ///< GrowthCap by QOS; "": each other one; empty: none

  /// Whether ManagedPartitions names `partition`, or is `all`.
  [[nodiscard]] bool manages(const std::string& partition) const;
  /// Whether ManagedAccounts and ManagedQOS each name the job's, or are not set.
  [[nodiscard]] bool manages_group(const std::string& account, const std::string& qos) const;
  /// Relative speed by GPU type, for the types that have a line.
  [[nodiscard]] std::map<std::string, double> speeds() const;
  /// MiB per GPU by GPU type, for the types whose line has Memory.
  [[nodiscard]] std::map<std::string, std::int64_t> gpu_memory() const;
  /// GB/s per GPU between the GPUs of a node, of the types that have it.
  [[nodiscard]] std::map<std::string, double> gpu_links() const;
  /// The line of a job type; null if there is none.
  [[nodiscard]] const JobTypeConfig* job_type(const std::string& name) const;
  /// Whether a test has switched the mechanism off.
  [[nodiscard]] bool off(Mechanism mechanism) const { return test_off.contains(mechanism); }
  /// The argument of an injected fault (0 if it takes none); nullopt if it is not injected.
  [[nodiscard]] std::optional<double> injected(Fault fault) const;
  bool operator==(const Config&) const = default;
};

/// The word in rubato.conf.
[[nodiscard]] const char* to_string(Mode);

/// Parses the text of a rubato.conf. The error has one line per mistake, at most 100; each names
/// `path`, line, word and the nearest valid choice. `testing` accepts the options for tests. Reads
/// included files through `files`, relative to the including file; without `files` an Include is an
/// error.
[[nodiscard]] Result<Config> parse_config(const std::string& text, const std::string& path,
                                          bool testing = false, const FileSystem* files = nullptr);

/// The result of reading a rubato.conf.
struct LoadedConfig {
  Config config;
  bool present = false;  ///< the file exists; otherwise `config` is the default (observe)
  std::string note;      ///< one sentence for the log
  std::string text;      ///< of the file, without what it includes
};

/// Reads and parses the file at `path`. A missing file is not an error and gives the default. If
/// the file cannot be read, the error names the reason.
[[nodiscard]] Result<LoadedConfig> load_config_file(const std::string& path,
                                                    const FileSystem& files, bool testing = false);

/// `config` as a rubato.conf: every option with its effective value; options without a value are
/// comments. parse_config reads it as an equal Config, with `testing` if an option for tests is
/// set. `config` must be one that parse_config accepts.
[[nodiscard]] std::string dump_config(const Config& config);

inline constexpr const char* kConfigSchema = "rubato.config/1";

/// `config` as one line of JSON: {"schema":"rubato.config/1","Mode":"observe",...}. Members have
/// the names and order of the options. Unset options are null, lists are arrays, times are numbers
/// in the option's unit.
[[nodiscard]] std::string config_json(const Config& config);

}  // namespace rubato
