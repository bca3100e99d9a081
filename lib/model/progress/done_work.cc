// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/progress/done_work.h"

#include <algorithm>
#include <cmath>

#include "lib/model/data_parallel/goodput.h"
#include "lib/model/progress/profile_list.h"

namespace rubato {
namespace {

// Weight of a report in the noise of its job, and the least in that of its profile: single reports
// vary much, and noise grows slowly during training.
constexpr double kNewNoise = 1.0 / 3;
constexpr double kLeastNewNoise = 0.1;
constexpr int kMaxReports = 1 << 20;
// Points of noise per doubling of the samples done.
constexpr double kPointsPerDoubling = 1;

// Parts of the work that is left, for a mean over it: equal in ln(samples), as points of noise are.
constexpr int kSlices = 32;

int bin_of(double done) {
  return static_cast<int>(std::floor(kPointsPerDoubling * std::log2(1 + std::max(done, 0.0))));
}

std::optional<double> smoothed(const std::optional<double>& before,
                               const std::optional<double>& now) {
  if (!before || !now) return now ? now : before;
  return *before + kNewNoise * (*now - *before);
}

double efficiency_of(const Progress& report, const ReportedJob& job) {
  if (!report.noise || !job.batch || job.batch->fixed() || report.batch < 1) return 1;
  const auto batch = static_cast<double>(report.batch);
  const auto reference = static_cast<double>(job.batch->min);
  return std::min(statistical_efficiency(*report.noise, batch, reference).value_or(1), 1.0);
}

}  // namespace

Progress counted(Progress report, const Progress* before, const ReportedJob& job) {
  report.noise = smoothed(before != nullptr ? before->noise : std::nullopt, report.noise);
  report.efficiency = efficiency_of(report, job);
  const double from = before != nullptr ? static_cast<double>(before->samples) : 0;
  const double more = static_cast<double>(report.samples) - from;
  const double discounted = before != nullptr ? before->discounted : 0;
  const double steps = before != nullptr ? steps_done(*before) : 0;
  const bool back = more < 0;
  const double kept = back ? static_cast<double>(report.samples) / from : 1;
  report.discounted = back ? discounted * kept : discounted + more * (1 - report.efficiency);
  const bool by_steps = job.work && job.work->unit == WorkUnit::kSteps && report.batch > 0;
  if (by_steps)
    report.steps = back ? steps * kept : steps + more / static_cast<double>(report.batch);
  return report;
}

double steps_done(const Progress& progress) {
  if (progress.steps > 0 || progress.batch < 1) return progress.steps;
  return static_cast<double>(progress.samples) / static_cast<double>(progress.batch);
}

std::optional<double> work_left(const Work& work, const Progress& progress) {
  const auto count = static_cast<double>(work.count);
  switch (work.unit) {
    case WorkUnit::kSamples:
      return std::max(count - progress.done(), 0.0);
    case WorkUnit::kSteps:
      if (progress.batch < 1) return std::nullopt;
      return std::max(count - steps_done(progress), 0.0) * static_cast<double>(progress.batch);
    case WorkUnit::kTargetLoss:
      break;
  }
  return std::nullopt;
}

void fold_noise(const ProfileName& profile, double done, double noise, Seconds time,
                std::vector<ProfileNoise>& profiles) {
  if (profile.job_type.empty() || !std::isfinite(noise) || noise < 0) return;
  ProfileNoise& known = profile_entry(profiles, profile, kMaxNoiseProfiles);
  known.updated = std::max(known.updated, time);
  const int bin = bin_of(done);
  auto point = std::ranges::lower_bound(known.points, bin, {}, &NoisePoint::doublings);
  if (point == known.points.end() || point->doublings != bin)
    point = known.points.insert(point, {.doublings = bin, .noise = 0, .reports = 0});
  point->reports = std::min(point->reports + 1, kMaxReports);
  const double weight = std::max(1.0 / point->reports, kLeastNewNoise);
  point->noise += weight * (std::min(noise, kMaxNoise) - point->noise);
}

std::optional<double> noise_at(const std::vector<ProfileNoise>& profiles,
                               const ProfileName& profile, double done) {
  const ProfileNoise* const known = find_profile(profiles, profile);
  if (known == nullptr || known->points.empty()) return std::nullopt;
  const std::vector<NoisePoint>& points = known->points;
  // A point is the mean of its doubling: that of its middle.
  const double where = kPointsPerDoubling * std::log2(1 + std::max(done, 0.0)) - 0.5;
  const auto after = std::ranges::lower_bound(points, where, {}, [](const NoisePoint& point) {
    return static_cast<double>(point.doublings);
  });
  if (after == points.begin()) return after->noise;
  const NoisePoint& low = *std::prev(after);
  if (after == points.end()) return low.noise;
  const double share = (where - low.doublings) / (after->doublings - low.doublings);
  return low.noise + share * (after->noise - low.noise);
}

std::optional<double> lasting_noise(const std::vector<ProfileNoise>& profiles,
                                    const ProfileName& profile, const WorkSpan& span,
                                    std::optional<double> present) {
  const std::optional<double> theirs = noise_at(profiles, profile, span.done);
  if (!theirs || !(span.left > 0)) return present ? present : theirs;
  const double scale = present && *theirs > 0 ? *present / *theirs : 1;
  const double first = std::log1p(span.done);
  const double step = (std::log1p(span.done + span.left) - first) / kSlices;
  double sum = 0;
  for (int i = 0; i < kSlices; ++i) {
    const double width = std::exp(first + step * i) * std::expm1(step);
    const double middle = std::expm1(first + step * (i + 0.5));
    const double noise = scale * noise_at(profiles, profile, middle).value_or(*theirs);
    sum += width / (noise + span.reference);
  }
  return std::max(span.left / sum - span.reference, 0.0);
}

}  // namespace rubato
