// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato resize`: a running job gets another size, by a restart or while it runs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "lib/hints/message.h"
#include "lib/json/record_writer.h"
#include "lib/policy/algorithms/growth_cap.h"
#include "lib/policy/asked_growth.h"
#include "lib/policy/asked_resize.h"
#include "lib/policy/asked_shrink.h"
#include "tools/rubato/resize/resize_records.h"
#include "tools/shared/command.h"
#include "tools/shared/command_line.h"
#include "tools/shared/format.h"
#include "tools/shared/job_match.h"
#include "tools/shared/job_message.h"
#include "tools/shared/output.h"
#include "tools/shared/published.h"
#include "tools/shared/source.h"

namespace rubato::tools {
namespace {

constexpr int kMaxGpus = 1'000'000;
constexpr auto kLook = std::chrono::milliseconds(250);
constexpr double kRoundMargin = 1;   // seconds for a round itself and its files
constexpr double kLongestLook = 30;  // seconds
constexpr Seconds kUnseen = 30;      // a request that shows nowhere for so long was lost

struct Options {
  std::string job;
  int gpus = 0;
  bool live = false;
  bool restart = false;
  bool dry_run = false;
  bool no_wait = false;
};

int failure(const Globals& globals, Exit code, const std::string& text) {
  return report_failure(globals, kResizeSchema, code, text);
}

std::vector<std::string> names_of(const std::vector<NodeShare>& shares, const Snapshot& snapshot) {
  std::vector<std::string> names;
  for (const NodeShare& share : shares) names.push_back(snapshot.nodes[share.node].name);
  return names;
}

std::string gpus_text(int gpus, const std::string& type) {
  return fmt::format("{} {}", gpus, type.empty() ? gpus == 1 ? "GPU" : "GPUs" : type);
}

/// The one running job that `selector` names.
Result<const Job*> job_named(const JobSelector& selector, const Snapshot& snapshot) {
  const Job* found = nullptr;
  for (const Job& job : snapshot.jobs) {
    if (!matches(selector, job)) continue;
    if (found != nullptr && found->key != job.key)
      return fail(fmt::format("{} is several jobs; name one task, for example {}_1", selector.text,
                              selector.id));
    found = &job;
  }
  if (found == nullptr) return fail(fmt::format("no job {}", selector.text));
  if (found->state != JobState::kRunning)
    return fail(fmt::format("job {} waits; its hint gpus= says at which sizes it may start",
                            selector.text));
  return found;
}

/// The published plan in which the job runs. A job that has just started still waits in the last
/// one: looks again until a later one is there, for as long as the loop needs to publish it.
Result<PublishedPlan> plan_with_running(const Site& site, const JobSelector& selector) {
  using std::chrono::steady_clock;
  const Config& config = site.config;
  const Seconds began = now();
  const double longest =
      std::min(config.round_interval + config.publish_interval + kRoundMargin, kLongestLook);
  const auto end = steady_clock::now() + std::chrono::duration<double>(longest);
  for (;;) {
    auto published = read_plan(site);
    if (!published || job_named(selector, published->snapshot) ||
        published->snapshot.taken > began || steady_clock::now() > end)
      return published;
    std::this_thread::sleep_for(kLook);
  }
}

/// What it keeps, and what it gives back.
Result<ResizeAnswer> planned_live(const Job& job, const Snapshot& snapshot, int gpus) {
  const auto kept = nodes_kept(snapshot, job, gpus);
  if (!kept) return tl::unexpected(kept.error());
  std::vector<NodeShare> freed;
  for (const NodeShare& share : job.allocation)
    if (!std::ranges::binary_search(*kept, share.node, {}, &NodeShare::node))
      freed.push_back(share);
  const Checkpoint& checkpoint = job.hints->checkpoint;
  return ResizeAnswer{.job = job.key.id,
                      .step = "possible",
                      .how = "live",
                      .from = held_gpus(job),
                      .gpus = gpus,
                      .nodes = names_of(*kept, snapshot),
                      .freed_nodes = names_of(freed, snapshot),
                      .lead = checkpoint.consents() ? checkpoint.lead : 0};
}

/// What it gets beside its own.
Result<ResizeAnswer> planned_growth(const Job& job, const Snapshot& snapshot, const Models& models,
                                    const Config& config, int gpus) {
  const auto added = nodes_added(snapshot, models, config, job, gpus, snapshot.taken);
  if (!added) return tl::unexpected(added.error());
  std::vector<std::string> nodes = names_of(job.allocation, snapshot);
  const std::vector<std::string> more = names_of(*added, snapshot);
  for (const std::string& name : more)
    if (std::ranges::find(nodes, name) == nodes.end()) nodes.push_back(name);
  return ResizeAnswer{.job = job.key.id,
                      .step = "possible",
                      .how = "live",
                      .from = held_gpus(job),
                      .gpus = gpus,
                      .nodes = std::move(nodes),
                      .added_nodes = more};
}

/// What slurmctld will test again.
Result<ResizeAnswer> planned(const Job& job, const Snapshot& snapshot, const Models& models,
                             const Config& config, const Options& options) {
  const int gpus = options.gpus;
  const int from = held_gpus(job);
  if (from == gpus) return fail(fmt::format("it has {} already", gpus_text(gpus, "")));
  if (gpus > from && (options.live || (!options.restart && grows_live(job, gpus))))
    return planned_growth(job, snapshot, models, config, gpus);
  if (options.live || (!options.restart && shrinks_live(job, gpus)))
    return planned_live(job, snapshot, gpus);
  if (const std::string why = why_never_restarted(job); !why.empty()) return fail(why);
  const auto start = start_after_restart(snapshot, models, config, job.key,
                                         {.gpus = gpus, .gpu_type = {}}, snapshot.taken);
  if (!start) return tl::unexpected(start.error());
  return ResizeAnswer{.job = job.key.id,
                      .step = "possible",
                      .how = "restart",
                      .from = from,
                      .gpus = gpus,
                      .gpu_type = start->gpu_type,
                      .nodes = names_of(start->shares, snapshot),
                      .lead = job.hints->checkpoint.lead};
}

int print(const Globals& globals, const Snapshot& snapshot, const ResizeAnswer& answer,
          const std::string& text) {
  if (globals.json) {
    Json json = document(kResizeSchema, snapshot.slurm_version);
    json.update(json::json_of(answer));
    print_json(json);
  } else {
    fmt::print("{}\n", text);
  }
  return kOk;
}

/// What became of the last request for the job since `asked`; nullopt if nothing shows yet. An
/// earlier one may be of the same second.
std::optional<AskedResize> restart_of(const PublishedPlan& published, JobId job, int gpus,
                                      Seconds asked) {
  for (const AskedResize& restart : published.plan.memory.asked_resizes)
    if (restart.job.id == job && restart.gpus == gpus && restart.asked >= asked) return restart;
  return std::nullopt;
}

void tell(const AskedResize& restart) {
  if (restart.step == ResizeStep::kSaving)
    fmt::print("Told to save its state; it {} in {} s at the latest.\n",
               restart.live ? "loses the nodes" : "is requeued", restart.due - restart.since);
  if (restart.step == ResizeStep::kRequeued)
    fmt::print("Requeued; its place is kept for {} s.\n", restart.due - restart.since);
  std::fflush(stdout);
}

/// Waits until the change is over.
Result<AskedResize> follow(const Globals& globals, const Site& site, JobId job, int gpus,
                           Seconds asked) {
  std::optional<ResizeStep> told;
  for (;;) {
    const auto published = read_plan(site);
    const auto restart = published ? restart_of(*published, job, gpus, asked) : std::nullopt;
    if (restart && restart->over()) return *restart;
    if (restart && told != restart->step) {
      told = restart->step;
      if (!globals.json) tell(*restart);
    }
    if (!told && now() - asked > kUnseen)
      return fail("slurmctld took the request, but no published file shows it; its log tells more");
    std::this_thread::sleep_for(kLook);
  }
}

int send(const Globals& globals, const Site& site, const Snapshot& snapshot, const Options& options,
         ResizeAnswer answer) {
  const Seconds asked = now();
  const ResizeRequest request{.gpus = options.gpus, .live = answer.how == "live"};
  const auto sent = send_message(options.job, render_message(request), false);
  if (!sent) return failure(globals, kFailed, sent.error().text);
  if (sent->exit != 0)
    return failure(
        globals, kFailed,
        fmt::format("resize of job {}: {} ended with code {}", options.job, sent->way, sent->exit));
  answer.step = "asked";
  if (options.no_wait)
    return print(globals, snapshot, answer, fmt::format("Job {}: asked.", options.job));
  const auto ended = follow(globals, site, answer.job, options.gpus, asked);
  if (!ended) return failure(globals, kUnreachable, ended.error().text);
  if (ended->step == ResizeStep::kFailed)
    return failure(globals, kFailed, fmt::format("job {}: {}", options.job, ended->words));
  answer.step = "done";
  if (ended->live)
    return print(globals, snapshot, answer,
                 fmt::format("Job {} runs on with {}.", options.job, gpus_text(ended->gpus, "")));
  answer.gpu_type = ended->gpu_type;
  answer.stopped = ended->since - ended->requeued;
  return print(globals, snapshot, answer,
               fmt::format("Job {} runs with {} after a stop of {} s.", options.job,
                           gpus_text(ended->gpus, ended->gpu_type), answer.stopped));
}

std::string plan_text(const std::string& job, const ResizeAnswer& answer) {
  if (answer.how == "live" && answer.gpus > answer.from)
    return fmt::format("Job {} has {}. While it runs it gets {} more on {}.", job,
                       gpus_text(answer.from, ""), answer.gpus - answer.from,
                       fmt::join(answer.added_nodes, ","));
  if (answer.how == "live")
    return fmt::format(
        "Job {} has {}. With {} it keeps {}: {}{} {} back.", job, gpus_text(answer.from, ""),
        gpus_text(answer.gpus, ""), fmt::join(answer.nodes, ","),
        answer.lead > 0 ? fmt::format("signal, {} s to save, then ", answer.lead) : "",
        fmt::join(answer.freed_nodes, ","), answer.freed_nodes.size() == 1 ? "goes" : "go");
  return fmt::format(
      "Job {} has {}. Restarted with {}, it starts at once on {}: signal, {} s to save, requeue.",
      job, gpus_text(answer.from, ""), gpus_text(answer.gpus, answer.gpu_type),
      fmt::join(answer.nodes, ","), answer.lead);
}

int run(const Globals& globals, const Options& options) {
  const auto selector = parse_selector(options.job);
  if (!selector) return failure(globals, kUsage, selector.error().text);
  if (options.gpus < 1) return failure(globals, kUsage, "resize: --gpus: missing; give a size");
  if (options.live && options.restart)
    return failure(globals, kUsage, "resize: --live excludes --restart; give one");
  const auto site = find_source(globals.publish_dir);
  if (!site) return failure(globals, kFailed, site.error().text);
  const auto stats = read_stats(*site);
  if (!stats) return failure(globals, kUnreachable, stats.error().text);
  if (const auto why = loop_stopped(*stats, site->config, now()))
    return failure(globals, kUnreachable, *why);
  if (stats->mode == "observe") return failure(globals, kFailed, "Mode=observe changes no job");
  const auto published = plan_with_running(*site, *selector);
  if (!published) return failure(globals, kUnreachable, published.error().text);
  const Snapshot& snapshot = published->snapshot;
  const auto job = job_named(*selector, snapshot);
  if (!job) return failure(globals, kNoMatch, job.error().text);
  const Models models = models_with(read_models_fit(*site).value_or(ModelsFit{}), site->config);
  const auto answer = planned(**job, snapshot, models, site->config, options);
  if (!answer)
    return failure(globals, kFailed, fmt::format("job {}: {}", options.job, answer.error().text));
  if (!options.dry_run) return send(globals, *site, snapshot, options, *answer);
  return print(globals, snapshot, *answer, plan_text(options.job, *answer));
}

std::function<int()> setup(CommandLine& line, const Globals& globals) {
  auto options = std::make_shared<Options>();
  line.argument("JOBID", options->job, "A running job or array task");
  line.number("--gpus", options->gpus, 1, kMaxGpus, "N", "Number of GPUs that it is to have");
  line.flag("--live", options->live,
            "Give the job GPUs, or take whole nodes from it, while it runs");
  line.flag("--restart", options->restart, "Stop the job, and start it again from its checkpoint");
  line.flag("--dry-run", options->dry_run, "Tell what would happen; change nothing");
  line.flag("--no-wait", options->no_wait, "Do not wait until the job runs again");
  return [options, &globals] { return run(globals, *options); };
}

}  // namespace

Command resize_command() {
  return {"resize", "Give a running job another number of GPUs", "JOBID", &setup};
}

}  // namespace rubato::tools
