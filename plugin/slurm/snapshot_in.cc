// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/snapshot_in.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "plugin/slurm/blocks.h"
#include "plugin/slurm/controller.h"
#include "plugin/slurm/job_rewrite.h"
#include "plugin/slurm/job_view.h"
#include "plugin/slurm/node_view.h"
#include "plugin/slurm/release.h"

namespace rubato {

namespace {

std::string text(const char* words) { return words != nullptr ? words : ""; }

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

bool is_running(const job_record_t& job) {
  const job_record_t* record = &job;
  return (IS_JOB_RUNNING(record) || IS_JOB_SUSPENDED(record)) && job.part_ptr != nullptr &&
         job.details != nullptr;
}

Job common(const job_record_t& job, const part_record_t& part, const Config& config,
           JobHints& hints) {
  Job out;
  out.key = {job.job_id, job.details->submit_time};
  hints.note(job, out.key);
  out.uid = job.user_id;
  out.restarts = job.restart_cnt;
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
  out.time_limit = time_limit_of(job, part);
  const char* unmanaged = why_unmanaged(job, part, config);
  out.managed = unmanaged == nullptr;
  if (!out.managed && !is_running(job)) out.block_text = unmanaged;
  return out;
}

bool is_pending(const job_record_t& job) {
  const job_record_t* record = &job;
  return IS_JOB_PENDING(record) && job.part_ptr != nullptr && job.details != nullptr;
}

}  // namespace

namespace {

// The records of thousands of jobs lie all over the memory, and a look spends most of its time
// waiting for them: so they are asked for some jobs before their turn.
constexpr std::size_t kRecordsAhead = 16;
constexpr std::size_t kDetailsAhead = 8;

void fetch_record(const job_record_t& job) {
  __builtin_prefetch(&job.details);
  __builtin_prefetch(&job.gres_list_req);
  __builtin_prefetch(&job.job_id);
  __builtin_prefetch(&job.job_state);
  __builtin_prefetch(&job.part_ptr);
  __builtin_prefetch(&job.priority);
  __builtin_prefetch(&job.time_limit);
}

void fetch_details(const job_record_t& job) {
  const struct job_details* details = job.details;
  if (details == nullptr) return;
  __builtin_prefetch(&details->begin_time);
  __builtin_prefetch(&details->depend_list);
  __builtin_prefetch(&details->exc_node_bitmap);
  __builtin_prefetch(&details->max_nodes);
  __builtin_prefetch(&details->pn_min_memory);
  __builtin_prefetch(&details->submit_time);
  __builtin_prefetch(&details->whole_node);
}

}  // namespace

// One look at slurmctld's records, under its locks.
class Look {
 public:
  Look(SnapshotReader& reader, const Config& config, bool may_write, bool full)
      : reader_(reader), config_(config), may_write_(may_write), full_(full) {}

  void run();

 private:
  void cluster();
  void partitions();
  void walk();
  void give_back(job_record_t& job);
  [[nodiscard]] std::vector<QueueEntry> light_queue();
  [[nodiscard]] std::vector<QueueEntry> full_queue();
  void running(job_record_t& job);
  [[nodiscard]] NodeClasses::Sets could_run(job_record_t& job);
  void pending(const QueueEntry& entry);
  void waiting(job_record_t& job);
  [[nodiscard]] Job read_pending(const QueueEntry& entry);
  [[nodiscard]] std::pair<const Job*, int> base_of(const QueueEntry& entry, bool queued);
  [[nodiscard]] bool may_preempt(const QueueEntry& entry);
  [[nodiscard]] const StockPlan* stock_plan(const job_record_t& job);
  Request asked_of(const job_record_t& job, const part_record_t& part) {
    Request request = request_of(job, part, whole_memory(&part));
    if (config_.off("threads")) request.threads = 1;
    return request;
  }
  MiB whole_memory(const part_record_t* part) {
    const auto [at, fresh] = whole_memory_.try_emplace(part, 0);
    if (fresh) at->second = whole_memory_of(*part);
    return at->second;
  }

