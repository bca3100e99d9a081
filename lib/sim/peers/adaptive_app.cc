// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/adaptive_app.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/base/nearest.h"

namespace rubato::sim {
namespace {

constexpr int kMaxNodes = 16;  ///< that were measured
constexpr double kRounding = 1e-8;

std::vector<int> smallest_rotation(std::vector<int> placement) {
  std::vector<int> best = placement;
  for (std::size_t i = 1; i < placement.size(); ++i) {
    std::rotate(placement.begin(), placement.begin() + 1, placement.end());
    best = std::min(best, placement);
  }
  return best;
}

StepSeconds between(const StepSeconds& a, const StepSeconds& b, double share) {
  return {a.step + share * (b.step - a.step), a.sync + share * (b.sync - a.sync)};
}

/// The entries before and after `key`, and the position of `key` between them (0 to 1). Keys
/// outside the map use the nearest entry.
template <typename Map>
std::pair<std::pair<typename Map::const_iterator, typename Map::const_iterator>, double> around(
    const Map& map, double key) {
  auto above = map.begin();
  while (above != map.end() && above->first < key) ++above;
  if (above == map.end()) --above;
  if (above == map.begin() || above->first <= key) return {{above, above}, 0};
  const auto below = std::prev(above);
  return {{below, above}, (key - below->first) / (above->first - below->first)};
}

}  // namespace

StepTable::StepTable(const SiaProfile& profile) : least_(std::numeric_limits<std::int64_t>::max()) {
  std::map<Size, std::map<double, std::pair<StepSeconds, int>>> sums;
  double longest = 0;
  double largest = 0;
  for (const SiaStep& row : profile.placements) {
    placements_[row.placement].push_back({row.local_batch, {row.step_time, row.sync_time}});
    auto& [sum, rows] = sums[{row.nodes, row.gpus}][row.local_batch];
    sum.step += row.step_time;
    sum.sync += row.sync_time;
    ++rows;
    const auto local = static_cast<std::int64_t>(row.local_batch);
    least_ = std::min(least_, local);
    most_ = std::max(most_, local);
    by_gpus_[row.gpus] = std::max(by_gpus_[row.gpus], local);
    if (row.gpus != 1) continue;
    longest = std::max(longest, row.step_time);
    largest = std::max(largest, row.local_batch);
  }
  single_throughput_ = longest > 0 ? largest / longest : 0;
  const auto by_batch = [](const auto& point) { return point.first; };
  for (auto& [placement, curve] : placements_) std::ranges::stable_sort(curve, {}, by_batch);
  for (const auto& [size, points] : sums) {
    Curve& curve = sizes_[size.first][size.second];
    for (const auto& [local, sum] : points) {
      curve.push_back({local, {sum.first.step / sum.second, sum.first.sync / sum.second}});
      add_point(size.first, size.second, local, curve.back().second);
    }
  }
  std::map<Size, Curve> scaled;
  for (const SiaStep& row : profile.scalability) {
    const Size size{row.nodes, row.gpus};
    scaled[size].push_back({row.local_batch, {row.step_time, row.sync_time}});
    add_point(row.nodes, row.gpus, row.local_batch, scaled[size].back().second);
    std::int64_t& most = scalability_[size];
    most = std::max(most, static_cast<std::int64_t>(row.local_batch));
  }
  for (auto& [size, curve] : scaled) {
    std::ranges::stable_sort(curve, {}, by_batch);
    sizes_[size.first][size.second] = std::move(curve);
  }
  simplices_ = std::make_shared<const Simplices>(points_);
}

void StepTable::add_point(int nodes, int gpus, double local, const StepSeconds& seconds) {
  points_.push_back({static_cast<double>(nodes), static_cast<double>(gpus), local});
  at_points_.push_back(seconds);
}

StepSeconds StepTable::along(const Curve& curve, double local) {
  auto above = std::ranges::lower_bound(curve, local, {}, [](const auto& p) { return p.first; });
  if (above == curve.end()) return curve.back().second;
  if (above == curve.begin() || above->first == local) return above->second;
  const auto below = std::prev(above);
  return between(below->second, above->second,
                 (local - below->first) / (above->first - below->first));
}

StepSeconds StepTable::on_nodes(int nodes, double gpus, double local) const {
  const auto [ends, share] = around(sizes_.at(nodes), gpus);
  return between(along(ends.first->second, local), along(ends.second->second, local), share);
}

StepSeconds StepTable::at(const std::vector<int>& placement, double local) const {
  const auto exact = placements_.find(smallest_rotation(placement));
  if (exact != placements_.end()) return along(exact->second, local);
  int gpus = 0;
  for (const int each : placement) gpus += each;
  const int nodes = std::min(static_cast<int>(placement.size()), kMaxNodes);
  if (const auto mix =
          simplices_->at({static_cast<double>(nodes), static_cast<double>(gpus), local})) {
    StepSeconds seconds{};
    for (std::size_t i = 0; i < mix->points.size(); ++i) {
      const StepSeconds& corner = at_points_.at(mix->points.at(i));
      seconds.step += mix->weights.at(i) * corner.step;
      seconds.sync += mix->weights.at(i) * corner.sync;
    }
    return seconds;
  }
  const auto [ends, share] = around(sizes_, nodes);
  const int low = ends.first->first;
  const int high = ends.second->first;
  // Interpolates between fewer and more nodes with the same number of GPUs per node.
  return between(on_nodes(low, static_cast<double>(gpus) * low / nodes, local),
                 on_nodes(high, static_cast<double>(gpus) * high / nodes, local), share);
}

std::int64_t StepTable::fits(const std::vector<int>& placement) const {
  const auto exact = placements_.find(smallest_rotation(placement));
  if (exact != placements_.end()) {
    return static_cast<std::int64_t>(exact->second.back().first);
  }
  int gpus = 0;
  for (const int each : placement) gpus += each;
  std::int64_t most = 0;
  for (const auto& [size, local] : scalability_) {
    const bool covers = std::cmp_greater_equal(size.first, placement.size()) && size.second >= gpus;
    if (covers) most = std::max(most, local);
  }
  return most > 0 ? most : most_;
}

std::int64_t StepTable::fits_gpus(int gpus) const {
  const auto at = by_gpus_.find(gpus);
  return at == by_gpus_.end() ? 0 : at->second;
}

Result<AdaptiveApp> AdaptiveApp::make(const SiaApp& app, const std::vector<std::string>& types) {
  AdaptiveApp out;
  out.name_ = app.name;
  for (const std::string& type : types) {
    const auto at = std::ranges::find(app.profiles, type, &SiaProfile::gpu_type);
    if (at == app.profiles.end() || at->placements.empty()) {
      std::vector<std::string> known;
      for (const SiaProfile& profile : app.profiles) known.push_back(profile.gpu_type);
      return fail(fmt::format("{}: no step times on GPU type '{}'{}", app.name, type,
                              did_you_mean(type, known)));
    }
    out.tables_.emplace_back(*at);
  }
  out.trainings_ = app.trainings;
  std::size_t epochs = std::numeric_limits<std::size_t>::max();
  for (const SiaTraining& training : app.trainings) {
    epochs = std::min(epochs, training.epochs.size());
  }
  if (app.trainings.empty() || epochs == 0) {
    return fail(fmt::format("{}: no epochs in files validation-BATCH.csv", app.name));
  }
  out.bounds_.push_back(0);
  for (std::size_t e = 0; e < epochs; ++e) {
    double least = std::numeric_limits<double>::infinity();
    for (const SiaTraining& training : app.trainings) {
      least = std::min(least, training.epochs[e].progress);
    }
    out.bounds_.push_back(least);
  }
  return out;
}

GradientStats AdaptiveApp::gradient(double batch, std::size_t epoch) const {
  const std::size_t e = std::min(epoch, epochs() - 1);
  const auto stats = [&](const SiaTraining& t) {
    return GradientStats{t.epochs[e].grad_sqr, t.epochs[e].grad_var};
  };
  const auto batch_of = [](const SiaTraining& t) { return static_cast<double>(t.batch); };
  const auto above = std::ranges::lower_bound(trainings_, batch, {}, batch_of);
  if (above == trainings_.end()) return stats(trainings_.back());
  if (above == trainings_.begin() || batch_of(*above) == batch) return stats(*above);
  const auto below = std::prev(above);
  const double share = (batch - batch_of(*below)) / (batch_of(*above) - batch_of(*below));
  const GradientStats a = stats(*below);
  const GradientStats b = stats(*above);
  return {a.sqr + share * (b.sqr - a.sqr), a.var + share * (b.var - a.var)};
}

double AdaptiveApp::iterations(double batch, std::size_t epoch) const {
  const std::size_t e = std::min(epoch, epochs() - 1);
  auto at = std::ranges::lower_bound(
      trainings_, batch, {}, [](const SiaTraining& t) { return static_cast<double>(t.batch); });
  if (at == trainings_.end()) --at;
  return static_cast<double>(at->epochs[e].iterations);
}

double AdaptiveApp::gain(double batch, std::size_t epoch) const {
  const GradientStats stats = gradient(batch, epoch);
  const double scale = batch / static_cast<double>(first_batch());
  return (stats.var + stats.sqr) / (stats.var / scale + stats.sqr);
}

BatchSplit split_batch(double batch, int gpus, std::int64_t fits, std::int64_t most, bool apart) {
  const double each = std::ceil(batch / gpus - kRounding);
  auto passes =
      static_cast<std::int64_t>(std::ceil(each / static_cast<double>(fits) - kRounding)) - 1;
  if (apart) passes = std::max<std::int64_t>(1, passes);
  passes = std::max<std::int64_t>(0, passes);
  const auto local =
      static_cast<std::int64_t>(std::ceil(each / static_cast<double>(passes + 1) - kRounding));
  return {std::min(local, most / (gpus * (passes + 1))), passes};
}

}  // namespace rubato::sim
