// SPDX-License-Identifier: GPL-2.0-or-later
// What the commands share that ask for a change of a running job.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/core/plan.h"
#include "lib/hints/message.h"
#include "tools/shared/command.h"
#include "tools/shared/job_match.h"
#include "tools/shared/published.h"
#include "tools/shared/source.h"

namespace rubato::tools {

/// Why a command failed, and its exit code.
struct Refusal {
  Exit code = kFailed;
  std::string text;
};

/// A running job in the published round.
struct FoundJob {
  Site site;
  PublishedPlan published;
  std::size_t index = 0;  ///< in the jobs of the snapshot

  [[nodiscard]] const Snapshot& snapshot() const { return published.snapshot; }
  [[nodiscard]] const Job& job() const { return published.snapshot.jobs.at(index); }
};

/// The one running job that `selector` names, in a mode that changes jobs. One that has just
/// started is waited for. `advice` is added to the error about a job that waits.
[[nodiscard]] tl::expected<FoundJob, Refusal> find_running(
    const JobSelector& selector, const std::string& publish_dir,
    const std::string& advice = "; only a running job can be named");

/// Names of the nodes of `shares`.
[[nodiscard]] std::vector<std::string> names_of(const std::vector<NodeShare>& shares,
                                                const Snapshot& snapshot);

/// "4 a100", "1 GPU".
[[nodiscard]] std::string gpus_text(int gpus, const std::string& type);

/// Sends a message about `job`, which `what` names in the error.
[[nodiscard]] Result<void> send_request(const std::string& what, const std::string& job,
                                        const Message& message);

/// Waits until the change of `job` to `gpus` GPUs that was asked for at `asked` is over. Calls
/// `tell` at each step before.
[[nodiscard]] Result<AskedResize> follow_change(
    const Site& site, JobId job, int gpus, Seconds asked,
    const std::function<void(const AskedResize&)>& tell);

}  // namespace rubato::tools
