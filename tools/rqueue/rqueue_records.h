// SPDX-License-Identifier: GPL-2.0-or-later
// The document of rqueue --json, described as those of lib/json/records.h and in rqueue(1).
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "lib/json/record_description.h"
#include "tools/shared/job_facts_records.h"

namespace rubato::tools {

inline constexpr const char* kRqueueSchema = "rubato.rqueue/1";

enum class JsonFieldKind { kText, kNumber, kDuration };

struct JsonField {
  const char* field;   ///< of squeue -O
  const char* member;  ///< of the document
  JsonFieldKind kind;
  const char* note = nullptr;  ///< description of the member
};

/// squeue runs with SLURM_TIME_FORMAT=%s, so times are seconds since 1970.
inline constexpr JsonField kJsonFields[] = {
    {"jobarrayid", "label", JsonFieldKind::kText, "as squeue shows it: 12, 12_3, 12_[4-9], 12+1"},
    {"arrayjobid", "array_job_id", JsonFieldKind::kNumber},
    {"arraytaskid", "array_task_id", JsonFieldKind::kNumber},
    {"hetjobid", "het_job_id", JsonFieldKind::kNumber},
    {"cluster", "cluster", JsonFieldKind::kText},
    {"name", "name", JsonFieldKind::kText},
    {"username", "user", JsonFieldKind::kText},
    {"userid", "user_id", JsonFieldKind::kNumber},
    {"account", "account", JsonFieldKind::kText},
    {"partition", "partition", JsonFieldKind::kText},
    {"qos", "qos", JsonFieldKind::kText},
    {"state", "state", JsonFieldKind::kText, "as squeue -o %T"},
    {"reason", "reason", JsonFieldKind::kText},
    {"prioritylong", "priority", JsonFieldKind::kNumber},
    {"numnodes", "nodes", JsonFieldKind::kNumber},
    {"nodelist", "node_list", JsonFieldKind::kText},
    {"timeused", "time_used", JsonFieldKind::kDuration, "seconds"},
    {"timelimit", "time_limit", JsonFieldKind::kDuration, "seconds"},
    {"submittime", "submit", JsonFieldKind::kNumber, "seconds since 1970"},
    {"eligibletime", "eligible", JsonFieldKind::kNumber, "seconds since 1970"},
    {"starttime", "start", JsonFieldKind::kNumber, "seconds since 1970"},
    {"endtime", "end", JsonFieldKind::kNumber, "seconds since 1970"},
    {"restartcnt", "restarts", JsonFieldKind::kNumber},
    {"dependency", "dependency", JsonFieldKind::kText},
    {"tres-alloc", "tres", JsonFieldKind::kText},
};

/// Indices of fields.
inline constexpr std::size_t kLabelField = 0;
inline constexpr std::size_t kArrayJobField = 1;
inline constexpr std::size_t kArrayTaskField = 2;

/// A job. What is not known is empty.
struct RqueueJob {
  std::int64_t id = 0;
  std::array<std::string, std::size(kJsonFields)> texts;  ///< of the fields that are texts
  std::array<std::optional<std::int64_t>, std::size(kJsonFields)> numbers;  ///< of the others
  std::string comment;
  JobFacts facts;
};

/// The document.
struct RqueueJobs {
  std::vector<RqueueJob> jobs;
};

}  // namespace rubato::tools

namespace rubato::json {

template <typename Visitor, Is<tools::RqueueJob> R>
void describe(Visitor& v, R& job) {
  v.number("job_id", job.id, kMaxUint32, kAlways);
  for (std::size_t i = 0; i < job.texts.size(); ++i) {
    const tools::JsonField& field = tools::kJsonFields[i];
    if (field.kind == tools::JsonFieldKind::kText) {
      v.text(field.member, job.texts[i]);
    } else {
      v.number(field.member, job.numbers[i], kMaxSamples);
    }
    if (field.note != nullptr) v.note(field.member, field.note);
  }
  for (const char* name : {"label", "name", "user", "partition", "state"}) v.expected(name);
  v.text("comment", job.comment);
  v.count("gpus", job.facts.gpus);
  v.note("gpus", "that it holds or asks for");
  v.text("gpu_type", job.facts.gpu_type);
  v.object("rubato", job.facts, kAlways);
}

template <typename Visitor, Is<tools::RqueueJobs> R>
void describe(Visitor& v, R& answer) {
  v.list("jobs", answer.jobs, kUnlimited, kAlways);
}

}  // namespace rubato::json
