// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/gres_merge.h"

#include <algorithm>
#include <utility>

#include "plugin/slurm/read/gres_arrays.h"
#include "plugin/slurm/release/differences.h"
#include "plugin/slurm/release/lists.h"
#include "plugin/slurm/write/lost_node.h"

namespace rubato {

namespace {

gres_job_state_t& state_of(const gres_state_t& entry) {
  return *static_cast<gres_job_state_t*>(entry.gres_data);
}

gres_state_t* entry_like(list_t* list, const gres_state_t& wanted) noexcept {
  if (list == nullptr) return nullptr;
  for (ListWalk<gres_state_t> all(list); auto* entry = all.next();)
    if (entry->plugin_id == wanted.plugin_id &&
        state_of(*entry).type_id == state_of(wanted).type_id)
      return entry;
  return nullptr;
}

bool has_element_per_node(list_t* list, std::uint32_t nodes) noexcept {
  if (list == nullptr) return true;
  for (ListWalk<gres_state_t> all(list); const auto* entry = all.next();)
    if (state_of(*entry).node_cnt != 0 && state_of(*entry).node_cnt != nodes) return false;
  return true;
}

// Moves the elements of an array with one per node to the new order.
template <typename Element>
void reorder(Element*& array, const std::vector<int>& old_index) noexcept {
  if (array == nullptr) return;
  auto* const moved = static_cast<Element*>(xcalloc(old_index.size(), sizeof(Element)));
  for (std::size_t i = 0; i < old_index.size(); ++i)
    if (old_index[i] >= 0) std::swap(moved[i], array[old_index[i]]);
  xfree(array);
  array = moved;
}

void reorder(gres_job_state_t& held, const std::vector<int>& old_index) noexcept {
  if (held.node_cnt == 0) return;
  reorder(held.gres_bit_alloc, old_index);
  reorder(held.gres_cnt_node_alloc, old_index);
  reorder(held.gres_bit_step_alloc, old_index);
  reorder(held.gres_cnt_step_alloc, old_index);
  held.node_cnt = static_cast<std::uint32_t>(old_index.size());
}

void add_bits(bitstr_t*& sum, bitstr_t*& more) noexcept {
  if (more == nullptr) return;
  if (sum == nullptr)
    std::swap(sum, more);
  else if (bit_size(sum) == bit_size(more))
    bit_or(sum, more);
}

// No step runs in the job that ends, so only its allocation is added.
void add(gres_job_state_t& sum, gres_job_state_t& more, std::uint32_t nodes) noexcept {
  if (more.node_cnt == 0 || sum.node_cnt == 0) return;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    if (sum.gres_bit_alloc != nullptr && more.gres_bit_alloc != nullptr)
      add_bits(sum.gres_bit_alloc[i], more.gres_bit_alloc[i]);
    if (sum.gres_cnt_node_alloc != nullptr && more.gres_cnt_node_alloc != nullptr)
      sum.gres_cnt_node_alloc[i] += more.gres_cnt_node_alloc[i];
  }
  sum.total_gres += more.total_gres;
}

// Steps are tested against these counts; what the user asked for is in the texts of the record.
void raise_request(job_record_t& job) noexcept {
  if (job.gres_list_req == nullptr) return;
  for (ListWalk<gres_state_t> all(job.gres_list_req); const auto* entry = all.next();) {
    gres_job_state_t& asked = state_of(*entry);
    if (!has_arrays_for(*entry, job) || asked.gres_cnt_node_alloc == nullptr) continue;
    const std::uint64_t* const counts = asked.gres_cnt_node_alloc;
    const std::uint64_t most = *std::max_element(counts, counts + asked.node_cnt);
    if (asked.gres_per_job != 0)
      asked.gres_per_job = std::max(asked.gres_per_job, asked.total_gres);
    if (asked.gres_per_node != 0) asked.gres_per_node = std::max(asked.gres_per_node, most);
  }
}

// slurmctld moves the bits itself, after select_p_job_expand() (rebuild_step_bitmaps()), but not
// the counts, which it then reads beyond their end.
void reorder_step_counts(job_record_t& job, const MergedNodes& nodes) noexcept {
  if (job.step_list == nullptr) return;
  for (ListWalk<step_record_t> steps(job.step_list); const auto* step = steps.next();) {
    if (step->state < JOB_RUNNING || step->gres_list_alloc == nullptr) continue;
    for (ListWalk<gres_state_t> all(step->gres_list_alloc); const auto* entry = all.next();)
      reorder(static_cast<gres_step_state_t*>(entry->gres_data)->gres_cnt_node_alloc, nodes.in_to);
  }
}

}  // namespace

bool gres_can_merge(const job_record_t& from, const job_record_t& to) noexcept {
  if (has_shared_gres(from.gres_list_alloc) || has_shared_gres(to.gres_list_alloc)) return false;
  if (!has_element_per_node(from.gres_list_alloc, from.job_resrcs->nhosts) ||
      !has_element_per_node(to.gres_list_alloc, to.job_resrcs->nhosts))
    return false;
  if (from.gres_list_alloc == nullptr) return true;
  for (ListWalk<gres_state_t> all(from.gres_list_alloc); const auto* entry = all.next();)
    if (entry_like(to.gres_list_alloc, *entry) == nullptr) return false;
  return true;
}

void merge_gres(job_record_t& from, job_record_t& to, const MergedNodes& nodes) noexcept {
  reorder_step_counts(to, nodes);
  if (to.gres_list_alloc != nullptr)
    for (ListWalk<gres_state_t> all(to.gres_list_alloc); const auto* entry = all.next();)
      reorder(state_of(*entry), nodes.in_to);
  if (from.gres_list_alloc != nullptr)
    for (ListWalk<gres_state_t> all(from.gres_list_alloc); const auto* entry = all.next();) {
      gres_state_t* const same = entry_like(to.gres_list_alloc, *entry);
      reorder(state_of(*entry), nodes.in_from);
      if (same != nullptr) add(state_of(*same), state_of(*entry), nodes.size());
    }
  FREE_NULL_LIST(from.gres_list_alloc);
  FREE_NULL_LIST(from.gres_list_req);
  rebuild_request_arrays(to);
  raise_request(to);
  release::describe_gres(from);
  release::describe_gres(to);
}

}  // namespace rubato
