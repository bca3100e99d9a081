// SPDX-License-Identifier: GPL-2.0-or-later
// select_p_job_test, the one operation that Rubato changes.
#include "plugin/common/exported.h"
#include "plugin/common/guard.h"
#include "plugin/select/host.h"
#include "plugin/slurm/read/job_view.h"
#include "plugin/slurm/read/kept_request.h"
#include "plugin/slurm/read/records.h"
#include "plugin/slurm/stock/backfill_depth.h"

namespace rubato {

namespace {

GateQuestion::Kind kind_of(uint16_t mode) {
  switch (mode & SELECT_MODE_BASE) {
    case SELECT_MODE_RUN_NOW:
      return GateQuestion::Kind::kRunNow;
    case SELECT_MODE_TEST_ONLY:
      return GateQuestion::Kind::kTestOnly;
    case SELECT_MODE_WILL_RUN:
      return GateQuestion::Kind::kWillRun;
    default:
      return GateQuestion::Kind::kOther;
  }
}

GateQuestion question_of(const job_record_t& job, uint32_t min_nodes, uint32_t max_nodes,
                         uint16_t mode, const Config& config) {
  GateQuestion question;
  question.kind = kind_of(mode);
  question.zero_nodes = min_nodes == 0 && max_nodes == 0;
  // Reservations are tested with job records made up for the purpose (reservation.c), which are in
  // no list. A requeued job's other record, or a running one tested for preemption, passes too.
  const job_record_t* record = &job;
  question.real_job = job.details != nullptr && job.part_ptr != nullptr && IS_JOB_PENDING(record) &&
                      find_job_record(job.job_id) == &job;
  if (!question.real_job) return question;
  question.managed = why_unmanaged(job, *job.part_ptr, config) == nullptr;
  question.owed = owes_request(job) && !config.off(Mechanism::kRestore);
  question.uid = job.user_id;
  question.job = job.job_id;
  question.now = time(nullptr);
  question.end = add_seconds(question.now, time_limit_of(job, *job.part_ptr));
  question.tier = job.part_ptr->priority_tier;
  question.priority = job.priority;
  return question;
}

// Takes nodes out of `nodes`; false if that would take one the job names, for that request must not
// look impossible.
bool take_out(const job_record_t& job, const std::vector<int>& indices, bitstr_t* nodes) {
  const bitstr_t* required = job.details->req_node_bitmap;
  for (const int index : indices) {
    if (index >= bit_size(nodes)) continue;
    if (required != nullptr && bit_test(const_cast<bitstr_t*>(required), index)) return false;
    bit_clear(nodes, index);
  }
  return true;
}

bool narrow(const job_record_t& job, const StartScope& scope, bitstr_t* nodes) {
  if (scope.only != nullptr) {
    std::vector<int> others;
    for (int index = 0; index < bit_size(nodes); ++index)
      if (bit_test(nodes, index) &&
          !std::binary_search(scope.only->begin(), scope.only->end(), index))
        others.push_back(index);
    if (!take_out(job, others, nodes)) return false;
  }
  return scope.never == nullptr || take_out(job, *scope.never, nodes);
}

// The answer is wanted in one word: whether to go on to stock select.
bool admitted(const job_record_t& job, bitstr_t* nodes, uint32_t min_nodes, uint32_t max_nodes,
              uint16_t mode) {
  Gate& the_gate = gate();
  const std::shared_ptr<const Config> config = the_gate.config();
  if (config == nullptr) return true;  // slurmd, or a loop that has not begun
  if (!job_record_fits(job)) {
    the_gate.set_records_checked(false);
    return true;
  }
  const GateQuestion question = question_of(job, min_nodes, max_nodes, mode, *config);
  const GateAnswer answer = the_gate.answer(question);
  switch (answer.kind) {
    case GateAnswer::Kind::kPass:
      return true;
    case GateAnswer::Kind::kRefuse:
      if (answer.backfill_test) uncount_backfill_try(job);
      return false;
    case GateAnswer::Kind::kNarrow:
      return narrow(job, *answer.scope, nodes);
    case GateAnswer::Kind::kMask:
      return take_out(job, answer.masked, nodes);
  }
  return true;
}

EntryPoint job_test_entry{"select_p_job_test"};

}  // namespace

}  // namespace rubato

extern "C" RUBATO_EXPORTED int select_p_job_test(job_record_t* job, bitstr_t* nodes,
                                                 uint32_t min_nodes, uint32_t max_nodes,
                                                 uint32_t req_nodes, uint16_t mode,
                                                 List preemptee_candidates, List* preemptees,
                                                 bitstr_t* excluded_cores) {
  const bool ask = rubato::guard(
      rubato::job_test_entry,
      [&] { return rubato::admitted(*job, nodes, min_nodes, max_nodes, mode); },
      [] { return true; });
  // Plain SLURM_ERROR reads as "not now" to every caller (node_scheduler.c _pick_best_nodes).
  if (!ask) return SLURM_ERROR;
  return rubato::stock_ops().job_test(job, nodes, min_nodes, max_nodes, req_nodes, mode,
                                      preemptee_candidates, preemptees, excluded_cores);
}
