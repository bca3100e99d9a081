// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/json_progress_histories.h"

#include "lib/hints/types.h"

namespace rubato {
namespace {

constexpr std::size_t kMaxPoints = 1024;
constexpr double kMaxReal = 1e18;

// From 0; a member that is left out keeps its value.
void amount(JsonObject& object, const char* name, double& to, double most = kMaxReal) {
  object.optional(name, [&](const JsonItem& value) {
    to = value.real();
    if (!(to >= 0 && to <= most)) value.error(most == 1 ? "must be from 0 to 1" : "out of range");
  });
}

void samples(JsonObject& object, std::int64_t& to) {
  object.optional("samples", [&](const JsonItem& item) {
    to = static_cast<std::int64_t>(item.number(static_cast<std::uint64_t>(kMaxWork)));
  });
}

ProgressForecast read_point(const JsonItem& item) {
  ProgressForecast point;
  JsonObject object(item);
  object.time("time", point.time);
  samples(object, point.samples);
  amount(object, "left", point.left);
  object.finish();
  return point;
}

LossPoint read_loss(const JsonItem& item) {
  LossPoint point;
  JsonObject object(item);
  amount(object, "samples", point.samples);
  object.optional("loss", [&](const JsonItem& loss) { point.loss = loss.real(); });
  object.count("count", point.count);
  object.finish();
  return point;
}

template <typename T, typename Function>
void points(JsonObject& object, const char* name, std::vector<T>& to, Function read) {
  object.optional(name, [&](const JsonItem& item) {
    item.elements([&](const JsonItem& element) {
      if (to.size() < kMaxPoints) to.push_back(read(element));
    });
  });
}

void put_amount(JsonWriter& json, const char* name, double value) {
  if (value >= 0) json.put(name, value);
}

}  // namespace

void write_progress_history(JsonWriter& json, const ProgressHistory& progress_history) {
  json.member("restarts", progress_history.restarts);
  json.member("gpus", progress_history.gpus);
  json.member_time("start", progress_history.start);
  json.member_time("updated", progress_history.updated);
  if (!progress_history.points.empty()) {
    json.key("points");
    json.begin_array();
    for (const ProgressForecast& point : progress_history.points) {
      json.begin_object();
      json.member_time("time", point.time);
      json.member("samples", point.samples);
      put_amount(json, "left", point.left);
      json.end_object();
    }
    json.end_array();
  }
  if (!progress_history.losses.empty()) {
    json.key("losses");
    json.begin_array();
    for (const LossPoint& point : progress_history.losses) {
      json.begin_object();
      json.member("samples", point.samples);
      json.member("loss", point.loss);
      json.member("count", point.count, 1);
      json.end_object();
    }
    json.end_array();
  }
  json.member("total", progress_history.total);
  json.member("total_low", progress_history.total_low);
  json.member("total_high", progress_history.total_high);
  put_amount(json, "left", progress_history.left);
  put_amount(json, "left_low", progress_history.left_low);
  put_amount(json, "left_high", progress_history.left_high);
  json.member("judged", progress_history.scored);
  json.member("quality", progress_history.quality);
  json.member("due", progress_history.due);
  json.member("predictable", progress_history.predictable);
}

void read_progress_history(JsonObject& object, ProgressHistory& progress_history) {
  object.count("restarts", progress_history.restarts);
  object.count("gpus", progress_history.gpus);
  object.time("start", progress_history.start);
  object.time("updated", progress_history.updated);
  points(object, "points", progress_history.points, read_point);
  points(object, "losses", progress_history.losses, read_loss);
  amount(object, "total", progress_history.total);
  amount(object, "total_low", progress_history.total_low);
  amount(object, "total_high", progress_history.total_high);
  amount(object, "left", progress_history.left);
  amount(object, "left_low", progress_history.left_low);
  amount(object, "left_high", progress_history.left_high);
  object.count("judged", progress_history.scored);
  amount(object, "quality", progress_history.quality, 1);
  object.yes("due", progress_history.due);
  object.yes("predictable", progress_history.predictable);
}

void write_type_predictability(JsonWriter& json, const TypePredictability& type) {
  json.member("account", type.account);
  json.member("job_type", type.job_type);
  json.member("jobs", type.jobs);
  json.member("quality", type.quality);
  json.member("predictable", type.predictable, true);
  json.member_time("updated", type.updated);
}

TypePredictability read_type_predictability(const JsonItem& item) {
  TypePredictability type;
  JsonObject object(item);
  object.text("account", type.account);
  object.text("job_type", type.job_type);
  object.count("jobs", type.jobs);
  amount(object, "quality", type.quality, 1);
  object.yes("predictable", type.predictable);
  object.time("updated", type.updated);
  object.finish();
  return type;
}

}  // namespace rubato
