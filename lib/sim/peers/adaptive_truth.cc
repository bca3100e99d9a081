// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/adaptive_truth.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/nearest.h"

namespace rubato::sim {
namespace {

std::size_t epoch_of(const AdaptiveApp& app, double done) {
  std::size_t epoch = 0;
  while (epoch + 1 < app.epochs() && app.progress_after(epoch + 1) <= done) ++epoch;
  return epoch;
}

/// The name that profiles use for a type of the cluster.
std::string profile_of(const SiaApp& app, const std::string& type, bool only) {
  static const std::map<std::string, std::string> other = {
      {"t4", "aws"}, {"a100", "dgx-ext"}, {"2080ti", "rtx"}};
  const auto has = [&](const std::string& name) {
    return std::ranges::find(app.profiles, name, &SiaProfile::gpu_type) != app.profiles.end();
  };
  if (has(type)) return type;
  const auto known = other.find(type);
  if (known != other.end() && has(known->second)) return known->second;
  // A type without measurements must not run with the speeds of another type.
  const bool untyped = app.profiles.size() == 1 && has("");
  return only && untyped ? "" : type;
}

}  // namespace

AdaptiveTruth::Running AdaptiveTruth::running(const SimJob& job, const Setting& setting,
                                              double done) const {
  const AdaptiveApp& app = app_of(job);
  Running out;
  out.epoch = epoch_of(app, done);
  const int gpus = setting.gpus();
  const double wanted = setting.batch > 0 ? setting.batch : job.batch;
  BatchSplit split = world_->rules->fixed(app, setting.type, setting.placement, wanted);
  split.local = std::max<std::int64_t>(split.local, 1);
  out.batch = static_cast<double>(split.local * (split.passes + 1) * gpus);
  const double factor = world_->rules->of(app).slowdown;
  out.step = app.table(setting.type).at(setting.placement, static_cast<double>(split.local));
  out.step.step *= factor;
  out.step.sync *= factor;
  out.iteration = out.step.with(split.passes);
  out.passes = static_cast<int>(split.passes) + 1;
  return out;
}

double AdaptiveTruth::throughput(const SimJob& job, const Setting& setting, double done) const {
  if (!setting.holds()) return 0;
  const AdaptiveApp& app = app_of(job);
  if (setting.gpus() > app.most_batch()) return 0;  // some would have no sample
  const Running now = running(job, setting, done);
  return app.gain(now.batch, now.epoch) / now.iteration;
}

double AdaptiveTruth::next_change(const SimJob& job, double done) const {
  const AdaptiveApp& app = app_of(job);
  const double next = app.progress_after(epoch_of(app, done) + 1);
  return next > done ? next : std::numeric_limits<double>::infinity();
}

Observation AdaptiveTruth::observe(const SimJob& job, const Setting& setting, double done) const {
  if (!setting.holds()) return {};
  const AdaptiveApp& app = app_of(job);
  const Running now = running(job, setting, done);
  const GradientStats gradient = app.gradient(now.batch, now.epoch);
  Observation seen;
  seen.batch = now.batch;
  seen.samples_per_s = now.batch / now.iteration;
  seen.step_s = now.iteration;
  seen.sync_s = now.step.sync;
  seen.passes = now.passes;
  if (gradient.sqr > 0) {
    seen.noise = static_cast<double>(app.first_batch()) * gradient.var / gradient.sqr;
  }
  return seen;
}

double AdaptiveTruth::samples_per_unit(const SimJob& job) const {
  return static_cast<double>(app_of(job).first_batch());
}

Result<std::shared_ptr<const AdaptiveWorld>> read_adaptive_world(const std::string& folder,
                                                                 const ClusterShape& cluster,
                                                                 const AdaptiveRules& rules,
                                                                 JobList& jobs) {
  const auto data = read_sia_traces(folder);
  if (!data) return tl::unexpected(data.error());
  std::vector<std::string> names;
  for (const SiaApp& app : data->apps) names.push_back(app.name);
  auto world = std::make_shared<AdaptiveWorld>();
  world->rules = &rules;
  for (SimJob& job : jobs) {
    const auto at = std::ranges::find(data->apps, job.model, &SiaApp::name);
    if (at == data->apps.end()) {
      return fail(fmt::format("{}: no application '{}' (job {}){}", folder, job.model, job.key,
                              did_you_mean(job.model, names)));
    }
    if (!world->apps.contains(job.model)) {
      std::vector<std::string> types;
      for (const NodeGroup& group : cluster.groups) {
        const std::string& gpu = group.gpu.empty() ? group.type : group.gpu;
        types.push_back(profile_of(*at, gpu, cluster.types() == 1));
      }
      auto app = AdaptiveApp::make(*at, types);
      if (!app) return fail(fmt::format("{}/{}", folder, app.error().text));
      world->apps.emplace(job.model, std::move(*app));
    }
    const AdaptiveApp& app = world->apps.at(job.model);
    job.work = app.progress_after(app.epochs());
    job.start_s = job.restart_s = rules.of(app).restart;
    job.min_batch = static_cast<double>(app.first_batch());
    job.max_batch = static_cast<double>(app.most_batch());
    std::int64_t most = 1;
    for (const TypeIndex type : cluster.type_indices()) {
      const std::int64_t fed = app.most_batch() / app.table(type).least();
      most = std::max(most, std::min<std::int64_t>(cluster.gpus(type), fed));
    }
    job.min_gpus = 1;
    job.max_gpus = static_cast<int>(std::max<std::int64_t>(most, job.gpus));
  }
  return std::shared_ptr<const AdaptiveWorld>(std::move(world));
}

}  // namespace rubato::sim
