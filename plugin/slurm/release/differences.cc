// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/release/differences.h"

#include <cstring>

#include "plugin/slurm/release/lists.h"

namespace rubato::release {

#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 11, 0)

std::uint32_t priority_in(const job_record_t& job, int index) {
  return job.priority_array != nullptr ? job.priority_array[index] : job.priority;
}

bool names_several_qos(const job_record_t&) { return false; }

bool has_stepmgr(const job_record_t&) { return false; }

bool has_prolog_first() {
  return (slurm_conf.prolog_flags & PROLOG_FLAG_ALLOC) != 0 ||
         slurm_conf.prolog_slurmctld != nullptr;
}

void describe_gres(job_record_t& job) noexcept {
  gres_ctld_job_build_details(job.gres_list_alloc, &job.gres_detail_cnt, &job.gres_detail_str,
                              &job.gres_used);
}

namespace {

bool sets_threads(std::uint16_t threads) { return threads != 0 && threads != NO_VAL16; }

// Calls each(number of the node among those of the step, among those of the job).
template <typename Each>
void each_step_node(const step_record_t& step, const job_record_t& job, Each each) noexcept {
  int of_job = 0;
  int of_step = 0;
  for (int i = 0; i < bit_size(job.job_resrcs->node_bitmap); ++i) {
    if (!bit_test(job.job_resrcs->node_bitmap, i)) continue;
    if (bit_test(step.step_node_bitmap, i)) each(of_step++, of_job);
    ++of_job;
  }
}

// CPUs of each task if all tasks share all CPUs of their nodes alike; 0 if not.
int cpus_of_tasks(const step_record_t& step, const job_record_t& job) noexcept {
  if (sets_threads(step.threads_per_core) || sets_threads(job.details->mc_ptr->threads_per_core))
    return 0;
  int each = -1;
  each_step_node(step, job, [&](int of_step, int of_job) {
    const int tasks = step.step_layout->tasks[of_step];
    const int cpus = job.job_resrcs->cpus[of_job];
    const int here = tasks > 0 && cpus % tasks == 0 ? cpus / tasks : 0;
    each = each < 0 || each == here ? here : 0;
  });
  return std::max(each, 0);
}

}  // namespace

void settle_whole_steps(job_record_t& job, job_resources_t& merged,
                        const std::vector<int>& old_index) noexcept {
  if (job.step_list == nullptr) return;
  for (ListWalk<step_record_t> steps(job.step_list); auto* step = steps.next();) {
    if (step->state < JOB_RUNNING || (step->flags & SSF_WHOLE) == 0 ||
        (step->flags & SSF_OVERLAP_FORCE) != 0 || step->step_layout == nullptr ||
        step->step_node_bitmap == nullptr)
      continue;
    if (const int cpus = cpus_of_tasks(*step, job); cpus > 0) {
      step->cpus_per_task = static_cast<std::uint16_t>(cpus);
      step->flags &= ~static_cast<std::uint32_t>(SSF_WHOLE);
      continue;
    }
    each_step_node(*step, job, [&](int, int of_job) {
      for (std::size_t i = 0; i < old_index.size(); ++i)
        if (old_index[i] == of_job) merged.cpus_used[i] = merged.cpus[i];
    });
  }
}

void send_addresses(agent_arg_t&, const node_record_t&) noexcept {}

bitstr_t* powered_down_nodes() { return power_node_bitmap; }

int nodes_of(char* names, bitstr_t** nodes) { return node_name2bitmap(names, true, nodes); }

int test_reservations(job_record_t& job, time_t& when, bitstr_t** open, bool& overlap) {
  bitstr_t* cores = nullptr;
  const int code = job_test_resv(&job, &when, false, open, &cores, &overlap, false);
  FREE_NULL_BITMAP(cores);
  return code;
}

int select_nodes_now(job_record_t* job) {
  return select_nodes(job, false, nullptr, nullptr, false, SLURMDB_JOB_FLAG_SCHED);
}

int not_now(job_record_t&) { return SLURM_ERROR; }

bool coordinates(std::uint32_t uid, char* account) {
  return assoc_mgr_is_user_acct_coord(acct_db_conn, uid, account);
}

int parse_gres(const job_record_t& job, DerivedRequest& derived, list_t*& list) {
  return gres_job_state_validate(
      job.cpus_per_tres, job.tres_freq, job.tres_per_job, job.tres_per_node, job.tres_per_socket,
      job.tres_per_task, job.mem_per_tres, &derived.tasks, &derived.min_nodes, &derived.max_nodes,
      &derived.tasks_per_node, &derived.tasks_per_socket, &derived.sockets, &derived.cpus_per_task,
      &derived.tasks_per_tres, &list);
}

void spell_gres(char*) noexcept {}

void count_gres(list_t* gres, std::uint32_t nodes, std::uint64_t* counts) {
  gres_ctld_set_job_tres_cnt(gres, nodes, counts, true);
}

#else

std::uint32_t priority_in(const job_record_t& job, int index) {
  const priority_mult_t* all = job.part_prio;
  return all != nullptr && all->priority_array != nullptr ? all->priority_array[index]
                                                          : job.priority;
}

bool names_several_qos(const job_record_t& job) {
  return job.qos_list != nullptr && list_count(job.qos_list) > 1;
}

bool has_stepmgr(const job_record_t& job) { return (job.bit_flags & STEPMGR_ENABLED) != 0; }

bool has_prolog_first() {
  return (slurm_conf.prolog_flags & PROLOG_FLAG_ALLOC) != 0 || slurm_conf.prolog_slurmctld_cnt != 0;
}

void describe_gres(job_record_t& job) noexcept {
  gres_stepmgr_job_build_details(job.gres_list_alloc, job.nodes, &job.gres_detail_cnt,
                                 &job.gres_detail_str, &job.gres_used);
}

// Steps count their own CPUs (cpu_alloc_values).
void settle_whole_steps(job_record_t&, job_resources_t&, const std::vector<int>&) noexcept {}

// As PACK_FANOUT_ADDRS of slurmctld.h, but for cloud nodes that DNS knows too: that does no harm.
void send_addresses(agent_arg_t& message, const node_record_t& node) noexcept {
  const node_record_t* at = &node;  // the macros put no parentheses around it
  if (IS_NODE_DYNAMIC_FUTURE(at) || IS_NODE_DYNAMIC_NORM(at) || IS_NODE_CLOUD(at))
    message.msg_flags |= SLURM_PACK_ADDRS;
}

bitstr_t* powered_down_nodes() { return power_down_node_bitmap; }

int nodes_of(char* names, bitstr_t** nodes) {
  return node_name2bitmap(names, true, nodes, nullptr);
}

int test_reservations(job_record_t& job, time_t& when, bitstr_t** open, bool& overlap) {
  resv_exc_t excluded{};
  const int code = job_test_resv(&job, &when, false, open, &excluded, &overlap, false);
  reservation_delete_resv_exc_parts(&excluded);
  return code;
}

int select_nodes_now(job_record_t* job) {
  job_node_select_t chosen{};
  chosen.job_ptr = job;
  return select_nodes(&chosen, false, false, SLURMDB_JOB_FLAG_SCHED);
}

// As _job_test() of cons_tres: slurmctld shows the reason Licenses, and goes on with later jobs of
// the partition.
int not_now(job_record_t& job) {
  const bool licensed = license_job_test(&job, time(nullptr), true) == SLURM_SUCCESS;
  return licensed ? SLURM_ERROR : ESLURM_LICENSES_UNAVAILABLE;
}

bool coordinates(std::uint32_t uid, char* account) {
  return assoc_mgr_is_user_acct_coord(acct_db_conn, uid, account, false);
}

int parse_gres(const job_record_t& job, DerivedRequest& derived, list_t*& list) {
  gres_job_state_validate_t request{};
  request.cpus_per_tres = job.cpus_per_tres;
  request.mem_per_tres = job.mem_per_tres;
  request.tres_freq = job.tres_freq;
  request.tres_per_job = job.tres_per_job;
  request.tres_per_node = job.tres_per_node;
  request.tres_per_socket = job.tres_per_socket;
  request.tres_per_task = job.tres_per_task;
  request.cpus_per_task = &derived.cpus_per_task;
  request.max_nodes = &derived.max_nodes;
  request.min_cpus = &derived.min_cpus;
  request.min_nodes = &derived.min_nodes;
  request.ntasks_per_node = &derived.tasks_per_node;
  request.ntasks_per_socket = &derived.tasks_per_socket;
  request.ntasks_per_tres = &derived.tasks_per_tres;
  request.num_tasks = &derived.tasks;
  request.sockets_per_node = &derived.sockets;
  request.gres_list = &list;
  return gres_job_state_validate(&request);
}

void spell_gres(char* text) noexcept {
  for (char* at = text; at != nullptr && (at = std::strstr(at, "gres:")) != nullptr;) at[4] = '/';
}

void count_gres(list_t* gres, std::uint32_t nodes, std::uint64_t* counts) {
  gres_stepmgr_set_job_tres_cnt(gres, nodes, counts, true);
}

#endif

// bitstring.c: two words before the bits hold a magic number and the size.
const bitstr_t* words_of(const bitstr_t* bitmap) { return bitmap + 2; }

}  // namespace rubato::release
