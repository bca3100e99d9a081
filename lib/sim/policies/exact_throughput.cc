// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/policies/exact_throughput.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/policy_help.h"

namespace rubato::sim {
namespace {

Setting setting_of(const Grant& grant) {
  Setting setting{grant.type, {}, grant.batch, grant.plan};
  for (const NodeGpus& part : grant.where) setting.placement.push_back(part.gpus);
  return setting;
}

/// On that many nodes as evenly as possible; 0: packed.
Setting placed(const ClusterShape& cluster, TypeIndex type, int gpus, int nodes) {
  if (nodes < 1 || nodes > gpus) return packed(cluster, type, gpus);
  Setting setting;
  setting.type = type;
  for (int i = 0; i < nodes; ++i)
    setting.placement.push_back(gpus / nodes + (i < gpus % nodes ? 1 : 0));
  return setting;
}

}  // namespace

RemainingTime::RemainingTime(const Truth& truth, const SimJob& job, const Setting& setting) {
  double done = 0;
  do {
    const double rate = truth.throughput(job, setting, done);
    double to = std::min(job.work, truth.next_change(job, done));
    if (!(to > done)) to = job.work;
    stretches_.push_back({done, to, rate, 0});
    if (!(rate > 0)) break;
    done = to;
  } while (done < job.work);
  double later = 0;
  for (auto one = stretches_.rbegin(); one != stretches_.rend(); ++one) {
    later += one->rate > 0 ? (one->to - one->from) / one->rate : kNever;
    one->seconds = later;
  }
}

std::size_t RemainingTime::at(double done) const {
  const auto after = std::ranges::upper_bound(stretches_, done, {}, &Stretch::from);
  const auto before = after - stretches_.begin() - 1;
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(before, 0));
}

double RemainingTime::seconds(double done) const {
  const std::size_t here = at(done);
  const Stretch& one = stretches_[here];
  if (!(one.rate > 0)) return kNever;
  const double later = here + 1 < stretches_.size() ? stretches_[here + 1].seconds : 0;
  return std::max(one.to - done, 0.0) / one.rate + later;
}

double RemainingTime::throughput(double done) const {
  const std::size_t here = at(done);
  if (here + 1 == stretches_.size()) return stretches_[here].rate;
  return (stretches_.back().to - done) / seconds(done);
}

void ExactThroughput::look(const PolicyState& state, std::span<const JobKey> keys) {
  state_ = &state;
  views_.clear();
  std::set<JobIndex> here;
  for (std::size_t i = 0; i < state.jobs.size(); ++i) {
    views_.emplace(keys[i], &state.jobs[i]);
    here.insert(state.jobs[i].index);
  }
  std::erase_if(placed_, [&](const auto& one) { return !here.contains(std::get<0>(one.first)); });
  std::erase_if(running_, [&](const auto& one) { return !here.contains(one.first); });
  // The mean over the jobs of ln(throughput / that on the job's fastest type).
  std::vector<double> sums(types_.size(), 0);
  std::vector<int> jobs(types_.size(), 0);
  for (const JobView& view : state.jobs) {
    std::vector<double> rates;
    for (const TypeIndex type : state.cluster.type_indices())
      rates.push_back(sim::speed(state, view, type, view.job->gpus));
    const double fastest = *std::ranges::max_element(rates);
    for (const TypeIndex type : state.cluster.type_indices()) {
      if (!(rates[type] > 0)) continue;
      sums[type] += std::log(rates[type] / fastest);
      ++jobs[type];
    }
  }
  speeds_.clear();
  for (const TypeIndex type : state.cluster.type_indices())
    speeds_.push_back(jobs[type] > 0 ? std::exp(sums[type] / jobs[type]) : 1);
}

TypeIndex ExactThroughput::type_of(const std::string& gpu_type) const {
  const auto at = std::ranges::find(types_, gpu_type);
  return at != types_.end() ? TypeIndex{at - types_.begin()} : TypeIndex{};
}

const JobView* ExactThroughput::view_of(const JobKey& job) const {
  const auto at = views_.find(job);
  return at != views_.end() ? at->second : nullptr;
}

double ExactThroughput::speed(const std::string& gpu_type) const {
  const TypeIndex type = type_of(gpu_type);
  return type.valid() ? speeds_[type] : 1;
}

double ExactThroughput::units_per_s(const JobView& view, TypeIndex type, int gpus,
                                    int nodes) const {
  if (!may_use(*view.job, state_->cluster, type) || gpus > state_->cluster.gpus(type)) return 0;
  const Setting setting = placed(state_->cluster, type, gpus, nodes);
  const double now = state_->truth->throughput(*view.job, setting, view.done);
  if (!work_ || !(now > 0)) return now;
  auto at = placed_.find({view.index, type, gpus, nodes});
  if (at == placed_.end()) {
    RemainingTime remaining(*state_->truth, *view.job, setting);
    at = placed_.emplace(std::tuple(view.index, type, gpus, nodes), std::move(remaining)).first;
  }
  return at->second.throughput(view.done);
}

Forecast ExactThroughput::throughput(const JobKey& job, const JobSpec& /*spec*/,
                                     const Resources& at) const {
  Forecast forecast;
  const JobView* const view = view_of(job);
  const TypeIndex type = type_of(at.gpu_type);
  if (view == nullptr || !type.valid()) return forecast;
  forecast.known_profile = true;
  forecast.samples = 1;
  const double units = units_per_s(*view, type, at.gpus, at.nodes);
  forecast.feasible = units > 0;
  if (!forecast.feasible) return forecast;
  forecast.exact = units * state_->truth->samples_per_unit(*view->job);
  forecast.log_throughput = std::log(forecast.exact);
  return forecast;
}

double ExactThroughput::start_seconds(const JobKey& job) const {
  const JobView* const view = view_of(job);
  if (view == nullptr) return 0;
  if (view->now.holds()) return view->cost_left;
  return view->started ? view->job->restart_s : view->job->start_s;
}

std::optional<double> ExactThroughput::seconds_left(const JobKey& job) const {
  const JobView* const view = view_of(job);
  if (!work_ || view == nullptr || !view->now.holds()) return std::nullopt;
  Setting setting = setting_of(view->now);
  auto at = running_.find(view->index);
  if (at == running_.end() || at->second.first != setting) {
    RemainingTime remaining(*state_->truth, *view->job, setting);
    at = running_.insert_or_assign(view->index, std::pair(std::move(setting), std::move(remaining)))
             .first;
  }
  return view->cost_left + at->second.second.seconds(view->done);
}

}  // namespace rubato::sim
