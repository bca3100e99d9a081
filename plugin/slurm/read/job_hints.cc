// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/read/job_hints.h"

#include <cstring>
#include <string_view>
#include <utility>

#include "lib/base/hash.h"
#include "lib/hints/comment.h"
#include "plugin/slurm/read/job_desc_view.h"

namespace rubato {

namespace {

// Everything that facts_of() reads and a user can change.
std::uint64_t state_of(const job_record_t& job) {
  const job_details_t& details = *job.details;
  Hasher hash;
  for (const char* words :
       {job.comment, job.tres_per_job, job.tres_per_node, job.tres_per_task, job.tres_per_socket}) {
    hash.add(words != nullptr);
    if (words != nullptr) hash.add(std::string_view(words));
  }
  hash.add(details.min_nodes).add(details.max_nodes).add(details.num_tasks);
  hash.add(details.ntasks_per_node).add(details.whole_node).add(details.requeue);
  return hash.add(job.time_limit).value();
}

}  // namespace

HintsFound find_hints(const std::string& comment, const RequestFacts& facts, const Config& config) {
  HintsFound out;
  const auto said = parse_comment(comment);
  if (!said) {
    out.error = said.error().text;
    return out;
  }
  if (said->empty()) return out;
  const JobTypeConfig* type = said->job_type ? config.job_type(*said->job_type) : nullptr;
  auto resolved = resolve_hints(*said, type != nullptr ? type->hints : Hints{}, hint_request(facts),
                                Spelling::kComment);
  if (resolved)
    out.hints = std::move(*resolved);
  else
    out.error = resolved.error().text;
  return out;
}

void JobHints::begin(const Config& config) {
  ++looks_;
  off_ = config.off(Mechanism::kHintsRead);
  if (types_.job_types == config.job_types) return;
  types_.job_types = config.job_types;
  for (auto& [key, entry] : entries_) entry.found.reset();
}

void JobHints::note(const job_record_t& job, const JobKey& key) {
  if (job.comment == nullptr || std::strstr(job.comment, "rubato:") == nullptr) {
    entries_.erase(key);
    return;
  }
  const std::uint64_t state = state_of(job);
  Entry& entry = entries_[key];
  entry.seen = looks_;
  if (!entry.comment.empty() && entry.state == state) return;
  entry.state = state;
  entry.comment = job.comment;
  entry.facts = facts_of(job);
  entry.found.reset();
}

void JobHints::apply(Snapshot& snapshot) {
  if (entries_.empty()) return;
  for (Job& job : snapshot.jobs) {
    const auto known = entries_.find(job.key);
    if (known == entries_.end()) continue;
    Entry& entry = known->second;
    entry.seen = looks_;
    if (off_) continue;
    if (!entry.found) entry.found = find_hints(entry.comment, entry.facts, types_);
    job.hints = entry.found->hints;
    job.hint_error = entry.found->error;
  }
  std::erase_if(entries_, [this](const auto& entry) { return entry.second.seen != looks_; });
}

}  // namespace rubato
