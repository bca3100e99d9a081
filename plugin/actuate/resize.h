// SPDX-License-Identifier: GPL-2.0-or-later
// Carries out changes of running jobs that somebody asked for (`rubato resize`) or that the round
// decided in mode elastic. Live: the job gets GPUs at once, or gives back nodes after signal and
// lead time. By a restart: signal, lead time, requeue, and a start in the place that was kept; the
// round starts the job.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/config/config.h"
#include "lib/core/plan.h"
#include "lib/hints/message.h"
#include "lib/json/notice.h"
#include "lib/model/models.h"
#include "lib/runtime/audit_log.h"
#include "lib/runtime/message_queue.h"
#include "plugin/common/pair.h"
#include "plugin/slurm/stock/locks.h"

namespace rubato {

/// Used by the loop's thread alone. What it must know after a restart of slurmctld is in Memory.
class Resizer {
 public:
  /// `state_dir`: where restarts are written before the requeue (restart_record.h).
  Resizer(Pair& pair, AuditLog& audit, LockTimes& times, std::string state_dir)
      : pair_(pair), audit_(audit), times_(times), state_dir_(std::move(state_dir)) {}

  /// Once, with the memory of an earlier process, before the first round.
  void resume(Memory& memory, Seconds now);
  /// Takes requests for another size or to keep it, and answers to notices, out of `messages`.
  void hear(std::vector<JobMessage>& messages);
  /// Whether act() has something to do now.
  [[nodiscard]] bool due(const Memory& memory, Seconds now) const;
  /// Whether that will be so within a second: no event says when a job becomes eligible.
  [[nodiscard]] bool looks_soon() const { return look_at_.has_value(); }
  /// After a round, with its plan: begins what was asked for and the changes of the plan
  /// (changes_to_begin.h), and goes on with what is under way, in plan.memory. Takes the locks for
  /// single jobs.
  void act(const Snapshot& snapshot, const Models& models, const Config& config, Plan& plan);
  /// Steps of changes since the last call, each as it was noted in the log.
  [[nodiscard]] std::vector<AskedResize> take_steps() { return std::exchange(steps_, {}); }
  /// In a mode that resizes nothing: a job that was requeued starts like any other.
  void give_up(Memory& memory, Seconds now);

 private:
  template <typename Request>
  struct Asked {
    JobKey job;
    std::uint32_t uid = 0;
    Request request;
  };

  void begin(const Asked<ResizeRequest>& asked, const Snapshot& snapshot, const Models& models,
             const Config& config, Memory& memory);
  void begin(AskedResize change, const Snapshot& snapshot, Memory& memory);
  bool goes_on_requeued(AskedResize& resize, Seconds now);
  void hear_answers(Memory& memory, Seconds now);
  void take_holds(Memory& memory, Seconds now);
  void tell(const Snapshot& snapshot, Plan& plan);
  void save(AskedResize resize, const Job& job, const Snapshot& snapshot, Memory& memory);
  bool signal(AskedResize& resize, const Job& job, const Snapshot& snapshot);
  void carry_out(AskedResize& resize, const Snapshot& snapshot, const Models& models,
                 const Config& config, const Memory& memory);
  void write_ahead(AskedResize restart, const std::vector<NodeShare>& place, const Memory& memory,
                   const Snapshot& snapshot);
  void requeue(AskedResize& restart, std::vector<NodeShare> place, const Job& job, Seconds now);
  void shrink(AskedResize& resize, const Job& job, const std::vector<NodeShare>& kept,
              const Snapshot& snapshot, const Config& config);
  void grow(AskedResize& resize, const Job& job, const std::vector<NodeShare>& added,
            const Snapshot& snapshot, const Config& config);
  void wait_for_nodes(AskedResize& restart, Seconds now);
  void enter(AskedResize& resize, ResizeStep step, Seconds now, Seconds due);
  void fail(AskedResize& resize, std::string words, Seconds now);
  void show_notices();
  void note(const AskedResize& resize);

  Pair& pair_;
  AuditLog& audit_;
  LockTimes& times_;
  std::string state_dir_;
  std::optional<Seconds> look_at_;  ///< when a requeued job becomes eligible
  bool resumed_ = false;            ///< looked at the memory of an earlier process
  bool tells_ = true;               ///< false: jobs are not told what changes, for a test
  std::vector<Asked<ResizeRequest>> asked_;
  std::vector<Asked<HoldSize>> holds_;           ///< in order of arrival
  std::vector<AskedResize> steps_;               ///< noted since take_steps()
  std::vector<std::pair<JobKey, Ack>> answers_;  ///< in order of arrival
  /// For show_notices(), as the locks may be held where they come up; none: the notice goes.
  std::vector<std::pair<JobId, std::optional<Notice>>> notices_;
};

}  // namespace rubato
