// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "plugin/slurm/read/gres_arrays.h"
#include "plugin/slurm/release/lists.h"

namespace rubato {

namespace {

using Lines = std::vector<std::string>;

// GRES of one kind on a node: how many, and which.
struct Amount {
  std::uint64_t count = 0;
  std::vector<int> ids;  // sorted; empty if the kind has no device files

  bool operator==(const Amount&) const = default;
};

std::string text_of(const Amount& amount) {
  return fmt::format("{} (IDX:{})", amount.count, fmt::join(amount.ids, ","));
}

void add(Amount& sum, std::uint64_t count, bitstr_t* bits) {
  sum.count += count;
  if (bits == nullptr) return;
  for (int i = 0; i < bit_size(bits); ++i)
    if (bit_test(bits, i)) sum.ids.push_back(i);
  std::ranges::sort(sum.ids);
}

bool is_counted(const gres_state_t& entry) { return !gres_id_shared(entry.config_flags); }

bool is_counted(const gres_state_t& entry, const gres_job_state_t& job) {
  return is_counted(entry) && job.node_cnt > 0 && job.total_gres != NO_CONSUME_VAL64;
}

// What node number `at` of the job has in these arrays.
void add_of(Amount& sum, const gres_job_state_t& job, std::uint32_t at) {
  if (at >= job.node_cnt) return;
  add(sum, job.gres_cnt_node_alloc != nullptr ? job.gres_cnt_node_alloc[at] : 0,
      job.gres_bit_alloc != nullptr ? job.gres_bit_alloc[at] : nullptr);
}

std::vector<int> nodes_of(const job_record_t& job) {
  std::vector<int> nodes;
  for (int i = 0; i < bit_size(job.job_resrcs->node_bitmap); ++i)
    if (bit_test(job.job_resrcs->node_bitmap, i)) nodes.push_back(i);
  return nodes;
}

using ByNode = std::map<std::pair<int, std::uint32_t>, Amount>;  // node, GRES plugin

void add_job(ByNode& held, const job_record_t& job, const std::vector<int>& nodes) {
  if (job.gres_list_alloc == nullptr) return;
  for (ListWalk<gres_state_t> all(job.gres_list_alloc); auto* entry = all.next();) {
    const auto& got = *static_cast<gres_job_state_t*>(entry->gres_data);
    if (!is_counted(*entry, got)) continue;
    for (std::uint32_t at = 0; at < nodes.size(); ++at)
      add_of(held[{nodes[at], entry->plugin_id}], got, at);
  }
}

void check_nodes(const ByNode& held, Lines& lines) {
  for (int i = 0; i < node_record_count; ++i) {
    const node_record_t* node = node_record_table_ptr[i];
    if (node == nullptr || node->gres_list == nullptr) continue;
    for (ListWalk<gres_state_t> all(node->gres_list); auto* entry = all.next();) {
      const auto& state = *static_cast<gres_node_state_t*>(entry->gres_data);
      if (!is_counted(*entry) || state.no_consume) continue;
      Amount taken;
      add(taken, state.gres_cnt_alloc, state.gres_bit_alloc);
      const auto found = held.find({i, entry->plugin_id});
      const Amount jobs = found != held.end() ? found->second : Amount{};
      if (taken != jobs)
        lines.push_back(fmt::format("{}: {} {} taken, its jobs hold {}", node->name,
                                    entry->gres_name, text_of(taken), text_of(jobs)));
    }
  }
}

void check_request(const job_record_t& job, const std::vector<int>& nodes, Lines& lines) {
  if (job.gres_list_req == nullptr || job.gres_list_alloc == nullptr) return;
  for (ListWalk<gres_state_t> all(job.gres_list_req); auto* entry = all.next();) {
    const auto& asked = *static_cast<gres_job_state_t*>(entry->gres_data);
    if (!is_counted(*entry, asked)) continue;
    if (asked.node_cnt != nodes.size())
      lines.push_back(fmt::format("JobId={}: the request of {} has {} nodes, not {}", job.job_id,
                                  entry->gres_name, asked.node_cnt, nodes.size()));
    for (std::uint32_t at = 0; at < nodes.size(); ++at) {
      Amount request;
      Amount got;
      add_of(request, asked, at);
      for (ListWalk<gres_state_t> others(job.gres_list_alloc); auto* other = others.next();)
        if (is_allocated_for(*other, *entry))
          add_of(got, *static_cast<gres_job_state_t*>(other->gres_data), at);
      if (request != got)
        lines.push_back(fmt::format("JobId={}: on {} the request of {} has {}, not {}", job.job_id,
                                    node_record_table_ptr[nodes[at]]->name, entry->gres_name,
                                    text_of(request), text_of(got)));
    }
  }
}

bool counts(const step_record_t& step) {
  return step.state >= JOB_RUNNING && (step.flags & SSF_OVERLAP_FORCE) == 0;
}

// A step has no GRES type after a restart of slurmctld.
const gres_step_state_t* entry_of(const step_record_t& step, const gres_state_t& entry) {
  if (step.gres_list_alloc == nullptr) return nullptr;
  const auto& got = *static_cast<gres_job_state_t*>(entry.gres_data);
  for (ListWalk<gres_state_t> all(step.gres_list_alloc); auto* other = all.next();) {
    const auto* state = static_cast<gres_step_state_t*>(other->gres_data);
    const bool typed = state->type_name != nullptr;
    if (other->plugin_id == entry.plugin_id && (!typed || state->type_id == got.type_id))
      return state;
  }
  return nullptr;
}

Amount used_by_steps(const job_record_t& job, const gres_state_t& entry, std::uint32_t at) {
  Amount used;
  for (ListWalk<step_record_t> steps(job.step_list); auto* step = steps.next();) {
    const gres_step_state_t* state = counts(*step) ? entry_of(*step, entry) : nullptr;
    if (state == nullptr || at >= state->node_cnt || state->node_in_use == nullptr) continue;
    if (!bit_test(state->node_in_use, static_cast<int>(at))) continue;
    add(used, state->gres_cnt_node_alloc != nullptr ? state->gres_cnt_node_alloc[at] : 0,
        state->gres_bit_alloc != nullptr ? state->gres_bit_alloc[at] : nullptr);
  }
  return used;
}

void check_step_sizes(const job_record_t& job, Lines& lines) {
  for (ListWalk<step_record_t> steps(job.step_list); auto* step = steps.next();) {
    if (step->state < JOB_RUNNING) continue;
    const auto label = fmt::format("JobId={} StepId={}", job.job_id, step->step_id.step_id);
    if (step->core_bitmap_job != nullptr && job.job_resrcs->core_bitmap != nullptr &&
        bit_size(step->core_bitmap_job) != bit_size(job.job_resrcs->core_bitmap))
      lines.push_back(label + ": its cores have another size than those of the job");
    if (step->gres_list_alloc == nullptr) continue;
    for (ListWalk<gres_state_t> all(step->gres_list_alloc); auto* entry = all.next();) {
      const auto& state = *static_cast<gres_step_state_t*>(entry->gres_data);
      if (state.node_cnt != 0 && state.node_cnt != job.job_resrcs->nhosts)
        lines.push_back(fmt::format("{}: {} nodes of {}, not {}", label, state.node_cnt,
                                    entry->gres_name, job.job_resrcs->nhosts));
    }
  }
}

void check_steps(const job_record_t& job, const std::vector<int>& nodes, Lines& lines) {
  if (job.step_list == nullptr || job.gres_list_alloc == nullptr) return;
  check_step_sizes(job, lines);
  for (ListWalk<gres_state_t> all(job.gres_list_alloc); auto* entry = all.next();) {
    const auto& got = *static_cast<gres_job_state_t*>(entry->gres_data);
    if (!is_counted(*entry, got)) continue;
    for (std::uint32_t at = 0; at < nodes.size() && at < got.node_cnt; ++at) {
      Amount said;
      add(said, got.gres_cnt_step_alloc != nullptr ? got.gres_cnt_step_alloc[at] : 0,
          got.gres_bit_step_alloc != nullptr ? got.gres_bit_step_alloc[at] : nullptr);
      const Amount used = used_by_steps(job, *entry, at);
      if (said != used)
        lines.push_back(fmt::format("JobId={}: on {} its steps use {} {}, the job counts {}",
                                    job.job_id, node_record_table_ptr[nodes[at]]->name,
                                    entry->gres_name, text_of(used), text_of(said)));
    }
  }
}

}  // namespace

std::vector<std::string> gres_contradictions() {
  Lines lines;
  ByNode held;
  for (ListWalk<job_record_t> jobs(job_list); auto* job = jobs.next();) {
    if (!holds_nodes(*job)) continue;
    const std::vector<int> nodes = nodes_of(*job);
    add_job(held, *job, nodes);
    check_request(*job, nodes, lines);
    check_steps(*job, nodes, lines);
  }
  check_nodes(held, lines);
  return lines;
}

}  // namespace rubato
