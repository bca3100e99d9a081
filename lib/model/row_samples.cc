// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/row_samples.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "lib/model/data_parallel/goodput.h"

namespace rubato::rows {
namespace {

struct OfType {
  bool operator()(const MeasuredRow& row, const std::pair<ProfileName, std::string>& key) const {
    return std::tie(row.profile, row.gpu_type) < std::tie(key.first, key.second);
  }
  bool operator()(const std::pair<ProfileName, std::string>& key, const MeasuredRow& row) const {
    return std::tie(key.first, key.second) < std::tie(row.profile, row.gpu_type);
  }
};

/// The node count for this many GPUs if unknown: nodes as full as any measured.
int nodes_for(Rows rows, int gpus) {
  int a_node = 1;
  for (const MeasuredRow& row : rows) {
    if (row.nodes > 0) a_node = std::max(a_node, (row.gpus + row.nodes - 1) / row.nodes);
  }
  return std::max(1, (gpus + a_node - 1) / a_node);
}

PlanSample plan_sample(const MeasuredRow& row, const ExecutionPlan& plan) {
  PlanSample sample;
  sample.plan = plan;
  sample.configuration.gpus = row.gpus;
  sample.configuration.nodes = std::clamp(row.nodes, 1, row.gpus);
  sample.configuration.cores_per_gpu = std::max(1, row.cores / row.gpus);
  sample.batch = row.batch;
  sample.step_seconds = row.seconds();
  sample.forward_seconds = row.forward.value_or(0);
  sample.optimiser_seconds = row.optimise.value_or(0);
  if (row.forward && row.optimise && row.iteration) {
    sample.tail_seconds = std::max(0.0, *row.iteration - *row.forward - *row.optimise);
  }
  sample.reports = row.samples;
  return sample;
}

StepShape step_shape(const MeasuredRow& row) {
  StepShape shape;
  shape.servers = row.servers;
  shape.workers = row.workers > 0 ? row.workers : std::max(row.gpus, 1);
  shape.gpus = row.gpus;
  shape.server_cores = row.server_cores;
  const int of_workers = row.cores - row.servers * row.server_cores;
  shape.worker_cores = of_workers > 0 ? static_cast<double>(of_workers) / shape.workers : 0;
  shape.batch = static_cast<double>(row.batch);
  return shape;
}

}  // namespace

Rows rows_of(Rows rows, const ProfileName& profile, const std::string& gpu_type) {
  const auto [begin, end] =
      std::equal_range(rows.begin(), rows.end(), std::pair(profile, gpu_type), OfType{});
  return {begin, end};
}

Rows rows_of(Rows rows, const ProfileName& profile) {
  const auto found = std::ranges::equal_range(rows, profile, {}, &MeasuredRow::profile);
  return {found.begin(), found.end()};
}

const MeasuredRow& usual(Rows rows) {
  return *std::max_element(
      rows.begin(), rows.end(),
      [](const MeasuredRow& a, const MeasuredRow& b) { return a.samples < b.samples; });
}

Resources placed(Rows rows, Resources at) {
  if (at.nodes <= 0) at.nodes = nodes_for(rows, at.gpus);
  at.nodes = std::clamp(at.nodes, 1, std::max(at.gpus, 1));
  return at;
}

std::optional<double> noise_among(Rows rows) {
  std::vector<double> noise;
  for (const MeasuredRow& row : rows) {
    if (row.noise) noise.push_back(*row.noise);
  }
  return believed_noise(noise, noise.size());
}

std::vector<PlanSample> plan_samples(Rows rows) {
  std::vector<PlanSample> samples;
  for (const MeasuredRow& row : rows) {
    if (row.gpus < 1 || row.batch < 1 || row.seconds() <= 0) continue;
    // As submitted: data parallel, with the whole model on every GPU.
    ExecutionPlan plan{.data = row.gpus};
    if (!row.plan.empty()) {
      const auto named = parse_execution_plan(row.plan, row.gpus);
      if (!named || named->gpus() != row.gpus) continue;
      plan = *named;
    }
    samples.push_back(plan_sample(row, plan));
  }
  return samples;
}

std::vector<DataParallelSample> data_parallel_samples(Rows rows) {
  std::vector<DataParallelSample> samples;
  for (const MeasuredRow& row : rows) {
    const bool plain = row.plan.empty() || row.plan == "dp" || row.plan.starts_with("dp=");
    if (!plain || row.plan.find(',') != std::string::npos || row.servers > 0) continue;
    if (row.gpus < 1 || row.batch < 1 || row.seconds() <= 0) continue;
    samples.push_back(
        {{static_cast<double>(row.batch) / row.gpus, row.gpus, std::clamp(row.nodes, 1, row.gpus)},
         row.seconds(),
         row.sync});
  }
  return samples;
}

std::vector<StepSample> step_samples(Rows rows) {
  std::vector<StepSample> samples;
  for (const MeasuredRow& row : rows) {
    if (row.batch > 0 && row.seconds() > 0) samples.push_back({step_shape(row), row.seconds()});
  }
  return samples;
}

StepShape shape_at(const MeasuredRow& usual, const Resources& at) {
  StepShape shape = step_shape(usual);
  const int workers = shape.workers;
  if (at.gpus > 0 && usual.gpus > 0) {
    shape.workers = std::max<int>(
        1, static_cast<int>(std::lround(static_cast<double>(workers) * at.gpus / usual.gpus)));
  }
  if (usual.servers > 0) {
    const double share = static_cast<double>(usual.servers) * shape.workers / workers;
    shape.servers = std::max(1, static_cast<int>(std::lround(share)));
  }
  shape.gpus = at.gpus;
  if (at.cores > 0) {
    const double of_workers = at.cores - shape.servers * shape.server_cores;
    shape.worker_cores = std::max(0.0, of_workers) / shape.workers;
  }
  return shape;
}

bool has_servers(Rows rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const MeasuredRow& row) { return row.servers > 0; });
}

std::int64_t max_local_seen(Rows rows) {
  std::int64_t largest = 0;
  for (const MeasuredRow& row : rows) {
    if (row.gpus > 0) largest = std::max(largest, (row.batch + row.gpus - 1) / row.gpus);
  }
  return largest;
}

}  // namespace rubato::rows
