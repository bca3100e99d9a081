// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/live_shrink.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "lib/base/log.h"
#include "plugin/slurm/release/differences.h"
#include "plugin/slurm/release/lists.h"
#include "plugin/slurm/stock/controller.h"
#include "plugin/slurm/write/shrink_rules.h"

namespace rubato {

namespace {

std::vector<int> indices_in(bitstr_t* nodes) {
  std::vector<int> found;
  if (nodes == nullptr) return found;
  for (int i = 0; i < bit_size(nodes); ++i)
    if (bit_test(nodes, i)) found.push_back(i);
  return found;
}

bool has_shared_gres(list_t* gres) {
  if (gres == nullptr) return false;
  bool shared = false;
  for (ListWalk<gres_state_t> entries(gres); auto* entry = entries.next();)
    shared = shared || gres_id_shared(entry->config_flags);
  return shared;
}

// 22.05 sets db_index to "being stored" after each resize, and refuses updates until slurmdbd has
// answered (job_mgr.c, job_post_resize_acctg and _update_job). Without slurmdbd no answer comes.
bool waits_without_slurmdbd(const job_record_t& job) {
  return job.db_index == NO_VAL64 && job.resize_time != 0 && !slurm_with_slurmdbd();
}

ShrinkFacts facts_of(const job_record_t& job) {
  const job_record_t* const record = &job;  // for the macros
  ShrinkFacts facts;
  facts.running = IS_JOB_RUNNING(record);
  facts.completing = IS_JOB_COMPLETING(record);
  facts.suspended = IS_JOB_SUSPENDED(record);
  facts.configuring = IS_JOB_CONFIGURING(record);
  facts.resizing = IS_JOB_RESIZING(record);
  facts.het = job.het_job_id != 0;
  facts.cron = (job.bit_flags & CRON_JOB) != 0;
  facts.stepmgr = release::has_stepmgr(job);
  facts.arbitrary = (job.details->task_dist & SLURM_DIST_STATE_BASE) == SLURM_DIST_ARBITRARY;
  facts.being_expanded = job.details->expanding_jobid != 0;
  facts.shared_gpus = has_shared_gres(job.gres_list_alloc) || has_shared_gres(job.gres_list_req);
  facts.saving = job.db_index == NO_VAL64 && !waits_without_slurmdbd(job);
  facts.shrink_allowed = permit_job_shrink();
  facts.nodes = indices_in(job.node_bitmap);
  if (job.job_resrcs != nullptr) facts.core_nodes = indices_in(job.job_resrcs->node_bitmap);
  if (job.batch_flag != 0) facts.batch_host = node_name_get_inx(job.batch_host);
  return facts;
}

std::string taken(char* text) {
  std::string out = text != nullptr ? text : "";
  xfree(text);
  return out;
}

std::string hosts_of(const std::vector<int>& nodes, const job_record_t& job) {
  bitstr_t* bits = bit_alloc(bit_size(job.node_bitmap));
  for (const int node : nodes) bit_set(bits, node);
  std::string hosts = taken(bitmap2node_name(bits));
  FREE_NULL_BITMAP(bits);
  return hosts;
}

struct FreeUpdate {
  void operator()(job_desc_msg_t* update) const { slurm_free_job_desc_msg(update); }
};

// As slurmctld's own user: the change is Rubato's, not the owner's.
int update_nodes(const job_record_t& job, const std::string& hosts) {
  const std::unique_ptr<job_desc_msg_t, FreeUpdate> update(
      static_cast<job_desc_msg_t*>(xmalloc(sizeof(job_desc_msg_t))));
  slurm_init_job_desc_msg(update.get());
  update->job_id = job.job_id;
  update->req_nodes = xstrdup(hosts.c_str());
  slurm_msg_t message;
  slurm_msg_t_init(&message);
  message.data = update.get();
  return update_job(&message, slurm_conf.slurm_user_id, false);
}

}  // namespace

Result<void> shrink_job(const JobKey& key, const std::vector<int>& keep, bool repair) {
  job_record_t* job = find_job_record(key.id);
  if (job == nullptr || job->details == nullptr || job->details->submit_time != key.submit)
    return fail("it has ended");
  std::vector<int> kept = keep;
  std::ranges::sort(kept);
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  ShrinkFacts facts = facts_of(*job);
  if (std::string why = why_not_shrink(facts, kept); !why.empty()) return fail(std::move(why));
  const std::string before = job->nodes != nullptr ? job->nodes : "";
  const std::string hosts = hosts_of(kept, *job);
  const std::string spelled =
      other_spelling(hosts, node_record_table_ptr[kept.front()]->name,
                     job->details->req_nodes != nullptr ? job->details->req_nodes : "");
  if (repair && waits_without_slurmdbd(*job)) job->db_index = 0;
  const int code = update_nodes(*job, spelled);
  if (repair && waits_without_slurmdbd(*job)) job->db_index = 0;
  facts = facts_of(*job);
  if (facts.nodes == kept && facts.core_nodes == kept) {
    save_soon();
    log().info("shrank JobId={} from {} to {}", job->job_id, before, hosts);
    return {};
  }
  const char* const answer = code == SLURM_SUCCESS ? "no error" : slurm_strerror(code);
  if (hosts_of(facts.nodes, *job) == before) return fail(answer);
  save_soon();
  return fail(fmt::format("{}; it has {} now", answer, hosts_of(facts.nodes, *job)));
}

}  // namespace rubato
