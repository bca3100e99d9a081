// SPDX-License-Identifier: GPL-2.0-or-later
// Why a job whose hints leave the size open does not start smaller or larger.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "lib/base/text.h"
#include "lib/core/resize_request.h"
#include "lib/policy/algorithms/explainer.h"
#include "lib/policy/algorithms/size.h"

namespace rubato {
namespace {

// Sizes named in the sentence, on each side of the one the job has; the facts have all.
constexpr int kNamed = 2;

const char* word_of(SizeObstacle obstacle) {
  switch (obstacle) {
    case SizeObstacle::kNone:
      return "no-room";
    case SizeObstacle::kCost:
      return "costs-more";
    case SizeObstacle::kWorkUnknown:
      return "work-unknown";
    case SizeObstacle::kUncertain:
      return "uncertain";
    case SizeObstacle::kTimeLimit:
      return "time-limit";
    case SizeObstacle::kTooSlow:
      return "too-slow";
    case SizeObstacle::kGuarantee:
      return "guarantee";
    case SizeObstacle::kUnmeasured:
      return "unmeasured";
    case SizeObstacle::kLoad:
      return "load";
    case SizeObstacle::kShape:
      return "shape";
    case SizeObstacle::kGrowthCap:
      return "growth-cap";
  }
  return "";
}

const char* phrase_of(SizeObstacle obstacle) {
  switch (obstacle) {
    case SizeObstacle::kNone:
      return "no room now";
    case SizeObstacle::kCost:
      return "costs more";
    case SizeObstacle::kWorkUnknown:
      return "its work is not known";
    case SizeObstacle::kUncertain:
      return "its forecast is too uncertain";
    case SizeObstacle::kTimeLimit:
      return "it might not end within its time limit";
    case SizeObstacle::kTooSlow:
      return "it would take longer than the wait and twice its run as requested";
    case SizeObstacle::kGuarantee:
      return "slower than its QOS guarantees";
    case SizeObstacle::kUnmeasured:
      return "more than twice the largest measured size";
    case SizeObstacle::kLoad:
      return "never measured, and too many jobs arrive to try it";
    case SizeObstacle::kShape:
      return "its request does not divide";
    case SizeObstacle::kGrowthCap:
      return "GrowthCap";
  }
  return "";
}

// 0 says that it was not worked out. Below 0, it saves jobs that are still to come more than it
// costs.
Seconds seconds_of(double cost) {
  if (!(cost < static_cast<double>(kForever))) return kForever;
  return cost != 0 ? std::max<Seconds>(static_cast<Seconds>(std::ceil(cost)), 1) : 0;
}

// Of one size the type on which it costs least; one that the job may take goes first.
bool better(const SizeTrial& a, const SizeTrial& b) {
  const auto rank = [](const SizeTrial& trial) {
    if (trial.obstacle == SizeObstacle::kNone) return 0;
    return trial.obstacle == SizeObstacle::kCost ? 1 : 2;
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return a.cost < b.cost;
}

std::map<int, SizeTrial> best_trials(const std::vector<SizeTrial>& trials) {
  std::map<int, SizeTrial> best;
  for (const SizeTrial& trial : trials) {
    const auto [at, fresh] = best.try_emplace(trial.gpus, trial);
    if (!fresh && better(trial, at->second)) at->second = trial;
  }
  return best;
}

bool open_size(const Job& job) {
  if (!job.managed || !job.hints || job.hints->sizes.empty() || !job.request.wants_gpus())
    return false;
  const auto own = static_cast<int>(requested_gpus(job));
  return job.hints->sizes.smallest() != own || job.hints->sizes.largest() != own;
}

}  // namespace

std::string Explainer::why_as_requested(const PendingEntry& entry) const {
  const Job& job = *entry.job;
  if (!job.batch) return "salloc and srun start with what they ask for";
  if (job.array_id != 0) return "tasks of an array start with what they ask for";
  if (!job.size_bound.empty()) return job.size_bound;
  if (history_.of(entry).refusal.starts_with(kRefusedSize))
    return "slurmctld refused it at another size";
  const bool judged = entry.types != nullptr && !entry.types->trials.empty();
  return judged ? "" : "nothing is known of the speed of its job type";
}

void Explainer::sizes(const PendingEntry& entry, const EntryOutcome& outcome, Account& account,
                      std::vector<SizeOutcome>& to) const {
  const Job& job = *entry.job;
  if (entry.gpus != 0 || entry.on_cpus || !open_size(job)) return;
  if (const std::string why = why_as_requested(entry); !why.empty()) {
    account.reason += "; it keeps its size: " + account.say("size_bound", why);
    return;
  }
  const auto own = static_cast<int>(requested_gpus(job));
  const bool starts = outcome.verdict == Verdict::kStart && outcome.placement;
  const int taken = !starts ? 0 : outcome.placement->gpus > 0 ? outcome.placement->gpus : own;
  std::map<int, SizeTrial> best = best_trials(entry.types->trials);
  double against = entry.types->most;
  for (const SizeTrial& trial : entry.types->trials) {
    if (!starts || trial.gpus != taken || trial.type != outcome.placement->type) continue;
    best[taken] = trial;
    if (trial.cost > 0) against = trial.cost;
  }
  const std::string other =
      starts ? fmt::format("{}", taken) : fmt::format("{} with the wait", own);
  std::vector<std::pair<int, std::string>> rejected;
  for (const auto& [gpus, trial] : best) {
    SizeOutcome size{gpus, capacity_.types()[trial.type], word_of(trial.obstacle), trial.throughput,
                     seconds_of(trial.cost)};
    std::string why = phrase_of(trial.obstacle);
    const bool dearer = trial.obstacle == SizeObstacle::kCost ||
                        (trial.obstacle == SizeObstacle::kNone && starts && trial.cost > against);
    if (gpus == taken) {
      size.outcome = why = "taken";
    } else if (dearer) {
      size.outcome = word_of(SizeObstacle::kCost);
      why = fmt::format("costs {}, {} {}", duration_text(size.cost), other,
                        duration_text(seconds_of(against)));
    }
    account.say(fmt::format("size.{}", gpus), fmt::format("{}: {}", size.gpu_type, why));
    if (gpus != taken && (starts || gpus != own)) rejected.emplace_back(gpus, std::move(why));
    to.push_back(std::move(size));
  }
  name_sizes(rejected, starts ? taken : own, account);
}

// The nearest sizes below and above the one it has.
void Explainer::name_sizes(const std::vector<std::pair<int, std::string>>& rejected, int own,
                           Account& account) {
  const auto above =
      std::ranges::find_if(rejected, [&](const auto& one) { return one.first > own; });
  const auto from = above - std::min<std::ptrdiff_t>(kNamed, above - rejected.begin());
  const auto end = above + std::min<std::ptrdiff_t>(kNamed, rejected.end() - above);
  std::string text;
  for (auto one = from; one != end; ++one)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", one->first, one->second);
  if (!text.empty()) account.reason += "; sizes not taken: " + text;
}

}  // namespace rubato
