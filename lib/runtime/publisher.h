// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the state file and what people read, in a thread of its own: neither the loop nor a lock
// of slurmctld ever waits for a disk.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "lib/base/clock.h"
#include "lib/core/plan.h"
#include "lib/core/snapshot.h"
#include "lib/json/decisions.h"
#include "lib/model/models.h"

namespace rubato {

template <typename Task>
class BackgroundWorker;

/// What one round leaves for the files. Only the newest is kept: files show the present.
struct PublishedState {
  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<const Plan> plan;
  std::shared_ptr<const Memory> memory;  ///< for state.json, if it is newer than that of the plan
  std::shared_ptr<const Models> models;  ///< that the round used
  std::shared_ptr<const StartRecords> starts;
  std::set<std::string> shared;  ///< job types that all accounts share
  std::string stats;             ///< stats.json
  std::string open_stats;        ///< without what PrivateData hides; used where it hides anything
  std::string report;            ///< report.json, "" when it has not changed
  bool write_state = false;      ///< state.json too
  std::string publish_dir;
  /// Decides what `publish_dir` shows; the whole files are in StateSaveLocation/rubato/private
  /// then.
  PrivateData hidden;
  bool write_round = true;  ///< also what grows with the cluster: snapshot, plan, models-fit
};

/// Seconds that the thread needed to write the files last.
struct PublishTimes {
  double round = 0;  ///< snapshot.json, plan.json, models-fit.json
  double state = 0;  ///< state.json
};

class Publisher {
 public:
  /// `state_dir` is StateSaveLocation/rubato; it is made if it is not there.
  Publisher(std::string state_dir, std::shared_ptr<const Clock> clock);
  /// Waits at most half a second for the write under way, then leaves the thread to itself.
  ~Publisher();
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  void offer(PublishedState);
  [[nodiscard]] PublishTimes times() const;
  /// Asks the thread to end, and does not wait.
  void stop();
  /// The text of a file of `state_dir` as it was at start; empty if there is none. What is there
  /// and cannot be read, or is no regular file, is told in the log and is empty too.
  [[nodiscard]] static std::string read_state(const std::string& state_dir,
                                              const char* name = "state.json");
  /// Renames a state.json that cannot be used, before the next one replaces it: another release may
  /// read it. Returns what was done, for the log.
  [[nodiscard]] static std::string set_state_aside(const std::string& state_dir);

 private:
  class StateInbox;
  class Task;
  struct Times;

  std::shared_ptr<const Clock> clock_;
  std::shared_ptr<Times> times_;
  std::unique_ptr<BackgroundWorker<Task>> worker_;
};

}  // namespace rubato
