// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/job_submit/hints.h"

#include <fmt/format.h>

#include <cstring>
#include <string>

#include "lib/hints/comment.h"
#include "lib/hints/message.h"
#include "lib/hints/read.h"
#include "plugin/job_submit/cluster_types.h"
#include "plugin/slurm/read/job_desc_view.h"

namespace rubato {

namespace {

// Slurm refuses a longer comment (job_mgr.c, _test_job_desc_fields).
constexpr std::size_t kMaxCommentLength = 1024;

std::string text(const char* words) { return words != nullptr ? words : ""; }

Result<ResolvedHints> resolve(const Hints& said, const RequestFacts& facts, Spelling spelling,
                              const Config& config) {
  const JobTypeConfig* type = said.job_type ? config.job_type(*said.job_type) : nullptr;
  HintRequest request = hint_request(facts);
  if (said.gpu_types) request.cluster_types = cluster_gpu_types();
  return resolve_hints(said, type != nullptr ? type->hints : Hints{}, request, spelling);
}

// Only with hints: any other comment is between the user and Slurm.
Result<void> check_length(const std::string& comment) {
  if (comment.size() <= kMaxCommentLength) return {};
  return fail(
      fmt::format("comment: {} characters with the hints, and Slurm keeps {}; make the text before "
                  "them {} shorter",
                  comment.size(), kMaxCommentLength, comment.size() - kMaxCommentLength));
}

// As slurmctld decides (job_mgr.c, _update_job), in the same order: cheap answers first.
bool may_update(const job_record_t& job, const job_desc_msg_t& update, std::uint32_t uid) {
  if (uid == job.user_id || validate_operator(uid)) return true;
  return assoc_mgr_is_user_acct_coord(acct_db_conn, uid, job.account) &&
         (update.account == nullptr ||
          assoc_mgr_is_user_acct_coord(acct_db_conn, uid, update.account));
}

}  // namespace

Result<Checked> check_submit(job_desc_msg_t& job, const Config& config) {
  const PassedHints passed = passed_by(job);
  const std::string comment = text(job.comment);
  if (is_message(comment)) {
    return fail(
        "comment: rubato! begins a message of a running job; hints begin with rubato: and stand "
        "behind a blank");
  }
  if (passed.empty() && !split_comment(comment).hints) return Checked::kNothing;

  const auto said = parse_hints({passed.options, passed.environment, comment});
  if (!said) return tl::unexpected(said.error());
  const Spelling spelling = passed.options.empty() ? Spelling::kComment : Spelling::kOption;
  const RequestFacts facts = facts_of(job, slurm_conf.job_requeue != 0);
  const auto resolved = resolve(*said, facts, spelling, config);
  if (!resolved) return tl::unexpected(resolved.error());
  const std::string recorded = passed.empty() ? comment : with_hints(comment, *said);
  if (const auto fits = check_length(recorded); !fits) return tl::unexpected(fits.error());
  if (!passed.empty()) {
    xfree(job.comment);
    job.comment = xstrdup(recorded.c_str());
  }
  return Checked::kGood;
}

Result<Checked> check_update(const job_desc_msg_t& update, const job_record_t& job,
                             std::uint32_t uid, const Config& config) {
  const job_record_t* const record = &job;  // the macro takes a pointer
  const bool request = IS_JOB_PENDING(record) && touches_request(update);
  if (update.comment == nullptr && !request) return Checked::kNothing;
  if (job.details == nullptr) return Checked::kNothing;
  const std::string comment = text(update.comment != nullptr ? update.comment : job.comment);
  if (!split_comment(comment).hints || !may_update(job, update, uid)) return Checked::kNothing;

  const auto said = parse_comment(comment);
  if (!said) return tl::unexpected(said.error());
  if (update.comment != nullptr) {
    if (const auto fits = check_length(comment); !fits) return tl::unexpected(fits.error());
  }
  RequestFacts facts = facts_of(job);
  if (request) apply_update(update, facts);
  const auto resolved = resolve(*said, facts, Spelling::kComment, config);
  if (!resolved) return tl::unexpected(resolved.error());
  return Checked::kGood;
}

}  // namespace rubato
