// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/actuate/start.h"

#include <memory>
#include <optional>

#include "lib/base/log.h"
#include "plugin/actuate/scoped_start.h"
#include "plugin/slurm/stock/controller.h"
#include "plugin/slurm/write/pending_job.h"

namespace rubato {

namespace {

StartOutcome not_now(const char* words) {
  return {.result = StartResult::kNotNow, .words = words, .nodes = {}, .label = {}};
}

// Test-only switches; no configuration, no switch.
bool injected(Pair& pair, Fault fault) {
  const auto config = pair.config();
  return config != nullptr && config->injected(fault);
}

bool off(Pair& pair, Mechanism mechanism) {
  const auto config = pair.config();
  return config != nullptr && config->off(mechanism);
}

SelectOutcome ask_slurm(PendingJob& job, const Start& start, const StartConstraints& constraints,
                        Pair& pair) {
  const StartScope scope{
      .managed = start.managed, .only = constraints.only, .never = constraints.never};
  const ScopedStart scoped(pair, scope);
  const PendingJob::TimeLimit limit{.may_shorten = start.managed && !off(pair, Mechanism::kTimeMin),
                                    .planned = start.time_limit};
  return job.select(constraints.gpu_type, limit,
                    constraints.planned != nullptr && injected(pair, Fault::kStartFails));
}

StartOutcome refused(const SelectOutcome& selected) {
  StartOutcome outcome;
  outcome.words = selected.error;
  switch (selected.result) {
    case SelectResult::kBusy:
      outcome.result = StartResult::kBusy;
      break;
    case SelectResult::kLimit:
      outcome.result = StartResult::kLimit;
      break;
    case SelectResult::kFederation:
      return not_now("federation lock");
    default:
      outcome.result = StartResult::kRefused;
  }
  return outcome;
}

// The job has its nodes: whatever fails here, it must be launched, at the size that it got, and
// keep the request that it was submitted with.
void record_start(PendingJob& job, const Start& start, const StartConstraints& constraints,
                  RewrittenRequest* rewritten) noexcept {
  if (rewritten != nullptr) rewritten->keep();
  try {
    if (constraints.job != nullptr)
      job.set_env(*constraints.job,
                  {start.plan, start.batch, start.restart_reason, start.resizes, start.speeds});
  } catch (const std::exception& error) {
    log_failure("JobId=%u starts without Rubato's variables: %s", start.job.id, error.what());
  }
}

// The job runs: a failure from here on must not look like one of the start.
StartOutcome started(const PendingJob& job, JobId id) noexcept {
  StartOutcome outcome;
  outcome.result = StartResult::kStarted;
  try {
    outcome.nodes = job.nodes();
    outcome.label = job.label();
  } catch (const std::exception& error) {
    log_failure("started JobId=%u; its nodes are not known here: %s", id, error.what());
  }
  return outcome;
}

StartOutcome ask(PendingJob& job, const Start& start, const StartConstraints& constraints,
                 Pair& pair) {
  std::unique_ptr<RewrittenRequest> rewritten;
  if (constraints.planned != nullptr && !off(pair, Mechanism::kRewrite)) {
    auto made =
        job.rewrite(*constraints.asked, *constraints.planned, !off(pair, Mechanism::kPutBack));
    if (!made)
      return {.result = StartResult::kRefused,
              .words = "another size: " + made.error().text,
              .nodes = {},
              .label = {}};
    rewritten = std::move(*made);
    if (!job.within_limits()) return not_now("association or QOS limit at the planned size");
  }
  const SelectOutcome selected = ask_slurm(job, start, constraints, pair);
  if (selected.result != SelectResult::kStarted) return refused(selected);
  record_start(job, start, constraints, rewritten.get());
  job.launch();
  return started(job, start.job.id);
}

class Entered {
 public:
  explicit Entered(PendingJob& job) : job_(job) {}
  ~Entered() { job_.leave(); }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  PendingJob& job_;
};

}  // namespace

StartOutcome try_start(const Start& start, const StartConstraints& constraints, Pair& pair) {
  // From its shutdown time on slurmctld discards launch messages (agent.c, agent()), and shows the
  // job as running until its node registers again.
  if (shutting_down() && !off(pair, Mechanism::kLaunch)) return not_now("slurmctld shuts down");
  std::optional<PendingJob> job = PendingJob::find(start.job);
  if (!job) return {};
  if (const char* why = job->why_not_ready()) return not_now(why);
  const QueueEntryResult entered = job->enter(start.partition, start.reservation);
  if (entered == QueueEntryResult::kNoPartition) return {};
  if (entered == QueueEntryResult::kNoReservation) return not_now("its reservation is gone");

  const Entered entered_record(*job);
  if (const char* why = job->why_not_now()) return not_now(why);
  return ask(*job, start, constraints, pair);
}

}  // namespace rubato
