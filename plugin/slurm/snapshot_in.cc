// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/snapshot_in.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "plugin/slurm/blocks.h"
#include "plugin/slurm/job_view.h"
#include "plugin/slurm/node_view.h"
#include "plugin/slurm/release.h"

namespace rubato {

namespace {

std::string text(const char* words) { return words != nullptr ? words : ""; }

std::string_view view(const char* words) { return words != nullptr ? words : std::string_view(); }

struct BitmapFree {
  void operator()(bitstr_t* bits) const { bit_free(bits); }
};
using Bitmap = std::unique_ptr<bitstr_t, BitmapFree>;

// Jobs that agree in all of this may use the same nodes.
using ClassKey =
    std::tuple<const part_record_t*, std::string_view, std::string_view, std::string_view,
               const void*, std::uint32_t, std::uint32_t, std::string_view, std::uint32_t>;

struct Sets {
  int now = -1;
  int later = -1;
  bool reservation_closed = false;
};

class Builder {
 public:
  Builder(const Config& config, bool may_write) : config_(config), may_write_(may_write) {
    any_reservation_ = resv_list != nullptr && list_count(resv_list) > 0;
    preemption_ = slurm_preemption_enabled();
  }

  void cluster() {
    snapshot_.cluster = text(slurm_conf.cluster_name);
    snapshot_.slurm_version = kSlurmRelease;
    snapshot_.taken = time(nullptr);
    snapshot_.nodes = read_nodes(index_);
  }

  void partitions();
  void running();
  void pending(const std::vector<QueueEntry>& queue, const std::map<JobId, StockPlan>& stock);
  void waiting();
  Snapshot take() { return std::move(snapshot_); }

 private:
  int set_index(const bitstr_t* bitmap) {
    NodeSet set = index_.set_of(bitmap);
    const auto [at, added] =
        set_indices_.try_emplace(set, static_cast<int>(snapshot_.node_sets.size()));
    if (added) snapshot_.node_sets.push_back(std::move(set));
    return at->second;
  }

  Sets sets_of(const QueueEntry& entry);
  Sets find_sets(const QueueEntry& entry);
  bool apply_reservations(job_record_t& copy, bitstr_t* nodes);
  bool may_preempt(const QueueEntry& entry);
  MiB whole_memory(const part_record_t* part) {
    const auto [at, fresh] = whole_memory_.try_emplace(part, 0);
    if (fresh) at->second = whole_memory_of(*part);
    return at->second;
  }
  Job common(const job_record_t& job, const part_record_t& part);
  Job pending_job(const QueueEntry& entry);

  const Config& config_;
  bool may_write_;
  bool any_reservation_ = false;
  bool preemption_ = false;
  NodeIndex index_;
  Snapshot snapshot_;
  std::map<NodeSet, int> set_indices_;
  std::map<ClassKey, Sets> classes_;
  std::map<std::tuple<std::uint32_t, const part_record_t*>, bool> preempts_;
  std::map<const part_record_t*, MiB> whole_memory_;
};

void Builder::partitions() {
  ListIterator i = list_iterator_create(part_list);
  while (const auto* part = static_cast<part_record_t*>(list_next(i)))
    snapshot_.partitions.push_back({.name = text(part->name),
                                    .tier = part->priority_tier,
                                    .managed = config_.manages(part->name),
                                    .node_set = set_index(part->node_bitmap)});
  list_iterator_destroy(i);
  std::sort(snapshot_.partitions.begin(), snapshot_.partitions.end(),
            [](const Partition& a, const Partition& b) { return a.name < b.name; });
}

Job Builder::common(const job_record_t& job, const part_record_t& part) {
  Job out;
  out.key = {job.job_id, job.details != nullptr ? job.details->submit_time : 0};
  out.array_id = job.array_job_id;
  out.label = label_of(job);
  out.name = text(job.name);
  // The cache of slurmctld: no look-up in a directory service under its locks more than once.
  out.user =
      job.user_name != nullptr ? text(job.user_name) : text(uid_to_string_cached(job.user_id));
  out.account = text(job.account);
  out.qos = job.qos_ptr != nullptr ? text(job.qos_ptr->name) : "";
  out.partition = text(part.name);
  out.batch = job.batch_flag != 0;
  out.het = job.het_job_id != 0;
  out.tier = part.priority_tier;
  out.priority = job.priority;
  out.time_limit = time_limit_of(job, part);
  return out;
}

void Builder::running() {
  std::vector<Job> jobs;
  ListIterator i = list_iterator_create(job_list);
  while (const auto* job = static_cast<job_record_t*>(list_next(i))) {
    if ((!IS_JOB_RUNNING(job) && !IS_JOB_SUSPENDED(job)) || job->part_ptr == nullptr ||
        job->details == nullptr)
      continue;
    Job out = common(*job, *job->part_ptr);
    out.state = JobState::kRunning;
    out.managed = why_unmanaged(*job, *job->part_ptr, config_) == nullptr;
    out.start = job->start_time;
    // end_time follows scontrol update TimeLimit= and suspension.
    const bool bounded = out.time_limit < kForever && !IS_JOB_SUSPENDED(job);
    out.end_limit = bounded ? job->end_time : kForever;
    out.allocation = allocation_of(*job, index_);
    take_allocation(out.allocation, snapshot_.nodes);
    jobs.push_back(std::move(out));
  }
  list_iterator_destroy(i);
  std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.key < b.key; });
  std::move(jobs.begin(), jobs.end(), std::back_inserter(snapshot_.jobs));
}

