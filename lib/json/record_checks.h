// SPDX-License-Identifier: GPL-2.0-or-later
// What round() requires of the records of a document, apart from the kinds of their members.
#pragma once

#include <tuple>

#include "lib/base/json_reader.h"
#include "lib/core/plan.h"
#include "lib/core/snapshot.h"
#include "lib/json/json_documents.h"

namespace rubato::json {

inline constexpr auto kByJob = [](const auto& a, const auto& b) { return a.job < b.job; };
inline constexpr auto kByType = [](const auto& a, const auto& b) { return a.type < b.type; };

/// Most records have no checks.
template <typename Record>
void check(JsonObject& /*object*/, const Record& /*record*/) {}

inline void check(JsonObject& object, const GpuCount& group) {
  if (group.count == 0) object.error_at("count", "must be above 0");
}

inline void check(JsonObject& object, const GpuGroup& group) {
  if (group.free > group.total) object.error_at("free", "is above total");
}

inline void check(JsonObject& object, const NodeShare& share) {
  if (!ascending(share.gpus, kByType))
    object.error_at("gpus", "must be sorted by type, each type once");
}

inline void check(JsonObject& object, const Node& node) {
  if (node.cores_free > node.cores) object.error_at("cores_free", "is above cores");
  if (node.memory_free > node.memory) object.error_at("memory_free", "is above memory");
  if (!ascending(node.gpus, kByType))
    object.error_at("gpus", "must be sorted by type, each type once");
}

inline void check(JsonObject& object, const Memory& memory) {
  constexpr const char* kJobOrder = "must be sorted by id and submit, each once";
  if (!ascending(memory.jobs, kByJob)) object.error_at("jobs", kJobOrder);
  if (!ascending(memory.reservations, [](const auto& a, const auto& b) {
        return std::tie(a.job, a.partition) < std::tie(b.job, b.partition);
      })) {
    object.error_at("reservations", "must be sorted by id, submit and partition, each once");
  }
  if (!ascending(memory.service, kByJob)) object.error_at("service", kJobOrder);
  if (!ascending(memory.progress, kByJob)) object.error_at("progress", kJobOrder);
  if (!ascending(memory.progress_histories, kByJob)) object.error_at("courses", kJobOrder);
  if (!ascending(memory.types, [](const auto& a, const auto& b) {
        return std::tie(a.account, a.job_type) < std::tie(b.account, b.job_type);
      })) {
    object.error_at("types", "must be sorted by account and job type, each once");
  }
  if (!ascending(memory.noises, [](const auto& a, const auto& b) {
        return std::tie(a.account, a.job_type) < std::tie(b.account, b.job_type);
      })) {
    object.error_at("noises", "must be sorted by account and job type, each once");
  }
  if (!ascending(memory.loads,
                 [](const auto& a, const auto& b) { return a.gpu_type < b.gpu_type; })) {
    object.error_at("loads", "must be sorted by gpu_type, each once");
  }
}

/// Pending jobs by rank, then running jobs by key.
[[nodiscard]] inline bool in_order(const Job& a, const Job& b) {
  if (a.state != b.state) return a.state == JobState::kPending;
  return a.state == JobState::kPending ? a.rank <= b.rank : a.key < b.key;
}

inline void check(JsonObject& object, const Snapshot& snapshot) {
  if (!ascending(snapshot.partitions,
                 [](const auto& a, const auto& b) { return a.name < b.name; })) {
    object.error_at("partitions", "must be sorted by name, each once");
  }
  if (!ascending(snapshot.jobs, in_order))
    object.error_at("jobs", "must be sorted: pending by rank, then running by id and submit");
}

}  // namespace rubato::json
