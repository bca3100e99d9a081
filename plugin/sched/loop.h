// SPDX-License-Identifier: GPL-2.0-or-later
// Rubato's own scheduling loop: a thread of slurmctld that takes snapshots, lets round() decide and
// commits the plan.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "lib/base/clock.h"
#include "lib/core/plan.h"
#include "lib/core/snapshot.h"
#include "lib/runtime/audit_log.h"
#include "lib/runtime/pause.h"
#include "lib/runtime/recorder.h"
#include "lib/runtime/round_size.h"
#include "plugin/actuate/resize.h"
#include "plugin/common/pair.h"
#include "plugin/sched/config_source.h"
#include "plugin/sched/launch_check.h"
#include "plugin/sched/model_source.h"
#include "plugin/sched/pacer.h"
#include "plugin/sched/plan_committer.h"
#include "plugin/sched/snapshot_source.h"
#include "plugin/sched/state_publisher.h"
#include "plugin/sched/stats.h"
#include "plugin/slurm/stock/locks.h"

namespace rubato {

/// The cycle: snapshot, round, commit, publish. run() belongs to one thread; the other public
/// functions are safe from any thread.
class Loop final : public Waker {
 public:
  explicit Loop(Pair& pair, std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>());

  /// Runs until stop(). Never throws.
  void run() noexcept;
  void stop() noexcept { pacer_.stop(); }
  /// Reads rubato.conf again before the next cycle. May be called under slurmctld's locks.
  void reconfigure() noexcept;
  void wake() noexcept override { pacer_.wake(); }

 private:
  /// Waits for a wake or a tick and does what is due.
  void step();
  [[nodiscard]] bool is_due(WakeReason reason);
  void cycle_guarded() noexcept;
  void cycle();
  void take_config_guarded() noexcept;
  void take_config();
  /// True if `rubato pause` began or ended one since the last call. Looks at a file.
  [[nodiscard]] bool pause_changed();
  /// Without this, refused starts would wait until the clock is where it was.
  void notice_clock_step(Seconds taken);
  void load_state(const Snapshot&);
  void await_models();
  void await_shapes();
  void shorten(Snapshot& snapshot);
  [[nodiscard]] std::optional<Plan> decide(const Snapshot&, const Models&);
  /// Sums up the runs that ended in this round.
  void record_ends(const Models& models);
  void note_round(const RoundRecord& round);
  /// Passes on reports and models between cycles.
  void tend_guarded() noexcept;
  void publish(bool last);
  [[nodiscard]] std::string stats_text(bool breakdown) const;
  void report_misfit();
  void finish() noexcept;
  void keep_waiting();
  [[nodiscard]] std::string waiting_path() const { return state_dir_ + "/messages"; }
  void end_threads();
  [[nodiscard]] bool places() const { return config_->mode != Mode::kObserve; }

  Pair& pair_;
  const std::shared_ptr<const Clock> clock_;
  const std::string state_dir_;
  ConfigSource config_source_;
  std::shared_ptr<const Config> config_;
  LockTimes times_;
  Pacer pacer_;
  SnapshotSource snapshots_;
  PlanCommitter committer_;
  LaunchCheck launch_check_;
  AuditLog audit_;
  Resizer resizer_;
  Recorder recorder_;
  ModelSource models_;
  StatePublisher publisher_;

  Memory memory_;
  std::optional<Pause> pause_;  ///< of rubato pause
  Seconds last_taken_ = 0;      ///< time of the last snapshot
  LoopStats stats_;
  RoundSize round_size_;
  std::size_t waiting_ = 0;     ///< pending jobs of the current round that Slurm lets start
  std::size_t considered_ = 0;  ///< those that the round considers
  SteadyDuration round_took_{};
  bool shortened_ = false;  ///< the round leaves jobs out
  bool has_plan_ = false;
  int max_rpcs_ = 0;           ///< max_rpc_count()
  bool new_config_ = true;     ///< no snapshot was taken since the configuration was read
  bool await_models_ = false;  ///< at start, and after a change of the configuration
  bool state_loaded_ = false;
  bool waiting_restored_ = false;
  bool placing_ = false;
  bool reconfigured_first_ =
      reconfigured();  ///< rubato.conf was not read yet, in a process that goes on
  bool failing_ = false;
  std::string failure_;  ///< of the first failed cycle since the last good one
  bool full_ = false;    ///< the current cycle also writes to jobs
  SteadyTime last_full_{};
  double held_before_ = 0;  ///< ms of lock time at the start of the current cycle
  std::atomic<bool> reconfigure_{true};
};

}  // namespace rubato
