// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/policies/exact_throughput.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <tuple>

#include "lib/model/plans/plan.h"
#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/policy_help.h"

namespace rubato::sim {
namespace {

Setting setting_of(const Grant& grant) {
  Setting setting{grant.type, {}, grant.batch, grant.plan};
  for (const NodeGpus& part : grant.where) setting.placement.push_back(part.gpus);
  return setting;
}

/// Both ends of the range, and between them steps of a factor of the square root of 2.
std::vector<double> batches_of(const Batch& range) {
  constexpr double kStep = std::numbers::sqrt2;
  std::vector<double> batches;
  const auto most = static_cast<double>(range.max);
  for (double batch = static_cast<double>(range.min); batch < most; batch *= kStep)
    batches.push_back(std::round(batch));
  batches.push_back(most);
  return batches;
}

/// From the user's batch on if it may only grow.
Batch range_of(const JobSpec& spec, const SimJob& job) {
  Batch range = *spec.batch;
  if (spec.batch_grows)
    range.min = std::clamp<std::int64_t>(std::llround(job.batch), range.min, range.max);
  return range;
}

/// Those of the truth that the hints allow.
std::vector<std::string> plans_of(const Truth& truth, const SimJob& job, const Setting& setting,
                                  const Plans& hinted) {
  std::vector<std::string> plans = truth.plans(job, setting);
  std::erase_if(plans, [&](const std::string& plan) {
    const auto read = parse_execution_plan(plan, setting.gpus());
    return !read || !allows(hinted, *read);
  });
  return plans;
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

RemainingTime::RemainingTime(const Truth& truth, const SimJob& job,
                             const std::vector<Setting>& settings) {
  double done = 0;
  do {
    Stretch stretch{done, std::min(job.work, truth.next_change(job, done)), 0, 0, 0};
    if (!(stretch.to > done)) stretch.to = job.work;
    for (std::size_t i = 0; i < settings.size(); ++i) {
      const double rate = truth.throughput(job, settings[i], done);
      if (rate > stretch.rate) std::tie(stretch.rate, stretch.setting) = std::tuple(rate, i);
    }
    const double to = stretch.to;
    const double rate = stretch.rate;
    stretches_.push_back(stretch);
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
    if (state.jobs[i].job->hints) views_.emplace(keys[i], &state.jobs[i]);
    here.insert(state.jobs[i].index);
  }
  std::erase_if(choices_, [&](const auto& one) { return !here.contains(std::get<0>(one.first)); });
  std::erase_if(running_, [&](const auto& one) { return !here.contains(one.first); });
  // The mean over the jobs of ln(throughput / that on the job's fastest type).
  std::vector<double> sums(types_.size(), 0);
  std::vector<int> jobs(types_.size(), 0);
  for (const JobView& view : state.jobs) {
    if (!view.job->hints) continue;
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

Forecast ExactThroughput::throughput(const JobKey& job, const JobSpec& /*spec*/,
                                     const Resources& at) const {
  Forecast forecast;
  const JobView* const view = view_of(job);
  const TypeIndex type = type_of(at.gpu_type);
  if (view == nullptr || !type.valid()) return forecast;
  forecast.known_profile = true;
  forecast.samples = 1;
  const bool runs = at.gpus >= 1 && at.gpus <= state_->cluster.gpus(type) &&
                    may_use(*view->job, state_->cluster, type);
  const double units =
      runs ? units_per_s(*view, placed(state_->cluster, type, at.gpus, at.nodes), work_) : 0;
  forecast.feasible = units > 0;
  if (!forecast.feasible) return forecast;
  forecast.exact = units * state_->truth->samples_per_unit(*view->job);
  forecast.log_throughput = std::log(forecast.exact);
  return forecast;
}

double ExactThroughput::units_per_s(const JobView& view, const Setting& setting, bool ahead) const {
  const double now = state_->truth->throughput(*view.job, setting, view.done);
  if (!ahead || !(now > 0)) return now;
  const ChoiceKey key{view.index,      setting.type,  setting.gpus(),
                      setting.nodes(), setting.batch, setting.plan};
  auto at = choices_.find(key);
  if (at == choices_.end())
    at = choices_.emplace(key, RemainingTime(*state_->truth, *view.job, {setting})).first;
  return at->second.throughput(view.done);
}

void ExactThroughput::offer(const JobView& view, const Setting& setting, double units,
                            Prediction& best) const {
  const double goodput = units * state_->truth->samples_per_unit(*view.job);
  if (!(goodput > best.goodput)) return;
  best.goodput = goodput;
  best.throughput = state_->truth->observe(*view.job, setting, view.done).samples_per_s;
  best.feasible = true;
  best.plan = setting.plan;
  best.batch = std::llround(setting.batch);
}

void ExactThroughput::rechoose(const JobView& view, Setting setting,
                               const std::vector<double>& batches, Prediction& best) const {
  constexpr double kAnyBatch = -1;
  const ChoiceKey key{view.index,      setting.type, setting.gpus(),
                      setting.nodes(), kAnyBatch,    setting.plan};
  auto at = choices_.find(key);
  if (at == choices_.end()) {
    std::vector<Setting> settings(batches.size(), setting);
    for (std::size_t i = 0; i < batches.size(); ++i) settings[i].batch = batches[i];
    at = choices_.emplace(key, RemainingTime(*state_->truth, *view.job, settings)).first;
  }
  const RemainingTime& rest = at->second;
  setting.batch = batches[rest.setting(view.done)];
  offer(view, setting, work_ ? rest.throughput(view.done) : units_per_s(view, setting, false),
        best);
}

Prediction ExactThroughput::best(const JobView& view, const JobSpec& spec, const Resources& at,
                                 Setting setting) const {
  std::vector<std::string> plans{""};
  const bool choose_plan = spec.shape && spec.plans;
  if (choose_plan) plans = plans_of(*state_->truth, *view.job, setting, *spec.plans);
  const bool choose_batch = spec.batch && !spec.batch->fixed();
  std::vector<double> batches{0};
  if (choose_batch) batches = batches_of(range_of(spec, *view.job));
  Prediction best;
  best.effective = at;
  best.known_profile = true;
  best.feasible = false;
  best.samples = 1;
  best.model_kind = choose_plan ? ModelKind::kPlans : ModelKind::kDataParallel;
  for (const std::string& plan : plans) {
    setting.plan = plan;
    if (rechooses_ && choose_batch) {
      rechoose(view, setting, batches, best);
      continue;
    }
    for (const double batch : batches) {
      setting.batch = batch;
      offer(view, setting, units_per_s(view, setting, work_), best);
    }
  }
  best.plan_chosen = best.feasible && choose_plan;
  best.batch_chosen = best.feasible && choose_batch;
  return best;
}

std::optional<Prediction> ExactThroughput::choice(const JobKey& job, const JobSpec& spec,
                                                  const Resources& at) const {
  const JobView* const view = view_of(job);
  const TypeIndex type = type_of(at.gpu_type);
  if (view == nullptr || !type.valid() || at.gpus < 1) return std::nullopt;
  if (!(spec.shape && spec.plans) && (!spec.batch || spec.batch->fixed())) return std::nullopt;
  if (at.gpus > state_->cluster.gpus(type) || !may_use(*view->job, state_->cluster, type))
    return best(*view, spec, at, {});
  return best(*view, spec, at, placed(state_->cluster, type, at.gpus, at.nodes));
}

std::optional<double> ExactThroughput::work_left(const JobKey& job) const {
  const JobView* const view = view_of(job);
  if (!work_ || view == nullptr) return std::nullopt;
  const double units = std::max(view->job->work - view->done, 0.0);
  return units * state_->truth->samples_per_unit(*view->job);
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
    RemainingTime remaining(*state_->truth, *view->job, {setting});
    at = running_.insert_or_assign(view->index, std::pair(std::move(setting), std::move(remaining)))
             .first;
  }
  return view->cost_left + at->second.second.seconds(view->done);
}

}  // namespace rubato::sim
