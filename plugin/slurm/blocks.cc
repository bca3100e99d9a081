// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/blocks.h"

namespace rubato {

namespace {

BlockFound found(Block kind, const job_record_t& job) {
  const char* reason = job_reason_string(static_cast<enum job_state_reason>(job.state_reason));
  return {kind, reason};
}

Block kind_of_reason(const job_record_t& job) {
  switch (job.state_reason) {
    case WAIT_NO_REASON:
    case WAIT_PRIORITY:
    case WAIT_RESOURCES:
      return Block::kNone;
    case WAIT_LICENSES:
      return Block::kLicense;
    case WAIT_ARRAY_TASK_LIMIT:
      return Block::kArrayLimit;
    case WAIT_RESERVATION:
      return Block::kReservation;
    case WAIT_PART_DOWN:
    case WAIT_PART_INACTIVE:
    case WAIT_PART_NODE_LIMIT:
    case WAIT_PART_TIME_LIMIT:
      return Block::kPartition;
    case WAIT_NODE_NOT_AVAIL:
      // Also what an earlier try on all nodes left behind; it is tested anew.
      return Block::kNone;
    default:
      return acct_policy_job_runnable_state(const_cast<job_record_t*>(&job)) ? Block::kOther
                                                                             : Block::kLimit;
  }
}

bool names_missing_nodes(const job_record_t& job) {
  return job.details->req_node_bitmap != nullptr &&
         bit_super_set(job.details->req_node_bitmap, avail_node_bitmap) == 0;
}

}  // namespace

BlockFound find_block(job_record_t& job, const part_record_t& part, bool reservation_closed,
                      bool may_write) {
  if ((part.state_up & PARTITION_SCHED) == 0) return {Block::kPartition, "PartitionDown"};
  if (reservation_closed) return {Block::kReservation, "Reservation"};
  if (names_missing_nodes(job)) return {Block::kNodes, "ReqNodeNotAvail"};
  if (!may_write) {
    const Block kind = kind_of_reason(job);
    return kind == Block::kNone ? BlockFound{} : found(kind, job);
  }
  if (!job_array_start_test(&job)) return found(Block::kArrayLimit, job);
  if (!acct_policy_job_runnable_state(&job) && !acct_policy_job_runnable_pre_select(&job, false))
    return found(Block::kLimit, job);
  if (license_job_test(&job, time(nullptr), true) != SLURM_SUCCESS)
    return {Block::kLicense, "Licenses"};
  return {};
}

}  // namespace rubato
