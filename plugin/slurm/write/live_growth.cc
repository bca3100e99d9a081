// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/live_growth.h"

#include <fmt/format.h>

#include "lib/base/log.h"
#include "plugin/slurm/read/gres_arrays.h"
#include "plugin/slurm/release/differences.h"
#include "plugin/slurm/release/lists.h"
#include "plugin/slurm/stock/controller.h"
#include "plugin/slurm/write/job_description.h"
#include "plugin/slurm/write/job_limits.h"
#include "plugin/slurm/write/job_rewrite.h"
#include "plugin/slurm/write/resize_facts.h"
#include "plugin/slurm/write/set_text.h"

namespace rubato {

namespace {

constexpr const char* kHelperName = "rubato-grow";
// Until Rubato starts it, in the same hold of the locks: slurmctld must not start it at its submit.
constexpr time_t kNotByItself = 60 * 60;
constexpr std::uint32_t kLeastMinutes = 1;

job_record_t* record_of(const JobKey& key) {
  job_record_t* const job = find_job_record(key.id);
  const bool same = job != nullptr && job->details != nullptr && job->part_ptr != nullptr &&
                    job->details->submit_time == key.submit;
  return same ? job : nullptr;
}

// Slurm names a type only where gres.conf does.
bool has_type(const node_record_t& node, const std::string& type) {
  if (node.gres_list == nullptr) return false;
  bool found = false;
  for (ListWalk<gres_state_t> all(node.gres_list); const auto* entry = all.next();) {
    if (xstrcmp(entry->gres_name, "gpu") != 0) continue;
    const auto& state = *static_cast<gres_node_state_t*>(entry->gres_data);
    for (int i = 0; i < state.type_cnt; ++i)
      found = found || (state.type_name[i] != nullptr && type == state.type_name[i]);
  }
  return found;
}

std::uint32_t minutes_left(const job_record_t& job) {
  if (job.time_limit == INFINITE || job.time_limit == NO_VAL) return job.time_limit;
  const time_t left = job.end_time - time(nullptr);
  return std::max(kLeastMinutes, static_cast<std::uint32_t>(std::max<time_t>(left, 0) / 60 + 1));
}

// Which user, and under which limits.
void set_owner(const job_record_t& job, job_desc_msg_t& request) {
  request.user_id = job.user_id;
  request.group_id = job.group_id;
  request.account = xstrdup(job.account);
  request.partition = xstrdup(job.part_ptr->name);
  request.reservation = xstrdup(job.resv_name);
  request.wckey = xstrdup(job.wckey);
  if (job.qos_ptr != nullptr) request.qos = xstrdup(job.qos_ptr->name);
}

void set_resources(const AddedShare& share, const std::string& gpu_type, job_desc_msg_t& request) {
  const node_record_t& node = *node_record_table_ptr[share.node];
  const int threads = std::max<int>(node.tpc, 1);
  request.req_nodes = xstrdup(node.name);
  request.min_nodes = request.max_nodes = request.num_tasks = 1;
  request.min_cpus = static_cast<std::uint32_t>(std::max(share.cores, 1) * threads);
  request.cpus_per_task = static_cast<std::uint16_t>(request.min_cpus);
  if (share.memory > 0) request.pn_min_memory = static_cast<std::uint64_t>(share.memory);
  if (share.gpus == 0) return;
  const std::string type = has_type(node, gpu_type) ? gpu_type + ":" : "";
  request.tres_per_node = xstrdup(fmt::format("gres:gpu:{}{}", type, share.gpus).c_str());
  release::spell_gres(request.tres_per_node);
}

}  // namespace

Result<void> can_grow(const JobKey& key, const std::string& gpu_type) {
  const job_record_t* const job = record_of(key);
  if (job == nullptr) return fail("it has ended");
  ResizeFacts facts = resize_facts(*job);
  // Slurm does not name the type of GPUs that gres.conf gives none.
  const bool untyped = facts.gpu_types.size() == 1 && facts.gpu_types.front().empty();
  if (std::string why = why_not_grow(facts, untyped ? "" : gpu_type); !why.empty())
    return fail(std::move(why));
  return {};
}

Result<Helper> submit_helper(const JobKey& grown, const AddedShare& share,
                             const std::string& gpu_type) {
  const job_record_t* const job = record_of(grown);
  if (job == nullptr) return fail("it has ended");
  const JobDescription request = new_job_description();
  request->name = xstrdup(kHelperName);
  request->work_dir = xstrdup("/");
  request->begin_time = time(nullptr) + kNotByItself;
  request->time_limit = minutes_left(*job);
  set_owner(*job, *request);
  set_resources(share, gpu_type, *request);
  job_record_t* helper = nullptr;
  char* text = nullptr;
  const int code = job_allocate(request.get(), 0, 0, nullptr, 1, job->user_id, false, &helper,
                                &text, SLURM_PROTOCOL_VERSION);
  const std::string words = take_text(text);
  if (code != SLURM_SUCCESS && (helper == nullptr || !IS_JOB_PENDING(helper)))
    return fail(words.empty() ? slurm_strerror(code) : words);
  if (helper == nullptr || helper->details == nullptr) return fail("Slurm made no job");
  helper->details->begin_time = 0;
  return Helper{.job = {helper->job_id, helper->details->submit_time},
                .partition = job->part_ptr->name};
}

Result<void> may_hold(const JobKey& grown, const std::vector<Helper>& helpers) {
  const job_record_t* const job = record_of(grown);
  if (job == nullptr) return fail("it has ended");
  std::vector<const job_record_t*> records;
  for (const Helper& helper : helpers)
    if (const job_record_t* record = record_of(helper.job)) records.push_back(record);
  return fits_job_limits(*job, records);
}

void cancel_helper(const JobKey& helper) {
  job_record_t* const job = record_of(helper);
  if (job == nullptr || IS_JOB_FINISHED(job)) return;
  (void)job_signal(job, SIGKILL, 0, 0, false);
}

Result<void> merge_helper(const JobKey& grown, const JobKey& helper) {
  job_record_t* const to = record_of(grown);
  job_record_t* const from = record_of(helper);
  if (to == nullptr || from == nullptr || !IS_JOB_RUNNING(from)) return fail("it has ended");
  if (IS_JOB_CONFIGURING(from)) return fail("the nodes are not ready yet");
  end_wait_without_slurmdbd(*to);
  from->details->expanding_jobid = to->job_id;
  const JobDescription update = new_job_description();
  update->job_id = from->job_id;
  update->min_nodes = 0;  // gives all of its nodes to the job that it expands
  const int code = update_as_slurm_user(*update);
  end_wait_without_slurmdbd(*to);
  end_wait_without_slurmdbd(*from);
  if (from->node_cnt == 0 && IS_JOB_FINISHED(from)) return {};
  return fail(code == SLURM_SUCCESS ? "no error" : slurm_strerror(code));
}

int gpus_held(const JobKey& key) {
  const job_record_t* const job = record_of(key);
  if (job == nullptr || job->gres_list_alloc == nullptr) return 0;
  std::uint64_t gpus = 0;
  for (ListWalk<gres_state_t> all(job->gres_list_alloc); const auto* entry = all.next();) {
    const auto& held = *static_cast<gres_job_state_t*>(entry->gres_data);
    if (xstrcmp(entry->gres_name, "gpu") != 0 || held.gres_cnt_node_alloc == nullptr) continue;
    for (std::uint32_t i = 0; i < held.node_cnt; ++i) gpus += held.gres_cnt_node_alloc[i];
  }
  return static_cast<int>(gpus);
}

void end_growth(const JobKey& grown) {
  job_record_t* const job = record_of(grown);
  if (job == nullptr) return;
  keep_request(*job);
  save_soon();
  log().info("JobId={} grew to {} GPUs on {}", job->job_id, gpus_held(grown),
             job->nodes != nullptr ? job->nodes : "");
}

}  // namespace rubato
