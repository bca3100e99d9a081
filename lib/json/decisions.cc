// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/decisions.h"

#include "lib/json/decisions_records.h"
#include "lib/json/json_documents.h"
#include "lib/json/record_reader.h"
#include "lib/json/record_writer.h"

namespace rubato {

std::string to_json(const StartRecords& records) {
  const Snapshot none;
  return json::RecordWriter(none).document(kDecisionsSchema, records, 0);
}

Result<StartRecords> decisions_from_json(std::string_view text) {
  auto records = json::kept_document<StartRecords>(text, kDecisionsSchema);
  const auto less = [](const auto& a, const auto& b) { return a->job < b->job; };
  if (records && !json::ascending(*records, less))
    return fail("decisions: must be sorted by id and submit, each once");
  return records;
}

}  // namespace rubato
