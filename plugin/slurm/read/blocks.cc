// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/read/blocks.h"
#include "plugin/slurm/release/differences.h"

#include <utility>

namespace rubato {

namespace {

bool names_missing_nodes(const job_record_t& job) {
  return job.details->req_node_bitmap != nullptr &&
         bit_super_set(job.details->req_node_bitmap, avail_node_bitmap) == 0;
}

// A limit per node, or a minimum: what the job requests says nothing of these before its nodes are
// chosen (acct_policy.c _validate_tres_limits_for_qos, _validate_tres_usage_limits).
bool needs_chosen_nodes(std::uint32_t reason) {
  switch (reason) {
    case WAIT_QOS_MIN_CPU:
    case WAIT_QOS_MIN_MEM:
    case WAIT_QOS_MIN_NODE:
    case WAIT_QOS_MIN_GRES:
    case WAIT_QOS_MIN_ENERGY:
    case WAIT_QOS_MIN_LIC:
    case WAIT_QOS_MIN_BB:
    case WAIT_QOS_MIN_BILLING:
    case WAIT_QOS_MIN_UNK:
    case WAIT_QOS_MAX_CPU_PER_NODE:
    case WAIT_QOS_MAX_MEM_PER_NODE:
    case WAIT_QOS_MAX_GRES_PER_NODE:
    case WAIT_QOS_MAX_ENERGY_PER_NODE:
    case WAIT_QOS_MAX_BB_PER_NODE:
    case WAIT_QOS_MAX_BILLING_PER_NODE:
    case WAIT_QOS_MAX_UNK_PER_NODE:
    case WAIT_ASSOC_MAX_CPU_PER_NODE:
    case WAIT_ASSOC_MAX_MEM_PER_NODE:
    case WAIT_ASSOC_MAX_GRES_PER_NODE:
    case WAIT_ASSOC_MAX_ENERGY_PER_NODE:
    case WAIT_ASSOC_MAX_BB_PER_NODE:
    case WAIT_ASSOC_MAX_BILLING_PER_NODE:
    case WAIT_ASSOC_MAX_UNK_PER_NODE:
      return true;
    default:
      return false;
  }
}

// The job's record names `part` until the end of the scope.
class InPartition {
 public:
  InPartition(job_record_t& job, part_record_t& part)
      : job_(job), before_(std::exchange(job.part_ptr, &part)) {}
  ~InPartition() { job_.part_ptr = before_; }
  InPartition(const InPartition&) = delete;
  InPartition& operator=(const InPartition&) = delete;

 private:
  job_record_t& job_;
  part_record_t* before_;
};

// slurmctld tests limits on TRES after its choice of nodes. The requested TRES are a lower bound
// known before, so this test may miss a limit and never invents one.
bool test_tres_limit(job_record_t& job) {
  std::vector<std::uint64_t> wanted(job.tres_req_cnt, job.tres_req_cnt + slurmctld_tres_cnt);
  wanted[TRES_ARRAY_NODE] = std::max<std::uint64_t>(wanted[TRES_ARRAY_NODE], 1);
  const auto before = job.state_reason;
  if (acct_policy_job_runnable_post_select(&job, wanted.data(), false)) return false;
  if (!needs_chosen_nodes(job.state_reason)) return true;
  job.state_reason = before;
  xfree(job.state_desc);
  return false;
}

// Most jobs are far from any limit, and the answer for others holds until limits or use change.
bool over_tres_limit(job_record_t& job, const part_record_t& part, const BlockTests& tests) {
  if (job.tres_req_cnt == nullptr || (accounting_enforce & ACCOUNTING_ENFORCE_LIMITS) == 0)
    return false;
  const LimitRoom& room = tests.rooms->of(job, part);
  if (!release::reason_is_limit(job) && room.surely_allows(job.tres_req_cnt)) return false;
  KnownLimit* const known = tests.known;
  if (known == nullptr || !known->tested || known->state != room.state) {
    const bool limited = test_tres_limit(job);
    if (known != nullptr)
      *known = {
          .tested = true, .limited = limited, .reason = job.state_reason, .state = room.state};
    return limited;
  }
  // Stock Slurm may have set another reason since.
  if (known->limited && job.state_reason != known->reason) {
    job.state_reason = static_cast<decltype(job.state_reason)>(known->reason);
    xfree(job.state_desc);
  }
  return known->limited;
}

}  // namespace

Block block_of_reason(const job_record_t& job) {
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
      // Also covers reasons left by an earlier attempt on all nodes; those are tested again.
      return Block::kNone;
    default:
      return release::reason_is_limit(job) ? Block::kLimit : Block::kOther;
  }
}

std::string words_of_reason(const job_record_t& job) {
  return release::reason_name(job.state_reason);
}

BlockFound find_block(job_record_t& job, part_record_t& part, const BlockTests& tests) {
  if ((part.state_up & PARTITION_SCHED) == 0) return {Block::kPartition, "PartitionDown"};
  if (tests.reservation_closed) return {Block::kReservation, "Reservation"};
  if (names_missing_nodes(job)) return {Block::kNodes, "ReqNodeNotAvail"};
  if (!tests.may_write) {
    const Block kind = block_of_reason(job);
    return kind == Block::kNone ? BlockFound{} : BlockFound{kind, words_of_reason(job)};
  }
  if (tests.array && !job_array_start_test(&job)) return {Block::kArrayLimit, words_of_reason(job)};
  if (accounting_enforce != 0) {
    // Limits also depend on the partition, and a job may name several.
    const InPartition entered(job, part);
    const bool pre_limit =
        release::reason_is_limit(job) && !acct_policy_job_runnable_pre_select(&job, false);
    const bool limited = pre_limit || over_tres_limit(job, part, tests);
    if (limited) return {Block::kLimit, words_of_reason(job)};
  }
  if (tests.licences && license_job_test(&job, time(nullptr), true) != SLURM_SUCCESS)
    return {Block::kLicense, "Licenses"};
  return {};
}

}  // namespace rubato