// Takes from `nodes` what Slurm's reservations keep from the job; false if its own is not open.
bool Builder::apply_reservations(job_record_t& copy, bitstr_t* nodes) {
  if (!any_reservation_) return copy.resv_name == nullptr;
  const time_t now = time(nullptr);
  if (copy.resv_name != nullptr) {
    // job_test_resv() would look the reservation up anew and note it in the job, or move a
    // recurring one on in time: a matter for slurmctld, which does so at its next cycle.
    const slurmctld_resv_t* own = copy.resv_ptr;
    if (own == nullptr || own->start_time > now || own->end_time <= now) return false;
    copy.resv_id = own->resv_id;
  }
  time_t when = now;
  bitstr_t* open = nullptr;
  bitstr_t* excluded_cores = nullptr;
  bool overlap = false;
  const int rc = job_test_resv(&copy, &when, false, &open, &excluded_cores, &overlap, false);
  if (open != nullptr) bit_and(nodes, open);
  FREE_NULL_BITMAP(open);
  FREE_NULL_BITMAP(excluded_cores);
  return rc == SLURM_SUCCESS;
}

Sets Builder::find_sets(const QueueEntry& entry) {
  // A copy, so that nothing of the job changes: the filters read feature_list_use, which is the
  // scheduler's to set, and job_test_resv notes what it found in the job.
  job_record_t job = *entry.job;
  struct job_details details = *entry.job->details;
  job.details = &details;
  job.part_ptr = entry.part;
  details.features_use = entry.use_prefer ? details.prefer : details.features;
  details.feature_list_use = entry.use_prefer ? details.prefer_list : details.feature_list;
  if (entry.reservation != nullptr) {
    job.resv_ptr = entry.reservation;
    job.resv_name = entry.reservation->name;
    job.resv_id = entry.reservation->resv_id;
  }

  Sets sets;
  Bitmap later(bit_copy(entry.part->node_bitmap));
  if (details.exc_node_bitmap != nullptr) bit_and_not(later.get(), details.exc_node_bitmap);
  // Named nodes are all of the job's nodes unless it asks for more of them (-w n1 -N2); then only
  // Slurm can complete the set, and the plan is a guess that Slurm may turn down.
  if (details.req_node_bitmap != nullptr &&
      bit_set_count(details.req_node_bitmap) >= static_cast<int>(details.min_nodes))
    bit_and(later.get(), details.req_node_bitmap);
  if (details.feature_list_use != nullptr) (void)job_req_node_filter(&job, later.get(), true);
  if (job.resv_ptr != nullptr && job.resv_ptr->node_bitmap != nullptr)
    bit_and(later.get(), job.resv_ptr->node_bitmap);
  Bitmap now(bit_copy(later.get()));
  sets.reservation_closed = !apply_reservations(job, now.get());
  filter_by_node_owner(&job, now.get());
  filter_by_node_mcs(&job, slurm_mcs_get_select(&job), now.get());
  sets.now = set_index(now.get());
  sets.later = set_index(later.get());
  return sets;
}

Sets Builder::sets_of(const QueueEntry& entry) {
  const job_record_t& job = *entry.job;
  const struct job_details& details = *job.details;
  const bool prefer = entry.use_prefer;
  // Node owners and MCS labels depend on the user, a reservation's window on the time limit.
  const ClassKey key{entry.part,
                     view(prefer ? details.prefer : details.features),
                     view(details.exc_nodes),
                     view(details.req_nodes),
                     entry.reservation != nullptr ? static_cast<const void*>(entry.reservation)
                                                  : static_cast<const void*>(job.resv_ptr),
                     job.user_id,
                     any_reservation_ ? job.time_limit : 0,
                     view(job.mcs_label),
                     details.req_node_bitmap != nullptr ? details.min_nodes : 0};
  const auto at = classes_.find(key);
  if (at != classes_.end()) return at->second;
  return classes_.emplace(key, find_sets(entry)).first->second;
}

bool Builder::may_preempt(const QueueEntry& entry) {
  if (!preemption_) return false;
  // What a job may preempt follows from its QOS (preempt/qos) or its partition
  // (preempt/partition_prio).
  const auto key = std::tuple(entry.job->qos_id, static_cast<const part_record_t*>(entry.part));
  const auto at = preempts_.find(key);
  if (at != preempts_.end()) return at->second;
  job_record_t job = *entry.job;
  job.part_ptr = entry.part;
  List candidates = slurm_find_preemptable_jobs(&job);
  const bool any = candidates != nullptr && list_count(candidates) > 0;
  FREE_NULL_LIST(candidates);
  preempts_.emplace(key, any);
  return any;
}

