// SPDX-License-Identifier: GPL-2.0-or-later
// State shared by the plugin files of the pair. Slurm opens each RTLD_LOCAL, so the linker cannot
// connect them. The one Pair is in select_cons_tres.so, which slurmctld loads first; the others
// find it with find_pair().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/base/units.h"
#include "lib/config/config.h"
#include "lib/runtime/message_queue.h"

namespace rubato {

/// Nodes that Rubato reserved: unmanaged jobs of lower priority must not use them.
struct ReservedNodes {
  JobId job = 0;
  Seconds start = 0;
  int tier = 0;
  std::uint32_t priority = 0;
  std::vector<int> nodes;  ///< current indices in slurmctld's node table
};

/// The start that the calling thread requests from slurmctld.
struct StartScope {
  bool managed = false;
  const std::vector<int>* only = nullptr;   ///< node indices it may use; null: any
  const std::vector<int>* never = nullptr;  ///< node indices it must not use; null: none
};

/// Counters of the gate, since the plugin was loaded.
struct GateStats {
  std::uint64_t refused_run_now = 0;
  std::uint64_t refused_will_run = 0;
  std::uint64_t masked = 0;     ///< tests of unmanaged jobs with reserved nodes removed
  std::uint64_t immediate = 0;  ///< passed because the user asked for an immediate answer
  std::uint64_t opened = 0;     ///< times the gate opened because the heartbeat stopped
  bool open = true;             ///< whether the gate is open now
};

/// Counters of the submit hook, since the plugin was loaded.
struct HintStats {
  std::uint64_t jobs = 0;             ///< jobs submitted with valid hints
  std::uint64_t refused = 0;          ///< submissions refused for invalid hints
  std::uint64_t updates = 0;          ///< updates of pending jobs with hints that were checked
  std::uint64_t updates_refused = 0;  ///< updates refused for invalid hints
};

/// Wakes the loop. Called under slurmctld's job write lock: sets a flag and signals, nothing else.
class Waker {
 public:
  virtual void wake() noexcept = 0;

 protected:
  ~Waker() = default;
};

/// A job that is left to stock backfill.
struct AskedJob {
  JobId job = 0;
  std::vector<int> closed{};  ///< sorted indices of nodes that its hints do not accept
};

/// State shared by the gate (select), the loop (sched) and the submit hook. All calls are cheap and
/// safe from any thread; none takes a lock of slurmctld.
class Pair {
 public:
  /// The current configuration; null until the loop has read one. Until then the gate is open.
  virtual void set_config(std::shared_ptr<const Config>) = 0;
  [[nodiscard]] virtual std::shared_ptr<const Config> config() const = 0;

  /// Heartbeat of the loop. The gate opens when the last beat is older than HeartbeatTimeout.
  virtual void beat() noexcept = 0;
  /// Seconds since the last beat; empty before the first.
  [[nodiscard]] virtual std::optional<double> beat_age() const noexcept = 0;
  /// `on`: a cycle failed; stock Slurm schedules until a cycle succeeds again.
  virtual void hand_over(bool on) noexcept = 0;
  /// Whether the records of this slurmctld have the sizes that this build expects.
  virtual void set_records_checked(bool ok) noexcept = 0;

  virtual void set_waker(Waker*) noexcept = 0;
  virtual void wake() noexcept = 0;

  virtual void set_reserved(std::vector<ReservedNodes>) = 0;
  /// Managed jobs for which stock backfill may find nodes and start, beside what is reserved.
  virtual void set_asked(std::vector<AskedJob> jobs) = 0;
  [[nodiscard]] virtual std::vector<JobId> asked() const = 0;  ///< sorted

  /// These apply to the calling thread.
  virtual void enter_start(const StartScope*) noexcept = 0;
  virtual void mark_backfill_thread(bool) noexcept = 0;
  virtual void note_submit(std::uint32_t uid, bool immediate) noexcept = 0;

  /// Queues a message for the loop. Dropped (kOff) while the loop has no heartbeat. O(1), for
  /// slurmctld's threads.
  [[nodiscard]] virtual PostResult post(JobMessage) = 0;
  /// All messages since the last call, in order of arrival.
  [[nodiscard]] virtual std::vector<JobMessage> take_job_messages() = 0;
  /// Of jobs that have ended, the last reports, if these came within MessageInterval.
  [[nodiscard]] virtual std::vector<JobMessage> take_last_reports(
      const std::vector<JobKey>& ended) = 0;
  /// The last report of each job that came too soon, at the end of the process.
  [[nodiscard]] virtual std::vector<JobMessage> take_late_reports() = 0;
  virtual void count_message_fault(MessageFault) noexcept = 0;
  [[nodiscard]] virtual MessageStats message_stats() const = 0;
  /// Adds to the counters.
  virtual void note_hints(const HintStats& more) noexcept = 0;
  [[nodiscard]] virtual HintStats hint_stats() const = 0;

  [[nodiscard]] virtual GateStats stats() const = 0;

 protected:
  ~Pair() = default;
};

/// The Pair of the select plugin in the directory of the file that contains `inside`. Null if there
/// is none, its init() failed, or it comes from another build (the log says so).
[[nodiscard]] Pair* find_pair(const void* inside);

/// Identifies a build: the classes above are shared between files, which must come from one build.
[[nodiscard]] const char* build_id();

inline constexpr const char* kPairSymbol = "rubato_pair";
using PairFunction = Pair* (*)(const char* build_id);

}  // namespace rubato
