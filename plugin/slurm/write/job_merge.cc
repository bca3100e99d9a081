// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/job_merge.h"

#include <utility>

#include "plugin/slurm/release/differences.h"
#include "plugin/slurm/release/lists.h"
#include "plugin/slurm/write/gres_merge.h"
#include "plugin/slurm/write/merged_nodes.h"

namespace rubato {

namespace {

bool has_resources(const job_record_t& job) {
  const job_resources_t* const held = job.job_resrcs;
  return held != nullptr && held->cpus != nullptr && held->core_bitmap != nullptr &&
         held->node_bitmap != nullptr && job.node_bitmap != nullptr && job.details != nullptr &&
         bit_equal(held->node_bitmap, job.node_bitmap);
}

template <typename Element>
Element* array_of(std::uint32_t size) {
  return static_cast<Element*>(xcalloc(size, sizeof(Element)));
}

// What `held` has on its node number `there` goes to node number `here` of `sum`.
void add_node(job_resources_t& sum, int here, job_resources_t& held, int there,
              int cores) noexcept {
  sum.cpus[here] = static_cast<std::uint16_t>(sum.cpus[here] + held.cpus[there]);
  sum.cpus_used[here] = static_cast<std::uint16_t>(sum.cpus_used[here] + held.cpus_used[there]);
  sum.memory_allocated[here] += held.memory_allocated[there];
  sum.memory_used[here] += held.memory_used[there];
  const int to = get_job_resources_offset(&sum, static_cast<std::uint32_t>(here), 0, 0);
  const int from = get_job_resources_offset(&held, static_cast<std::uint32_t>(there), 0, 0);
  for (int core = 0; core < cores; ++core)
    if (bit_test(held.core_bitmap, from + core)) bit_set(sum.core_bitmap, to + core);
}

// core_bitmap_used stays empty: slurmctld fills it from the steps (rebuild_step_bitmaps()).
job_resources_t* merged_resources(job_resources_t& from, job_resources_t& to,
                                  const MergedNodes& nodes) noexcept {
  job_resources_t* const sum = create_job_resources();
  const std::uint32_t count = nodes.size();
  sum->node_bitmap = bit_copy(to.node_bitmap);
  bit_or(sum->node_bitmap, from.node_bitmap);
  sum->nodes = bitmap2node_name(sum->node_bitmap);
  sum->nhosts = count;
  sum->node_req = to.node_req;
  sum->whole_node = to.whole_node;
  sum->threads_per_core = to.threads_per_core;
  sum->cr_type = to.cr_type;
  sum->cpus = array_of<std::uint16_t>(count);
  sum->cpus_used = array_of<std::uint16_t>(count);
  sum->memory_allocated = array_of<std::uint64_t>(count);
  sum->memory_used = array_of<std::uint64_t>(count);
  build_job_resources(sum);
  std::size_t here = 0;
  for (int i = 0; i < bit_size(sum->node_bitmap); ++i) {
    if (!bit_test(sum->node_bitmap, i)) continue;
    const int cores = node_record_table_ptr[i]->tot_cores;
    const auto at = static_cast<int>(here);
    if (nodes.in_to[here] >= 0) add_node(*sum, at, to, nodes.in_to[here], cores);
    if (nodes.in_from[here] >= 0) add_node(*sum, at, from, nodes.in_from[here], cores);
    ++here;
  }
  sum->ncpus = static_cast<std::uint32_t>(build_job_resources_cpu_array(sum));
  return sum;
}

// The CPUs of a job in all, as its record counts them.
std::uint32_t cpus_of(const job_resources_t& held) noexcept {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < held.nhosts; ++i) sum += held.cpus[i];
  return sum;
}

void enter(job_record_t& to, job_resources_t* merged) noexcept {
  free_job_resources(&to.job_resrcs);
  to.job_resrcs = merged;
  bit_or(to.node_bitmap, merged->node_bitmap);
  to.total_cpus = to.cpu_cnt = cpus_of(*merged);
  to.total_nodes = to.node_cnt = merged->nhosts;
  xfree(to.nodes);
  to.nodes = xstrdup(merged->nodes);
}

// As stock Slurm leaves the job that ends (cons_common.c, select_p_job_expand()).
void empty(job_record_t& from) noexcept {
  job_resources_t& held = *from.job_resrcs;
  from.total_cpus = from.details->min_cpus = from.details->max_cpus = 0;
  from.total_nodes = from.node_cnt = from.details->min_nodes = 0;
  held.ncpus = held.nhosts = 0;
  bit_clear_all(from.node_bitmap);
  bit_clear_all(held.node_bitmap);
  xfree(from.nodes);
  from.nodes = xstrdup("");
  xfree(held.nodes);
  held.nodes = xstrdup("");
}

}  // namespace

bool can_merge(const job_record_t& from, const job_record_t& to, bool with_gres) {
  const job_record_t* const target = &to;  // for the macro
  if (from.job_id == to.job_id || !IS_JOB_RUNNING(target)) return false;
  if (!has_resources(from) || !has_resources(to)) return false;
  if (to.details->whole_node != 0 || from.details->whole_node != 0) return false;
  const bool gres = from.gres_list_req != nullptr || from.gres_list_alloc != nullptr ||
                    to.gres_list_req != nullptr || to.gres_list_alloc != nullptr;
  return !gres || (with_gres && gres_can_merge(from, to));
}

void merge_jobs(job_record_t& from, job_record_t& to, const SelectOps& ops) {
  const MergedNodes nodes = merged_nodes(from, to);
  job_resources_t* const merged = merged_resources(*from.job_resrcs, *to.job_resrcs, nodes);
  release::settle_whole_steps(to, *merged, nodes.in_to);
  // Without their GRES lists, the stock plugin gives back and takes only cores and memory. The
  // GRES stay taken on the nodes.
  list_t* const from_alloc = std::exchange(from.gres_list_alloc, nullptr);
  list_t* const from_request = std::exchange(from.gres_list_req, nullptr);
  list_t* const to_alloc = std::exchange(to.gres_list_alloc, nullptr);
  list_t* const to_request = std::exchange(to.gres_list_req, nullptr);
  (void)ops.job_fini(&from);
  (void)ops.job_fini(&to);
  enter(to, merged);
  empty(from);
  (void)ops.select_nodeinfo_set(&to);
  from.gres_list_alloc = from_alloc;
  from.gres_list_req = from_request;
  to.gres_list_alloc = to_alloc;
  to.gres_list_req = to_request;
  merge_gres(from, to, nodes);
}

}  // namespace rubato
