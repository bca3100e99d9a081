// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/data_parallel/best_batch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace rubato {
namespace {

constexpr std::int64_t kMaxBatch = 1'000'000'000'000;
constexpr int kMaxGpus = 1'000'000;
constexpr int kMaxPasses = 1'000'000;

std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// least..most; for more than `tried` values a geometric grid with both ends.
std::vector<std::int64_t> grid(std::int64_t least, std::int64_t most, std::int64_t tried) {
  std::vector<std::int64_t> points;
  if (most - least < tried) {
    for (std::int64_t i = least; i <= most; ++i) points.push_back(i);
    return points;
  }
  const double ratio = std::log(static_cast<double>(most) / static_cast<double>(least));
  for (std::int64_t i = 0; i < tried; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(tried - 1);
    const double at = static_cast<double>(least) * std::exp(ratio * share);
    points.push_back(std::clamp(static_cast<std::int64_t>(std::llround(at)), least, most));
  }
  points.back() = most;
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

class Search {
 public:
  Search(const BatchRange& range, int gpus, const IterationSeconds& seconds,
         const BatchWorth& worth)
      : range_(range), gpus_(gpus), seconds_(seconds), worth_(worth) {}

  std::optional<BatchChoice> run() {
    const std::int64_t fit = range_.max_local > 0 ? range_.max_local : kMaxBatch;
    const std::int64_t fewest = up(range_.least, gpus_ * std::min(fit, kMaxBatch / gpus_));
    const std::int64_t needed = up(range_.most, gpus_ * std::min(fit, kMaxBatch / gpus_));
    const std::int64_t most = std::min<std::int64_t>(
        {std::max<std::int64_t>(needed, range_.max_passes), range_.most / gpus_, kMaxPasses});
    if (fewest > most || (range_.one_pass && fewest > 1)) return std::nullopt;
    if (range_.one_pass) {
      locals(1, fit);
      return best_;
    }
    for (const std::int64_t passes : grid(fewest, most, range_.tried))
      locals(static_cast<int>(passes), fit);
    return best_;
  }

 private:
  void locals(int passes, std::int64_t fit) {
    const std::int64_t share = static_cast<std::int64_t>(gpus_) * passes;
    std::int64_t least = std::max(range_.min_local, up(range_.least, share));
    std::int64_t most = std::min(fit, up(range_.most, share));
    if (least > most) return;
    for (;;) {
      const std::vector<std::int64_t> points = grid(least, most, range_.tried);
      std::size_t at = 0;
      double value = -1;
      for (std::size_t i = 0; i < points.size(); ++i) {
        const double here = consider(points[i], passes);
        if (here > value) {
          value = here;
          at = i;
        }
      }
      if (most - least < range_.tried || value <= 0) return;
      least = points[at > 0 ? at - 1 : 0];
      most = points[std::min(at + 1, points.size() - 1)];
    }
  }

  /// Returns the objective; 0 if impossible.
  double consider(std::int64_t local, int passes) {
    BatchChoice choice;
    // Uses the whole batch that fits in the passes, since only the fullest GPU determines the time.
    choice.batch = std::min(range_.most, static_cast<std::int64_t>(gpus_) * passes * local);
    choice.local = local;
    choice.passes = passes;
    choice.seconds = seconds_(static_cast<double>(local), passes);
    if (!(choice.seconds > 0) || !std::isfinite(choice.seconds)) return 0;
    const auto batch = static_cast<double>(choice.batch);
    const double worth = worth_ ? worth_(batch) : 1;
    choice.value = batch / choice.seconds * worth;
    if (!(choice.value > 0) || !std::isfinite(choice.value)) return 0;
    const auto order = [](const BatchChoice& c) { return std::tuple(-c.value, c.batch, c.passes); };
    if (!best_ || order(choice) < order(*best_)) best_ = choice;
    return choice.value;
  }

  BatchRange range_;
  int gpus_;
  const IterationSeconds& seconds_;
  const BatchWorth& worth_;
  std::optional<BatchChoice> best_;
};

}  // namespace

std::optional<BatchChoice> best_batch(const BatchRange& range, int gpus,
                                      const IterationSeconds& seconds, const BatchWorth& worth) {
  const bool sensible = range.least >= 1 && range.most >= range.least && range.most <= kMaxBatch &&
                        range.max_local >= 0 && range.min_local >= 1 && range.tried >= 4 &&
                        gpus >= 1 && gpus <= kMaxGpus && seconds;
  if (!sensible || range.most < gpus) return std::nullopt;
  return Search(range, gpus, seconds, worth).run();
}

JobScalability::JobScalability(const BatchTable& table, const CommunicationTable& communication,
                               double gradient_bytes, const BatchRange& range, int max_gpus) {
  for (int gpus = 1; gpus <= max_gpus; ++gpus) {
    const std::optional<double> reduce = communication.seconds(gradient_bytes, gpus);
    const IterationSeconds seconds = [&](double local_batch, int passes) {
      return table.seconds(local_batch).value_or(std::numeric_limits<double>::quiet_NaN()) *
                 passes +
             *reduce;
    };
    best_.push_back(reduce ? best_batch(range, gpus, seconds) : std::nullopt);
    if (best_.back() && fewest_ == 0) fewest_ = gpus;
    Effective here{scaling(gpus), gpus};
    if (!effective_.empty() && effective_.back().scaling >= here.scaling) here = effective_.back();
    if (here.scaling <= 0) here = {};
    effective_.push_back(here);
  }
}

std::optional<BatchChoice> JobScalability::at(int gpus) const {
  if (gpus < 1 || gpus > static_cast<int>(best_.size())) return std::nullopt;
  return best_[static_cast<std::size_t>(gpus - 1)];
}

double JobScalability::scaling(int gpus) const {
  const std::optional<BatchChoice> here = at(gpus);
  return here ? here->value / at(fewest_)->value : 0;
}

JobScalability::Effective JobScalability::effective(int gpus) const {
  if (gpus < 1 || effective_.empty()) return {};
  return effective_[std::min(static_cast<std::size_t>(gpus), effective_.size()) - 1];
}

}  // namespace rubato
