// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/json_courses.h"

#include "lib/hints/types.h"

namespace rubato {
namespace {

constexpr std::size_t kMostPoints = 1024;
constexpr double kMostReal = 1e18;

// From 0; a member that is left out keeps its value.
void amount(JsonObject& object, const char* name, double& to, double most = kMostReal) {
  object.optional(name, [&](const JsonItem& value) {
    to = value.real();
    if (!(to >= 0 && to <= most)) value.error(most == 1 ? "must be from 0 to 1" : "out of range");
  });
}

void samples(JsonObject& object, std::int64_t& to) {
  object.optional("samples", [&](const JsonItem& item) {
    to = static_cast<std::int64_t>(item.number(static_cast<std::uint64_t>(kMostWork)));
  });
}

CoursePoint read_point(const JsonItem& item) {
  CoursePoint point;
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
      if (to.size() < kMostPoints) to.push_back(read(element));
    });
  });
}

void put_amount(JsonWriter& json, const char* name, double value) {
  if (value >= 0) json.put(name, value);
}

}  // namespace

void write_course(JsonWriter& json, const Course& course) {
  json.member("restarts", course.restarts);
  json.member("gpus", course.gpus);
  json.member_time("start", course.start);
  json.member_time("updated", course.updated);
  if (!course.points.empty()) {
    json.key("points");
    json.begin_array();
    for (const CoursePoint& point : course.points) {
      json.begin_object();
      json.member_time("time", point.time);
      json.member("samples", point.samples);
      put_amount(json, "left", point.left);
      json.end_object();
    }
    json.end_array();
  }
  if (!course.losses.empty()) {
    json.key("losses");
    json.begin_array();
    for (const LossPoint& point : course.losses) {
      json.begin_object();
      json.member("samples", point.samples);
      json.member("loss", point.loss);
      json.member("count", point.count, 1);
      json.end_object();
    }
    json.end_array();
  }
  json.member("total", course.total);
  json.member("total_low", course.total_low);
  json.member("total_high", course.total_high);
  put_amount(json, "left", course.left);
  put_amount(json, "left_low", course.left_low);
  put_amount(json, "left_high", course.left_high);
  json.member("judged", course.judged);
  json.member("quality", course.quality);
  json.member("due", course.due);
  json.member("predictable", course.predictable);
}

void read_course(JsonObject& object, Course& course) {
  object.count("restarts", course.restarts);
  object.count("gpus", course.gpus);
  object.time("start", course.start);
  object.time("updated", course.updated);
  points(object, "points", course.points, read_point);
  points(object, "losses", course.losses, read_loss);
  amount(object, "total", course.total);
  amount(object, "total_low", course.total_low);
  amount(object, "total_high", course.total_high);
  amount(object, "left", course.left);
  amount(object, "left_low", course.left_low);
  amount(object, "left_high", course.left_high);
  object.count("judged", course.judged);
  amount(object, "quality", course.quality, 1);
  object.yes("due", course.due);
  object.yes("predictable", course.predictable);
}

void write_type_course(JsonWriter& json, const TypeCourse& type) {
  json.member("account", type.account);
  json.member("job_type", type.job_type);
  json.member("jobs", type.jobs);
  json.member("quality", type.quality);
  json.member("predictable", type.predictable, true);
  json.member_time("updated", type.updated);
}

TypeCourse read_type_course(const JsonItem& item) {
  TypeCourse type;
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
