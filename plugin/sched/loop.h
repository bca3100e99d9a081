// SPDX-License-Identifier: GPL-2.0-or-later
// Rubato's own scheduling loop: a thread of slurmctld that takes snapshots, lets round() decide and
// commits what it decided.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "lib/core/plan.h"
#include "lib/core/snapshot.h"
#include "lib/runtime/models_feed.h"
#include "lib/runtime/models_publisher.h"
#include "lib/runtime/pace.h"
#include "lib/runtime/publisher.h"
#include "lib/runtime/recorder.h"
#include "plugin/actuate/commit.h"
#include "plugin/common/pair.h"
#include "plugin/sched/config_source.h"
#include "plugin/slurm/read/snapshot_in.h"
#include "plugin/slurm/stock/controller.h"
#include "plugin/slurm/stock/locks.h"
#include "plugin/slurm/write/system_comment.h"
#include "plugin/slurm/write/write_back.h"

namespace rubato {

/// Counters since the loop began.
struct LoopStats {
  std::uint64_t rounds = 0;
  std::uint64_t failed_rounds = 0;
  std::uint64_t late_rounds = 0;  ///< plans dropped for RoundDeadline
  std::uint64_t wakes = 0;
  double round_ms_total = 0;
  double round_ms_longest = 0;
  double wake_ms_longest = 0;  ///< from a wake to the end of the round it caused
  double wake_ms_total = 0;
  std::uint64_t wake_rounds = 0;
  CommitCount commits;
};

class Loop final : public Waker {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Loop(Pair& pair);

  /// Runs until stop(). Never throws.
  void run() noexcept;
  void stop() noexcept;
  /// Reads rubato.conf again before the next cycle. May be called under slurmctld's locks.
  void reconfigure() noexcept;
  void wake() noexcept override;

 private:
  enum class Wake {
    kNothing,  ///< only the heart beats
    kEvent,    ///< a job came, resources came free
    kPeek,     ///< nodes were completing: look if that has changed
    kTick,     ///< RoundInterval is over
  };

  [[nodiscard]] Wake wait();
  [[nodiscard]] bool is_due(Wake wake);
  void wait_for_quiet(Clock::duration longest);
  void cycle_guarded() noexcept;
  void cycle();
  void take_config_guarded() noexcept;
  void take_config();
  [[nodiscard]] bool check_records_once();
  [[nodiscard]] Depth look_depth();
  [[nodiscard]] std::optional<Snapshot> take_snapshot();
  void load_state(const Snapshot&);
  [[nodiscard]] std::optional<Plan> decide(const Snapshot&, const Models&);
  void wait_until_settled(Plan&) const;
  void act(const Snapshot&, Plan&);
  void leave_place_mode();
  void tend_guarded() noexcept;
  void update_private_data(const PrivateData& hidden);
  void publish(bool last);
  void offer_models();
  void feed_models();
  void await_models();
  [[nodiscard]] std::shared_ptr<const Models> models_now() const;
  [[nodiscard]] std::set<std::string> shared_types() const;
  /// (Profile, GPU type, GPUs) that the last fit is made of, whether rounds use it or not.
  [[nodiscard]] std::size_t learnt_observations() const;
  [[nodiscard]] nlohmann::ordered_json learning_json() const;
  [[nodiscard]] std::string publish_dir() const;
  void end_threads();
  /// With `breakdown` also what PrivateData hides.
  [[nodiscard]] std::string stats_json(bool breakdown) const;
  void inject_sleep(double seconds);
  [[nodiscard]] bool places() const { return config_->mode == Mode::kPlace; }

  Pair& pair_;
  ConfigSource source_;
  std::shared_ptr<const Config> config_;
  SnapshotReader reader_;
  WriteBack write_back_;
  BusyTries busy_;
  SystemComments segments_;
  Recorder recorder_;
  std::unique_ptr<Publisher> publisher_;
  std::unique_ptr<ModelsPublisher> models_;
  std::unique_ptr<ModelsFeed> feed_;
  std::set<std::string> gpu_types_;  ///< of the cluster
  bool await_models_ = false;        ///< at start, and when what is configured changed
  PrivateData hidden_;               ///< by slurm.conf
  bool hidden_changed_ = false;
  std::string state_dir_;
  Memory memory_;
  std::shared_ptr<const Snapshot> snapshot_;  // of the last round
  std::shared_ptr<const Plan> plan_;
  std::shared_ptr<const Models> used_;  ///< by the last round
  LockTimes times_;
  LoopStats stats_;
  ChangeMark seen_;
  bool records_checked_ = false;
  bool records_fit_ = false;
  bool state_loaded_ = false;
  bool unpublished_ = false;  ///< the last round is in no file yet
  bool failing_ = false;
  std::string failure_;  ///< what the first failed cycle of a row threw
  bool placing_ = false;
  bool more_soon_ = false;  ///< nodes are completing: look again at once
  int coming_ = 0;          ///< how many, at the last look
  bool full_ = false;       ///< the cycle under way also writes to jobs
  std::size_t pending_ = 0;
  std::size_t managed_pending_ = 0;
  const Clock::time_point began_ = Clock::now();
  const Seconds began_time_ = std::time(nullptr);
  Clock::time_point last_full_{};
  Clock::time_point last_full_look_{};
  std::uint64_t updates_seen_ = 0;  ///< updates of hints, at the last full look
  Clock::time_point last_publish_{};
  Clock::time_point last_state_{};
  Clock::time_point last_tick_{};
  Clock::time_point last_peek_{};
  Clock::duration completing_wait_{};
  std::optional<Clock::time_point> event_;  ///< what woke the cycle under way
  double held_before_ = 0;                  ///< ms, when the cycle under way began
  Pace pace_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;            // under mutex_
  Clock::time_point woken_at_{};  // under mutex_
  std::atomic<bool> stopping_{false};
  std::atomic<bool> reconfigure_{true};
};

}  // namespace rubato
