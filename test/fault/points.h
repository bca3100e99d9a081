// SPDX-License-Identifier: GPL-2.0-or-later
// The faults that rubato-fault injects, and the mechanisms that its negative controls break.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace rubato::test {

enum class FaultPoint {
  kNodeDown,
  kNodeFlaps,
  kDrain,
  kGpuLost,
  kReportMissing,
  kReportWrong,
  kClockForward,
  kClockBack,
  kSignalIgnored,
  kRestartLost,
  kCancel,
  kHold,
  kTimeLimit,
  kPriority,
  kHints,
  kModelsGone,
  kKilled,
  kTornState,
  kOldState,
  kStartRefused,
  kRequeue,
};

struct FaultPointWord {
  FaultPoint point;
  std::string_view word;
  std::string_view help;
  bool elastic_only = false;  ///< no change of a running job, no such fault
};

inline constexpr std::array kFaultPoints = {
    FaultPointWord{FaultPoint::kNodeDown, "node-down",
                   "a node fails; Slurm requeues its jobs; it comes back later"},
    FaultPointWord{FaultPoint::kNodeFlaps, "node-flaps",
                   "a node fails and comes back between plan and commit"},
    FaultPointWord{FaultPoint::kDrain, "drain", "a node is drained and resumed later"},
    FaultPointWord{FaultPoint::kGpuLost, "gpu-lost", "a node loses a GPU until it is repaired"},
    FaultPointWord{FaultPoint::kReportMissing, "report-missing", "a report does not arrive"},
    FaultPointWord{FaultPoint::kReportWrong, "report-wrong",
                   "a report states ten times the true throughput"},
    FaultPointWord{FaultPoint::kClockForward, "clock-forward", "the clock jumps forward"},
    FaultPointWord{FaultPoint::kClockBack, "clock-back", "the clock jumps back"},
    FaultPointWord{FaultPoint::kSignalIgnored, "signal-ignored",
                   "a job ignores its checkpoint signal; its restart takes the full lead time",
                   true},
    FaultPointWord{FaultPoint::kRestartLost, "restart-lost",
                   "a restarted job does not come back before its place expires", true},
    FaultPointWord{FaultPoint::kCancel, "cancel", "a user cancels a job between plan and commit"},
    FaultPointWord{FaultPoint::kHold, "hold", "a user holds a job between plan and commit"},
    FaultPointWord{FaultPoint::kTimeLimit, "time-limit",
                   "a user changes a time limit between plan and commit"},
    FaultPointWord{FaultPoint::kPriority, "priority",
                   "an admin changes a priority between plan and commit"},
    FaultPointWord{FaultPoint::kHints, "hints",
                   "a user withdraws the consent to restarts between plan and commit"},
    FaultPointWord{FaultPoint::kModelsGone, "models-gone",
                   "the database is gone: all learnt models vanish"},
    FaultPointWord{FaultPoint::kKilled, "killed",
                   "slurmctld is killed and starts with the last state file"},
    FaultPointWord{FaultPoint::kTornState, "torn-state",
                   "slurmctld is killed and finds a torn state file"},
    FaultPointWord{FaultPoint::kOldState, "old-state",
                   "slurmctld is killed and finds an old state file"},
    FaultPointWord{FaultPoint::kStartRefused, "start-refused", "slurmctld refuses a start"},
    FaultPointWord{FaultPoint::kRequeue, "requeue",
                   "an admin requeues a running job, which gets a new submit time"},
};

/// What --break switches off, so that the checks must fail.
enum class Broken { kNone, kFree, kConsent, kFlight, kExpiry, kLoss };

struct BrokenWord {
  Broken broken;
  std::string_view word;
  std::string_view help;
};

inline constexpr std::array kBroken = {
    BrokenWord{Broken::kFree, "free", "starts are committed without a check of what is free"},
    BrokenWord{Broken::kConsent, "consent", "every job counts as one that consents to restarts"},
    BrokenWord{Broken::kFlight, "flight", "a second change of a job in flight is accepted"},
    BrokenWord{Broken::kExpiry, "expiry", "the place of a restart never expires"},
    BrokenWord{Broken::kLoss, "loss", "a stopped job is not requeued"},
};

}  // namespace rubato::test
