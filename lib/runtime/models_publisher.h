// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps models.json up to date from the store's database, in a thread of its own: adding samples up
// may take a while, and must keep neither the loop nor the other files waiting.
#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <string>

#include "lib/base/clock.h"
#include "lib/core/snapshot.h"
#include "lib/model/models.h"
#include "lib/runtime/models_feed.h"

namespace rubato {

/// What the loop knows about models.json.
struct ModelsOffer {
  std::int64_t written = 0;      ///< records on the disk: a new number may mean new samples
  std::string database;          ///< rubato.db
  std::int64_t opened = 0;       ///< how often: another number, perhaps another file
  std::set<std::string> shared;  ///< job types that all accounts share
  std::string publish_dir;
  std::string private_dir;
  PrivateData hidden;
  std::shared_ptr<const Models> models;      ///< for the forecasts
  std::set<std::string> gpu_types;           ///< of the cluster
  std::shared_ptr<const Learning> learning;  ///< for the measured errors; may be null

  bool operator==(const ModelsOffer&) const = default;
};

class ModelsPublisher {
 public:
  /// Minimum time between two reads of the database. It grows with the time of a read: the thread
  /// uses at most a twentieth of a processor.
  static constexpr auto kInterval = std::chrono::milliseconds(2000);
  /// Interval of full sums, which drop what the store has forgotten.
  static constexpr auto kWhole = std::chrono::hours(1);

  explicit ModelsPublisher(std::shared_ptr<const Clock> clock);
  ~ModelsPublisher();
  ModelsPublisher(const ModelsPublisher&) = delete;
  ModelsPublisher& operator=(const ModelsPublisher&) = delete;

  /// Cheap; nothing happens while the offer stays the same.
  void offer(ModelsOffer offer);
  /// Asks the thread to end, and does not wait.
  void stop();
  /// Waits for it until `deadline`; false if it is left behind.
  bool wait(SteadyTime deadline);

 private:
  class OfferInbox;
  class Task;

  std::unique_ptr<BackgroundWorker<Task>> worker_;
};

}  // namespace rubato
