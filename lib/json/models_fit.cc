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

void write_observation(JsonWriter& json, const ThroughputObservation& observation) {
  json.begin_object();
  json.put("account", observation.profile.account);
  json.put("job_type", observation.profile.job_type);
  json.put("gpu_type", observation.gpu_type);
  json.put("gpus", observation.gpus);
  json.put("rate", observation.throughput);
  json.put("samples", observation.samples);
  write_how(json, observation.nodes, observation.batch, observation.plan);
  if (observation.weight > 0) json.put("weight", observation.weight);
  json.end_object();
}

void write_curve(JsonWriter& json, const CurvePoint& point) {
  json.begin_object();
  json.put("account", point.profile.account);
  json.put("job_type", point.profile.job_type);
  json.put("gpu_type", point.configuration.gpu_type);
  json.put("gpus", point.configuration.gpus);
  write_how(json, point.configuration.nodes, point.configuration.batch, point.configuration.plan);
  json.put("log_rate", point.log_throughput);
  json.put("spread", point.stddev);
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
  json.put("rate", row.throughput);
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
    batch = static_cast<std::int64_t>(item.number(static_cast<std::uint64_t>(kMaxWork)));
  });
  object.text("plan", plan);
}

CurvePoint read_curve(const JsonItem& item) {
  CurvePoint point;
  JsonObject object(item);
  object.text("account", point.profile.account);
  object.required("job_type", [&](const JsonItem& name) { point.profile.job_type = name.text(); });
  object.text("gpu_type", point.configuration.gpu_type);
  object.required("gpus", [&](const JsonItem& gpus) { read_gpus(gpus, point.configuration.gpus); });
  read_how(object, point.configuration.nodes, point.configuration.batch, point.configuration.plan);
  object.required("log_rate",
                  [&](const JsonItem& throughput) { point.log_throughput = throughput.real(); });
  object.required("spread", [&](const JsonItem& wide) { point.stddev = not_below_zero(wide); });
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

ThroughputObservation read_observation(const JsonItem& item) {
  ThroughputObservation observation;
  JsonObject object(item);
  object.text("account", observation.profile.account);
  object.required("job_type",
                  [&](const JsonItem& name) { observation.profile.job_type = name.text(); });
  object.text("gpu_type", observation.gpu_type);
  object.required("gpus", [&](const JsonItem& gpus) { read_gpus(gpus, observation.gpus); });
  object.required("rate", [&](const JsonItem& throughput) {
    observation.throughput = not_below_zero(throughput);
  });
  object.required("samples", [&](const JsonItem& samples) {
    observation.samples =
        static_cast<std::int64_t>(samples.number(static_cast<std::uint64_t>(kMaxWork)));
    if (!samples.failed() && observation.samples < 1) samples.error("expected a number above 0");
  });
  read_how(object, observation.nodes, observation.batch, observation.plan);
  object.optional("weight",
                  [&](const JsonItem& weight) { observation.weight = above_zero(weight); });
  object.finish();
  return observation;
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
  object.required("rate",
                  [&](const JsonItem& throughput) { row.throughput = above_zero(throughput); });
  object.required("samples", [&](const JsonItem& samples) {
    row.samples = static_cast<std::int64_t>(samples.number(static_cast<std::uint64_t>(kMaxWork)));
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
  if (models.throughput_model() != nullptr) {
    fit.observations = models.throughput_model()->observations();
    fit.curves = models.throughput_model()->curves();
    fit.prior = models.throughput_model()->prior();
  }
  if (const StepTimeModels* const step_time_models = models.predictor().step_time_models()) {
    fit.rows = step_time_models->rows();
    fit.memory = step_time_models->memory();
  }
  return fit;
}

Models models_of(const ModelsFit& fit) {
  std::shared_ptr<const ThroughputModel> throughput_model;
  if (!fit.observations.empty() || !fit.curves.empty()) {
    throughput_model = std::make_shared<const ThroughputModel>(
        TypeSpeeds(fit.speeds), fit.observations, fit.prior, fit.curves);
  }
  std::shared_ptr<const StepTimeModels> step_time_models;
  if (!fit.rows.empty())
    step_time_models = std::make_shared<const StepTimeModels>(fit.rows, fit.memory);
  return Models(fit.speeds, std::move(throughput_model), std::move(step_time_models));
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
  for (const ThroughputObservation& observation : fit.observations)
    write_observation(json, observation);
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
      item.elements([&](const JsonItem& observation) {
        fit.observations.push_back(read_observation(observation));
      });
      if (!item.failed() && !json::ascending(fit.observations, before))
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
  const bool nothing = fit.observations.empty() && fit.curves.empty() && fit.rows.empty();
  return nothing ? std::string() : fingerprint(std::string_view(to_json(fit)));
}

}  // namespace rubato
