// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/models_table.h"

#include <tuple>

#include "lib/base/json_writer.h"
#include "lib/hints/types.h"
#include "lib/json/json_documents.h"

namespace rubato {
namespace {

// Whose a row is, and on which type of GPU: every kind of row begins with it.
template <typename Row>
void begin_row(JsonWriter& json, const Row& row) {
  json.begin_object();
  json.put("account", row.account);
  json.put("job_type", row.job_type);
  json.put("shared", row.shared);
  json.put("gpu_type", row.gpu_type);
}

template <typename Row>
void read_owner(JsonObject& object, Row& row) {
  object.text("account", row.account);
  object.required("job_type", [&](const JsonItem& name) { row.job_type = name.text(); });
  object.yes("shared", row.shared);
  object.text("gpu_type", row.gpu_type);
}

auto order_of(const ModelRow& row) {
  return std::tie(row.job_type, row.account, row.shared, row.gpu_type, row.gpus, row.nodes,
                  row.plan, row.batch);
}

void write_row(JsonWriter& json, const ModelRow& row) {
  begin_row(json, row);
  json.put("gpus", row.gpus);
  json.put("nodes", row.nodes);
  json.put("plan", row.plan);
  json.put("batch", row.batch);
  json.put("samples", row.samples);
  json.put("flagged", row.flagged);
  if (!row.flags.empty()) {
    json.key("flags");
    json.begin_array();
    for (const auto& [flag, reports] : row.flags) {
      json.begin_object();
      json.put("flag", flag);
      json.put("reports", reports);
      json.end_object();
    }
    json.end_array();
  }
  json.put("jobs", row.jobs);
  json.put("rate_mean", row.throughput_mean);
  json.put("rate_min", row.throughput_min);
  json.put("rate_max", row.throughput_max);
  json.put("rate_last", row.throughput_last);
  json.put("last", row.last);
  json.end_object();
}

auto order_of(const ForecastRow& row) {
  return std::tie(row.job_type, row.account, row.shared, row.gpu_type, row.gpus);
}

void write_row(JsonWriter& json, const ForecastRow& row) {
  begin_row(json, row);
  json.put("gpus", row.gpus);
  json.put("rate", row.throughput);
  json.put("rate_low", row.throughput_low);
  json.put("rate_high", row.throughput_high);
  json.put("samples", row.samples);
  json.end_object();
}

// Of rows of which a job type has one on each GPU type.
template <typename Row>
auto order_by_type(const Row& row) {
  return std::tie(row.job_type, row.account, row.shared, row.gpu_type);
}

void write_row(JsonWriter& json, const ErrorRow& row) {
  begin_row(json, row);
  json.put("error", row.error);
  json.put("reports", row.reports);
  json.end_object();
}

void write_row(JsonWriter& json, const RefusalRow& row) {
  begin_row(json, row);
  json.put("fits", row.fits);
  json.put("error", row.error);
  json.put("kept_error", row.kept_error);
  json.put("reports", row.reports);
  json.end_object();
}

void write_row(JsonWriter& json, const InformativeMeasurementRow& row) {
  begin_row(json, row);
  json.put("gpus", row.gpus);
  json.put("within", row.within);
  json.put("after", row.after);
  json.end_object();
}

ErrorRow read_error(const JsonItem& item) {
  ErrorRow row;
  JsonObject object(item);
  read_owner(object, row);
  object.required("error", [&](const JsonItem& error) { row.error = error.real(); });
  object.optional("reports", [&](const JsonItem& reports) {
    row.reports = static_cast<std::int64_t>(reports.number(static_cast<std::uint64_t>(kMaxWork)));
  });
  object.finish();
  return row;
}

RefusalRow read_refusal(const JsonItem& item) {
  RefusalRow row;
  JsonObject object(item);
  read_owner(object, row);
  const auto number = [&](std::string_view name, std::int64_t& to) {
    object.required(name, [&](const JsonItem& value) {
      to = static_cast<std::int64_t>(value.number(static_cast<std::uint64_t>(kMaxWork)));
    });
  };
  number("fits", row.fits);
  object.required("error", [&](const JsonItem& error) { row.error = error.real(); });
  object.required("kept_error", [&](const JsonItem& error) { row.kept_error = error.real(); });
  number("reports", row.reports);
  object.finish();
  return row;
}

InformativeMeasurementRow read_measurement(const JsonItem& item) {
  InformativeMeasurementRow row;
  JsonObject object(item);
  read_owner(object, row);
  object.count("gpus", row.gpus);
  object.required("within", [&](const JsonItem& share) { row.within = share.real(); });
  object.required("after", [&](const JsonItem& share) { row.after = share.real(); });
  object.finish();
  return row;
}

ForecastRow read_forecast(const JsonItem& item) {
  ForecastRow row;
  JsonObject object(item);
  read_owner(object, row);
  object.count("gpus", row.gpus);
  object.required("rate", [&](const JsonItem& throughput) { row.throughput = throughput.real(); });
  object.optional("rate_low",
                  [&](const JsonItem& throughput) { row.throughput_low = throughput.real(); });
  object.optional("rate_high",
                  [&](const JsonItem& throughput) { row.throughput_high = throughput.real(); });
  object.optional("samples", [&](const JsonItem& samples) {
    row.samples = static_cast<std::int64_t>(samples.number(static_cast<std::uint64_t>(kMaxWork)));
  });
  object.finish();
  return row;
}

ModelRow read_row(const JsonItem& item) {
  ModelRow row;
  JsonObject object(item);
  const auto number = [&](std::string_view name, std::int64_t& to) {
    object.optional(name, [&](const JsonItem& value) {
      to = static_cast<std::int64_t>(value.number(static_cast<std::uint64_t>(kMaxWork)));
    });
  };
  const auto throughput = [&](std::string_view name, double& to) {
    object.optional(name, [&](const JsonItem& value) { to = value.real(); });
  };
  read_owner(object, row);
  object.count("gpus", row.gpus);
  object.count("nodes", row.nodes);
  object.text("plan", row.plan);
  number("batch", row.batch);
  number("samples", row.samples);
  number("flagged", row.flagged);
  object.optional("flags", [&](const JsonItem& list) {
    list.elements([&](const JsonItem& entry) {
      std::pair<std::string, std::int64_t> flag;
      JsonObject members(entry);
      members.text("flag", flag.first);
      members.required("reports", [&](const JsonItem& value) {
        flag.second = static_cast<std::int64_t>(value.number(static_cast<std::uint64_t>(kMaxWork)));
      });
      members.finish();
      row.flags.push_back(std::move(flag));
    });
  });
  number("jobs", row.jobs);
  throughput("rate_mean", row.throughput_mean);
  throughput("rate_min", row.throughput_min);
  throughput("rate_max", row.throughput_max);
  throughput("rate_last", row.throughput_last);
  object.time("last", row.last);
  object.finish();
  return row;
}

}  // namespace

bool operator<(const ModelRow& a, const ModelRow& b) { return order_of(a) < order_of(b); }
bool operator<(const ForecastRow& a, const ForecastRow& b) { return order_of(a) < order_of(b); }
bool operator<(const ErrorRow& a, const ErrorRow& b) { return order_by_type(a) < order_by_type(b); }
bool operator<(const RefusalRow& a, const RefusalRow& b) {
  return order_by_type(a) < order_by_type(b);
}

std::string to_json(const ModelsTable& table) {
  JsonWriter json;
  json.begin_object();
  json.put("schema", std::string_view(kModelsSchema));
  json.put("generated", table.generated);
  json.key("models");
  json.begin_array();
  for (const ModelRow& row : table.rows) write_row(json, row);
  json.end_array();
  json.key("forecasts");
  json.begin_array();
  for (const ForecastRow& row : table.forecasts) write_row(json, row);
  json.end_array();
  json.key("forecast_errors");
  json.begin_array();
  for (const ErrorRow& row : table.errors) write_row(json, row);
  json.end_array();
  json.key("refused_fits");
  json.begin_array();
  for (const RefusalRow& row : table.refusals) write_row(json, row);
  json.end_array();
  json.key("lessons");
  json.begin_array();
  for (const InformativeMeasurementRow& row : table.most_informative) write_row(json, row);
  json.end_array();
  json.end_object();
  return json.take();
}

Result<ModelsTable> models_from_json(std::string_view text) {
  return json::parse<ModelsTable>(text, kModelsSchema, [](JsonObject& object) {
    ModelsTable table;
    object.time("generated", table.generated);
    object.required("models", [&](const JsonItem& item) {
      item.elements([&](const JsonItem& row) { table.rows.push_back(read_row(row)); });
      if (!item.failed() && !json::ascending(table.rows, std::less<>()))
        item.error(
            "must be sorted by job type, account, GPU type, GPUs, nodes, plan and batch, "
            "each once");
    });
    object.optional("forecasts", [&](const JsonItem& item) {
      item.elements([&](const JsonItem& row) { table.forecasts.push_back(read_forecast(row)); });
      if (!item.failed() && !json::ascending(table.forecasts, std::less<>()))
        item.error("must be sorted by job type, account, GPU type and GPUs, each once");
    });
    object.optional("forecast_errors", [&](const JsonItem& item) {
      item.elements([&](const JsonItem& row) { table.errors.push_back(read_error(row)); });
      if (!item.failed() && !json::ascending(table.errors, std::less<>()))
        item.error("must be sorted by job type, account and GPU type, each once");
    });
    object.optional("refused_fits", [&](const JsonItem& item) {
      item.elements([&](const JsonItem& row) { table.refusals.push_back(read_refusal(row)); });
      if (!item.failed() && !json::ascending(table.refusals, std::less<>()))
        item.error("must be sorted by job type, account and GPU type, each once");
    });
    object.optional("lessons", [&](const JsonItem& item) {
      item.elements(
          [&](const JsonItem& row) { table.most_informative.push_back(read_measurement(row)); });
    });
    return table;
  });
}

}  // namespace rubato
