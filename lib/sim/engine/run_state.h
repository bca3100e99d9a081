// SPDX-License-Identifier: GPL-2.0-or-later
// The jobs and nodes of a run of the engine: allocation, progress and result of each job. The
// engine (engine.cc) decides when something happens.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/node_pool.h"
#include "lib/sim/engine/policy.h"
#include "lib/sim/engine/suite.h"

namespace rubato::sim {

/// A job that has arrived and not ended.
struct RunningJob {
  JobIndex job = 0;
  double done = 0;
  double cost_left = 0;
  double since = 0;          ///< time of `done` and `cost_left`
  double throughput = 0;     ///< units/s once the start cost is paid
  double samples = 0;        ///< processed, at the time of `done`
  double samples_per_s = 0;  ///< processed once the start cost is paid
  double next = kNever;      ///< its next event: end, change of throughput, time limit
  double until = 0;          ///< value of `done` at that event
  double ran_s = 0;
  double gpu_seconds = 0;
  double waiting_since = 0;
  double held_from = 0;  ///< start of the open allocation intervals
  double next_report = kNever;
  int reports = 0;
  int restarts = 0;
  bool started = false;
  bool ended = false;
  Grant now;
  Setting setting;
};

/// State changes only through member functions. Time never goes back.
class RunState {
 public:
  /// `suite` must outlive this object.
  RunState(const Suite& suite, std::uint64_t seed, bool intervals);

  [[nodiscard]] double now() const { return now_; }
  void go_to(double time) { now_ = time; }
  [[nodiscard]] const std::vector<RunningJob>& active() const { return active_; }
  /// Jobs of the suite's window, and how many of them have not ended.
  [[nodiscard]] std::size_t window_jobs() const { return window_jobs_; }
  [[nodiscard]] std::size_t window_left() const { return window_left_; }
  /// Whether any job makes progress, or will after its start cost.
  [[nodiscard]] bool anyone_moves() const;
  /// The next time at which a job ends, changes its throughput or reaches its time limit.
  [[nodiscard]] double next_change() const;

  void arrive(JobIndex job);
  /// Starts arrived jobs that run already when the simulation begins, larger ones first. A job
  /// without room waits.
  void resume();
  /// When a node goes down, its jobs lose their GPUs and keep their progress.
  void set_node(TypeIndex type, GroupNodeIndex node, bool up);
  /// Ends jobs that are due and updates the throughput of others. True: a job has ended.
  bool advance_due();

  /// All active jobs as policies see them, with the reports since the last call.
  [[nodiscard]] std::vector<JobView> look(bool hears, std::vector<JobReport>& reports);
  /// One flag per node, group by group.
  [[nodiscard]] std::vector<char> nodes_up() const { return pool_.up_flags(); }
  /// Applies one grant per job of active(), in that order. Fails if a grant does not fit.
  [[nodiscard]] Result<void> apply(const std::vector<Grant>& grants);

  [[nodiscard]] std::vector<double>& round_ms() { return record_.round_ms; }
  /// The results so far; running jobs count as if they ended now.
  [[nodiscard]] RunMetrics record() const;

 private:
  [[nodiscard]] const SimJob& job_of(const RunningJob& one) const { return suite_.jobs[one.job]; }
  [[nodiscard]] JobResult& result_of(const RunningJob& one) { return record_.jobs[one.job]; }
  [[nodiscard]] std::vector<char> types_of(const SimJob& job) const;
  [[nodiscard]] PerGpu per_gpu(const RunningJob& one, const Grant& grant) const;
  void advance(RunningJob& one) const;
  void set_speed(RunningJob& one) const;
  void stop(RunningJob& one);
  void end(RunningJob& one, bool finished);
  void note(const RunningJob& one, RunMetrics& record) const;
  void close(const RunningJob& one, RunMetrics& record) const;
  void report(RunningJob& one, std::vector<JobReport>& reports) const;
  void add_noise(RunningJob& one, Observation& seen) const;
  [[nodiscard]] Result<void> keep(RunningJob& one, const Grant& grant) const;
  [[nodiscard]] Result<void> start(RunningJob& one, const Grant& grant, bool resized);
  void resume(RunningJob& one);
  /// An error if a policy chose a plan or batch with which the job cannot run.
  [[nodiscard]] Result<void> check_choice(const RunningJob& one) const;
  [[nodiscard]] tl::unexpected<Error> no_room(const SimJob& job, const Grant& grant) const;

  const Suite& suite_;
  std::uint64_t seed_;
  bool intervals_;
  NodePool pool_;
  std::vector<std::vector<char>> can_;
  std::vector<double> limits_;
  std::vector<RunningJob> active_;  ///< sorted by arrival
  double now_ = 0;
  std::size_t window_jobs_ = 0;
  std::size_t window_left_ = 0;
  RunMetrics record_;
};

}  // namespace rubato::sim
