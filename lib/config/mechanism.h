// SPDX-License-Identifier: GPL-2.0-or-later
// Mechanisms that a test can switch off, to show that the test fails without them.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace rubato {

/// Named in TestOff= of rubato.conf, which is read only with RUBATO_TESTING=1.
enum class Mechanism {
  kGate,
  kWillrun,
  kWalk,
  kImmediate,
  kServerCount,
  kReserve,
  kLevels,
  kNeeds,
  kPredictability,
  kLearning,
  kWarmUp,
  kLoad,
  kForecast,
  kHeartbeat,
  kDepth,
  kStockPlan,
  kAskBackfill,
  kTimeMin,
  kReserveFrom,
  kSave,
  kSettle,
  kLaunch,
  kWake,
  kQuiet,
  kType,
  kThreads,
  kRewrite,
  kPutBack,
  kRestore,
  kResvMask,
  kPublish,
  kPrivateData,
  kStore,
  kOrders,
  kPlans,
  kSegment,
  kRoundSize,
  kJobEnv,
  kHints,
  kHintsUpdate,
  kHintsRead,
  kMessages,
  kMessageRate,
  kMessageUid,
  kProve,
  kOverrun,
  kStatements,
  kTrade,
  kResize,
  kChangeCosts,
  kRank,
  kClosing,
  kTypePrices,
  kSearch,
  kElasticity,
  kTrial,
  kExploration,
  kMix,
  kCpus,
  kUsualWork,
  kBands,
  kFairShare,
  kGuarantee,
  kNoise,
  kRestart,
  kKeepPlace,
  kShrinkRepair,
  kGrow,
  kKeepNodes,
  kJobSummary,
  kNotice,
  kHoldSize,
};

/// One row of the table of mechanisms.
struct MechanismWord {
  Mechanism mechanism;
  std::string_view word;  ///< its word in TestOff=
  std::string_view help;  ///< the behaviour without it
};

