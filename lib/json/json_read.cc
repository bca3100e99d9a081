// SPDX-License-Identifier: GPL-2.0-or-later
// JSON to snapshot, plan and state file. records.h describes the members, record_checks.h what
// round() requires of them.
#include <fmt/format.h>

#include "lib/json/json.h"
#include "lib/json/record_reader.h"

namespace rubato {
namespace json {
namespace {

RecordContext context_of(const Snapshot& snapshot) {
  RecordContext context;
  for (std::size_t i = 0; i < snapshot.nodes.size(); ++i)
    context.nodes.emplace(snapshot.nodes[i].name, static_cast<int>(i));
  return context;
}

}  // namespace

Explanation read_explanation(const JsonItem& item) {
  RecordContext context;
  return RecordReader::read<Explanation>(item, context);
}

}  // namespace json

Result<Snapshot> snapshot_from_json(std::string_view text) {
  return json::document<Snapshot>(text, kSnapshotSchema);
}

Result<Plan> plan_from_json(std::string_view text, const Snapshot& snapshot) {
  json::RecordContext context = json::context_of(snapshot);
  return json::document<Plan>(text, kPlanSchema, context);
}

Result<Memory> memory_from_json(std::string_view text, const Snapshot& snapshot,
                                std::string* left_out) {
  json::RecordContext context = json::context_of(snapshot);
  context.newer = context.lenient = true;
  auto memory = json::document<Memory>(text, kStateSchema, context);
  if (left_out != nullptr && context.left_out > 0)
    *left_out = context.left_out == 1
                    ? fmt::format("1 part is left out: {}", context.first_left_out)
                    : fmt::format("{} parts are left out, the first: {}", context.left_out,
                                  context.first_left_out);
  return memory;
}

}  // namespace rubato
