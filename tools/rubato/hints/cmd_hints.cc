// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato hints`: lists the hints, and checks hints before a submission.
#include <fmt/format.h>

#include <memory>

#include "lib/hints/comment.h"
#include "lib/hints/render.h"
#include "lib/hints/request.h"
#include "lib/hints/warnings.h"
#include "tools/shared/command.h"
#include "tools/shared/command_line.h"
#include "tools/shared/job_facts.h"
#include "tools/shared/output.h"
#include "tools/shared/request_words.h"
#include "tools/shared/slurm_conf.h"

namespace rubato::tools {
namespace {

/// Request options are those of sbatch that hints depend on.
struct Options {
  std::string check;
  std::string gpus;
  std::string gpus_per_node;
  std::string gpus_per_task;
  std::string nodes;
  int tasks = 0;
  bool exclusive = false;
  bool array = false;
  bool no_requeue = false;
  bool interactive = false;
};

Result<HintRequest> request_of(const Options& options) {
  HintRequest request;
  const std::tuple<const char*, const std::string&, int&> counts[] = {
      {"--gpus", options.gpus, request.gpus},
      {"--gpus-per-node", options.gpus_per_node, request.gpus_per_node},
      {"--gpus-per-task", options.gpus_per_task, request.gpus_per_task}};
  for (const auto& [name, text, to] : counts) {
    const auto words = read_gpus(name, text);
    if (!words) return tl::unexpected(words.error());
    to = words->gpus;
    request.gpu_types.insert(request.gpu_types.end(), words->types.begin(), words->types.end());
  }
  const auto nodes = read_nodes(options.nodes);
  if (!nodes) return tl::unexpected(nodes.error());
  request.min_nodes = nodes->least;
  request.max_nodes = nodes->most;
  request.tasks = options.tasks;
  request.exclusive = options.exclusive;
  request.array = options.array;
  request.requeue = !options.no_requeue;
  request.batch = !options.interactive;
  return request;
}

int failure(const std::string& text) {
  print_error(text);
  return kFailed;
}

/// The text of --check, with or without a leading `rubato:`.
std::string comment_of(const std::string& text) {
  return split_comment(text).hints ? text : "rubato:" + text;
}

int check(const Globals& globals, const Options& options) {
  if (const auto marker = misspelt_marker(options.check)) return failure(*marker);
  const auto hints = parse_comment(comment_of(options.check));
  if (!hints) return failure(hints.error().text);
  const auto request = request_of(options);
  if (!request) {
    print_error("hints: " + request.error().text);
    return kUsage;
  }
  const bool asks =
      !options.gpus.empty() || !options.gpus_per_node.empty() || !options.gpus_per_task.empty();
  // Without a request, only the words can be checked.
  if (asks) {
    const auto resolved = resolve_hints(*hints, {}, *request, Spelling::kComment);
    if (!resolved) return failure(resolved.error().text);
  }
  if (const auto warning = signal_for_steps_only(*hints); warning && request->batch) {
    print_warning(*warning);
  }
  if (globals.json) {
    fmt::print("{}\n", hints_json(*hints));
    return kOk;
  }
  fmt::print("rubato:{}\n", render_hints(*hints));
  if (!asks) fmt::print("Only the hints were checked, not against a request (give --gpus=...).\n");
  return kOk;
}

int run(const Globals& globals, const Options& options) {
  if (!options.check.empty()) return check(globals, options);
  if (globals.json) {
    print_error("hints: --json requires --check");
    return kUsage;
  }
  fmt::print("{}", help_hints());
  return kOk;
}

std::function<int()> setup(CommandLine& line, const Globals& globals) {
  auto options = std::make_shared<Options>();
  line.text("--check", options->check, "HINTS", "Check hints (key=value;key=value) as sbatch does");
  line.text("-G,--gpus", options->gpus, "[TYPE:]N", "Request of the job, as with sbatch");
  line.text("--gpus-per-node", options->gpus_per_node, "[TYPE:]N", "As with sbatch");
  line.text("--gpus-per-task", options->gpus_per_task, "[TYPE:]N", "As with sbatch");
  line.text("-N,--nodes", options->nodes, "MIN[-MAX]", "As with sbatch");
  line.number("-n,--ntasks", options->tasks, "N", "As with sbatch");
  line.flag("--exclusive", options->exclusive, "As with sbatch");
  line.flag("--array", options->array, "The job is an array");
  line.flag("--no-requeue", options->no_requeue, "As with sbatch");
  line.flag("--interactive", options->interactive, "The job is of salloc or srun, not of sbatch");
  return [options, &globals] { return run(globals, *options); };
}

}  // namespace

Command hints_command() { return {"hints", "List the job hints, or check some", "", &setup}; }

}  // namespace rubato::tools
