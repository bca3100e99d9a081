// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/resize_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace rubato {

namespace {

const char* why_not_now(const ResizeFacts& job) {
  if (job.suspended) return "it is suspended";  // then Slurm does not call it running
  if (!job.running) return "it does not run";
  if (job.completing) return "it is completing";
  if (job.configuring) return "its nodes are not ready yet";
  if (job.resizing) return "it is being resized";
  if (job.being_expanded) return "another job expands it";
  if (job.saving) return "slurmdbd has not stored its last resize yet";
  return nullptr;
}

const char* why_never(const ResizeFacts& job) {
  if (job.het) return "it is part of a heterogeneous job";
  if (job.cron) return "it is a job of scrontab";
  if (job.stepmgr) return "its steps are managed by slurmstepd (--stepmgr)";
  if (job.arbitrary) return "it has an arbitrary task distribution";
  if (job.shared_gpus) return "it holds shards or MPS";
  return nullptr;
}

// The GRES records of a step of two kinds get one array between them when Slurm moves them
// (gres_ctld.c, gres_ctld_step_state_rebase), and both free it.
const char* why_never_grows(const ResizeFacts& job) {
  if (job.prolog_first)
    return "it grows only by a restart: PrologFlags=Alloc, Contain or X11, or PrologSlurmctld, "
           "must "
           "prepare each node of a job before its steps";
  if (job.whole_nodes) return "it has whole nodes (--exclusive)";
  if (job.gpu_types.size() > 1) return "it holds GPUs of several types";
  if (job.mixed_step) return "a step of it uses GRES of several kinds";
  return nullptr;
}

}  // namespace

std::string why_not_shrink(const ResizeFacts& job, const std::vector<int>& keep) {
  if (!job.shrink_allowed) return "SchedulerParameters has disable_job_shrink";
  if (const char* why = why_never(job)) return why;
  if (const char* why = why_not_now(job)) return why;
  if (job.nodes != job.core_nodes) return "its records name different nodes";
  if (keep.empty()) return "it must keep a node";
  if (!std::ranges::includes(job.nodes, keep)) return "a node to keep is not one of its nodes";
  if (keep == job.nodes) return "it would keep all of its nodes";
  if (job.batch_host >= 0 && !std::ranges::binary_search(keep, job.batch_host))
    return "it must keep the node of its batch script";
  return "";
}

std::string why_not_grow(const ResizeFacts& job, const std::string& gpu_type) {
  if (const char* why = why_never(job)) return why;
  if (const char* why = why_never_grows(job)) return why;
  if (const char* why = why_not_now(job)) return why;
  if (job.nodes.empty() || job.nodes != job.core_nodes) return "its records name different nodes";
  if (job.gpu_types.empty()) return "it holds no GPU";
  if (job.gpu_types.front() != gpu_type)
    return fmt::format("it holds GPUs of type {}, and those to add are {}", job.gpu_types.front(),
                       gpu_type);
  return "";
}

std::string other_spelling(const std::string& hosts, const std::string& first,
                           const std::string& submitted) {
  return hosts == submitted ? fmt::format("{},{}", hosts, first) : hosts;
}

}  // namespace rubato
