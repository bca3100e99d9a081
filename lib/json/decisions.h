// SPDX-License-Identifier: GPL-2.0-or-later
// What was decided when a job started: decisions.json, which slurmctld publishes, so that `explain`
// can tell it of a job that runs, or has just ended.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"
#include "lib/core/plan.h"
#include "lib/core/snapshot.h"

namespace rubato {

inline constexpr const char* kDecisionsSchema = "rubato.decisions/1";

/// A request that jobs of the same type would do better with (lib/model/throughput/
/// better_request.h). No GPUs: the models are sure of none.
struct BetterPlace {
  std::string gpu_type;
  int gpus = 0;
  double ratio = 0;  ///< its throughput over that of the run
  double low = 0;    ///< 90 % interval of the ratio
  double high = 0;

  bool operator==(const BetterPlace&) const = default;
};

/// What a run did, in figures. All are 0 where the run was not seen, as after a restart of
/// slurmctld.
struct RunSummary {
  Seconds eligible = 0;    ///< from when Slurm would have let it start
  std::string gpu_type;    ///< that it held at its end
  int gpus = 0;            ///< likewise
  int nodes = 0;           ///< likewise
  double gpu_seconds = 0;  ///< GPUs that it held, multiplied by time
  int restarts = 0;        ///< of the job before this run
  double forecast = 0;     ///< samples/s, as at its start; 0: none
  Seconds time_limit = 0;  ///< 0: none
  bool completed = false;  ///< it ended by itself, with exit code 0
  BetterPlace better{};

  [[nodiscard]] bool known() const { return eligible != 0; }
  bool operator==(const RunSummary&) const = default;
};

/// The decision that a run of a managed job began with.
struct StartRecord {
  JobKey job;               ///< of the run; of an array task its own
  std::string label;        ///< as squeue shows it
  std::string kind;         ///< "start", or in mode observe "would-start"
  Seconds time = 0;         ///< of the round that decided
  std::uint64_t round = 0;  ///< its number
  Seconds start = 0;        ///< of the run
  Seconds end = 0;          ///< when it was first seen to run no longer; 0: it runs
  /// Of an array task that of its array, with the nodes and GPUs of the task.
  Explanation told;
  std::int64_t samples = 0;  ///< done, by the last report of an ended run; 0: none
  double throughput = 0;     ///< samples/s, likewise
  RunSummary summary{};      ///< of an ended run

  bool operator==(const StartRecord&) const = default;
};

/// Sorted by job.
using StartRecords = std::vector<std::shared_ptr<const StartRecord>>;

/// One line of JSON: {"schema":...,"decisions":[...]}, each with `told` as it stood in plan.json.
[[nodiscard]] std::string to_json(const StartRecords& records);
/// Errors name the member, as in json.h.
[[nodiscard]] Result<StartRecords> decisions_from_json(std::string_view text);

}  // namespace rubato
