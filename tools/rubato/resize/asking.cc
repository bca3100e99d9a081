// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/resize/asking.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "lib/hints/message.h"
#include "tools/shared/job_message.h"
#include "tools/shared/output.h"
#include "tools/shared/process.h"

namespace rubato::tools {
namespace {

constexpr auto kLook = std::chrono::milliseconds(250);
constexpr double kFilesMargin = 1;    // seconds for the files of a round
constexpr double kLongestLook = 30;   // seconds
constexpr int kSqueueTimeout = 5000;  // milliseconds
constexpr Seconds kUnseen = 30;       // a request that shows nowhere for so long was lost

/// The one running job that `selector` names.
Result<std::size_t> job_named(const JobSelector& selector, const Snapshot& snapshot) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < snapshot.jobs.size(); ++i) {
    if (!matches(selector, snapshot.jobs[i])) continue;
    if (found && snapshot.jobs[*found].key != snapshot.jobs[i].key)
      return fail(fmt::format("{} is several jobs; name one task, for example {}_1", selector.text,
                              selector.id));
    found = i;
  }
  if (!found) return fail(fmt::format("no job {}", selector.text));
  if (snapshot.jobs[*found].state != JobState::kRunning)
    return fail(fmt::format("job {} waits", selector.text));
  return *found;
}

/// Whether squeue shows the job as running.
bool runs_for_slurm(const JobSelector& selector) {
  const std::string squeue = find_program("squeue");
  if (squeue.empty()) return false;
  const auto answer =
      run_program({squeue, "-h", "-t", "R", "-j", selector.text, "-o", "%A"}, kSqueueTimeout);
  return answer && !answer->empty();
}

/// The published plan in which the job runs. A job that has just started still waits in the last
/// one: looks again until a later one is there, for as long as the loop needs to publish it, and
/// longer if Slurm says that the job runs: on a busy machine the files come less often.
Result<PublishedPlan> plan_with_running(const Site& site, const JobSelector& selector) {
  using std::chrono::steady_clock;
  const Config& config = site.config;
  const Seconds began = now();
  const auto begin = steady_clock::now();
  const std::chrono::duration<double> usual(std::min(
      config.round_interval + config.round_deadline + config.publish_interval + kFilesMargin,
      kLongestLook));
  const std::chrono::duration<double> longest(kLongestLook);
  bool asked = false;
  for (;;) {
    auto published = read_plan(site);
    const auto looked = steady_clock::now() - begin;
    if (!published || job_named(selector, published->snapshot) ||
        published->snapshot.taken > began || looked > longest)
      return published;
    if (looked > usual && !std::exchange(asked, true) && !runs_for_slurm(selector))
      return published;
    std::this_thread::sleep_for(kLook);
  }
}

tl::unexpected<Refusal> refused(Exit code, std::string text) {
  return tl::unexpected(Refusal{code, std::move(text)});
}

/// The last change of the job since `asked`; nullopt if nothing shows yet. An earlier one may be of
/// the same second.
std::optional<AskedResize> change_of(const PublishedPlan& published, JobId job, int gpus,
                                     Seconds asked) {
  for (const AskedResize& change : published.plan.memory.asked_resizes)
    if (change.job.id == job && change.gpus == gpus && change.asked >= asked) return change;
  return std::nullopt;
}

}  // namespace

tl::expected<FoundJob, Refusal> find_running(const JobSelector& selector,
                                             const std::string& publish_dir,
                                             const std::string& advice) {
  auto site = find_source(publish_dir);
  if (!site) return refused(kFailed, site.error().text);
  const auto stats = read_stats(*site);
  if (!stats) return refused(kUnreachable, stats.error().text);
  if (const auto why = loop_stopped(*stats, site->config, now()))
    return refused(kUnreachable, *why);
  if (stats->mode == "observe") return refused(kFailed, "Mode=observe changes no job");
  auto published = plan_with_running(*site, selector);
  if (!published) return refused(kUnreachable, published.error().text);
  const auto job = job_named(selector, published->snapshot);
  if (!job) {
    const bool waits = job.error().text.ends_with(" waits");
    return refused(kNoMatch, job.error().text + (waits ? advice : ""));
  }
  return FoundJob{*std::move(site), *std::move(published), *job};
}

std::vector<std::string> names_of(const std::vector<NodeShare>& shares, const Snapshot& snapshot) {
  std::vector<std::string> names;
  for (const NodeShare& share : shares) names.push_back(snapshot.nodes[share.node].name);
  return names;
}

std::string gpus_text(int gpus, const std::string& type) {
  return fmt::format("{} {}", gpus, type.empty() ? gpus == 1 ? "GPU" : "GPUs" : type);
}

Result<void> send_request(const std::string& what, const std::string& job, const Message& message) {
  const auto sent = send_message(job, render_message(message), false);
  if (!sent) return tl::unexpected(sent.error());
  if (sent->exit != 0)
    return fail(
        fmt::format("{} of job {}: {} ended with code {}", what, job, sent->way, sent->exit));
  return {};
}

Result<AskedResize> follow_change(const Site& site, JobId job, int gpus, Seconds asked,
                                  const std::function<void(const AskedResize&)>& tell) {
  std::optional<ResizeStep> told;
  for (;;) {
    const auto published = read_plan(site);
    const auto change = published ? change_of(*published, job, gpus, asked) : std::nullopt;
    if (change && change->over()) return *change;
    if (change && told != change->step) {
      told = change->step;
      tell(*change);
    }
    if (!told && now() - asked > kUnseen)
      return fail("slurmctld took the request, but no published file shows it; its log tells more");
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace rubato::tools
