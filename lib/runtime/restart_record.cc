// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/restart_record.h"

#include <algorithm>
#include <utility>

#include "lib/base/file_system.h"
#include "lib/base/log.h"
#include "lib/json/json.h"
#include "lib/policy/asked_resize.h"
#include "lib/runtime/files.h"

namespace rubato {

namespace {

constexpr std::size_t kMaxSize = 64;  // MiB

std::string path_of(const std::string& state_dir) { return state_dir + "/restarts.json"; }

bool is_requeued(const AskedResize& change) {
  return !change.live && !change.starts && change.step == ResizeStep::kRequeued;
}

// Of the same request, a later step than `saving` is newer than the record.
bool is_newer(const AskedResize& known, const AskedResize& recorded) {
  if (known.asked != recorded.asked) return known.asked > recorded.asked;
  return known.step != ResizeStep::kSaving;
}

// slurmctld may have lost the requeue, so that the job still runs. A job that runs again, or was
// requeued once more, is past this restart.
bool is_past(const AskedResize& recorded, const Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.jobs, [&](const Job& job) {
    if (job.key.id != recorded.job.id) return false;
    const bool again = job.state == JobState::kRunning && job.restarts > recorded.runs;
    return again || job.restarts > recorded.runs + 1;
  });
}

}  // namespace

std::string keep_restarts(const std::string& state_dir, const AskedResize& next,
                          const Memory& memory, const Snapshot& snapshot) {
  Memory kept;
  for (const AskedResize& change : memory.asked_resizes)
    if (is_requeued(change) && change.job.id != next.job.id) kept.asked_resizes.push_back(change);
  const auto at = std::ranges::lower_bound(kept.asked_resizes, next.job, {}, &AskedResize::job);
  kept.asked_resizes.insert(at, next)->requeued = snapshot.taken;
  std::string trouble = make_last_folder(state_dir);
  if (!trouble.empty()) return trouble;
  return replace_file(path_of(state_dir), to_json(kept, snapshot), FileKind::kState);
}

void recall_restarts(const std::string& state_dir, const Snapshot& snapshot, Memory& memory) {
  const auto text = RealFileSystem(kMaxSize).read(path_of(state_dir));
  if (!text) {
    if (!text.error().missing)
      log().error("{} is not used: {}", path_of(state_dir), text.error().text);
    return;
  }
  auto recorded = memory_from_json(*text, snapshot);
  if (!recorded) {
    log().error("{} is not used: {}", path_of(state_dir), recorded.error().text);
    return;
  }
  for (AskedResize& restart : recorded->asked_resizes) {
    const bool late = snapshot.taken >= add_seconds(restart.requeued, kPlaceKept);
    if (late || restart.requeued > snapshot.taken || is_past(restart, snapshot)) continue;
    const auto known = std::ranges::find(memory.asked_resizes, restart.job.id,
                                         [](const AskedResize& one) { return one.job.id; });
    if (known != memory.asked_resizes.end() && is_newer(*known, restart)) continue;
    if (restart.step == ResizeStep::kSaving) restart.requeued = 0;
    log().info("JobId={}: its restart was written before slurmctld ended", restart.job.id);
    keep_resize(memory, std::move(restart));
  }
}

}  // namespace rubato