int startable_tasks(const job_record_t& job) {
  const job_array_struct_t* array = job.array_recs;
  if (array == nullptr || job.array_task_id != NO_VAL) return 1;
  std::uint32_t tasks = array->task_cnt;
  if (array->max_run_tasks != 0)
    tasks = std::min(tasks,
                     array->max_run_tasks - std::min(array->max_run_tasks, array->tot_run_tasks));
  constexpr std::uint32_t kTasksOfARound = 64;  // the next round starts more
  return static_cast<int>(std::clamp<std::uint32_t>(tasks, 1, kTasksOfARound));
}

Job Builder::pending_job(const QueueEntry& entry) {
  job_record_t& job = *entry.job;
  Job out = common(job, *entry.part);
  if (entry.reservation != nullptr)
    out.reservation = text(entry.reservation->name);
  else
    out.reservation = text(job.resv_name);
  const char* unmanaged = why_unmanaged(job, *entry.part, config_);
  out.managed = unmanaged == nullptr;
  if (!out.managed) out.block_text = unmanaged;
  out.priority = entry.priority;
  out.eligible = job.details->begin_time != 0 ? job.details->begin_time : out.key.submit;
  out.request = request_of(job, *entry.part, whole_memory(entry.part));
  out.tasks = startable_tasks(job);
  out.preempting = job.preempt_in_progress;
  out.may_preempt = may_preempt(entry);
  const Sets sets = sets_of(entry);
  out.node_set = sets.now;
  out.later_set = sets.later;
  const BlockFound block = find_block(job, *entry.part, sets.reservation_closed, may_write_);
  out.block = block.kind;
  if (block.kind != Block::kNone) out.block_text = block.words;
  return out;
}

void Builder::pending(const std::vector<QueueEntry>& queue,
                      const std::map<JobId, StockPlan>& stock) {
  int rank = 0;
  snapshot_.jobs.reserve(queue.size() + 64);
  for (const QueueEntry& entry : queue) {
    if (entry.job->details == nullptr || entry.part->node_bitmap == nullptr) continue;
    Job job = pending_job(entry);
    job.rank = rank++;
    const auto planned = stock.find(job.key.id);
    if (!job.managed && planned != stock.end()) {
      bitstr_t* nodes = nullptr;
      job.stock_start = planned->second.start;
      if (node_name2bitmap(const_cast<char*>(planned->second.nodes.c_str()), true, &nodes) ==
          SLURM_SUCCESS)
        job.stock_nodes = index_.set_of(nodes);
      FREE_NULL_BITMAP(nodes);
    }
    snapshot_.jobs.push_back(std::move(job));
  }
}

// Pending jobs that the queue leaves out: held, dependent, too early, at an array's limit. Nothing
// is decided for them, but people ask.
void Builder::waiting() {
  std::set<JobId> queued;
  for (const Job& job : snapshot_.jobs) queued.insert(job.key.id);
  int rank = static_cast<int>(snapshot_.jobs.size());
  ListIterator i = list_iterator_create(job_list);
  while (const auto* job = static_cast<job_record_t*>(list_next(i))) {
    if (!IS_JOB_PENDING(job) || job->part_ptr == nullptr || job->details == nullptr ||
        queued.contains(job->job_id))
      continue;
    Job out = common(*job, *job->part_ptr);
    out.managed = why_unmanaged(*job, *job->part_ptr, config_) == nullptr;
    out.rank = rank++;
    out.eligible = std::max<Seconds>(job->details->begin_time, out.key.submit);
    out.request = request_of(*job, *job->part_ptr, whole_memory(job->part_ptr));
    out.block = IS_JOB_COMPLETING(job) ? Block::kOther : block_of_reason(*job);
    if (out.block == Block::kNone) out.block = Block::kOther;
    out.block_text = IS_JOB_COMPLETING(job) ? "its last run is completing" : words_of_reason(*job);
    snapshot_.jobs.push_back(std::move(out));
  }
  list_iterator_destroy(i);
}

}  // namespace

void SnapshotReader::refresh_stock_plans(const std::vector<QueueEntry>& queue,
                                         const Config& config) {
  if (slurmctld_diag_stats.bf_active != 0) return;
  stock_plans_.clear();
  for (const QueueEntry& entry : queue) {
    const job_record_t& job = *entry.job;
    if (job.start_time == 0 || job.sched_nodes == nullptr) continue;
    if (why_unmanaged(job, *entry.part, config) == nullptr) continue;
    stock_plans_[job.job_id] = {.start = job.start_time, .nodes = job.sched_nodes};
  }
}

Snapshot SnapshotReader::read(const Config& config, bool may_write) {
  const std::vector<QueueEntry> queue = may_write ? build_queue() : peek_queue();
  refresh_stock_plans(queue, config);
  Builder builder(config, may_write);
  builder.cluster();
  builder.partitions();
  builder.pending(queue, stock_plans_);
  builder.waiting();
  builder.running();
  return builder.take();
}

}  // namespace rubato
