// SPDX-License-Identifier: GPL-2.0-or-later
// A job description that slurmctld passes to the submit hook: the parts of a submission and of an
// update that Rubato reads, and the few fields it changes.
#pragma once

#include <cstdint>
#include <string>

#include "lib/core/job.h"
#include "lib/hints/facts.h"
#include "lib/hints/passed.h"

struct job_descriptor;
struct job_record;

namespace rubato {

/// A submission. Valid only during the call of slurmctld that created it.
class Submission {
 public:
  explicit Submission(job_descriptor& job) : job_(job) {}

  /// "" without a comment.
  [[nodiscard]] std::string comment() const;
  void set_comment(const std::string& text);
  /// Hints outside the comment (passed_by()).
  [[nodiscard]] PassedHints passed() const;
  /// The request, without cluster_types. JobRequeue of slurm.conf is the default of `requeue`.
  [[nodiscard]] RequestFacts facts() const;
  /// The uid that will own the job if `uid` submits it: root may submit for others.
  [[nodiscard]] std::uint32_t owner(std::uint32_t uid) const;
  /// True if the submitter wants an immediate answer (salloc -I, srun -I).
  [[nodiscard]] bool immediate() const;

 private:
  job_descriptor& job_;
};

/// A job, reduced to what messages depend on.
struct MessageTarget {
  JobKey key;
  std::uint32_t owner = 0;
  bool running = false;
  bool suspended = false;
  int restarts = 0;
};

/// An update of a job by the user `uid`. Valid only during the call of slurmctld that created it.
class JobUpdate {
 public:
  JobUpdate(job_descriptor& update, job_record& job, std::uint32_t uid)
      : update_(update), job_(job), uid_(uid) {}

  [[nodiscard]] std::uint32_t uid() const { return uid_; }
  [[nodiscard]] JobId job_id() const;
  /// The new comment; null if the update sets none.
  [[nodiscard]] const char* comment() const;
  /// Removes the comment from the update, and the partition kMessagePartition: the job keeps its
  /// current ones.
  void drop_message();
  /// The comment after the update; "" without one.
  [[nodiscard]] std::string comment_after() const;
  /// True if the update changes the request of a pending job (touches_request()).
  [[nodiscard]] bool changes_request() const;
  /// False for a record without details, which is about to be deleted.
  [[nodiscard]] bool has_details() const;
  /// True if slurmctld lets `uid` update the job.
  [[nodiscard]] bool permitted() const;
  /// The request after the update, without cluster_types. Needs has_details().
  [[nodiscard]] RequestFacts facts_after() const;
  /// Finds the single job that the update names. False for a set of array tasks, or if the job is
  /// gone.
  [[nodiscard]] bool find_target(MessageTarget& target) const;
  /// Calls restore_request() for the job: an update then applies to the submitted request.
  void restore_request();

 private:
  job_descriptor& update_;
  job_record& job_;
  std::uint32_t uid_;
};

/// True if `uid` is root or SlurmUser.
[[nodiscard]] bool is_slurm_user(std::uint32_t uid);

}  // namespace rubato
