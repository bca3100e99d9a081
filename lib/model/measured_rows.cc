// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/measured_rows.h"

#include <utility>

namespace rubato {

void MeasuredMeans::Sum::add(const std::optional<double>& value) {
  if (!value) return;
  total += *value;
  ++count;
}

std::optional<double> MeasuredMeans::Sum::mean() const {
  return count > 0 ? std::optional(total / static_cast<double>(count)) : std::nullopt;
}

void MeasuredMeans::add(double throughput, const MeasuredParts& parts) {
  total_ += throughput;
  ++reports_;
  parts_[0].add(parts.forward);
  parts_[1].add(parts.sync);
  parts_[2].add(parts.optimise);
  parts_[3].add(parts.iteration);
  parts_[4].add(parts.noise);
}

double MeasuredMeans::throughput() const {
  return reports_ > 0 ? total_ / static_cast<double>(reports_) : 0;
}

MeasuredParts MeasuredMeans::parts() const {
  return {.forward = parts_[0].mean(),
          .sync = parts_[1].mean(),
          .optimise = parts_[2].mean(),
          .iteration = parts_[3].mean(),
          .noise = parts_[4].mean()};
}

void put_means(const MeasuredMeans& means, MeasuredRow& row) {
  const MeasuredParts parts = means.parts();
  row.throughput = means.throughput();
  row.samples = means.reports();
  row.forward = parts.forward;
  row.sync = parts.sync;
  row.optimise = parts.optimise;
  row.iteration = parts.iteration;
  row.noise = parts.noise;
}

void MeasuredRows::add(const MeasuredReport& report) {
  const ThroughputReport& from = report.throughput;
  if (from.flagged || from.profile.job_type.empty()) return;
  MeasuredRow key;
  key.profile = from.profile;
  key.gpu_type = from.configuration.gpu_type;
  key.gpus = from.configuration.gpus;
  key.nodes = from.configuration.nodes;
  key.plan = from.configuration.plan;
  key.batch = from.configuration.batch;
  key.cores = report.cores;
  key.workers = report.workers;
  key.servers = report.servers;
  key.server_cores = report.server_cores;
  means_[std::move(key)].add(from.throughput, report.parts);
  ++reports_;
}

std::vector<MeasuredRow> MeasuredRows::rows() const {
  std::vector<MeasuredRow> rows;
  rows.reserve(means_.size());
  for (const auto& [key, means] : means_) {
    rows.push_back(key);
    put_means(means, rows.back());
  }
  return rows;
}

}  // namespace rubato
