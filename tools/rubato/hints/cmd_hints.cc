// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato hints`: lists the hints, and checks hints before a submission.
#include <fmt/format.h>

#include <charconv>
#include <memory>

#include "lib/hints/comment.h"
#include "lib/hints/render.h"
#include "lib/hints/request.h"
#include "lib/hints/warnings.h"
#include "tools/shared/command.h"
#include "tools/shared/command_line.h"
#include "tools/shared/job_facts.h"
#include "tools/shared/output.h"
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

Result<int> number(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1) {
    return fail(fmt::format("invalid number '{}'", text));
  }
  return value;
}

/// "4", "a100:4", "a100:2,v100:2".
Result<int> gpu_count(const char* option, const std::string& text, HintRequest& request) {
  int sum = 0;
  for (const std::string& part : split(text, ',')) {
    const std::size_t colon = part.rfind(':');
    if (colon != std::string::npos) request.gpu_types.push_back(part.substr(0, colon));
    const auto count = number(colon == std::string::npos ? part : part.substr(colon + 1));
    if (!count) return fail(fmt::format("{}: {}", option, count.error().text));
    sum += *count;
  }
  return sum;
}

Result<HintRequest> request_of(const Options& options) {
  HintRequest request;
  const std::tuple<const char*, const std::string&, int&> counts[] = {
      {"--gpus", options.gpus, request.gpus},
      {"--gpus-per-node", options.gpus_per_node, request.gpus_per_node},
      {"--gpus-per-task", options.gpus_per_task, request.gpus_per_task}};
  for (const auto& [name, text, to] : counts) {
    const auto count = gpu_count(name, text, request);
    if (!count) return tl::unexpected(count.error());
    to = *count;
  }
  if (!options.nodes.empty()) {
    const std::size_t dash = options.nodes.find('-');
    const auto from = number(options.nodes.substr(0, dash));
    const auto to = dash == std::string::npos ? from : number(options.nodes.substr(dash + 1));
    if (!from || !to)
      return fail(fmt::format("--nodes: '{}': expected N or MIN-MAX", options.nodes));
    request.min_nodes = *from;
    request.max_nodes = *to;
  }
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
