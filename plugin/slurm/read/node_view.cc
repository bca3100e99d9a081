// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/read/node_view.h"

#include <algorithm>
#include <bit>

#include "plugin/slurm/release/differences.h"
#include "plugin/slurm/release/lists.h"

namespace rubato {

namespace {

int threads_of(const node_record_t& node) { return std::max<int>(node.tpc, 1); }

// Scans word by word: a bitmap has one bit per node, and few are set.
template <typename Visit>
void for_each_bit(const bitstr_t* bitmap, const Visit& visit) {
  if (bitmap == nullptr) return;
  constexpr std::int64_t kWord = 64;
  static_assert(sizeof(bitstr_t) * 8 == kWord);
  const std::int64_t size = bit_size(const_cast<bitstr_t*>(bitmap));
  const bitstr_t* const words = release::words_of(bitmap);
  for (std::int64_t first = 0; first < size; first += kWord) {
    auto word = static_cast<std::uint64_t>(words[first / kWord]);
    while (word != 0) {
#ifdef SLURM_BIGENDIAN
      const int bit = std::countl_zero(word);
      word &= ~(std::uint64_t{1} << (kWord - 1 - bit));
#else
      const int bit = std::countr_zero(word);
      word &= word - 1;
#endif
      if (first + bit < size) visit(first + bit);
    }
  }
}

const gres_node_state_t* gpus_of(list_t* gres_list) {
  if (gres_list == nullptr) return nullptr;
  const auto is_gpu = [](void* state, void*) {
    return xstrcmp(static_cast<gres_state_t*>(state)->gres_name, "gpu") == 0 ? 1 : 0;
  };
  const auto* state = static_cast<gres_state_t*>(list_find_first_ro(gres_list, is_gpu, nullptr));
  return state != nullptr ? static_cast<gres_node_state_t*>(state->gres_data) : nullptr;
}

int allocated_of_type(const gres_node_state_t& gpus, const char* type, int counted) {
  // The bitmap is exact. The counter of a type may be wrong after a restart, because live
  // allocations are added again from the request (gres_ctld.c).
  if (gpus.topo_cnt == 0 || gpus.gres_bit_alloc == nullptr || gpus.topo_type_name == nullptr)
    return counted;
  int allocated = 0;
  for (int t = 0; t < gpus.topo_cnt; ++t) {
    if (gpus.topo_gres_bitmap[t] == nullptr || xstrcmp(gpus.topo_type_name[t], type) != 0) continue;
    if (bit_size(gpus.topo_gres_bitmap[t]) != bit_size(gpus.gres_bit_alloc)) return counted;
    allocated += bit_overlap(gpus.topo_gres_bitmap[t], gpus.gres_bit_alloc);
  }
  return allocated;
}

std::vector<GpuGroup> gpu_groups(const gres_node_state_t& gpus) {
  std::vector<GpuGroup> groups;
  if (gpus.type_cnt <= 1) {
    const char* type = gpus.type_cnt == 1 && gpus.type_name[0] != nullptr ? gpus.type_name[0] : "";
    const auto total = static_cast<int>(gpus.gres_cnt_avail);
    const auto held = static_cast<int>(gpus.gres_cnt_alloc);
    if (total > 0) groups.push_back({type, total, std::clamp(total - held, 0, total)});
    return groups;
  }
  for (int t = 0; t < gpus.type_cnt; ++t) {
    const char* type = gpus.type_name[t] != nullptr ? gpus.type_name[t] : "";
    const auto total = static_cast<int>(gpus.type_cnt_avail[t]);
    const int held = allocated_of_type(gpus, type, static_cast<int>(gpus.type_cnt_alloc[t]));
    if (total > 0) groups.push_back({type, total, std::clamp(total - held, 0, total)});
  }
  std::sort(groups.begin(), groups.end(),
            [](const GpuGroup& a, const GpuGroup& b) { return a.type < b.type; });
  return groups;
}

Node read_node(const node_record_t& slurm, int index) {
  Node node;
  node.name = slurm.name;
  const int threads = threads_of(slurm);
  node.cores = (slurm.cpus_efctv != 0 ? slurm.cpus_efctv : slurm.cpus) / threads;
  node.cores_free = node.cores;
  node.memory = static_cast<MiB>(slurm.real_memory) - static_cast<MiB>(slurm.mem_spec_limit);
  node.memory = std::max<MiB>(node.memory, 0);
  node.memory_free = node.memory;
  if (const gres_node_state_t* gpus = gpus_of(slurm.gres_list)) node.gpus = gpu_groups(*gpus);
  const bool available = bit_test(avail_node_bitmap, index) != 0;
  const bool completing = bit_test(cg_node_bitmap, index) != 0;
  const bool resuming = bit_test(rs_node_bitmap, index) != 0;
  node.usable = available && !completing && !resuming;
  node.coming = (available && completing) || resuming;
  node.powered_down = bit_test(release::powered_down_nodes(), index) != 0;
  // Not in the state file, so 0 until validate_node_specs() (node_mgr.c:3406).
  const node_record_t* record = &slurm;
  const bool off = IS_NODE_DOWN(record) || IS_NODE_DRAIN(record) || IS_NODE_FUTURE(record) ||
                   IS_NODE_POWERED_DOWN(record) || IS_NODE_POWERING_DOWN(record);
  node.unregistered = slurm.slurmd_start_time == 0 && !off;
  node.weight = slurm.config_ptr != nullptr ? slurm.config_ptr->weight : slurm.weight;
  return node;
}

void add_gpus(std::vector<GpuCount>& gpus, const char* type, int count) {
  const std::string name = type != nullptr ? type : "";
  const auto at =
      std::lower_bound(gpus.begin(), gpus.end(), name,
                       [](const GpuCount& g, const std::string& n) { return g.type < n; });
  if (at != gpus.end() && at->type == name)
    at->count += count;
  else
    gpus.insert(at, {name, count});
}

using ShareIndex = Index<struct NodeShareTag>;  // of the shares of one job

void read_gpus(const job_record_t& job, const std::vector<ShareIndex>& share_of_offset,
               std::vector<NodeShare>& shares) {
  if (job.gres_list_alloc == nullptr) return;
  ListWalk<gres_state_t> i(job.gres_list_alloc);
  while (auto* state = i.next()) {
    if (xstrcmp(state->gres_name, "gpu") != 0) continue;
    const auto* gpu = static_cast<gres_job_state_t*>(state->gres_data);
    if (gpu->gres_cnt_node_alloc == nullptr) continue;
    for (std::uint32_t n = 0; n < gpu->node_cnt && n < share_of_offset.size(); ++n) {
      const std::uint64_t count = gpu->gres_cnt_node_alloc[n];
      if (share_of_offset[n].valid() && count > 0 && count < NO_CONSUME_VAL64)
        add_gpus(shares[share_of_offset[n]].gpus, gpu->type_name, static_cast<int>(count));
    }
  }
}

}  // namespace

NodeSet NodeNumbers::set_of(const bitstr_t* bitmap) const {
  NodeSet set;
  for_each_bit(bitmap, [&](std::int64_t i) {
    const auto slot = static_cast<std::size_t>(i);
    if (slot < of_slurm.size() && of_slurm[slot].valid()) set.push_back(of_slurm[slot]);
  });
  return set;
}

std::vector<Node> read_nodes(NodeNumbers& index) {
  std::vector<Node> nodes;
  index.of_slurm.assign(static_cast<std::size_t>(node_record_count), NodeIndex());
  nodes.reserve(static_cast<std::size_t>(node_record_count));
  index.to_slurm.clear();
  for (int i = 0; i < node_record_count; ++i) {
    const node_record_t* slurm = node_record_table_ptr[i];
    if (slurm == nullptr || slurm->name == nullptr) continue;
    index.of_slurm[static_cast<std::size_t>(i)] = NodeIndex{nodes.size()};
    index.to_slurm.push_back(i);
    nodes.push_back(read_node(*slurm, i));
  }
  return nodes;
}

std::vector<NodeShare> allocation_of(const job_record_t& job, const NodeNumbers& index) {
  std::vector<NodeShare> shares;
  const job_resources_t* held = job.job_resrcs;
  if (held == nullptr || held->node_bitmap == nullptr) return shares;
  std::vector<ShareIndex> share_of_offset;
  std::size_t offset = 0;
  for_each_bit(held->node_bitmap, [&](std::int64_t i) {
    const std::size_t here = offset++;
    share_of_offset.emplace_back();
    const auto slot = static_cast<std::size_t>(i);
    // After a shrink, the bit stays in job_resrcs but not in the job's own bitmap.
    const bool still_held = job.node_bitmap == nullptr || bit_test(job.node_bitmap, i) != 0;
    if (slot >= index.of_slurm.size() || !index.of_slurm[slot].valid() || !still_held) return;
    NodeShare share;
    share.node = index.of_slurm[slot];
    const int threads = threads_of(*node_record_table_ptr[i]);
    if (held->cpus != nullptr) share.cores = (held->cpus[here] + threads - 1) / threads;
    if (held->memory_allocated != nullptr)
      share.memory = static_cast<MiB>(held->memory_allocated[here]);
    share_of_offset.back() = ShareIndex{shares.size()};
    shares.push_back(std::move(share));
  });
  read_gpus(job, share_of_offset, shares);
  return shares;
}

NodeIndex batch_node_of(const job_record_t& job, const std::vector<NodeShare>& shares,
                        const NodeNumbers& index) {
  if (job.batch_flag == 0 || job.batch_host == nullptr || shares.empty()) return {};
  const auto slot = static_cast<std::size_t>(node_name_get_inx(job.batch_host));
  if (slot >= index.of_slurm.size() || index.of_slurm[slot] == shares.front().node) return {};
  return index.of_slurm[slot];
}

void take_allocation(const std::vector<NodeShare>& shares, std::vector<Node>& nodes) {
  for (const NodeShare& share : shares) {
    Node& node = nodes[share.node];
    node.cores_free = std::max(0, node.cores_free - share.cores);
    node.memory_free = std::max<MiB>(0, node.memory_free - share.memory);
  }
}

}  // namespace rubato
