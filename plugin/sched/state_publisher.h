// SPDX-License-Identifier: GPL-2.0-or-later
// When the files of a round are written, and what they may show.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "lib/base/clock.h"
#include "lib/config/config.h"
#include "lib/core/plan.h"
#include "lib/core/snapshot.h"
#include "lib/model/models.h"
#include "lib/runtime/models_publisher.h"
#include "lib/runtime/publisher.h"
#include "lib/runtime/recorder.h"

namespace rubato {

/// What a round was made from and its plan.
struct RoundRecord {
  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<const Plan> plan;  ///< null before the first round
  std::shared_ptr<const Models> models;
};

/// Seconds between two writes of files that took `needed` seconds the last time. They take at most
/// a twentieth of the time of one core.
[[nodiscard]] double write_interval(double interval, double needed);

/// Hands rounds to the threads that write files. Used by the loop's thread alone.
class StatePublisher {
 public:
  /// The text of stats.json; with `breakdown` also what PrivateData hides.
  using StatsText = std::function<std::string(bool breakdown)>;

  /// `state_dir` is StateSaveLocation/rubato.
  StatePublisher(std::string state_dir, std::shared_ptr<const Clock> clock)
      : state_dir_(std::move(state_dir)), clock_(std::move(clock)) {}

  /// Starts the thread that writes the files of rounds. Nothing is written before. A failure is
  /// logged, and the next call tries again.
  void try_open() noexcept;
  /// PrivateData of slurm.conf.
  void set_private_data(const PrivateData& hidden);
  /// PrivateData changed since the last publish().
  [[nodiscard]] bool private_data_changed() const { return hidden_changed_; }

  /// A round is done; a full one also shows the GPU types of the cluster.
  void set_round(RoundRecord round, bool full);
  /// What came since the last round; state.json then has it too.
  void set_memory(const Memory& memory) { memory_ = std::make_shared<const Memory>(memory); }
  /// The last round is in no file yet.
  [[nodiscard]] bool unpublished() const { return unpublished_; }
  /// Offers the last round to the thread if PublishInterval is over, PrivateData changed, or it is
  /// the `last` one. Files that take long to write are written less often, but for stats.json.
  void publish(bool last, const Config& config, Recorder& recorder, const StatsText& stats);
  /// Offers stats.json alone, for a loop that makes no rounds.
  void publish_stats(const Config& config, const StatsText& stats);
  /// Offers the state of the store for models.json.
  void offer_models(const Config& config, const Recorder& recorder,
                    std::shared_ptr<const Learning> learning);
  /// Seconds since the last round was offered.
  [[nodiscard]] SteadyDuration since_publish() const { return clock_->steady() - last_publish_; }

  /// Asks the threads to end and does not wait.
  void stop();
  /// Waits for the thread of models.json; logs one that is left behind at `deadline`.
  void wait_models(SteadyTime deadline);
  /// Waits half a second for the files of the last round.
  void close() { publisher_.reset(); }

 private:
  [[nodiscard]] std::string publish_dir(const Config& config) const;

  const std::string state_dir_;
  const std::shared_ptr<const Clock> clock_;
  std::unique_ptr<Publisher> publisher_;
  unsigned open_failures_ = 0;
  std::unique_ptr<ModelsPublisher> models_;
  RoundRecord round_;
  std::shared_ptr<const Memory> memory_;  ///< null: that of the round
  std::set<std::string> gpu_types_;       ///< of the cluster
  bool unpublished_ = false;
  PrivateData hidden_;
  bool hidden_changed_ = false;
  SteadyTime last_publish_{};
  SteadyTime last_state_{};
  SteadyTime last_round_{};
};

}  // namespace rubato
