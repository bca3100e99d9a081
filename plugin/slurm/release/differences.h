// SPDX-License-Identifier: GPL-2.0-or-later
// What the supported releases of Slurm do in different ways, as one function for each difference.
// Only this folder tests SLURM_VERSION_NUMBER.
#pragma once

#include "plugin/slurm/release/slurm_headers.h"

/// select_p_job_test() gets what the job may not use in the last parameters.
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 11, 0)
#define RUBATO_JOB_TEST_EXCLUDED bitstr_t* excluded_cores
#define RUBATO_JOB_TEST_EXCLUDED_ARGUMENTS excluded_cores
/// job_modify() cannot answer with a text.
#define RUBATO_JOB_MODIFY_ERROR
#define RUBATO_JOB_MODIFY_ERROR_ARGUMENT nullptr
#else
#define RUBATO_JOB_TEST_EXCLUDED resv_exc_t *excluded, will_run_data_t *will_run
#define RUBATO_JOB_TEST_EXCLUDED_ARGUMENTS excluded, will_run
#define RUBATO_JOB_MODIFY_ERROR , char** error
#define RUBATO_JOB_MODIFY_ERROR_ARGUMENT error
#endif

namespace rubato::release {

using JobTest = int(job_record_t*, bitstr_t*, uint32_t, uint32_t, uint32_t, uint16_t, list_t*,
                    list_t**, RUBATO_JOB_TEST_EXCLUDED);

/// Operations of select plugins that 22.05 has and 24.11 does not.
inline constexpr bool kOldSelectOps = SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 11, 0);

/// The priority of a job in partition number `index` of its list.
[[nodiscard]] std::uint32_t priority_in(const job_record_t& job, int index);
/// `--qos=a,b` (from 24.11 on): Slurm chooses the QOS at the start.
[[nodiscard]] bool names_several_qos(const job_record_t& job);

/// When a running job loses nodes, slurmctld moves the bits of its steps' GRES and cores
/// (rebuild_step_bitmaps(), after select_p_job_resized()).
inline constexpr bool kMovesStepBits = SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0);
/// The job's steps are managed by a slurmstepd (from 24.11 on), which learns nothing of a resize.
[[nodiscard]] bool has_stepmgr(const job_record_t& job);

/// slurm.conf has a prolog that must end on each node of a job before steps may start there: with
/// PrologFlags=Alloc, and with Contain and X11, which imply it; or PrologSlurmctld.
[[nodiscard]] bool has_prolog_first();
/// Writes again which GRES a job holds, as `scontrol show job -d` shows it.
void describe_gres(job_record_t& job) noexcept;

/// Before the cores of a running job become those of `merged`, which has more. A step that has all
/// CPUs of its nodes gives back at its end all that its job has there (22.05: step_mgr.c,
/// _step_dealloc_lps()), the new ones too. Such a step counts the CPUs of its tasks from now on;
/// where its tasks do not share them alike, no further step starts beside it. `old_index` has the
/// number of each node before, -1: new.
void settle_whole_steps(job_record_t& job, job_resources_t& merged,
                        const std::vector<int>& old_index) noexcept;

/// Adds to a message the addresses of its nodes if `node` is a cloud or dynamic node: nodes that
/// forward the message need them.
void send_addresses(agent_arg_t& message, const node_record_t& node) noexcept;

/// Nodes that are powered down.
[[nodiscard]] bitstr_t* powered_down_nodes();
/// The words of a bitmap, bit 0 first.
[[nodiscard]] const bitstr_t* words_of(const bitstr_t* bitmap);
/// Nodes by their names; unknown names are left out. The caller frees the bitmap.
int nodes_of(char* names, bitstr_t** nodes);

/// job_test_resv(); the caller frees `open`. What else a reservation keeps from the job is dropped.
int test_reservations(job_record_t& job, time_t& when, bitstr_t** open, bool& overlap);

/// Chooses nodes for a job and starts it, as slurmctld's main scheduler does.
[[nodiscard]] int select_nodes_now(job_record_t* job);

/// The gate's answer for a job that may not run now. From 24.11 on, the select plugin also tells
/// whether licences are missing.
[[nodiscard]] int not_now(job_record_t& job);

[[nodiscard]] bool coordinates(std::uint32_t uid, char* account);

/// What gres_job_state_validate() may derive from the GRES request of a job.
struct DerivedRequest {
  std::uint32_t tasks;
  std::uint32_t min_cpus;
  std::uint32_t min_nodes;
  std::uint32_t max_nodes;
  std::uint16_t tasks_per_node;
  std::uint16_t tasks_per_socket;
  std::uint16_t sockets;
  std::uint16_t cpus_per_task;
  std::uint16_t tasks_per_tres;
};
/// Parses the GRES texts of a job into `list`, which must be null. A Slurm error.
[[nodiscard]] int parse_gres(const job_record_t& job, DerivedRequest& derived, list_t*& list);
/// Writes "gres:gpu:2" as this release spells it (24.11: "gres/gpu:2"), in place; null is allowed.
void spell_gres(char* text) noexcept;
void count_gres(list_t* gres, std::uint32_t nodes, std::uint64_t* counts);

/// reason_is_limit(): the reason of a pending job is an association or QOS limit. reason_name(): as
/// squeue shows it. wants_whole_nodes(): --exclusive; wants_nodes_of_one_user(): --exclusive=user.
// These are inline, for tests link the readers of records without slurmctld.
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 11, 0)
inline bool reason_is_limit(const job_record_t& job) {
  return !acct_policy_job_runnable_state(const_cast<job_record_t*>(&job));
}

inline const char* reason_name(std::uint32_t reason) {
  return job_reason_string(static_cast<enum job_state_reason>(reason));
}

inline bool wants_whole_nodes(const job_details_t& details) {
  return details.whole_node == WHOLE_NODE_REQUIRED;
}

inline bool wants_nodes_of_one_user(const job_details_t& details) {
  return details.whole_node == WHOLE_NODE_USER;
}

#else
// The range of acct_policy_job_runnable_state() of 22.05, and the limits that came later.
inline bool reason_is_limit(const job_record_t& job) {
  switch (job.state_reason) {
    case WAIT_ASSOC_JOB_LIMIT:
    case WAIT_ASSOC_RESOURCE_LIMIT:
    case WAIT_ASSOC_TIME_LIMIT:
    case WAIT_QOS_JOB_LIMIT:
    case WAIT_QOS_TIME_LIMIT:
      return true;
    default:
      return (job.state_reason >= WAIT_QOS_GRP_CPU && job.state_reason <= WAIT_ASSOC_MAX_SUB_JOB) ||
             (job.state_reason >= WAIT_QOS_MAX_BB_RUN_MINS_PER_ACCT &&
              job.state_reason <= WAIT_QOS_MAX_UNK_RUN_MINS_PER_USER);
  }
}

inline const char* reason_name(std::uint32_t reason) {
  return job_state_reason_string(static_cast<enum job_state_reason>(reason));
}

inline bool wants_whole_nodes(const job_details_t& details) {
  return (details.whole_node & WHOLE_NODE_REQUIRED) != 0;
}

inline bool wants_nodes_of_one_user(const job_details_t& details) {
  return (details.whole_node & WHOLE_NODE_USER) != 0;
}

#endif

}  // namespace rubato::release
