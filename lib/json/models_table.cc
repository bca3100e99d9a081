// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/models_table.h"

#include <functional>
#include <tuple>

#include "lib/json/json_documents.h"
#include "lib/json/models_table_records.h"
#include "lib/json/record_reader.h"
#include "lib/json/record_writer.h"

namespace rubato {
namespace {

auto order_of(const ModelRow& row) {
  return std::tie(row.job_type, row.account, row.shared, row.gpu_type, row.gpus, row.nodes,
                  row.plan, row.batch);
}

auto order_of(const ForecastRow& row) {
  return std::tie(row.job_type, row.account, row.shared, row.gpu_type, row.gpus);
}

// Of rows of which a job type has one on each GPU type.
template <typename Row>
auto order_by_type(const Row& row) {
  return std::tie(row.job_type, row.account, row.shared, row.gpu_type);
}

}  // namespace

bool operator<(const ModelRow& a, const ModelRow& b) { return order_of(a) < order_of(b); }
bool operator<(const ForecastRow& a, const ForecastRow& b) { return order_of(a) < order_of(b); }
bool operator<(const ErrorRow& a, const ErrorRow& b) { return order_by_type(a) < order_by_type(b); }
bool operator<(const RefusalRow& a, const RefusalRow& b) {
  return order_by_type(a) < order_by_type(b);
}

/// The rows must be sorted. Found by the reader of records.
static void check(JsonObject& object, const ModelsTable& table) {
  constexpr const char* kTypeOrder = "must be sorted by job type, account and GPU type, each once";
  if (!json::ascending(table.rows, std::less<>())) {
    object.error_at("models",
                    "must be sorted by job type, account, GPU type, GPUs, nodes, plan and batch, "
                    "each once");
  }
  if (!json::ascending(table.forecasts, std::less<>())) {
    object.error_at("forecasts",
                    "must be sorted by job type, account, GPU type and GPUs, each once");
  }
  if (!json::ascending(table.errors, std::less<>())) object.error_at("forecast_errors", kTypeOrder);
  if (!json::ascending(table.refusals, std::less<>())) object.error_at("refused_fits", kTypeOrder);
}

std::string to_json(const ModelsTable& table) {
  const Snapshot none;
  return json::RecordWriter(none).document(kModelsSchema, table, 0);
}

Result<ModelsTable> models_from_json(std::string_view text) {
  return json::document<ModelsTable>(text, kModelsSchema);
}

}  // namespace rubato
