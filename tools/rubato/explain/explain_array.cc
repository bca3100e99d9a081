// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/explain/explain_array.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/nearest.h"
#include "lib/json/job_annotation.h"
#include "tools/rubato/explain/explain_parts.h"
#include "tools/shared/source.h"

namespace rubato::tools {
namespace {

bool runs(const PlanEntry& entry) {
  return entry.job != nullptr && entry.job->state == JobState::kRunning;
}

std::string counts_text(const TaskCounts& counts) {
  std::string text;
  for (const char* first : {"running", "pending"}) {
    const auto found = counts.find(first);
    if (found == counts.end()) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", found->second, first);
  }
  for (const auto& [state, count] : counts) {
    if (state == "running" || state == "pending") continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, state);
  }
  return text;
}

}  // namespace

bool is_array(const JobSelector& selector, const std::vector<PlanEntry>& entries) {
  if (selector.task || selector.part || entries.empty()) return false;
  return std::ranges::all_of(entries, [&](const PlanEntry& entry) {
    return entry.job != nullptr && entry.job->array_id == selector.id;
  });
}

TaskCounts count_tasks(const JobSelector& selector, const std::vector<PlanEntry>& entries) {
  TaskCounts counts;
  if (const auto tasks = ask_for_tasks(selector.id)) {
    for (const SqueueJob& task : *tasks) ++counts[lower(task.state)];
  }
  if (!counts.empty()) return counts;
  std::vector<JobKey> seen;  // an entry per partition
  for (const PlanEntry& entry : entries) {
    if (std::ranges::find(seen, entry.job->key) != seen.end()) continue;
    seen.push_back(entry.job->key);
    counts[to_string(entry.job->state)] += runs(entry) ? 1 : std::max(entry.job->tasks, 1);
  }
  return counts;
}

std::string array_text(const JobSelector& selector, const std::vector<PlanEntry>& entries,
                       const TaskCounts& counts, bool color) {
  const Job& job = *entries.front().job;
  return paint(fmt::format("Array {} ({}) of {}, partition {}", selector.id, job.name, job.user,
                           job.partition),
               Color::kBold, color) +
         fmt::format("\n  Tasks          {}\n", counts_text(counts));
}

std::string running_tasks_text(const std::vector<PlanEntry>& entries, const Snapshot& snapshot) {
  std::string text;
  std::size_t count = 0;
  std::string example;
  for (const PlanEntry& entry : entries) {
    if (!runs(entry)) continue;
    if (++count > kTasksShown) continue;
    std::string nodes;
    for (const NodeShare& share : entry.job->allocation)
      nodes += (nodes.empty() ? "" : ",") + node_name(snapshot, share.node);
    const HeldGpus held = held_gpus(entry.job->allocation);
    const std::string gpus = held.gpus > 0 ? fmt::format(" ({} {})", held.gpus, held.type) : "";
    text += fmt::format("  {:<15}{} on {}{} since {}\n", count == 1 ? "Running" : "",
                        entry.job->label, nodes.empty() ? "nodes that are hidden" : nodes, gpus,
                        format_time(entry.job->start));
    example = entry.job->label;
  }
  if (count > kTasksShown) text += fmt::format("  {:<15}and {} more\n", "", count - kTasksShown);
  if (count > 0) text += fmt::format("  {:<15}rubato explain {}\n", "One task", example);
  return text;
}

}  // namespace rubato::tools
