// SPDX-License-Identifier: GPL-2.0-or-later
// The gate: decides which of slurmctld's placement tests reach stock select/cons_tres. Uses no
// Slurm types, so that every rule has a unit test.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "plugin/common/gate_question.h"
#include "plugin/common/pair.h"

namespace rubato {

struct GateAnswer {
  enum class Kind {
    kPass,    ///< ask stock select
    kRefuse,  ///< answer "not now" without asking
    kNarrow,  ///< ask with `scope` applied to the nodes
    kMask,    ///< ask with `masked` removed from the nodes
  };

  Kind kind = Kind::kPass;
  const StartScope* scope = nullptr;
  std::vector<int> masked;     ///< sorted node indices
  bool backfill_test = false;  ///< refused in stock backfill's thread, which must not count the
                               ///< attempt
};

/// The one Pair of a process. Tests can pass a monotonic clock in nanoseconds.
class Gate final : public Pair {
 public:
  using Nanoseconds = std::int64_t;
  explicit Gate(Nanoseconds (*clock)() = nullptr);

  /// Decides. Cheap, takes no lock of slurmctld, throws only if out of memory (and for the test
  /// injection throw-gate).
  [[nodiscard]] GateAnswer answer(const GateQuestion&);

  /// The calling thread starts a job of Rubato.
  [[nodiscard]] static bool in_start() noexcept;
  /// Node indices have changed: what was set by index is void until the loop sets it again.
  void forget_nodes() noexcept;
  /// `ok` false opens the gate: a record has a size that this build does not expect.
  void set_records_checked(bool ok) noexcept override;

  void set_config(std::shared_ptr<const Config>) override;
  [[nodiscard]] std::shared_ptr<const Config> config() const override;
  void beat() noexcept override;
  [[nodiscard]] std::optional<double> beat_age() const noexcept override;
  void hand_over(bool on) noexcept override;
  void set_waker(Waker*) noexcept override;
  void wake() noexcept override;
  void set_reserved(std::vector<ReservedNodes>) override;
  void set_asked(std::vector<AskedJob> jobs) override;
  [[nodiscard]] std::vector<JobId> asked() const override;
  void enter_start(const StartScope*) noexcept override;
  void mark_backfill_thread(bool) noexcept override;
  void note_submit(std::uint32_t uid, bool immediate) noexcept override;
  [[nodiscard]] PostResult post(JobMessage) override;
  [[nodiscard]] std::vector<JobMessage> take_job_messages() override;
  [[nodiscard]] std::vector<JobMessage> take_last_reports(
      const std::vector<JobKey>& ended) override;
  [[nodiscard]] std::vector<JobMessage> take_late_reports() override;
  void count_message_fault(MessageFault) noexcept override;
  [[nodiscard]] MessageStats message_stats() const override;
  void note_hints(const HintStats& more) noexcept override;
  [[nodiscard]] HintStats hint_stats() const override;
  [[nodiscard]] GateStats stats() const override;

 private:
  [[nodiscard]] bool closed(const Config&) const noexcept;
  [[nodiscard]] bool beats(const Config& config) const noexcept;
  void note_open(bool open) noexcept;
  [[nodiscard]] bool asked_immediately(const GateQuestion& question) const noexcept;
  [[nodiscard]] GateAnswer answer_managed(const GateQuestion&, const Config&);
  /// Passes without the nodes that are reserved for others.
  [[nodiscard]] GateAnswer answer_masked(const GateQuestion&, const Config&);
  [[nodiscard]] bool asks_backfill(JobId job) const;

  Nanoseconds (*clock_)();
  mutable std::mutex mutex_;  // guards the next three; never held while calling out
  std::shared_ptr<const Config> config_;
  std::vector<ReservedNodes> reserved_;
  std::vector<AskedJob> asked_;  // sorted by job
  std::mutex waker_mutex_;
  Waker* waker_ = nullptr;
  std::atomic<Nanoseconds> beat_{0};
  std::atomic<bool> handed_over_{false};
  std::atomic<bool> records_ok_{false};
  std::atomic<bool> said_open_{true};  // the state that the log last reported
  std::atomic<std::uint64_t> refused_run_now_{0};
  std::atomic<std::uint64_t> refused_will_run_{0};
  std::atomic<std::uint64_t> masked_{0};
  std::atomic<std::uint64_t> immediate_{0};
  std::atomic<std::uint64_t> opened_{0};
  MessageQueue message_queue_;
  mutable std::mutex hints_mutex_;
  HintStats hints_;
};

}  // namespace rubato
