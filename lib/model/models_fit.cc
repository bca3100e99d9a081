// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/models_fit.h"

#include <memory>
#include <tuple>

#include "lib/core/json.h"
#include "lib/core/json_documents.h"
#include "lib/core/json_writer.h"
#include "lib/hints/types.h"

namespace rubato {
namespace {

auto place_of(const RateCell& cell) { return std::tie(cell.profile, cell.gpu_type, cell.gpus); }

void write_cell(JsonWriter& json, const RateCell& cell) {
  json.begin_object();
  json.put("account", cell.profile.account);
  json.put("job_type", cell.profile.job_type);
  json.put("gpu_type", cell.gpu_type);
  json.put("gpus", cell.gpus);
  json.put("rate", cell.rate);
  json.put("samples", cell.samples);
  json.end_object();
}

double above_zero(const JsonItem& item) {
  const double number = item.real();
  if (!item.failed() && number <= 0) item.error("expected a number above 0");
  return number;
}

RateCell read_cell(const JsonItem& item) {
  RateCell cell;
  JsonObject object(item);
  object.text("account", cell.profile.account);
  object.required("job_type", [&](const JsonItem& name) { cell.profile.job_type = name.text(); });
  object.text("gpu_type", cell.gpu_type);
  object.required("gpus", [&](const JsonItem& gpus) {
    cell.gpus = gpus.count();
    if (!gpus.failed() && cell.gpus < 1) gpus.error("expected a number above 0");
  });
  object.required("rate", [&](const JsonItem& rate) { cell.rate = above_zero(rate); });
  object.required("samples", [&](const JsonItem& samples) {
    cell.samples = static_cast<std::int64_t>(samples.number(static_cast<std::uint64_t>(kMostWork)));
    if (!samples.failed() && cell.samples < 1) samples.error("expected a number above 0");
  });
  object.finish();
  return cell;
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
  if (models.learnt() != nullptr) fit.cells = models.learnt()->cells();
  return fit;
}

Models models_of(const ModelsFit& fit) {
  std::shared_ptr<const ThroughputModel> learnt;
  if (!fit.cells.empty())
    learnt = std::make_shared<const ThroughputModel>(TypeSpeeds(fit.speeds), fit.cells);
  return Models(fit.speeds, std::move(learnt));
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
      const auto less = [](const RateCell& a, const RateCell& b) {
        return place_of(a) < place_of(b);
      };
      if (!item.failed() && !json::ascending(fit.cells, less))
        item.error("must be sorted by account, job type, GPU type and GPUs, each once");
    });
    return fit;
  });
}

std::string fingerprint(const ModelsFit& fit) {
  return fit.cells.empty() ? std::string() : fingerprint(std::string_view(to_json(fit)));
}

}  // namespace rubato
