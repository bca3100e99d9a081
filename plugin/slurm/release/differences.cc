// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/release/differences.h"

#include <cstring>

namespace rubato::release {

#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 11, 0)

std::uint32_t priority_in(const job_record_t& job, int index) {
  return job.priority_array != nullptr ? job.priority_array[index] : job.priority;
}

bool names_several_qos(const job_record_t&) { return false; }

bool has_stepmgr(const job_record_t&) { return false; }

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
