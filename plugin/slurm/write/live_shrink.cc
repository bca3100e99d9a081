// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/live_shrink.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "lib/base/log.h"
#include "plugin/slurm/stock/controller.h"
#include "plugin/slurm/write/job_description.h"
#include "plugin/slurm/write/resize_facts.h"
#include "plugin/slurm/write/set_text.h"

namespace rubato {

namespace {

std::string hosts_of(const std::vector<int>& nodes, const job_record_t& job) {
  bitstr_t* bits = bit_alloc(bit_size(job.node_bitmap));
  for (const int node : nodes) bit_set(bits, node);
  std::string hosts = take_text(bitmap2node_name(bits));
  FREE_NULL_BITMAP(bits);
  return hosts;
}

int update_nodes(const job_record_t& job, const std::string& hosts) {
  const JobDescription update = new_job_description();
  update->job_id = job.job_id;
  update->req_nodes = xstrdup(hosts.c_str());
  return update_as_slurm_user(*update);
}

}  // namespace

Result<void> shrink_job(const JobKey& key, const std::vector<int>& keep, bool repair) {
  job_record_t* job = find_job_record(key.id);
  if (job == nullptr || job->details == nullptr || job->details->submit_time != key.submit)
    return fail("it has ended");
  std::vector<int> kept = keep;
  std::ranges::sort(kept);
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  ResizeFacts facts = resize_facts(*job);
  if (std::string why = why_not_shrink(facts, kept); !why.empty()) return fail(std::move(why));
  const std::string before = job->nodes != nullptr ? job->nodes : "";
  const std::string hosts = hosts_of(kept, *job);
  const std::string spelled =
      other_spelling(hosts, node_record_table_ptr[kept.front()]->name,
                     job->details->req_nodes != nullptr ? job->details->req_nodes : "");
  if (repair) end_wait_without_slurmdbd(*job);
  const int code = update_nodes(*job, spelled);
  if (repair) end_wait_without_slurmdbd(*job);
  facts = resize_facts(*job);
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
