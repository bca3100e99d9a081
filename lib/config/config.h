// SPDX-License-Identifier: GPL-2.0-or-later
// The values of rubato.conf. The table in options.cc drives parser, help, man page and example.
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
#include "lib/config/mechanism.h"
#include "lib/hints/hints.h"

namespace rubato {

/// DESIGN: nothing changes until an admin says so.
enum class Mode {
  kObserve,  ///< plans and records, writes no field of any job
  kPlace,    ///< decides order and placement; touches nothing that runs
};

/// A line `GpuType=NAME Speed=X`.
struct GpuTypeConfig {
  std::string name;
  double speed = 1.0;
  std::int64_t memory = 0;  ///< MiB of one GPU; 0: not told

  bool operator==(const GpuTypeConfig&) const = default;
};

/// A line `JobType=NAME Shared=yes Gpus=1-8 ...`: what holds for jobs of a type that do not say it.
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
  Seconds heartbeat_timeout = 10;             ///< HeartbeatTimeout: the gate opens after it
  double round_interval = 1.0;                ///< RoundInterval, seconds between full rounds
  double round_deadline = 2.0;                ///< RoundDeadline, seconds; a later plan is dropped
  int reserve_depth = 4;                      ///< ReserveDepth
  Seconds reserve_after = 600;                ///< ReserveAfter, seconds
  double priority_band = kAutoBand;           ///< PriorityBand; infinity: inf
  Seconds starvation_bound = 86400;           ///< StarvationBound, seconds
  int lock_slice_ms = 5;                      ///< LockSlice: longest hold while starting jobs
  std::string publish_dir;                    ///< PublishDir; "" = StateSaveLocation/rubato/publish
  double publish_interval = 1.0;              ///< PublishInterval, seconds
  std::string log_level = "info";             ///< LogLevel
  std::string store_dir;                      ///< StoreDir; "" = StateSaveLocation/rubato
  int store_retention_days = 180;             ///< StoreRetentionDays
  Seconds warm_up = 60;                       ///< WarmUp, seconds; 0: none
  int model_half_life_days = 30;              ///< ModelHalfLife, days; 0: nothing is forgotten
  Seconds message_interval = 60;              ///< MessageInterval, seconds; 0: no cap
  std::vector<GpuTypeConfig> gpu_types;       ///< sorted by name
  std::vector<JobTypeConfig> job_types;       ///< sorted by name
  std::set<Mechanism> test_off;               ///< TestOff, only with RUBATO_TESTING=1
  std::map<std::string, double> test_inject;  ///< TestInject: word -> argument (0 without one)

  /// ManagedPartitions names it, or is `all`.
  [[nodiscard]] bool manages(const std::string& partition) const;
  /// Of the GPU types that have a line.
  [[nodiscard]] std::map<std::string, double> speeds() const;
  /// MiB of one GPU, of the types whose line says it.
  [[nodiscard]] std::map<std::string, std::int64_t> gpu_memory() const;
  /// The line of a job type; null when there is none.
  [[nodiscard]] const JobTypeConfig* job_type(const std::string& name) const;
  [[nodiscard]] bool off(Mechanism mechanism) const { return test_off.contains(mechanism); }
  bool operator==(const Config&) const = default;
};

/// As in rubato.conf: observe, place.
[[nodiscard]] const char* to_string(Mode);

/// Parses the text of a rubato.conf. `path` stands in the errors, which name line and word and the
/// nearest valid choice; all errors of the text come at once, one a line (at most 100, then their
/// number). `testing` admits the test-only keys. Files that `Include` names are read through
/// `files`, relative to the file that names them; without `files` an Include is an error.
[[nodiscard]] Result<Config> parse_config(const std::string& text, const std::string& path,
                                          bool testing = false, const FileSystem* files = nullptr);

/// What was found at the place of a rubato.conf.
struct LoadedConfig {
  Config config;
  bool present = false;  ///< there is such a file; without it `config` is the default (observe)
  std::string note;      ///< one sentence for the log
};

/// Reads and parses the file at `path`. A missing file is no error: nothing changes until an admin
/// says so. A file that cannot be read is one, and names the reason.
[[nodiscard]] Result<LoadedConfig> load_config_file(const std::string& path,
                                                    const FileSystem& files, bool testing = false);

/// `config` as a rubato.conf: every option with its effective value, those without a value as a
/// comment. parse_config reads it back to an equal Config, with `testing` if a test-only option is
/// set. For configurations that parse_config accepts.
[[nodiscard]] std::string dump_config(const Config& config);

inline constexpr const char* kConfigSchema = "rubato.config/1";

/// `config` as one line of JSON: {"schema":"rubato.config/1","Mode":"observe",...}, the members
/// named and ordered as the options. Unset options are null, lists are arrays, times are numbers
/// in the unit of the option.
[[nodiscard]] std::string config_json(const Config& config);

}  // namespace rubato
