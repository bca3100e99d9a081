// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/progress/predictability.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "lib/model/progress/convergence.h"

namespace rubato {
namespace {

// Times have whole seconds: over less than this a speed says little.
constexpr double kLeastAge = 5;
constexpr double kMostStep = 60;
constexpr double kStepShare = 0.005;  // of the time left, between two forecasts
constexpr double kSureSpan = 30;      // seconds after which only the clock counts
constexpr double kLeastScale = 10;    // seconds: nearer to its end an error counts as of so much
constexpr double kSpread = 1.645;     // of a normal: nine of ten
constexpr double kLeastSpread = 0.05;
constexpr double kUsualSpread = 0.5;  // of a forecast, before any was judged
constexpr double kMostSpread = 2;
constexpr double kMad = 1.4826;   // of a normal, over its median absolute deviation
constexpr double kLongest = 1e9;  // seconds
constexpr double kNewest = 0.3;   // weight of one more job in the record of its type

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Work in samples; a job that counts in steps does a batch a step.
void set_total(Course& course, const CourseReport& report, const std::optional<Work>& work) {
  course.total = course.total_low = course.total_high = 0;
  if (!work) return;
  switch (work->unit) {
    case WorkUnit::kSamples:
      course.total = static_cast<double>(work->count);
      break;
    case WorkUnit::kSteps:
      course.total = static_cast<double>(work->count) *
                     static_cast<double>(std::max<std::int64_t>(report.batch, 0));
      break;
    case WorkUnit::kTargetLoss: {
      if (report.loss)
        (void)add_loss(course.losses, static_cast<double>(report.samples), *report.loss);
      const LossForecast told = fit_loss(course.losses, work->target_loss).target;
      course.total = told.samples;
      course.total_low = told.low;
      course.total_high = told.high;
      return;
    }
  }
  course.total = std::clamp(course.total, 0.0, static_cast<double>(kMostWork));
  course.total_low = course.total_high = course.total;
}

// Samples a second; 0 if it does not come along.
double speed_of(const Course& course, const CourseReport& report) {
  const double said = std::isfinite(report.rate) ? std::max(report.rate, 0.0) : 0;
  if (course.points.empty()) return said;
  const CoursePoint& first = course.points.front();
  const auto span = static_cast<double>(report.time - first.time);
  if (span < kLeastAge) return said;
  const double done = static_cast<double>(report.samples) - static_cast<double>(first.samples);
  const double measured = std::max(done, 0.0) / span;
  const double share = std::min(span / kSureSpan, 1.0);
  if (!(said > 0) || !(measured > 0)) return measured;
  return std::exp(share * std::log(measured) + (1 - share) * std::log(said));
}

// How long the job really had to run on at `point`, as it looks now.
double hindsight(const CoursePoint& point, const Course& course, const CourseReport& report) {
  const auto age = static_cast<double>(report.time - point.time);
  const auto done = static_cast<double>(report.samples) - static_cast<double>(point.samples);
  const double work = course.total - static_cast<double>(point.samples);
  if (work <= 0) return age;  // it should have ended, and has not
  if (done <= 0) return kLongest;
  return std::clamp(age * work / done, 0.0, kLongest);
}

struct Judgement {
  std::vector<double> errors;  ///< relative, at most 1
  std::vector<double> logs;    ///< |ln(foretold / hindsight)|
};

Judgement judge(const Course& course, const CourseReport& report) {
  Judgement judgement;
  for (const CoursePoint& point : course.points) {
    const auto age = static_cast<double>(report.time - point.time);
    if (point.left < 0 || age < kLeastAge || course.total <= 0) continue;
    const double truth = hindsight(point, course, report);
    const double off = std::abs(point.left - truth) / std::max(truth, kLeastScale);
    judgement.errors.push_back(std::min(off, 1.0));
    judgement.logs.push_back(
        std::abs(std::log(std::max(point.left, kLeastScale) / std::max(truth, kLeastScale))));
  }
  return judgement;
}

void set_class(Course& course, const Judgement& judgement, const PredictabilityRules& rules) {
  if (course.total <= 0) {
    course.due = course.predictable = false;
    return;
  }
  if (static_cast<int>(judgement.errors.size()) < rules.least_judged) return;
  course.judged = static_cast<int>(judgement.errors.size());
  course.quality = 1 - median(judgement.errors);
  if (course.quality >= rules.promote) course.due = true;
  if (course.quality < rules.demote) course.due = course.predictable = false;
}

void set_left(Course& course, const CourseReport& report, const Judgement& judgement) {
  course.left = course.left_low = course.left_high = -1;
  if (course.total <= 0) return;
  const double speed = speed_of(course, report);
  if (!(speed > 0)) return;
  const auto done = static_cast<double>(report.samples);
  const auto seconds = [&](double total) {
    return std::clamp((total - done) / speed, 0.0, kLongest);
  };
  double spread = kUsualSpread;
  if (static_cast<int>(judgement.logs.size()) >= 2)
    spread = std::clamp(kMad * median(judgement.logs), kLeastSpread, kMostSpread);
  course.left = seconds(course.total);
  course.left_low = seconds(course.total_low) * std::exp(-kSpread * spread);
  course.left_high = std::min(seconds(course.total_high) * std::exp(kSpread * spread), kLongest);
}

void keep_point(Course& course, const CourseReport& report, const PredictabilityRules& rules) {
  const double step = std::clamp(kStepShare * course.left, kLeastAge, kMostStep);
  if (!course.points.empty() && static_cast<double>(report.time - course.points.back().time) < step)
    return;
  course.points.push_back({report.time, report.samples, course.left});
  // One more than are judged: the last is too young.
  const auto most = static_cast<std::size_t>(std::max(rules.window, 1)) + 1;
  if (course.points.size() > most) course.points.erase(course.points.begin());
}

}  // namespace

void follow(Course& course, const CourseReport& report, const std::optional<Work>& work,
            const PredictabilityRules& rules) {
  const bool same_run = course.restarts == report.restarts && course.gpus == report.gpus &&
                        course.start == report.start;
  if (!same_run) course.points.clear();
  if (same_run && report.time < course.updated) return;
  course.restarts = report.restarts;
  course.gpus = report.gpus;
  course.start = report.start;
  course.updated = report.time;
  set_total(course, report, work);
  const Judgement judgement = judge(course, report);
  set_class(course, judgement, rules);
  set_left(course, report, judgement);
  keep_point(course, report, rules);
}

void promote_all(std::vector<Course>& courses) {
  for (Course& course : courses) course.predictable = course.due;
}

Course& course_for(std::vector<Course>& courses, const JobKey& job, int restarts) {
  const auto before = [](const Course& course, const JobKey& key) { return course.job < key; };
  auto at = std::lower_bound(courses.begin(), courses.end(), job, before);
  if (at != courses.end() && at->job == job) return *at;
  // The entry before it, if that is of the same id, is of an earlier run.
  if (restarts > 0 && at != courses.begin() && std::prev(at)->job.id == job.id) {
    --at;
    at->job = job;
    return *at;
  }
  Course fresh;
  fresh.job = job;
  return *courses.insert(at, fresh);
}

void ended(const Course& course, const std::string& account, const std::string& job_type,
           Seconds now, std::vector<TypeCourse>& types, const PredictabilityRules& rules) {
  if (job_type.empty() || course.judged < rules.least_judged) return;
  const auto name = [](const TypeCourse& type) { return std::tie(type.account, type.job_type); };
  const std::tuple<const std::string&, const std::string&> wanted(account, job_type);
  auto at =
      std::lower_bound(types.begin(), types.end(), wanted,
                       [&](const TypeCourse& type, const auto& key) { return name(type) < key; });
  if (at == types.end() || name(*at) != wanted) {
    if (types.size() >= kMostTypeCourses) {
      types.erase(std::min_element(types.begin(), types.end(), [&](const auto& a, const auto& b) {
        return std::tuple(a.updated, name(a)) < std::tuple(b.updated, name(b));
      }));
      return ended(course, account, job_type, now, types, rules);
    }
    TypeCourse fresh;
    fresh.account = account;
    fresh.job_type = job_type;
    fresh.quality = course.quality;
    at = types.insert(at, std::move(fresh));
  }
  at->quality += kNewest * (course.quality - at->quality);
  at->jobs = std::min(at->jobs + 1, 1 << 20);
  if (at->quality >= rules.promote) at->predictable = true;
  if (at->quality < rules.demote) at->predictable = false;
  at->updated = now;
}

}  // namespace rubato
