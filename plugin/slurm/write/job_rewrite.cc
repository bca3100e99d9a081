// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/job_rewrite.h"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

#include "lib/base/log.h"
#include "lib/hints/task_variables.h"
#include "plugin/slurm/read/job_request.h"
#include "plugin/slurm/read/job_view.h"
#include "plugin/slurm/read/kept_request.h"
#include "plugin/slurm/read/records.h"
#include "plugin/slurm/release/differences.h"
#include "plugin/slurm/write/job_variables.h"
#include "plugin/slurm/write/resize_facts.h"
#include "plugin/slurm/write/set_text.h"

namespace rubato {

namespace {

// An unset field is 0 in a record and NO_VAL in slurmctld's validation.
template <typename Number>
Number said(Number value, Number unsaid) {
  return value == 0 ? unsaid : value;
}

/// How Slurm reads a request.
struct Parsed {
  int code = SLURM_SUCCESS;
  bool as_written = true;  ///< it derives no other numbers than these
  std::uint32_t tasks = 0;
  std::uint32_t min_nodes = 0;
  std::uint32_t max_nodes = 0;

  [[nodiscard]] bool good() const { return code == SLURM_SUCCESS && as_written; }
};

std::string trouble_of(const Parsed& parsed) {
  if (parsed.code != SLURM_SUCCESS) return slurm_strerror(parsed.code);
  return fmt::format("Slurm reads it as {} tasks on {} to {} nodes", parsed.tasks, parsed.min_nodes,
                     parsed.max_nodes);
}

// Parses a request as slurmctld does at submit (job_mgr.c, _job_create). `list` must be null.
Parsed parse_gres(const job_record_t& job, list_t*& list) noexcept {
  const job_details_t& details = *job.details;
  release::DerivedRequest derived{
      .tasks = said<std::uint32_t>(details.num_tasks, NO_VAL),
      .min_cpus = details.min_cpus,
      .min_nodes = details.min_nodes,
      .max_nodes = said<std::uint32_t>(details.max_nodes, NO_VAL),
      .tasks_per_node = said<std::uint16_t>(details.ntasks_per_node, NO_VAL16),
      .tasks_per_socket = NO_VAL16,
      .sockets = NO_VAL16,
      .cpus_per_task = details.orig_cpus_per_task,
      .tasks_per_tres = said<std::uint16_t>(details.ntasks_per_tres, NO_VAL16)};
  const int rc = release::parse_gres(job, derived, list);
  const auto [tasks, min_nodes, max_nodes] =
      std::tuple(derived.tasks, derived.min_nodes, derived.max_nodes);
  // Validation derives some fields from others. If it derives other values, Slurm reads the request
  // differently than at_size().
  const bool as_written = said<std::uint32_t>(details.num_tasks, tasks) == tasks &&
                          details.min_nodes == min_nodes &&
                          said<std::uint32_t>(details.max_nodes, max_nodes) == max_nodes;
  return {.code = rc,
          .as_written = as_written,
          .tasks = tasks,
          .min_nodes = min_nodes,
          .max_nodes = max_nodes};
}

// Sets the counts and texts for association and QOS limits (job_mgr.c, _job_create and
// _update_job).
void count_tres(job_record_t& job, part_record_t& part) noexcept {
  const job_details_t& details = *job.details;
  std::uint64_t* const count = job.tres_req_cnt;
  assoc_mgr_lock_t locks = {};
  locks.tres = READ_LOCK;
  assoc_mgr_lock(&locks);
  for (int i = TRES_ARRAY_TOTAL_CNT; i < slurmctld_tres_cnt; ++i)
    if (xstrcmp(assoc_mgr_tres_array[i]->type, "gres") == 0) count[i] = 0;
  count[TRES_ARRAY_NODE] = details.min_nodes;
  count[TRES_ARRAY_CPU] = details.min_cpus;
  release::count_gres(job.gres_list_req, details.min_nodes, count);
  count[TRES_ARRAY_MEM] = job_get_tres_mem(
      nullptr, details.pn_min_memory, details.min_cpus, details.min_nodes, &part, job.gres_list_req,
      (job.bit_flags & JOB_MEM_SET) != 0, job_get_sockets_per_node(&job), details.num_tasks);
  count[TRES_ARRAY_BILLING] = static_cast<std::uint64_t>(
      assoc_mgr_tres_weighted(count, part.billing_weights, slurm_conf.priority_flags, true));
  set_job_tres_req_str(&job, true);
  assoc_mgr_unlock(&locks);
  // slurmctld keeps the figure of the last start (job_mgr.c, calc_job_billable_tres).
  job.billable_tres = static_cast<double>(NO_VAL);
}

/// `request` in the form that request_of() reads back from a record in `part`.
Request in_partition(Request request, const part_record_t& part) {
  request.min_nodes = std::max(request.min_nodes, static_cast<int>(part.min_nodes));
  if (part.max_nodes < NO_VAL16) {
    const auto limit = static_cast<int>(part.max_nodes);
    request.max_nodes = request.max_nodes == 0 ? limit : std::min(request.max_nodes, limit);
  }
  request.cores_per_node = std::max(request.cores_per_node, 1);
  return request;
}

std::string difference(const Request& planned, const Request& found) {
  return fmt::format(
      "it reads back as {}+{} GPUs, {} to {} nodes, {} tasks, {} CPUs, {} MiB a GPU, {} MiB a "
      "node, "
      "not as {}+{}, {} to {}, {}, {}, {}, {}",
      found.gpus, found.gpus_per_node, found.min_nodes, found.max_nodes, found.tasks, found.cores,
      found.memory_per_gpu, found.memory_per_node, planned.gpus, planned.gpus_per_node,
      planned.min_nodes, planned.max_nodes, planned.tasks, planned.cores, planned.memory_per_gpu,
      planned.memory_per_node);
}

void forget_kept(job_record_t& job) noexcept {
  drop_variables(
      job, [](std::string_view name) { return name == kKeptRequest || is_sbatch_variable(name); });
}

void write_texts(job_record_t& job, const RequestFields& fields) noexcept {
  set_text(job.tres_per_job, fields.per_job);
  set_text(job.tres_per_node, fields.per_node);
  set_text(job.tres_per_task, fields.per_task);
  set_text(job.mem_per_tres, fields.memory_per_gpu);
  for (char* text : {job.tres_per_job, job.tres_per_node, job.tres_per_task, job.mem_per_tres})
    release::spell_gres(text);
}

/// Writes `fields` permanently. If Slurm rejects them, the record gets `before` again, which it
/// had. Only Slurm's own memory is used.
Parsed write_request(job_record_t& job, part_record_t& part, const RequestFields& fields,
                     const RequestFields& before) noexcept {
  write_texts(job, fields);
  set_numbers(job, fields);
  list_t* parsed = nullptr;
  const Parsed read = parse_gres(job, parsed);
  if (!read.good()) {
    FREE_NULL_LIST(parsed);
    write_texts(job, before);
    set_numbers(job, before);
    return read;
  }
  FREE_NULL_LIST(job.gres_list_req);
  FREE_NULL_LIST(job.gres_list_req_accum);
  job.gres_list_req = parsed;
  count_tres(job, part);
  job.node_cnt_wag = job.total_nodes = 0;  // from the last start, and shown as NumNodes
  last_job_update = time(nullptr);
  return read;
}

}  // namespace

/// Old values of all fields that a rewrite changes; saved pointers keep texts and lists alive.
struct RewrittenRequest::Saved {
  RequestFields fields;
  char* per_job = nullptr;
  char* per_node = nullptr;
  char* per_task = nullptr;
  char* memory_per_gpu = nullptr;
  list_t* gres = nullptr;
  list_t* gres_sum = nullptr;
  std::vector<std::uint64_t> tres;
  char* tres_text = nullptr;
  char* tres_shown = nullptr;
  // Fields that a refused start leaves set for the attempted size (node_scheduler.c, select_nodes).
  std::uint32_t total_cpus = 0;
  std::uint32_t cpu_cnt = 0;
  std::uint32_t node_cnt_wag = 0;
  double billable_tres = 0;
  // For keep(), which can then not fail.
  RequestFields changed;             ///< as rewritten
  std::vector<std::string> entries;  ///< environment of a start at the new size
};

RewrittenRequest::RewrittenRequest(job_record_t& job, part_record_t& part, bool put_back)
    : job_(job),
      part_(part),
      put_back_(put_back),
      whole_array_(job.array_recs != nullptr),
      saved_(std::make_unique<Saved>()) {
  Saved& saved = *saved_;
  // What needs memory comes first: no destructor runs if it fails here.
  saved.fields = request_fields(job);
  saved.tres.assign(job.tres_req_cnt, job.tres_req_cnt + slurmctld_tres_cnt);
  saved.per_job = std::exchange(job.tres_per_job, nullptr);
  saved.per_node = std::exchange(job.tres_per_node, nullptr);
  saved.per_task = std::exchange(job.tres_per_task, nullptr);
  saved.memory_per_gpu = std::exchange(job.mem_per_tres, nullptr);
  saved.gres = std::exchange(job.gres_list_req, nullptr);
  saved.gres_sum = std::exchange(job.gres_list_req_accum, nullptr);
  saved.tres_text = std::exchange(job.tres_req_str, nullptr);
  saved.tres_shown = std::exchange(job.tres_fmt_req_str, nullptr);
  saved.total_cpus = job.total_cpus;
  saved.cpu_cnt = job.cpu_cnt;
  saved.node_cnt_wag = job.node_cnt_wag;
  saved.billable_tres = job.billable_tres;
}

Result<std::unique_ptr<RewrittenRequest>> RewrittenRequest::make(
    job_record_t& job, part_record_t& part, const Job& asked, const Job& planned, bool put_back) {
  if (const char* why = why_size_is_bound(job)) return fail(why);
  const MiB whole_memory = asked.request.whole_memory ? asked.request.memory_per_node : 0;
  if (request_of(job, part, whole_memory) != asked.request)
    return fail("its request changed after the scheduling round");
  std::unique_ptr<RewrittenRequest> out(new RewrittenRequest(job, part, put_back));
  if (const auto rc = out->write(asked, planned); !rc) return tl::unexpected(rc.error());
  return out;
}

Result<void> RewrittenRequest::write(const Job& asked, const Job& planned) {
  const RequestFields fields = fields_at(saved_->fields, asked.request, planned.request);
  write_texts(job_, fields);
  set_numbers(job_, fields);
  if (const Parsed parsed = parse_gres(job_, job_.gres_list_req); !parsed.good())
    return fail(trouble_of(parsed));
  count_tres(job_, part_);
  saved_->changed = request_fields(job_);
  saved_->entries = entries_of({{kKeptRequest, to_text(saved_->fields)}});
  auto sbatch = entries_of(sbatch_variables(saved_->fields, saved_->changed));
  for (std::string& entry : sbatch) saved_->entries.push_back(std::move(entry));
  Request wanted = in_partition(planned.request, part_);
  if (asked.request.gpu_type.empty()) wanted.gpu_type.clear();  // bound only in the parsed request
  const MiB whole_memory = wanted.whole_memory ? wanted.memory_per_node : 0;
  const Request found = request_of(job_, part_, whole_memory);
  wanted.threads = found.threads;  // Slurm counts threads itself, sometimes from the CPUs of a task
  if (found != wanted) return fail(difference(wanted, found));
  return {};
}

RewrittenRequest::~RewrittenRequest() {
  if (saved_ == nullptr || !put_back_) return;
  restore_rest();
  put_back();
}

void RewrittenRequest::put_back() noexcept {
  Saved& saved = *saved_;
  const auto swap_text = [](char*& now, char* before) {
    xfree(now);
    now = before;
  };
  swap_text(job_.tres_per_job, saved.per_job);
  swap_text(job_.tres_per_node, saved.per_node);
  swap_text(job_.tres_per_task, saved.per_task);
  swap_text(job_.mem_per_tres, saved.memory_per_gpu);
  swap_text(job_.tres_req_str, saved.tres_text);
  swap_text(job_.tres_fmt_req_str, saved.tres_shown);
  FREE_NULL_LIST(job_.gres_list_req);
  job_.gres_list_req = saved.gres;
  FREE_NULL_LIST(job_.gres_list_req_accum);
  job_.gres_list_req_accum = saved.gres_sum;
  std::copy(saved.tres.begin(), saved.tres.end(), job_.tres_req_cnt);
  set_numbers(job_, saved.fields);
  job_.total_cpus = saved.total_cpus;
  job_.cpu_cnt = saved.cpu_cnt;
  job_.node_cnt_wag = saved.node_cnt_wag;
  job_.billable_tres = saved.billable_tres;
  saved_.reset();
}

void RewrittenRequest::keep() noexcept {
  restore_rest();
  forget_kept(job_);
  add_entries(job_, saved_->entries);
  Saved& saved = *saved_;
  for (char** text : {&saved.per_job, &saved.per_node, &saved.per_task, &saved.memory_per_gpu,
                      &saved.tres_text, &saved.tres_shown})
    xfree(*text);
  FREE_NULL_LIST(saved.gres);
  FREE_NULL_LIST(saved.gres_sum);
  saved_.reset();
}

// Only if this start split the array: the owner may have changed other tasks.
void RewrittenRequest::restore_rest() noexcept {
  if (!whole_array_) return;
  job_record_t* rest = find_job_record(job_.array_job_id);
  if (rest == nullptr || rest == &job_ || !IS_JOB_PENDING(rest) || rest->details == nullptr ||
      rest->array_recs == nullptr)
    return;
  if (has_request(*rest, saved_->fields)) return;
  const Parsed parsed = write_request(*rest, part_, saved_->fields, saved_->changed);
  if (!parsed.good())
    log_failure("JobId=%u: the other tasks of its array keep its size: %s", job_.job_id,
                slurm_strerror(parsed.code));
}

bool restore_request(job_record_t& job) {
  if (!owes_request(job) || job.part_ptr == nullptr) return false;
  const std::optional<RequestFields> kept = kept_request(job);
  const RequestFields before = request_fields(job);
  const Parsed parsed = write_request(job, *job.part_ptr, *kept, before);
  if (!parsed.good()) {
    // It is kept: a GPU type that gres.conf lost may come back. Until then the job waits.
    static std::set<JobId> said;  // under slurmctld's job write lock
    if (said.insert(job.job_id).second)
      log().error("JobId={}: its original request cannot be restored, so it waits: {}", job.job_id,
                  trouble_of(parsed));
    return false;
  }
  forget_kept(job);
  log().info("JobId={}: original request restored", job.job_id);
  return true;
}

void keep_request(job_record_t& job) {
  if (kept_request(job)) return;
  add_entries(job, entries_of({{kKeptRequest, to_text(request_fields(job))}}));
}

bool repair_record(job_record_t& job) {
  end_wait_without_slurmdbd(job);
  if (keeps_resize_time(job)) job.resize_time = 0;
  return restore_request(job);
}

void repair_records(const std::vector<JobId>& jobs) {
  for (const JobId id : jobs)
    if (job_record_t* job = find_job_record(id); job != nullptr) (void)repair_record(*job);
}

}  // namespace rubato
