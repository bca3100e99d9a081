// SPDX-License-Identifier: GPL-2.0-or-later
// Faults that a test can inject, to show how Rubato handles them.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace rubato {

/// Named in TestInject= of rubato.conf, which is read only with RUBATO_TESTING=1.
enum class Fault {
  kThrowRound,
  kThrowGate,
  kThrowSubmit,
  kHangRound,
  kStopLoop,
  kSlowRound,
  kStartSize,
  kStartCpu,
  kStartFails,
  kSegmentInterval,
  kSlowJob,
  kShrinkTo,
  kCheckGres,
};

/// One row of the table of faults.
struct FaultWord {
  Fault fault;
  std::string_view word;      ///< its word in TestInject=
  std::string_view argument;  ///< the part after WORD:; "" if it takes none
  std::string_view help;      ///< what the fault does
};

/// All faults, in enum order.
inline constexpr std::array kFaults = {
    FaultWord{Fault::kThrowRound, "throw-round", "", "each round throws an exception"},
    FaultWord{Fault::kThrowGate, "throw-gate", "", "the gate throws an exception"},
    FaultWord{Fault::kThrowSubmit, "throw-submit", "", "the check at submit throws an exception"},
    FaultWord{Fault::kHangRound, "hang-round", "SECONDS", "each round hangs for this long"},
    FaultWord{Fault::kStopLoop, "stop-loop", "", "the scheduling loop stops"},
    FaultWord{Fault::kSlowRound, "slow-round", "MILLISECONDS", "each round takes this much longer"},
    FaultWord{Fault::kStartSize, "start-size", "GPUS",
              "jobs that can run on this number of GPUs are planned with it"},
    FaultWord{Fault::kStartCpu, "start-cpu", "",
              "jobs that can run without GPUs are planned without them"},
    FaultWord{Fault::kStartFails, "start-fails", "",
              "a start fails after the job's request was rewritten"},
    FaultWord{Fault::kSegmentInterval, "segment-interval", "SECONDS",
              "annotations in SystemComment are updated at this interval"},
    FaultWord{Fault::kSlowJob, "slow-job", "MILLISECONDS",
              "each round takes this much longer for each pending job that it considers"},
    FaultWord{Fault::kShrinkTo, "shrink-to", "NODES",
              "each round takes the second node from running jobs with more nodes than this"},
    FaultWord{Fault::kCheckGres, "check-gres", "",
              "each round logs contradictions between the GRES records of nodes, jobs and steps"},
};

/// The fault named `word`; nullopt if there is none.
[[nodiscard]] constexpr std::optional<Fault> find_fault(std::string_view word) {
  for (const FaultWord& row : kFaults)
    if (row.word == word) return row.fault;
  return std::nullopt;
}

/// The row of a fault.
[[nodiscard]] constexpr const FaultWord& fault_word(Fault fault) {
  return kFaults.at(static_cast<std::size_t>(fault));
}

/// Whether each row has the index of its enumerator.
[[nodiscard]] constexpr bool faults_are_in_order() {
  for (std::size_t i = 0; i < kFaults.size(); ++i)
    if (kFaults.at(i).fault != static_cast<Fault>(i)) return false;
  return true;
}
static_assert(faults_are_in_order());

}  // namespace rubato
