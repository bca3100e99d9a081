// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/lost_node.h"

#include <algorithm>

#include "plugin/slurm/read/gres_arrays.h"
#include "plugin/slurm/release/differences.h"
#include "plugin/slurm/release/lists.h"

namespace rubato {

namespace {

void cut(bitstr_t*& bits, int first, int count) noexcept {
  const auto size = static_cast<int>(bit_size(bits));
  bitstr_t* shorter = bit_alloc(size - count);
  for (int i = 0; i + count < size; ++i)
    if (bit_test(bits, i < first ? i : i + count)) bit_set(shorter, i);
  FREE_NULL_BITMAP(bits);
  bits = shorter;
}

void free_arrays(gres_job_state_t& request) noexcept {
  for (std::uint32_t i = 0; i < request.node_cnt; ++i) {
    if (request.gres_bit_alloc != nullptr) FREE_NULL_BITMAP(request.gres_bit_alloc[i]);
    if (request.gres_bit_step_alloc != nullptr) FREE_NULL_BITMAP(request.gres_bit_step_alloc[i]);
  }
  xfree(request.gres_bit_alloc);
  xfree(request.gres_bit_step_alloc);
  xfree(request.gres_cnt_node_alloc);
  xfree(request.gres_cnt_step_alloc);
}

// With null in its place, a restarted slurmctld would take as many as the job asked for per node.
bitstr_t* empty_bitmap(int node, std::uint32_t plugin) noexcept {
  const gres_node_state_t* state = gres_of_node(*node_record_table_ptr[node], plugin);
  const bool has_files = state != nullptr && state->gres_bit_alloc != nullptr;
  return has_files ? bit_alloc(bit_size(state->gres_bit_alloc)) : nullptr;
}

void add_bits(bitstr_t*& sum, bitstr_t* more) noexcept {
  if (more == nullptr) return;
  if (sum == nullptr)
    sum = bit_copy(more);
  else if (bit_size(sum) == bit_size(more))
    bit_or(sum, more);
}

// `entry` is one of gres_list_req, for which gres_list_alloc has an element per node.
void rebuild(gres_state_t& entry, const job_record_t& job) noexcept {
  auto& request = *static_cast<gres_job_state_t*>(entry.gres_data);
  const std::uint32_t nodes = job.job_resrcs->nhosts;
  auto** bits = static_cast<bitstr_t**>(xcalloc(nodes, sizeof(bitstr_t*)));
  auto* counts = static_cast<std::uint64_t*>(xcalloc(nodes, sizeof(std::uint64_t)));
  std::uint64_t total = 0;
  for (ListWalk<gres_state_t> all(job.gres_list_alloc); auto* other = all.next();) {
    if (!is_allocated_for(*other, entry)) continue;
    const auto& allocated = *static_cast<gres_job_state_t*>(other->gres_data);
    for (std::uint32_t i = 0; i < nodes; ++i) {
      if (allocated.gres_bit_alloc != nullptr) add_bits(bits[i], allocated.gres_bit_alloc[i]);
      if (allocated.gres_cnt_node_alloc == nullptr) continue;
      counts[i] += allocated.gres_cnt_node_alloc[i];
      total += allocated.gres_cnt_node_alloc[i];
    }
  }
  std::uint32_t at = 0;
  for (int node = 0; at < nodes && node < bit_size(job.job_resrcs->node_bitmap); ++node) {
    if (!bit_test(job.job_resrcs->node_bitmap, node)) continue;
    if (bits[at] == nullptr && counts[at] == 0) bits[at] = empty_bitmap(node, entry.plugin_id);
    ++at;
  }
  free_arrays(request);
  request.node_cnt = nodes;
  request.gres_bit_alloc = bits;
  request.gres_cnt_node_alloc = counts;
  request.total_gres = total;
}

// Slurm 22.05 alone: later releases move the bits after this.
void cut_bits(gres_step_state_t& step, std::uint32_t offset) noexcept {
  if (step.gres_bit_alloc != nullptr) {
    FREE_NULL_BITMAP(step.gres_bit_alloc[offset]);
    std::move(step.gres_bit_alloc + offset + 1, step.gres_bit_alloc + step.node_cnt,
              step.gres_bit_alloc + offset);
    step.gres_bit_alloc[step.node_cnt - 1] = nullptr;
  }
  if (step.node_in_use != nullptr && bit_size(step.node_in_use) == step.node_cnt)
    cut(step.node_in_use, static_cast<int>(offset), 1);
  --step.node_cnt;
}

void cut_gres(gres_step_state_t& step, std::uint32_t offset, std::uint32_t nodes) noexcept {
  // From 24.11 on, node_cnt stays until all nodes of an update are removed.
  const bool follows = release::kMovesStepBits ? step.node_cnt >= nodes : step.node_cnt == nodes;
  if (!follows || nodes < 2) return;
  if (step.gres_cnt_node_alloc != nullptr) {
    std::uint64_t* const counts = step.gres_cnt_node_alloc;
    std::move(counts + offset + 1, counts + step.node_cnt, counts + offset);
    counts[step.node_cnt - 1] = 0;
  }
  if constexpr (!release::kMovesStepBits) cut_bits(step, offset);
}

}  // namespace

LostNode::LostNode(const job_record_t& job, const node_record_t& node) noexcept {
  job_resources_t* const held = job.job_resrcs;
  if (held == nullptr || held->node_bitmap == nullptr || held->core_bitmap == nullptr) return;
  if (!bit_test(held->node_bitmap, static_cast<int>(node.index))) return;
  offset_ = 0;
  for (int i = 0; i < static_cast<int>(node.index); ++i)
    if (bit_test(held->node_bitmap, i)) ++offset_;
  nodes_ = held->nhosts;
  all_cores_ = static_cast<int>(bit_size(held->core_bitmap));
  std::uint16_t sockets = 0;
  std::uint16_t cores = 0;
  const auto offset = static_cast<std::uint32_t>(offset_);
  if (get_job_resources_cnt(held, offset, &sockets, &cores) != SLURM_SUCCESS) return;
  first_core_ = get_job_resources_offset(held, offset, 0, 0);
  cores_ = sockets * cores;
}

bool LostNode::removed(const job_record_t& job) const noexcept {
  return offset_ >= 0 && job.job_resrcs != nullptr && job.job_resrcs->nhosts + 1 == nodes_;
}

void LostNode::repair(job_record_t& job) const noexcept {
  if (!removed(job)) return;
  rebuild_request_arrays(job);
  if (job.step_list == nullptr) return;
  for (ListWalk<step_record_t> steps(job.step_list); auto* step = steps.next();) {
    if (step->state < JOB_RUNNING) continue;
    if (step->gres_list_alloc != nullptr) {
      for (ListWalk<gres_state_t> all(step->gres_list_alloc); auto* entry = all.next();)
        cut_gres(*static_cast<gres_step_state_t*>(entry->gres_data),
                 static_cast<std::uint32_t>(offset_), nodes_);
    }
    if (release::kMovesStepBits || step->core_bitmap_job == nullptr || first_core_ < 0) continue;
    if (bit_size(step->core_bitmap_job) == all_cores_)
      cut(step->core_bitmap_job, first_core_, cores_);
  }
}

void rebuild_request_arrays(job_record_t& job) noexcept {
  if (job.gres_list_req == nullptr || job.gres_list_alloc == nullptr) return;
  if (job.job_resrcs == nullptr || job.job_resrcs->nhosts == 0) return;
  for (ListWalk<gres_state_t> all(job.gres_list_req); auto* entry = all.next();)
    if (has_arrays_for(*entry, job)) rebuild(*entry, job);
}

}  // namespace rubato
