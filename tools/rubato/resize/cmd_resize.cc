// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato resize`: a running job gets another size, by a restart or while it runs.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "lib/hints/message.h"
#include "lib/json/record_writer.h"
#include "lib/policy/algorithms/growth_cap.h"
#include "lib/policy/asked_growth.h"
#include "lib/policy/asked_resize.h"
#include "lib/policy/asked_shrink.h"
#include "tools/rubato/resize/asking.h"
#include "tools/rubato/resize/resize_records.h"
#include "tools/shared/command_line.h"
#include "tools/shared/format.h"
#include "tools/shared/output.h"

namespace rubato::tools {
namespace {

constexpr int kMaxGpus = 1'000'000;

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

void tell(const AskedResize& restart) {
  if (restart.step == ResizeStep::kSaving)
    fmt::print("Told to save its state; it {} in {} s at the latest.\n",
               restart.live ? "loses the nodes" : "is requeued", restart.due - restart.since);
  if (restart.step == ResizeStep::kRequeued)
    fmt::print("Requeued; its place is kept for {} s.\n", restart.due - restart.since);
  std::fflush(stdout);
}

int send(const Globals& globals, const Site& site, const Snapshot& snapshot, const Options& options,
         ResizeAnswer answer) {
  const Seconds asked = now();
  const ResizeRequest request{.gpus = options.gpus, .live = answer.how == "live"};
  if (const auto sent = send_request("resize", options.job, request); !sent)
    return failure(globals, kFailed, sent.error().text);
  answer.step = "asked";
  if (options.no_wait)
    return print(globals, snapshot, answer, fmt::format("Job {}: asked.", options.job));
  const auto ended = follow_change(site, answer.job, options.gpus, asked, [&](const auto& change) {
    if (!globals.json) tell(change);
  });
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
  const auto found = find_running(*selector, globals.publish_dir,
                                  "; its hint gpus= says at which sizes it may start");
  if (!found) return failure(globals, found.error().code, found.error().text);
  const Site& site = found->site;
  const Snapshot& snapshot = found->snapshot();
  const Models models = models_with(read_models_fit(site).value_or(ModelsFit{}), site.config);
  const auto answer = planned(found->job(), snapshot, models, site.config, options);
  if (!answer)
    return failure(globals, kFailed, fmt::format("job {}: {}", options.job, answer.error().text));
  if (!options.dry_run) return send(globals, site, snapshot, options, *answer);
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
