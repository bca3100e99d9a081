// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/decisions.h"

#include <limits>
#include <utility>

#include "lib/base/json_writer.h"
#include "lib/json/json.h"
#include "lib/json/json_documents.h"

namespace rubato {
namespace {

std::string head_of(const StartRecord& record) {
  JsonWriter json;
  json.begin_object();
  json.put("id", record.job.id);
  json.member_time("submit", record.job.submit);
  json.member("label", record.label);
  json.member("kind", record.kind);
  json.member_time("time", record.time);
  json.member("round", record.round);
  json.member_time("start", record.start);
  json.member_time("end", record.end);
  json.end_object();
  return json.take();
}

std::shared_ptr<const StartRecord> read_record(const JsonItem& item) {
  auto record = std::make_shared<StartRecord>();
  JsonObject object(item);
  object.required("id", [&](const JsonItem& id) {
    record->job.id = static_cast<JobId>(id.number(std::numeric_limits<JobId>::max()));
  });
  object.time("submit", record->job.submit);
  object.text("label", record->label);
  object.text("kind", record->kind);
  object.time("time", record->time);
  object.optional("round",
                  [&](const JsonItem& round) { record->round = round.number(kJsonMaxTime); });
  object.time("start", record->start);
  object.time("end", record->end);
  object.required("told",
                  [&](const JsonItem& told) { record->told = json::read_explanation(told); });
  object.finish();
  return record;
}

}  // namespace

std::string to_json(const StartRecords& records) {
  std::string text = std::string("{\"schema\":\"") + kDecisionsSchema + "\",\"decisions\":[";
  bool first = true;
  for (const auto& record : records) {
    if (!std::exchange(first, false)) text += ',';
    std::string head = head_of(*record);
    head.pop_back();
    text += head + ",\"told\":" + to_json(record->told) + "}";
  }
  return text + "]}";
}

Result<StartRecords> decisions_from_json(std::string_view text) {
  return json::parse<StartRecords>(text, kDecisionsSchema, [](JsonObject& object) {
    StartRecords records;
    object.required("decisions", [&](const JsonItem& item) {
      item.elements([&](const JsonItem& record) { records.push_back(read_record(record)); });
      const auto less = [](const auto& a, const auto& b) { return a->job < b->job; };
      if (!item.failed() && !json::ascending(records, less))
        item.error("must be sorted by id and submit, each once");
    });
    return records;
  });
}

}  // namespace rubato
