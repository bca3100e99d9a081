// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/admin_comment.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "lib/json/annotation.h"
#include "lib/json/job_summary.h"
#include "plugin/slurm/release/lists.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

namespace {

constexpr const char* kDatabasePlugin = "accounting_storage/slurmdbd";

/// A change for the accounting.
struct Accounted {
  JobKey job;
  std::uint32_t array_id = 0;   ///< 0: not of an array
  std::uint32_t task = NO_VAL;  ///< of an array
  std::string text;
};

/// What the changes need of slurm.conf, copied under the lock.
struct Accounting {
  std::string cluster;
  uid_t slurm_user = 0;
  bool database = false;
};

Accounting accounting() {
  const char* const type = slurm_conf.accounting_storage_type;
  return {.cluster = slurm_conf.cluster_name != nullptr ? slurm_conf.cluster_name : "",
          .slurm_user = slurm_conf.slurm_user_id,
          .database = type != nullptr && std::string_view(type) == kDatabasePlugin};
}

/// Nothing if the job stays as it is.
std::optional<Accounted> apply_one(const StartRecord& record, const std::string& line) {
  job_record_t* job = find_job_record(record.job.id);
  if (job == nullptr || job->details == nullptr || job->details->submit_time != record.job.submit ||
      !IS_JOB_FINISHED(job))
    return std::nullopt;
  const char* const shown = job->admin_comment != nullptr ? job->admin_comment : "";
  std::string wanted = with_annotation_text(shown, line);
  if (wanted == shown) return std::nullopt;
  xfree(job->admin_comment);
  job->admin_comment = xstrdup(wanted.c_str());
  return Accounted{record.job, job->array_job_id, job->array_task_id, std::move(wanted)};
}

/// Hands the change to the thread that sends to slurmdbd.
void account(const Accounted& change, const Accounting& conf) {
  // slurmdbd puts the text between quotes as it is (as_mysql_job.c, as_mysql_modify_job()).
  if (change.text.find_first_of("'\\") != std::string::npos) return;
  std::string cluster = conf.cluster;
  std::string text = change.text;
  slurm_selected_step_t step{};
  // The id of a task may be that of its array, which stands for all tasks.
  const bool task = change.array_id != 0 && change.task != NO_VAL;
  step.array_task_id = task ? change.task : NO_VAL;
  step.het_job_offset = NO_VAL;
  step.step_id.job_id = task ? change.array_id : change.job.id;
  step.step_id.step_id = NO_VAL;
  step.step_id.step_het_comp = NO_VAL;
  const OwnedList steps(list_create(nullptr));
  list_append(steps.get(), &step);
  const OwnedList clusters(list_create(nullptr));
  list_append(clusters.get(), cluster.data());
  slurmdb_job_cond_t which{};
  which.step_list = steps.get();
  which.cluster_list = clusters.get();
  which.usage_start = change.job.submit;
  which.db_flags = SLURMDB_JOB_FLAG_NOTSET;  // 0 would leave out jobs that a scheduler started
  which.flags = JOBCOND_FLAG_NO_WAIT | JOBCOND_FLAG_NO_DEFAULT_USAGE;
  slurmdb_job_rec_t record{};
  record.admin_comment = text.data();
  record.derived_ec = NO_VAL;
  const OwnedList answer(acct_storage_g_modify_job(acct_db_conn, conf.slurm_user, &which, &record));
}

}  // namespace

void write_admin_comments(const std::vector<std::shared_ptr<const StartRecord>>& ended,
                          const Config& config, LockTimes& times) {
  std::vector<std::pair<const StartRecord*, std::string>> lines;
  for (const auto& record : ended) {
    std::string line = record != nullptr ? summary_line(*record) : "";
    if (!line.empty()) lines.emplace_back(record.get(), std::move(line));
  }
  std::vector<Accounted> changes;
  Accounting conf;
  std::size_t next = 0;
  while (next < lines.size()) {
    const HeldLocks locks(LockKind::kAct, LockUse::kWrite, times,
                          !config.off(Mechanism::kServerCount));
    if (!locks.held()) break;
    conf = accounting();
    const std::size_t before = changes.size();
    do {
      const auto& [record, line] = lines[next++];
      if (auto change = apply_one(*record, line)) changes.push_back(std::move(*change));
    } while (next < lines.size() && locks.held_ms() < config.lock_slice_ms);
    if (changes.size() > before) last_job_update = time(nullptr);
  }
  if (!conf.database || conf.cluster.empty()) return;
  for (const Accounted& change : changes) account(change, conf);
}

}  // namespace rubato
