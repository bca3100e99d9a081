// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/squeue_reason.h"

namespace rubato {
namespace {

const char* reason_of(Shortage shortage) {
  switch (shortage) {
    case Shortage::kNever:
      return "RubatoTooLarge";
    case Shortage::kNodes:
      return "RubatoNodesDown";
    case Shortage::kGpus:
      return "RubatoGPUs";
    case Shortage::kCores:
      return "RubatoCores";
    case Shortage::kMemory:
      return "RubatoMemory";
    case Shortage::kWholeNodes:
      return "RubatoWholeNodes";
    case Shortage::kReserved:
      return "RubatoKeptForOthers";
    case Shortage::kStockPlan:
    case Shortage::kQueue:
      return "RubatoBehindOthers";
    case Shortage::kPreempting:
      return "RubatoPreemption";
  }
  return "";
}

}  // namespace

const char* squeue_reason(const EntryOutcome& outcome, const BookedReservation* booked) {
  switch (outcome.skipped) {
    case Skipped::kHet:
    case Skipped::kBlocked:
      return "";
    case Skipped::kOther:
    case Skipped::kRunning:
      return "RubatoOtherEntry";
    case Skipped::kOutbid:
      return "RubatoGPUs";
    case Skipped::kBackOff:
    case Skipped::kNo:
      break;
  }
  if (outcome.verdict == Verdict::kStart) return "RubatoStarting";
  if (booked != nullptr && outcome.verdict == Verdict::kReserve) {
    return is_promise(booked->reservation) ? "RubatoReserved" : "RubatoNext";
  }
  if (outcome.skipped == Skipped::kBackOff) return "RubatoRefused";
  if (outcome.verdict == Verdict::kAttempt) return "RubatoAsksSlurm";
  return outcome.failure != nullptr ? reason_of(outcome.failure->shortage) : "";
}

}  // namespace rubato
