// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/models_fit.h"

#include <memory>

#include "lib/base/fingerprint.h"
#include "lib/json/json_documents.h"
#include "lib/json/models_fit_records.h"
#include "lib/json/record_reader.h"
#include "lib/json/record_writer.h"

namespace rubato {

/// Found by the reader of records.
static void check(JsonObject& object, const MeasuredRow& row) {
  if (!usable(row)) object.error("a rate that no job can have");
}

/// The observations and rows must be sorted. Found by the reader of records.
static void check(JsonObject& object, const ModelsFit& fit) {
  if (!json::ascending(fit.observations, before)) {
    object.error_at("cells",
                    "must be sorted by account, job type, GPU type, GPUs, nodes, batch and plan, "
                    "each once");
  }
  if (!json::ascending(fit.rows, row_before)) {
    object.error_at("rows",
                    "must be sorted by account, job type, GPU type, GPUs, nodes, plan, batch, "
                    "cores and tasks, each once");
  }
}

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
    fit.links = step_time_models->links();
    fit.ready = step_time_models->shapes().has_value();
    if (fit.ready) fit.shapes = *step_time_models->shapes();
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
    step_time_models = std::make_shared<const StepTimeModels>(fit.rows, fit.memory, fit.links);
  if (step_time_models != nullptr && fit.ready)
    step_time_models = step_time_models->ready(fit.shapes);
  return Models(fit.speeds, std::move(throughput_model), std::move(step_time_models));
}

std::string to_json(const ModelsFit& fit) {
  const Snapshot none;
  return json::RecordWriter(none).document(kModelsFitSchema, fit, 0);
}

Result<ModelsFit> models_fit_from_json(std::string_view text) {
  return json::document<ModelsFit>(text, kModelsFitSchema);
}

std::string fingerprint(const ModelsFit& fit) {
  const bool nothing = fit.observations.empty() && fit.curves.empty() && fit.rows.empty();
  return nothing ? std::string() : fingerprint(std::string_view(to_json(fit)));
}

}  // namespace rubato