  SnapshotReader& reader_;
  const Config& config_;
  bool may_write_;
  bool full_;
  bool preemption_ = slurm_preemption_enabled();
  bool backfilling_ = slurmctld_diag_stats.bf_active != 0;
  struct Pending {
    job_record_t* job;
    CachedJob* known;  // null: nothing, or it has changed
  };
  std::vector<Pending> pending_;  // in the order of the job list
  std::vector<job_record_t*> running_;
  std::map<std::tuple<std::uint32_t, const part_record_t*>, bool> preempts_;
  std::map<const part_record_t*, MiB> whole_memory_;
};

void Look::cluster() {
  Snapshot& snapshot = reader_.snapshot_;
  snapshot = {};
  snapshot.cluster = text(slurm_conf.cluster_name);
  snapshot.slurm_version = kSlurmRelease;
  snapshot.taken = time(nullptr);
  snapshot.private_data = private_data();
  NodeIndex index;
  snapshot.nodes = read_nodes(index);
  if (index.of_slurm != reader_.index_.of_slurm) {
    // What is kept of jobs names nodes by these indices.
    reader_.cache_.clear();
    for (auto& [id, plan] : reader_.stock_plans_) plan.current = false;
    full_ = true;
  }
  reader_.index_ = std::move(index);
  if (reader_.classes_.begin(reader_.index_, snapshot.node_sets)) reader_.cache_.forget_classes();
}

void Look::partitions() {
  std::vector<Partition>& partitions = reader_.snapshot_.partitions;
  ListIterator i = list_iterator_create(part_list);
  while (const auto* part = static_cast<part_record_t*>(list_next(i)))
    partitions.push_back({.name = text(part->name),
                          .tier = part->priority_tier,
                          .managed = config_.manages(part->name),
                          .node_set = reader_.classes_.set_index(part->node_bitmap)});
  list_iterator_destroy(i);
  std::sort(partitions.begin(), partitions.end(),
            [](const Partition& a, const Partition& b) { return a.name < b.name; });
}

void Look::walk() {
  std::vector<job_record_t*> jobs;
  jobs.reserve(static_cast<std::size_t>(list_count(job_list)));
  const auto collect = [](void* job, void* into) {
    static_cast<std::vector<job_record_t*>*>(into)->push_back(static_cast<job_record_t*>(job));
    return 0;
  };
  (void)list_for_each_ro(job_list, collect, &jobs);
  pending_.reserve(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (i + kRecordsAhead < jobs.size()) fetch_record(*jobs[i + kRecordsAhead]);
    if (i + kDetailsAhead < jobs.size()) fetch_details(*jobs[i + kDetailsAhead]);
    if (is_running(*jobs[i])) {
      running_.push_back(jobs[i]);
    } else if (is_pending(*jobs[i])) {
      if (owes_request(*jobs[i])) give_back(*jobs[i]);
      pending_.push_back({jobs[i], full_ ? nullptr : reader_.cache_.find(*jobs[i])});
    }
  }
}

// Requeued, and not by Rubato: what it was submitted with is asked for again.
void Look::give_back(job_record_t& job) {
  if (config_.off("restore")) return;
  if (may_write_)
    (void)restore_request(job);
  else
    reader_.owed_.push_back(job.job_id);
}

std::vector<QueueEntry> Look::full_queue() { return may_write_ ? build_queue() : peek_queue(); }

// Jobs that were in the queue and did not change are in it still; the others are tested as
// schedule() does.
std::vector<QueueEntry> Look::light_queue() {
  const time_t now = time(nullptr);
  std::vector<std::pair<int, QueueEntry>> known;
  std::vector<QueueEntry> changed;
  for (const auto& [job, cached] : pending_) {
    if (cached == nullptr || !cached->plain || cached->rank < 0) {
      if (job->priority != 0) append_entries(*job, may_write_, changed);
    } else if (still_queued(*job, now)) {
      if (may_write_) job->preempt_in_progress = false;
      known.emplace_back(cached->rank, QueueEntry{.job = job,
                                                  .part = job->part_ptr,
                                                  .reservation = nullptr,
                                                  .priority = job->priority,
                                                  .array_task_id = job->array_task_id,
                                                  .use_prefer = false,
                                                  .known = cached});
    }
  }
  std::sort(known.begin(), known.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<QueueEntry> entries;
  entries.reserve(known.size() + changed.size());
  for (const auto& [rank, entry] : known) entries.push_back(entry);
  entries.insert(entries.end(), changed.begin(), changed.end());
  sort_entries(entries, known.size());
  return entries;
}

void Look::running(job_record_t& job) {
  CachedJob* cached = reader_.cache_.find(job);
  const bool fresh = cached == nullptr;
  if (full_) cached = nullptr;
  if (cached == nullptr) {
    cached = &reader_.cache_.renew(job);
    cached->job = common(job, *job.part_ptr, config_, reader_.hints_);
    cached->job.state = JobState::kRunning;
    cached->job.start = job.start_time;
    cached->job.eligible = std::max<Seconds>(job.details->begin_time, cached->job.key.submit);
    cached->job.allocation = allocation_of(job, reader_.index_);
    cached->job.request = asked_of(job, *job.part_ptr);
  }
  reader_.cache_.see(*cached);
  take_allocation(cached->job.allocation, reader_.snapshot_.nodes);
  // end_time follows scontrol update TimeLimit= and suspension.
  const bool bounded = cached->job.time_limit < kForever && !IS_JOB_SUSPENDED((&job));
  JobLine line;
  line.job = &cached->job;
  line.priority = job.priority;
  line.priority_set = job.direct_set_prio != 0;
  line.priority_set = job.direct_set_prio != 0;
  line.end_limit = bounded ? job.end_time : kForever;
  if (fresh) line.sets = could_run(job);
  reader_.lines_.push_back(std::move(line));
}

// Of a job that Slurm's queue does not hold.
QueueEntry outside_queue(job_record_t& job) {
  return {.job = &job,
          .part = job.part_ptr,
          .reservation = nullptr,
          .priority = job.priority,
          .array_task_id = job.array_task_id,
          .use_prefer = false,
          .known = nullptr};
}

// Worked out once, when it is first seen running: what is recorded of the run needs it.
NodeClasses::Sets Look::could_run(job_record_t& job) {
  const QueueEntry entry = outside_queue(job);
  return reader_.classes_.sets_of(reader_.classes_.class_of(entry), entry);
}

bool Look::may_preempt(const QueueEntry& entry) {
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

Job Look::read_pending(const QueueEntry& entry) {
  const job_record_t& job = *entry.job;
  Job out = common(job, *entry.part, config_, reader_.hints_);
  out.reservation =
      entry.reservation != nullptr ? text(entry.reservation->name) : text(job.resv_name);
  out.request = asked_of(job, *entry.part);
  out.tasks = startable_tasks(job);
  out.size_bound = text(why_size_is_bound(job));
  return out;
}

// What is known of the job of `entry`, and its class of nodes.
std::pair<const Job*, int> Look::base_of(const QueueEntry& entry, bool queued) {
  const job_record_t& job = *entry.job;
  JobCache& cache = reader_.cache_;
  CachedJob* cached = entry.known;
  if (cached == nullptr && (!is_plain(job) || entry.reservation != nullptr)) {
    reader_.fresh_.push_back(read_pending(entry));
    return {&reader_.fresh_.back(), queued ? reader_.classes_.class_of(entry) : -1};
  }
  if (cached == nullptr && !full_) cached = cache.find(job);
  if (cached == nullptr) {
    cached = &cache.renew(job);
    cached->job = read_pending(entry);
  }
  cache.see(*cached);
  if (queued && cached->class_id < 0) cached->class_id = reader_.classes_.class_of(entry);
  cached->rank = queued ? static_cast<int>(reader_.lines_.size()) : -1;
  return {&cached->job, cached->class_id};
}

// Of unmanaged jobs. While a backfill cycle is on, its last complete plan stands.
const StockPlan* Look::stock_plan(const job_record_t& job) {
  auto& plans = reader_.stock_plans_;
  if (!backfilling_) {
    if (job.start_time == 0 || job.sched_nodes == nullptr) {
      plans.erase(job.job_id);
      return nullptr;
    }
    StockPlan& plan = plans[job.job_id];
    plan.start = job.start_time;
    if (plan.names != job.sched_nodes) {
      plan.names = job.sched_nodes;
      plan.current = false;
    }
  }
  const auto at = plans.find(job.job_id);
  if (at == plans.end()) return nullptr;
  StockPlan& plan = at->second;
  if (!plan.current) {
    bitstr_t* nodes = nullptr;
    plan.nodes.clear();
    if (node_name2bitmap(plan.names.data(), true, &nodes) == SLURM_SUCCESS)
      plan.nodes = reader_.index_.set_of(nodes);
    FREE_NULL_BITMAP(nodes);
    plan.current = true;
  }
  return &plan;
}

void Look::pending(const QueueEntry& entry) {
  job_record_t& job = *entry.job;
  const auto [base, class_id] = base_of(entry, true);
  JobLine line;
  line.job = base;
  line.rank = static_cast<int>(reader_.lines_.size());
  line.priority = entry.priority;
  line.priority_set = job.direct_set_prio != 0;
  line.priority_set = job.direct_set_prio != 0;
  line.eligible = job.details->begin_time != 0 ? job.details->begin_time : base->key.submit;
  line.preempting = job.preempt_in_progress;
  line.may_preempt = may_preempt(entry);
  line.sets = reader_.classes_.sets_of(class_id, entry);
  const BlockTests tests{.reservation_closed = line.sets.reservation_closed,
                         .may_write = may_write_,
                         .licences = entry.known == nullptr || entry.known->licensed,
                         .array = entry.known == nullptr};
  BlockFound block = find_block(job, *entry.part, tests);
  line.block = block.kind;
  if (block.kind != Block::kNone) line.block_text = std::move(block.words);
  if (!base->managed) line.stock = stock_plan(job);
  reader_.lines_.push_back(std::move(line));
}

// Pending jobs that the queue leaves out: held, dependent, too early, at an array's limit. Nothing
// is decided for them, but people ask.
void Look::waiting(job_record_t& job) {
  const QueueEntry entry = outside_queue(job);
  const Job* base = base_of(entry, false).first;
  JobLine line;
  line.job = base;
  line.rank = static_cast<int>(reader_.lines_.size());
  line.priority = job.priority;
  line.priority_set = job.direct_set_prio != 0;
  line.priority_set = job.direct_set_prio != 0;
  line.eligible = std::max<Seconds>(job.details->begin_time, base->key.submit);
  const bool completing = IS_JOB_COMPLETING((&job));
  line.block = completing ? Block::kOther : block_of_reason(job);
  if (line.block == Block::kNone) line.block = Block::kOther;
  line.block_text = completing ? "its last run is completing" : words_of_reason(job);
  reader_.lines_.push_back(std::move(line));
}

void Look::run() {
  reader_.cache_.begin();
  reader_.hints_.begin(config_);
  reader_.lines_.clear();
  reader_.fresh_.clear();
  reader_.owed_.clear();
  cluster();
  partitions();
  std::vector<QueueEntry> entries;
  if (full_) entries = full_queue();
  walk();  // after the queue was built, for that may split arrays
  if (!full_) entries = light_queue();
  reader_.lines_.reserve(pending_.size() + running_.size() + 64);
  std::vector<const job_record_t*> queued;
  queued.reserve(entries.size());
  for (const QueueEntry& entry : entries) {
    queued.push_back(entry.job);
    if (is_pending(*entry.job) && entry.part->node_bitmap != nullptr) pending(entry);
  }
  std::sort(queued.begin(), queued.end());
  for (const auto& [job, known] : pending_)
    if (!std::binary_search(queued.begin(), queued.end(), job)) waiting(*job);
  std::sort(running_.begin(), running_.end(), [](const job_record_t* a, const job_record_t* b) {
    return std::tie(a->job_id, a->details->submit_time) <
           std::tie(b->job_id, b->details->submit_time);
  });
  for (job_record_t* job : running_) running(*job);
}

void SnapshotReader::gather(const Config& config, bool may_write, Depth depth) {
  const bool full = depth == Depth::kFull || !known_ || (may_write && queue_has_magnetic());
  known_ = false;
  Look(*this, config, may_write, full).run();
  known_ = true;
}

Snapshot SnapshotReader::take() {
  snapshot_.jobs.reserve(lines_.size());
  for (JobLine& line : lines_) {
    Job& job = snapshot_.jobs.emplace_back(*line.job);
    job.priority = line.priority;
    job.priority_set = line.priority_set;
    job.priority_set = line.priority_set;
    if (job.state == JobState::kRunning) {
      job.end_limit = line.end_limit;
      job.later_set = line.sets.later;
      continue;
    }
    job.rank = line.rank;
    job.eligible = line.eligible;
    job.preempting = line.preempting;
    job.may_preempt = line.may_preempt;
    job.node_set = line.sets.now;
    job.later_set = line.sets.later;
    job.block = line.block;
    if (!line.block_text.empty()) job.block_text = std::move(line.block_text);
    if (line.stock != nullptr) {
      job.stock_start = line.stock->start;
      job.stock_nodes = line.stock->nodes;
    }
  }
  lines_.clear();
  cache_.end();
  hints_.apply(snapshot_);
  std::set<JobId> planned;
  for (const Job& job : snapshot_.jobs)
    if (job.stock_start != 0) planned.insert(job.key.id);
  std::erase_if(stock_plans_, [&](const auto& one) { return !planned.contains(one.first); });
  return std::exchange(snapshot_, {});
}

}  // namespace rubato
