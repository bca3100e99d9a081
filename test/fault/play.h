// SPDX-License-Identifier: GPL-2.0-or-later
// Plays one seed: snapshot, round, plan and actions, with faults at events and checks at each.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/model/model_versions.h"
#include "lib/runtime/recorder.h"
#include "test/fault/points.h"
#include "test/fault/site.h"
#include "test/support/fake_clock.h"

namespace rubato::test {

struct PlayOptions {
  std::uint64_t seed = 1;
  Mode mode = Mode::kPlace;
  std::optional<FaultPoint> only;
  Broken broken = Broken::kNone;
  std::string folder;  ///< for the state file
};

using HitCounts = std::array<std::int64_t, kFaultPoints.size()>;

class Play {
 public:
  explicit Play(PlayOptions options);
  /// "" if all checks held, else what failed. Adds to `hits`.
  [[nodiscard]] std::string run(HitCounts& hits);
  /// Number of rounds so far, for messages.
  [[nodiscard]] int events() const { return event_; }

 private:
  struct Repair {
    Seconds at;
    std::size_t node;
  };

  void step();
  void happen();
  void exit_after_signal(SiteJob& job);
  void report();
  void inject_before();
  void inject_between();
  void change_request(SiteJob& job);
  void break_node(FaultPoint point, std::size_t node);
  void jump_clock(Seconds by);
  void kill(FaultPoint point);
  void quiet();
  [[nodiscard]] bool hit(FaultPoint point, int per_mille);
  [[nodiscard]] SiteJob* drawn(JobState state);
  [[nodiscard]] Snapshot look() const;
  [[nodiscard]] Plan decide(const Snapshot& snapshot);
  void check_plan(const Snapshot& snapshot, const Plan& plan);
  void check_changes(const Snapshot& snapshot, const Plan& plan);
  void check_site();
  void commit(const Snapshot& snapshot, Plan& plan);
  [[nodiscard]] std::string try_start(const Start& start, SiteJob& job);
  void begin_change(const Change& change);
  void note_service();
  void fail(const std::string& what);

  PlayOptions options_;
  Site site_;
  std::vector<Node> whole_;  ///< nodes without faults
  Draws faults_;
  Draws rest_;
  Config config_;
  std::shared_ptr<FakeClock> clock_ = std::make_shared<FakeClock>();
  std::unique_ptr<Recorder> recorder_;
  ReportedModels learner_;
  Memory memory_;
  std::vector<Repair> repairs_;
  std::vector<std::string> states_;  ///< texts of state.json, the newest last
  HitCounts* hits_ = nullptr;
  bool faulty_ = true;
  int event_ = 0;
  int quiet_changes_ = 0;
  Seconds deadline_ = 0;
  std::string failure_;
};

}  // namespace rubato::test
