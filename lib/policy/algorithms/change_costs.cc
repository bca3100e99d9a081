// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/change_costs.h"

#include <algorithm>
#include <cmath>

#include "lib/model/progress/profile_list.h"
#include "lib/policy/algorithms/forecast.h"

namespace rubato {
namespace {

// Least weight of a new cost in the mean: after ten it is a moving mean, since checkpoints and file
// systems change.
constexpr double kLeastNewCost = 0.1;
constexpr int kMaxCount = 1 << 20;

void fold(double cost, double& mean, int& count) {
  count = std::min(count + 1, kMaxCount);
  mean += std::max(1.0 / count, kLeastNewCost) * (cost - mean);
}

// The job runs again, and this is a report of that run.
bool is_after(const AskedResize& change, const Job& job, const Progress& after) {
  if (job.state != JobState::kRunning || after.restarts != job.restarts) return false;
  if (!(after.throughput > 0)) return false;
  if (change.live) return job.restarts == change.runs && after.time > change.since;
  return job.restarts == change.runs + 1 && after.time > job.start;
}

// A change while the job runs leaves out a part of a restart, so it costs no more.
ChangeCosts expected(const ProfileCosts* known, const Job& job, const Config& config) {
  const auto usual = static_cast<double>(config.restart_cost);
  ChangeCosts costs{.start = usual, .restart = usual, .resize = usual};
  if (known != nullptr && known->restarts > 0) {
    costs.restart = known->restart;
    costs.start = std::min(usual, known->restart);
  }
  costs.resize = costs.restart;
  if (!job.hints || job.hints->resize != Resize::kLive) return costs;
  const bool measured = known != nullptr && known->resizes > 0;
  costs.resize =
      measured ? known->resize : std::min(costs.restart, static_cast<double>(config.resize_cost));
  return costs;
}

}  // namespace

void note_progress(AskedResize& change, const Progress* progress) {
  if (progress == nullptr || progress->restarts != change.runs || !(progress->throughput > 0))
    return;
  change.reported = progress->time;
  change.samples = progress->samples;
  change.throughput = progress->throughput;
}

bool awaits_cost(const AskedResize& change, Seconds now) {
  const bool carried_out = change.live || change.requeued > 0;
  return change.step == ResizeStep::kDone && carried_out && change.reported > 0 &&
         !change.measured && now - change.since < kCostKeep;
}

// Which samples were done before the change is not known. As many as it could do until then are
// taken to be. A stopped job waits for others in the queue; one whose place is kept waits there
// because of its restart.
std::optional<double> cost_shown(const AskedResize& change, const Job& job, const Progress* after) {
  if (after == nullptr || !is_after(change, job, *after)) return std::nullopt;
  const Seconds stopped = change.live ? change.since : change.requeued;
  const Seconds resumed = change.live ? change.since : std::max(job.start, change.requeued);
  const auto seconds = [](Seconds from, Seconds to) {
    return static_cast<double>(std::max<Seconds>(to - from, 0));
  };
  const double restarting = change.gpus > 0 ? seconds(stopped, resumed) : 0;
  const double passed =
      seconds(change.reported, stopped) + restarting + seconds(resumed, after->time);
  const auto gained = static_cast<double>(after->samples - change.samples);
  const double before = std::min(gained, change.throughput * seconds(change.reported, stopped));
  const double worked = before / change.throughput + (gained - before) / after->throughput;
  return std::clamp(passed - worked, 0.0, kMaxChangeCost);
}

void fold_cost(const ProfileName& profile, bool live, double cost, Seconds now,
               std::vector<ProfileCosts>& costs) {
  if (profile.job_type.empty() || !std::isfinite(cost) || cost < 0) return;
  ProfileCosts& known = profile_entry(costs, profile, kMaxCostProfiles);
  known.updated = std::max(known.updated, now);
  if (live)
    fold(cost, known.resize, known.resizes);
  else
    fold(cost, known.restart, known.restarts);
}

void fill_change_costs(Snapshot& snapshot, const Config& config) {
  for (Job& job : snapshot.jobs) {
    const ProfileName profile = profile_of(job, config);
    const ProfileCosts* known = find_profile(snapshot.memory.change_costs, profile);
    if (known != nullptr && snapshot.taken - known->updated >= kCostLife) known = nullptr;
    job.costs = expected(known, job, config);
    if (job.state != JobState::kRunning) continue;
    const auto runs = static_cast<double>(snapshot.taken - job.start);
    job.starting = std::clamp(job.costs.start - runs, 0.0, job.costs.start);
  }
}

}  // namespace rubato
