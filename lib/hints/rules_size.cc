// SPDX-License-Identifier: GPL-2.0-or-later
// Rules about sizes: the request must be one of them, and each must fit its tasks and nodes.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lib/hints/rules.h"
#include "lib/hints/values.h"

namespace rubato {
namespace {

using Errors = std::vector<std::string>;

/// Sizes for which --ntasks stays an integer are multiples of this.
std::int64_t task_unit(const HintRequest& request) {
  // A single task starts its own workers and stays single at every size.
  if (request.tasks <= 1 || request.total_gpus() == 0) return 1;
  return request.total_gpus() / std::gcd(request.total_gpus(), std::int64_t{request.tasks});
}

bool whole_nodes(const HintRequest& request) {
  return request.nodes_fixed() && request.gpus_per_node > 0;
}

/// A value for the gpus hint: those `sizes` that are multiples of the unit, plus the request's
/// size. A range stands for the multiples in it.
std::string good_sizes(const GpuSizes& sizes, const HintRequest& request) {
  const std::int64_t unit = request.size_unit();
  std::vector<GpuSizes::Range> good;
  for (const auto& [from, to] : sizes.ranges()) {
    const std::int64_t first = (from + unit - 1) / unit * unit;
    const std::int64_t last = to / unit * unit;
    if (first <= last) good.emplace_back(static_cast<int>(first), static_cast<int>(last));
  }
  const int own = static_cast<int>(std::min<std::int64_t>(request.total_gpus(), kMaxGpus));
  good.emplace_back(own, own);
  return to_text(GpuSizes(std::move(good)));
}

/// The first size that is not a multiple of `unit`, 0 if there is none. Checks single sizes and
/// both ends of ranges; a range stands for the multiples between.
int not_a_multiple(const GpuSizes& sizes, std::int64_t unit) {
  for (const auto& [from, to] : sizes.ranges()) {
    if (from % unit != 0) return from;
    if (to % unit != 0) return to;
  }
  return 0;
}

void check_multiple(const RuleCase& at, std::int64_t unit, const std::string& why, Errors& errors) {
  if (!at.hints.gpus || at.request.total_gpus() == 0 || unit <= 1) return;
  const int bad = not_a_multiple(*at.hints.gpus, unit);
  if (bad == 0) return;
  errors.push_back(fmt::format("{}: {} is not a multiple of {}: {}; write {}",
                               at.word(HintField::kGpus), bad, unit, why,
                               at.line(HintField::kGpus, good_sizes(*at.hints.gpus, at.request))));
}

void check_open(const RuleCase& at, Errors& errors) {
  if (!at.request.open()) return;
  const HintRequest& request = at.request;
  const std::int64_t most = std::int64_t{request.gpus_per_node} * request.max_nodes;
  const auto refuse = [&](HintField field) {
    errors.push_back(
        fmt::format("{}: -N {}-{} with --gpus-per-node={} gives no fixed size but {} to {} GPUs; "
                    "write -N {} or "
                    "--gpus={} in the request",
                    at.word(field), request.min_nodes, request.max_nodes, request.gpus_per_node,
                    request.total_gpus(), most, request.min_nodes, request.total_gpus()));
  };
  if (at.hints.gpus) refuse(HintField::kGpus);
  if (at.hints.resize.value_or(Resize::kNone) != Resize::kNone) refuse(HintField::kResize);
}

void check_listed(const RuleCase& at, Errors& errors) {
  const std::int64_t own = at.request.total_gpus();
  if (!at.hints.gpus || own == 0 || at.request.open()) return;
  const GpuSizes& sizes = *at.hints.gpus;
  const int clipped = static_cast<int>(std::min<std::int64_t>(own, kMaxGpus));
  if (own == clipped && sizes.contains(clipped)) return;
  const int nearest = sizes.multiples(at.request.size_unit()).empty()
                          ? sizes.nearest(clipped)
                          : sizes.multiples(at.request.size_unit()).nearest(clipped);
  errors.push_back(fmt::format(
      "{}: the request is for {} GPUs, which is not one of {}; request {} GPUs, or write {}",
      at.word(HintField::kGpus), own, to_text(sizes), nearest,
      at.line(HintField::kGpus, good_sizes(sizes, at.request))));
}

void check_whole_nodes(const RuleCase& at, Errors& errors) {
  if (!whole_nodes(at.request)) return;
  check_multiple(at, at.request.gpus_per_node,
                 fmt::format("-N {} with --gpus-per-node={} allows only whole nodes",
                             at.request.min_nodes, at.request.gpus_per_node),
                 errors);
}

void check_gpus_per_task(const RuleCase& at, Errors& errors) {
  check_multiple(
      at, at.request.gpus_per_task,
      fmt::format("--gpus-per-task={} allows only whole tasks", at.request.gpus_per_task), errors);
}

void check_tasks(const RuleCase& at, Errors& errors) {
  check_multiple(
      at, task_unit(at.request),
      fmt::format("{} tasks on {} GPUs scale with the GPUs, and their number must be whole",
                  at.request.tasks, at.request.total_gpus()),
      errors);
}

void check_interactive(const RuleCase& at, Errors& errors) {
  if (at.request.batch || !at.hints.gpus || at.hints.gpus->single()) return;
  errors.push_back(fmt::format(
      "{}: an interactive job starts at the requested size; submit with sbatch, or write {}",
      at.word(HintField::kGpus),
      at.line(HintField::kGpus, std::to_string(at.request.total_gpus()))));
}

}  // namespace

std::int64_t HintRequest::total_gpus() const {
  if (gpus > 0) return gpus;
  if (gpus_per_node > 0) return std::int64_t{gpus_per_node} * std::max(min_nodes, 1);
  return std::int64_t{gpus_per_task} * std::max(tasks, 1);
}

std::int64_t HintRequest::size_unit() const {
  std::int64_t unit = task_unit(*this);
  if (whole_nodes(*this)) unit = std::lcm(unit, std::int64_t{gpus_per_node});
  if (gpus_per_task > 0) unit = std::lcm(unit, std::int64_t{gpus_per_task});
  return unit;
}

std::vector<HintRule> rules_of_size() {
  return {
      {"open-size",
       "gpus or resize with -N as a range and GPUs per node: the request has no fixed "
       "size",
       {HintField::kGpus, HintField::kResize},
       check_open},
      {"size-not-listed", "gpus without the size of the request", {HintField::kGpus}, check_listed},
      {"whole-nodes",
       "A size that is not a multiple of --gpus-per-node with a fixed -N: such a "
       "job gets whole nodes",
       {HintField::kGpus},
       check_whole_nodes},
      {"gpus-per-task",
       "A size that is not a multiple of --gpus-per-task",
       {HintField::kGpus},
       check_gpus_per_task},
      {"tasks",
       "A size at which --ntasks, scaled with the GPUs, is not a whole number",
       {HintField::kGpus},
       check_tasks},
      {"interactive-size",
       "gpus with more than one size on a job of salloc or srun",
       {HintField::kGpus},
       check_interactive},
  };
}

}  // namespace rubato
