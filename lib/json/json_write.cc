// SPDX-License-Identifier: GPL-2.0-or-later
// Snapshot, plan and state file to JSON. records.h describes the members.
#include "lib/json/json.h"
#include "lib/json/record_writer.h"

namespace rubato {
namespace {

using json::RecordWriter;

constexpr std::size_t kBytesPerNode = 200;
constexpr std::size_t kBytesPerJob = 600;

}  // namespace

std::string to_json(const Snapshot& snapshot) {
  const std::size_t bytes =
      snapshot.nodes.size() * kBytesPerNode + snapshot.jobs.size() * kBytesPerJob;
  return RecordWriter(snapshot).document(kSnapshotSchema, snapshot, bytes);
}

std::string to_json(const Plan& plan, const Snapshot& snapshot) {
  return RecordWriter(snapshot).document(kPlanSchema, plan,
                                         plan.explanations.size() * kBytesPerJob);
}

std::string to_json(const Memory& memory, const Snapshot& snapshot) {
  return RecordWriter(snapshot).document(kStateSchema, memory, 0);
}

std::string to_json(const Explanation& explanation) {
  const Snapshot none;
  return RecordWriter(none).document(nullptr, explanation, 0);
}

}  // namespace rubato