/// All mechanisms, in enum order.
inline constexpr std::array kMechanisms = {
    MechanismWord{Mechanism::kGate, "gate", "managed jobs are not kept from stock Slurm"},
    MechanismWord{Mechanism::kWillrun, "willrun", "stock backfill may plan managed jobs"},
    MechanismWord{Mechanism::kWalk, "walk", "the loop leaves unmanaged jobs to stock Slurm"},
    MechanismWord{Mechanism::kImmediate, "immediate",
                  "immediate requests (salloc -I) do not pass the gate"},
    MechanismWord{Mechanism::kServerCount, "server-count",
                  "a round does not count as a server thread"},
    MechanismWord{Mechanism::kReserve, "reserve", "nothing is reserved"},
    MechanismWord{Mechanism::kLevels, "levels", "jobs keep Slurm's order"},
    MechanismWord{Mechanism::kNeeds, "needs", "jobs of one level keep Slurm's order"},
    MechanismWord{Mechanism::kPredictability, "predictability",
                  "forecasts of remaining time are used without a check of their errors"},
    MechanismWord{Mechanism::kLearning, "learning", "the models learn nothing from reports"},
    MechanismWord{Mechanism::kWarmUp, "warm-up", "reports during warm-up count like others"},
    MechanismWord{Mechanism::kLoad, "load", "the cost of a GPU-second ignores future arrivals"},
    MechanismWord{Mechanism::kForecast, "forecast",
                  "GPU types are chosen by their configured speed, without the models"},
    MechanismWord{Mechanism::kHeartbeat, "heartbeat", "the gate does not open when the loop stops"},
    MechanismWord{Mechanism::kDepth, "depth", "gated jobs count in bf_max_job_test"},
    MechanismWord{Mechanism::kStockPlan, "stock-plan", "the plan of stock backfill is not read"},
    MechanismWord{Mechanism::kAskBackfill, "ask-backfill",
                  "jobs that Slurm refuses again and again get no reservation"},
    MechanismWord{Mechanism::kTimeMin, "time-min", "--time-min has no effect"},
    MechanismWord{Mechanism::kReserveFrom, "reserve-from",
                  "bf_min_age_reserve, bf_min_prio_reserve and MinPrioThresh have no effect"},
    MechanismWord{Mechanism::kSave, "save",
                  "slurmctld does not save its state after Rubato starts a job"},
    MechanismWord{Mechanism::kSettle, "settle",
                  "recovered pending jobs may start before the nodes have registered"},
    MechanismWord{
        Mechanism::kLaunch, "launch",
        "a held lock starts jobs after slurmctld has started to end, and lost launches are "
        "not looked for"},
    MechanismWord{Mechanism::kWake, "wake", "events do not wake the loop between two rounds"},
    MechanismWord{Mechanism::kQuiet, "quiet", "the loop does not let requests go first"},
    MechanismWord{Mechanism::kType, "type", "Slurm does not get the chosen GPU type"},
    MechanismWord{Mechanism::kThreads, "threads", "each requested CPU counts as a core"},
    MechanismWord{Mechanism::kRewrite, "rewrite",
                  "jobs start as requested, whatever size was planned"},
    MechanismWord{Mechanism::kPutBack, "put-back",
                  "the request is not restored after a failed start"},
    MechanismWord{Mechanism::kRestore, "restore",
                  "a requeued job keeps the size of its last start"},
    MechanismWord{Mechanism::kResvMask, "resv-mask", "unmanaged jobs may take reserved nodes"},
    MechanismWord{Mechanism::kPublish, "publish", "nothing is published"},
    MechanismWord{Mechanism::kPrivateData, "private-data", "the published files hide nothing"},
    MechanismWord{Mechanism::kStore, "store", "nothing is stored"},
    MechanismWord{Mechanism::kOrders, "orders", "requests to change profiles are ignored"},
    MechanismWord{Mechanism::kPlans, "plans",
                  "jobs run with the plan and the batch that they were submitted with"},
    MechanismWord{Mechanism::kSegment, "segment", "Rubato does not write SystemComment"},
    MechanismWord{Mechanism::kRoundSize, "round-size", "late rounds do not consider fewer jobs"},
    MechanismWord{Mechanism::kJobEnv, "job-env", "jobs get no variables of Rubato"},
    MechanismWord{Mechanism::kHints, "hints", "hints are neither checked nor recorded at submit"},
    MechanismWord{Mechanism::kHintsUpdate, "hints-update",
                  "updates of pending jobs are not checked against hints"},
    MechanismWord{Mechanism::kHintsRead, "hints-read", "hints do not reach the snapshot"},
    MechanismWord{Mechanism::kMessages, "messages", "messages of jobs are stored as comments"},
    MechanismWord{Mechanism::kMessageRate, "message-rate", "every report is accepted"},
    MechanismWord{Mechanism::kMessageUid, "message-uid", "messages of every user are accepted"},
    MechanismWord{Mechanism::kProve, "prove", "what a single job measured counts without a bound"},
    MechanismWord{Mechanism::kOverrun, "overrun",
                  "stated work counts although jobs of the user ran past theirs"},
    MechanismWord{Mechanism::kStatements, "statements",
                  "stated work counts whatever ended jobs of the account did"},
    MechanismWord{Mechanism::kTrade, "trade", "mode elastic changes no running job"},
    MechanismWord{Mechanism::kResize, "resize", "jobs keep the size that they request"},
    MechanismWord{Mechanism::kChangeCosts, "change-costs",
                  "changes of running jobs count as free, and none is measured"},
    MechanismWord{Mechanism::kRank, "rank",
                  "the end of a job is worth its weight, whatever it delays"},
    MechanismWord{Mechanism::kClosing, "closing", "further jobs are always expected"},
    MechanismWord{Mechanism::kTypePrices, "type-prices",
                  "GPU-seconds of all GPU types count alike in the rank of a job"},
    MechanismWord{Mechanism::kSearch, "search", "the market does without its local search"},
    MechanismWord{Mechanism::kElasticity, "elasticity",
                  "each size that is faster than those below is a configuration"},
    MechanismWord{Mechanism::kTrial, "trial",
                  "no running job tries a size that was not measured on idle GPUs"},
    MechanismWord{Mechanism::kExploration, "exploration",
                  "no job gets GPUs for the sake of what its reports would show"},
    MechanismWord{Mechanism::kMix, "mix", "jobs that may mix GPU types get one type, as others do"},
    MechanismWord{Mechanism::kCpus, "cpus", "jobs with device=any wait for GPUs"},
    MechanismWord{Mechanism::kUsualWork, "usual-work",
                  "the work of ended jobs says nothing about jobs of their type"},
    MechanismWord{Mechanism::kBands, "bands",
                  "the market does not look at partition tiers and priority bands"},
    MechanismWord{Mechanism::kFairShare, "fair-share", "the market does not look at fair-share"},
    MechanismWord{Mechanism::kGuarantee, "guarantee", "GuaranteedQOS has no effect"},
    MechanismWord{Mechanism::kNoise, "noise",
                  "running jobs change for gains smaller than the error of the forecasts"},
    MechanismWord{Mechanism::kRestart, "restart",
                  "requests for another size of a running job are refused"},
    MechanismWord{Mechanism::kKeepPlace, "keep-place",
                  "a job that is restarted keeps neither its size nor its place"},
    MechanismWord{Mechanism::kShrinkRepair, "shrink-repair",
                  "what Slurm leaves wrong when a running job loses nodes stays so"},
    MechanismWord{
        Mechanism::kGrow, "grow",
        "jobs get no GPUs while they run, and stock Slurm merges jobs that expand another"},
    MechanismWord{Mechanism::kKeepNodes, "keep-nodes",
                  "a running job that becomes smaller gets nodes like any other"},
    MechanismWord{Mechanism::kJobSummary, "job-summary", "nothing sums up ended jobs"},
    MechanismWord{Mechanism::kNotice, "notice", "jobs are not told what changes"},
    MechanismWord{Mechanism::kHoldSize, "hold-size",
                  "the round changes jobs whose size somebody holds"},
};

/// The mechanism named `word`; nullopt if there is none.
[[nodiscard]] constexpr std::optional<Mechanism> find_mechanism(std::string_view word) {
  for (const MechanismWord& row : kMechanisms)
    if (row.word == word) return row.mechanism;
  return std::nullopt;
}

/// The word of a mechanism.
[[nodiscard]] constexpr std::string_view to_string(Mechanism mechanism) {
  return kMechanisms.at(static_cast<std::size_t>(mechanism)).word;
}

/// Whether each row has the index of its enumerator.
[[nodiscard]] constexpr bool mechanisms_are_in_order() {
  for (std::size_t i = 0; i < kMechanisms.size(); ++i)
    if (kMechanisms.at(i).mechanism != static_cast<Mechanism>(i)) return false;
  return true;
}
static_assert(mechanisms_are_in_order());

}  // namespace rubato
