// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/explain/explain_running.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/model/progress/profile_list.h"
#include "lib/policy/algorithms/growth_cap.h"
#include "tools/rubato/explain/explain_parts.h"
#include "tools/shared/output.h"

namespace rubato::tools {
namespace {

std::string gpus_text(int gpus, const std::string& type) {
  return fmt::format("{} {}", gpus, type.empty() ? (gpus == 1 ? "GPU" : "GPUs") : type);
}

std::string count_text(int gpus) { return gpus_text(gpus, ""); }

/// The GPUs that a running job holds. The jobs that mode elastic changes hold those of one type.
std::string held_text(const Job& job) {
  int gpus = 0;
  std::string type;
  for (const NodeShare& share : job.allocation) {
    gpus += share.gpu_count();
    if (!share.gpus.empty()) type = share.gpus.front().type;
  }
  return gpus_text(gpus, type);
}

std::string duration(double seconds) { return format_duration(whole_seconds(seconds)); }

std::string action_text(const Change& change, const Job& job) {
  const std::string then = gpus_text(change.gpus, change.gpu_type);
  const std::string held = held_text(job);
  switch (change.action) {
    case ChangeAction::kShrink:
      return fmt::format("shrinks to {} (now {})", then, held);
    case ChangeAction::kGrow:
      return fmt::format("grows to {} (now {})", then, held);
    case ChangeAction::kRestart:
      break;
    case ChangeAction::kStop:
      return fmt::format("is requeued and waits (now {})", held);
    case ChangeAction::kNotify:
      return "keeps " + held;
  }
  if (then != held) return fmt::format("restarts on {} (now {})", then, held);
  return fmt::format("restarts on {} {}", then,
                     change.shares == job.allocation ? "as now" : "in another placement");
}

std::string configuration_text(const Change& change, const Job& job) {
  std::string text;
  if (change.plan != job.plan && change.action != ChangeAction::kStop)
    text += ", with " + (change.plan.empty() ? "the plan as submitted" : "plan " + change.plan);
  if (change.batch != 0 && change.batch != job.batch_size)
    text += fmt::format(", with batch {}", change.batch);
  return text;
}

std::string forecast_text(const Change& change) {
  if (!(change.seconds_left > 0)) return "";
  const std::string left = duration(change.seconds_left);
  switch (change.action) {
    case ChangeAction::kNotify:
      return ": ends in " + left;
    case ChangeAction::kStop:
      return fmt::format(": without that it would end in {}", left);
    default:
      return fmt::format(": ends in {} instead of {}", duration(change.seconds_then), left);
  }
}

/// "8 a100 would end it 40:00 earlier": what the other configuration promises.
std::string promise_text(const Stay& stay) {
  const double gain = stay.seconds_left - stay.seconds_there;
  return fmt::format("{} would end it {} {}", gpus_text(stay.gpus, stay.gpu_type),
                     duration(gain > 0 ? gain : -gain), gain > 0 ? "earlier" : "later");
}

std::string cost_text(const Stay& stay) {
  const std::string cost = duration(stay.cost);
  if (stay.seconds_there < stay.seconds_left) {
    return promise_text(stay) +
           fmt::format(", but that does not pay for the cost of the change ({})", cost);
  }
  return fmt::format("with the cost of the change ({}) {} would not end it earlier", cost,
                     gpus_text(stay.gpus, stay.gpu_type));
}

std::string time_text(Seconds time, Seconds now) {
  const std::string in = time > now ? fmt::format(" (in {})", format_duration(time - now)) : "";
  return format_time(time) + in;
}

std::string reason_text(const Stay& stay, Seconds now) {
  const std::string other = gpus_text(stay.gpus, stay.gpu_type);
  switch (stay.reason) {
    case StayReason::kFastest:
      return "no other configuration that it could have would end it earlier";
    case StayReason::kUncertain:
      return fmt::format("{} may be faster, but the forecasts are too uncertain to tell", other);
    case StayReason::kCost:
      return cost_text(stay);
    case StayReason::kPrice:
      return promise_text(stay) +
             ", but that is worth less than these GPUs cost at the prices of this round";
    case StayReason::kNoGpus:
      return promise_text(stay) +
             fmt::format(", but only {} are free or held by jobs that may change",
                         gpus_text(stay.available, stay.gpu_type));
    case StayReason::kOthers:
      return promise_text(stay) + ", but other jobs hold these GPUs or get them";
    case StayReason::kExempt:
      return fmt::format("it may not be interrupted before {}, by {}", time_text(stay.until, now),
                         stay.rule);
    case StayReason::kHeld:
      return "its size is held";
    case StayReason::kUnreached:
      return "its checkpoint signal would reach no process: without B: it goes to steps, and none "
             "runs";
    case StayReason::kCap:
      if (stay.gpus > 0) return fmt::format("{}, but {} is used up", promise_text(stay), stay.rule);
      return fmt::format("{} is used up{}", stay.rule,
                         stay.until > 0 ? ", until " + time_text(stay.until, now) : "");
    case StayReason::kNoNodes:
      break;
  }
  return fmt::format("it was to have {}, but no nodes were found where that is as good", other);
}

std::string step_text(const AskedResize& resize) {
  switch (resize.step) {
    case ResizeStep::kSaving:
      if (resize.live && resize.gpus > resize.from)
        return "waits until others have given up these GPUs";
      return fmt::format("told to save its state; it {} by {}",
                         resize.live ? "gives back nodes" : "is requeued", format_time(resize.due));
    case ResizeStep::kRequeued:
      if (resize.gpus == 0) return "requeued at " + format_time(resize.requeued);
      return fmt::format("requeued at {}; its place is kept until {}", format_time(resize.requeued),
                         format_time(resize.due));
    case ResizeStep::kDone:
      return "done at " + format_time(resize.since) +
             (resize.measured ? "; it cost " + duration(resize.cost) : "");
    case ResizeStep::kFailed:
      break;
  }
  return fmt::format("failed at {}: {}", format_time(resize.since), resize.words);
}

}  // namespace

std::string resize_text(const AskedResize& resize) {
  if (resize.starts && !resize.over())
    return fmt::format("{} that others give up {} kept for it until {}", count_text(resize.gpus),
                       resize.gpus == 1 ? "is" : "are", format_time(resize.due));
  if (resize.starts)
    return fmt::format("{} {} kept for it: {}", count_text(resize.gpus),
                       resize.gpus == 1 ? "was" : "were", step_text(resize));
  if (resize.gpus == 0)
    return fmt::format("stops to wait again (had {}): {}", count_text(resize.from),
                       step_text(resize));
  if (resize.rehearsal)
    return fmt::format("rehearses a restart with {}: {}", count_text(resize.gpus),
                       step_text(resize));
  return fmt::format("to {} (from {}) {}: {}", count_text(resize.gpus), resize.from,
                     resize.live ? "while it runs" : "by a restart", step_text(resize));
}

std::string hold_text(const SizeHold& hold, const Job& job, Seconds now) {
  const std::string end = hold.until > 0 ? time_text(hold.until, now)
                                         : fmt::format("rubato hold-size {} --release", job.label);
  return fmt::format("Rubato does not change it from {} until {}", format_time(hold.since), end);
}

const Exploration* exploration_of(const Job& job, const Memory& memory) {
  if (job.state != JobState::kRunning || job.allocation.empty()) return nullptr;
  const std::vector<GpuCount>& gpus = job.allocation.front().gpus;
  // A restart changes the submit time, so that the id alone is the same.
  const auto at = std::ranges::find_if(memory.explorations, [&](const Exploration& one) {
    return one.job.id == job.key.id && !gpus.empty() && gpus.front().type == one.gpu_type &&
           one.gpus == held_gpus(job);
  });
  return at != memory.explorations.end() ? &*at : nullptr;
}

std::string exploration_text(const Exploration& exploration) {
  return fmt::format("its reports show how fast its job type is with {} (decided at {})",
                     gpus_text(exploration.gpus, exploration.gpu_type),
                     format_time(exploration.time));
}

const ProfileCosts* costs_of(const Job& job, const Memory& memory) {
  if (!job.hints || job.hints->job_type.empty()) return nullptr;
  const std::string& type = job.hints->job_type;
  const ProfileCosts* const own = find_profile(memory.change_costs, {job.account, type});
  const ProfileCosts* const shared = find_profile(memory.change_costs, {"", type});
  if (own == nullptr || shared == nullptr) return own != nullptr ? own : shared;
  return shared->updated > own->updated ? shared : own;
}

std::string costs_text(const ProfileCosts& costs) {
  std::string text;
  const auto add = [&](const char* what, double cost, int count) {
    if (count == 0) return;
    text += fmt::format("{}{} {} (measured {})", text.empty() ? "" : ", ", what, duration(cost),
                        count == 1 ? "once" : fmt::format("{} times", count));
  };
  add("a restart", costs.restart, costs.restarts);
  add("a change while it runs", costs.resize, costs.resizes);
  return text;
}

std::string change_text(const Change& change, const Job& job) {
  std::string text = action_text(change, job) + configuration_text(change, job);
  text += forecast_text(change);
  if (!(change.cost > 0)) return text;
  return text + fmt::format("; {} {}",
                            change.action == ChangeAction::kStop ? "the next start costs"
                                                                 : "the change costs",
                            duration(change.cost));
}

std::string stay_text(const Stay& stay, const Job& job, Seconds now) {
  return fmt::format("stays on {}, ends in {}: {}", held_text(job), duration(stay.seconds_left),
                     reason_text(stay, now));
}

}  // namespace rubato::tools
