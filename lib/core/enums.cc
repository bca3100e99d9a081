// SPDX-License-Identifier: GPL-2.0-or-later
// The words for the enumerations, as they stand in JSON and in what commands print.
#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "lib/core/job.h"
#include "lib/core/plan.h"
#include "lib/core/snapshot.h"

namespace rubato {
namespace {

// In the order of the enumerators.
constexpr std::array kJobStates{"pending", "running"};
constexpr std::array kBlocks{"none",      "limit", "license", "array-limit", "reservation",
                             "partition", "nodes", "other",   "left-out",    "place"};
constexpr std::array kReserveReasons{"first", "waited", "starvation"};
constexpr std::array kResizeSteps{"saving", "requeued", "done", "failed"};
constexpr std::array kRestartReasons{"none", "requeue", "resize", "round", "rehearsal"};
constexpr std::array kChangeActions{"shrink", "grow", "restart", "stop", "notify"};
constexpr std::array kStayReasons{"fastest",  "uncertain", "cost", "price", "no-gpus",  "others",
                                  "no-nodes", "exempt",    "cap",  "held",  "unreached"};
constexpr std::array kVerdicts{"start", "attempt", "reserve", "wait", "blocked", "stock"};

template <typename Enum, std::size_t N>
const char* word(const std::array<const char*, N>& words, Enum value) {
  const auto at = static_cast<std::size_t>(value);
  return at < N ? words[at] : "unknown";
}

template <typename Enum, std::size_t N>
std::optional<Enum> value(const std::array<const char*, N>& words, const std::string& text) {
  for (std::size_t i = 0; i < N; ++i) {
    if (text == words[i]) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

const char* to_string(JobState state) { return word(kJobStates, state); }
const char* to_string(Block block) { return word(kBlocks, block); }
const char* to_string(ReserveReason reason) { return word(kReserveReasons, reason); }
const char* to_string(ResizeStep step) { return word(kResizeSteps, step); }
const char* to_string(RestartReason reason) { return word(kRestartReasons, reason); }
const char* to_string(ChangeAction action) { return word(kChangeActions, action); }
const char* to_string(StayReason reason) { return word(kStayReasons, reason); }
const char* to_string(Verdict verdict) { return word(kVerdicts, verdict); }

std::optional<JobState> job_state_from(const std::string& text) {
  return value<JobState>(kJobStates, text);
}
std::optional<Block> block_from(const std::string& text) { return value<Block>(kBlocks, text); }
std::optional<ReserveReason> reserve_reason_from(const std::string& text) {
  return value<ReserveReason>(kReserveReasons, text);
}
std::optional<ResizeStep> resize_step_from(const std::string& text) {
  return value<ResizeStep>(kResizeSteps, text);
}
std::optional<RestartReason> restart_reason_from(const std::string& text) {
  return value<RestartReason>(kRestartReasons, text);
}
std::optional<StayReason> stay_reason_from(const std::string& text) {
  return value<StayReason>(kStayReasons, text);
}
std::optional<ChangeAction> change_action_from(const std::string& text) {
  return value<ChangeAction>(kChangeActions, text);
}
std::optional<Verdict> verdict_from(const std::string& text) {
  return value<Verdict>(kVerdicts, text);
}

}  // namespace rubato
