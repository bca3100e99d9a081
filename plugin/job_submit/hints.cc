// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/job_submit/hints.h"

#include <fmt/format.h>

#include <string>

#include "lib/hints/comment.h"
#include "lib/hints/message.h"
#include "lib/hints/read.h"
#include "lib/hints/warnings.h"
#include "plugin/slurm/read/cluster_types.h"

namespace rubato {

namespace {

// Slurm's limit for comments (job_mgr.c, _test_job_desc_fields).
constexpr std::size_t kMaxCommentLength = 1024;

Result<ResolvedHints> resolve(const Hints& said, const RequestFacts& facts, Spelling spelling,
                              const Config& config) {
  const JobTypeConfig* type = said.job_type ? config.job_type(*said.job_type) : nullptr;
  HintRequest request = hint_request(facts);
  if (said.gpu_types) request.cluster_types = cluster_gpu_types();
  return resolve_hints(said, type != nullptr ? type->hints : Hints{}, request, spelling);
}

// Only for comments with hints: Slurm checks all others.
Result<void> check_length(const std::string& comment) {
  if (comment.size() <= kMaxCommentLength) return {};
  return fail(
      fmt::format("comment: {} characters with the hints, Slurm allows {}; shorten the text before "
                  "them by {}",
                  comment.size(), kMaxCommentLength, comment.size() - kMaxCommentLength));
}

}  // namespace

Result<Checked> check_submit(Submission& job, const Config& config, std::string& warning) {
  const PassedHints passed = job.passed();
  const std::string comment = job.comment();
  if (is_message(comment)) {
    return fail(
        "comment: rubato! starts a message of a running job; hints start with rubato: after a "
        "blank");
  }
  if (passed.empty() && !split_comment(comment).hints) {
    warning = misspelt_marker(comment).value_or("");
    return Checked::kNothing;
  }

  const auto said = parse_hints({passed.options, passed.environment, comment});
  if (!said) return tl::unexpected(said.error());
  const Spelling spelling = passed.options.empty() ? Spelling::kComment : Spelling::kOption;
  const auto resolved = resolve(*said, job.facts(), spelling, config);
  if (!resolved) return tl::unexpected(resolved.error());
  const std::string recorded = passed.empty() ? comment : with_hints(comment, *said);
  if (const auto fits = check_length(recorded); !fits) return tl::unexpected(fits.error());
  if (!passed.empty()) job.set_comment(recorded);
  if (job.facts().batch) warning = signal_for_steps_only(*said).value_or("");
  return Checked::kGood;
}

Result<Checked> check_update(const JobUpdate& update, const Config& config) {
  if (update.comment() == nullptr && !update.changes_request()) return Checked::kNothing;
  if (!update.has_details()) return Checked::kNothing;
  const std::string comment = update.comment_after();
  if (!split_comment(comment).hints || !update.permitted()) return Checked::kNothing;

  const auto said = parse_comment(comment);
  if (!said) return tl::unexpected(said.error());
  if (update.comment() != nullptr) {
    if (const auto fits = check_length(comment); !fits) return tl::unexpected(fits.error());
  }
  const auto resolved = resolve(*said, update.facts_after(), Spelling::kComment, config);
  if (!resolved) return tl::unexpected(resolved.error());
  return Checked::kGood;
}

}  // namespace rubato
