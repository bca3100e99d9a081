// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/models_fit.h"

#include <memory>

#include "lib/base/fingerprint.h"
#include "lib/base/json_writer.h"
#include "lib/hints/types.h"
#include "lib/json/json.h"
#include "lib/json/json_documents.h"

namespace rubato {
namespace {

void write_how(JsonWriter& json, int nodes, std::int64_t batch, const std::string& plan) {
  if (nodes > 0) json.put("nodes", nodes);
  if (batch > 0) json.put("batch", batch);
  if (!plan.empty()) json.put("plan", plan);
}

void write_cell(JsonWriter& json, const RateCell& cell) {
  json.begin_object();
  json.put("account", cell.profile.account);
  json.put("job_type", cell.profile.job_type);
  json.put("gpu_type", cell.gpu_type);
  json.put("gpus", cell.gpus);
  json.put("rate", cell.rate);
  json.put("samples", cell.samples);
  write_how(json, cell.nodes, cell.batch, cell.plan);
  if (cell.weight > 0) json.put("weight", cell.weight);
  json.end_object();
}

void write_curve(JsonWriter& json, const CurvePoint& point) {
  json.begin_object();
  json.put("account", point.profile.account);
  json.put("job_type", point.profile.job_type);
  json.put("gpu_type", point.place.gpu_type);
  json.put("gpus", point.place.gpus);
  write_how(json, point.place.nodes, point.place.batch, point.place.plan);
  json.put("log_rate", point.log_rate);
  json.put("spread", point.spread);
  json.end_object();
}

void write_row(JsonWriter& json, const MeasuredRow& row) {
  const auto told = [&](const char* name, const std::optional<double>& value) {
    if (value) json.put(name, *value);
  };
  json.begin_object();
  json.put("account", row.profile.account);
  json.put("job_type", row.profile.job_type);
  json.put("gpu_type", row.gpu_type);
  json.put("gpus", row.gpus);
  write_how(json, row.nodes, row.batch, row.plan);
  json.member("cores", row.cores);
  json.member("workers", row.workers);
  json.member("servers", row.servers);
  json.member("server_cores", row.server_cores);
  json.put("rate", row.rate);
  json.put("samples", row.samples);
  told("forward", row.forward);
  told("sync", row.sync);
  told("optimise", row.optimise);
  told("iteration", row.iteration);
  told("noise", row.noise);
  json.end_object();
}

/// The terms that are not as they are without measurements.
void write_prior(JsonWriter& json, const ThroughputPrior& prior) {
  const ThroughputPrior start;
  json.begin_object();
  for (const PriorTerm& term : prior_terms()) {
    const double value = prior.*term.value;
    if (value < start.*term.value || value > start.*term.value) json.put(term.name, value);
  }
  json.end_object();
}

double above_zero(const JsonItem& item) {
  const double number = item.real();
  if (!item.failed() && number <= 0) item.error("expected a number above 0");
  return number;
}

double not_below_zero(const JsonItem& item) {
  const double number = item.real();
  if (!item.failed() && number < 0) item.error("expected a number of at least 0");
  return number;
}

void read_gpus(const JsonItem& item, int& gpus) {
  gpus = item.count();
  if (!item.failed() && gpus < 1) item.error("expected a number above 0");
}

void read_how(JsonObject& object, int& nodes, std::int64_t& batch, std::string& plan) {
  object.count("nodes", nodes);
  object.optional("batch", [&](const JsonItem& item) {
    batch = static_cast<std::int64_t>(item.number(static_cast<std::uint64_t>(kMostWork)));
  });
  object.text("plan", plan);
}

CurvePoint read_curve(const JsonItem& item) {
  CurvePoint point;
  JsonObject object(item);
  object.text("account", point.profile.account);
  object.required("job_type", [&](const JsonItem& name) { point.profile.job_type = name.text(); });
  object.text("gpu_type", point.place.gpu_type);
  object.required("gpus", [&](const JsonItem& gpus) { read_gpus(gpus, point.place.gpus); });
  read_how(object, point.place.nodes, point.place.batch, point.place.plan);
  object.required("log_rate", [&](const JsonItem& rate) { point.log_rate = rate.real(); });
  object.required("spread", [&](const JsonItem& wide) { point.spread = not_below_zero(wide); });
  object.finish();
  return point;
}

ThroughputPrior read_prior(const JsonItem& item) {
  ThroughputPrior prior;
  JsonObject object(item);
  for (const PriorTerm& term : prior_terms())
    object.optional(term.name,
                    [&](const JsonItem& value) { prior.*term.value = not_below_zero(value); });
  object.finish();
  return prior;
}

RateCell read_cell(const JsonItem& item) {
  RateCell cell;
  JsonObject object(item);
  object.text("account", cell.profile.account);
  object.required("job_type", [&](const JsonItem& name) { cell.profile.job_type = name.text(); });
  object.text("gpu_type", cell.gpu_type);
  object.required("gpus", [&](const JsonItem& gpus) { read_gpus(gpus, cell.gpus); });
  object.required("rate", [&](const JsonItem& rate) { cell.rate = not_below_zero(rate); });
  object.required("samples", [&](const JsonItem& samples) {
    cell.samples = static_cast<std::int64_t>(samples.number(static_cast<std::uint64_t>(kMostWork)));
    if (!samples.failed() && cell.samples < 1) samples.error("expected a number above 0");
  });
  read_how(object, cell.nodes, cell.batch, cell.plan);
  object.optional("weight", [&](const JsonItem& weight) { cell.weight = above_zero(weight); });
  object.finish();
  return cell;
}

MeasuredRow read_row(const JsonItem& item) {
  MeasuredRow row;
  JsonObject object(item);
  const auto told = [&](const char* name, std::optional<double>& to) {
    object.optional(name, [&](const JsonItem& value) { to = not_below_zero(value); });
  };
  object.text("account", row.profile.account);
  object.required("job_type", [&](const JsonItem& name) { row.profile.job_type = name.text(); });
  object.text("gpu_type", row.gpu_type);
  object.count("gpus", row.gpus);
  read_how(object, row.nodes, row.batch, row.plan);
  object.count("cores", row.cores);
  object.count("workers", row.workers);
  object.count("servers", row.servers);
  object.count("server_cores", row.server_cores);
  object.required("rate", [&](const JsonItem& rate) { row.rate = above_zero(rate); });
  object.required("samples", [&](const JsonItem& samples) {
    row.samples = static_cast<std::int64_t>(samples.number(static_cast<std::uint64_t>(kMostWork)));
    if (!samples.failed() && row.samples < 1) samples.error("expected a number above 0");
  });
  told("forward", row.forward);
  told("sync", row.sync);
  told("optimise", row.optimise);
  told("iteration", row.iteration);
  told("noise", row.noise);
  object.finish();
  if (!item.failed() && !usable(row)) item.error("a rate that no job can have");
  return row;
}

void read_memory(const JsonItem& item, std::map<std::string, std::int64_t>& memory) {
  std::string type;
  MiB of_gpu = 0;
  JsonObject object(item);
  object.text("gpu_type", type);
  object.memory("memory", of_gpu);
  object.finish();
  if (!item.failed() && !memory.emplace(type, of_gpu).second) item.error("names its type again");
}

void read_speed(const JsonItem& item, std::map<std::string, double>& speeds) {
  std::string type;
  double speed = 0;
  JsonObject object(item);
  object.text("gpu_type", type);
  object.required("speed", [&](const JsonItem& number) { speed = above_zero(number); });
  object.finish();
  if (!item.failed() && !speeds.emplace(type, speed).second) item.error("names its type again");
}

}  // namespace

ModelsFit fit_of(const Models& models) {
  ModelsFit fit;
  fit.speeds = models.speeds().all();
  if (models.learnt() != nullptr) {
    fit.cells = models.learnt()->cells();
    fit.curves = models.learnt()->curves();
    fit.prior = models.learnt()->prior();
  }
  if (const BackEnds* const back_ends = models.predictor().back_ends()) {
    fit.rows = back_ends->rows();
    fit.memory = back_ends->memory();
  }
  return fit;
}

Models models_of(const ModelsFit& fit) {
  std::shared_ptr<const ThroughputModel> learnt;
  if (!fit.cells.empty() || !fit.curves.empty()) {
    learnt = std::make_shared<const ThroughputModel>(TypeSpeeds(fit.speeds), fit.cells, fit.prior,
                                                     fit.curves);
  }
  std::shared_ptr<const BackEnds> back_ends;
  if (!fit.rows.empty()) back_ends = std::make_shared<const BackEnds>(fit.rows, fit.memory);
  return Models(fit.speeds, std::move(learnt), std::move(back_ends));
}

std::string to_json(const ModelsFit& fit) {
  JsonWriter json;
  json.begin_object();
  json.put("schema", std::string_view(kModelsFitSchema));
  json.key("speeds");
  json.begin_array();
  for (const auto& [type, speed] : fit.speeds) {
    json.begin_object();
    json.put("gpu_type", type);
    json.put("speed", speed);
    json.end_object();
  }
  json.end_array();
  json.key("cells");
  json.begin_array();
  for (const RateCell& cell : fit.cells) write_cell(json, cell);
  json.end_array();
  if (!(fit.prior == ThroughputPrior())) {
    json.key("prior");
    write_prior(json, fit.prior);
  }
  if (!fit.curves.empty()) {
    json.key("curves");
    json.begin_array();
    for (const CurvePoint& point : fit.curves) write_curve(json, point);
    json.end_array();
  }
  if (!fit.rows.empty()) {
    json.key("rows");
    json.begin_array();
    for (const MeasuredRow& row : fit.rows) write_row(json, row);
    json.end_array();
  }
  if (!fit.memory.empty()) {
    json.key("memory");
    json.begin_array();
    for (const auto& [type, memory] : fit.memory) {
      json.begin_object();
      json.put("gpu_type", type);
      json.put("memory", memory);
      json.end_object();
    }
    json.end_array();
  }
  json.end_object();
  return json.take();
}

Result<ModelsFit> models_fit_from_json(std::string_view text) {
  return json::parse<ModelsFit>(text, kModelsFitSchema, [](JsonObject& object) {
    ModelsFit fit;
    object.required("speeds", [&](const JsonItem& item) {
      item.elements([&](const JsonItem& speed) { read_speed(speed, fit.speeds); });
    });
    object.required("cells", [&](const JsonItem& item) {
      item.elements([&](const JsonItem& cell) { fit.cells.push_back(read_cell(cell)); });
      if (!item.failed() && !json::ascending(fit.cells, before))
        item.error(
            "must be sorted by account, job type, GPU type, GPUs, nodes, batch and plan, each "
            "once");
    });
    object.optional("prior", [&](const JsonItem& item) { fit.prior = read_prior(item); });
    object.optional("curves", [&](const JsonItem& item) {
      item.elements([&](const JsonItem& point) { fit.curves.push_back(read_curve(point)); });
    });
    object.optional("rows", [&](const JsonItem& item) {
      item.elements([&](const JsonItem& row) { fit.rows.push_back(read_row(row)); });
      if (!item.failed() && !json::ascending(fit.rows, row_before)) {
        item.error(
            "must be sorted by account, job type, GPU type, GPUs, nodes, plan, batch, cores and "
            "tasks, each once");
      }
    });
    object.optional("memory", [&](const JsonItem& item) {
      item.elements([&](const JsonItem& memory) { read_memory(memory, fit.memory); });
    });
    return fit;
  });
}

std::string fingerprint(const ModelsFit& fit) {
  const bool nothing = fit.cells.empty() && fit.curves.empty() && fit.rows.empty();
  return nothing ? std::string() : fingerprint(std::string_view(to_json(fit)));
}

}  // namespace rubato
