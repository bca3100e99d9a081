// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/batch_scaling.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/model/predictor.h"

namespace rubato {
namespace {

using rows::Rows;

constexpr double kBytesOfParameter = 4;
// Maximum local batch, as a multiple of the largest measured one.
constexpr std::int64_t kBatchReach = 2;

/// Measurements of one profile on one GPU type.
struct Measured {
  std::vector<BatchTime> device;
  std::vector<CommunicationTime> links;
};

/// Time that synchronisation adds to a step; 0 if not reported or not a part of the step.
double told_sync(const DataParallelSample& sample) {
  const double sync = sample.sync_time.value_or(0);
  return sync > 0 && sync < sample.step_time ? sync : 0;
}

Measured measured_of(Rows own, double bytes) {
  const std::vector<DataParallelSample> samples = rows::data_parallel_samples(own);
  Measured found;
  for (const DataParallelSample& sample : samples) {
    const double sync = told_sync(sample);
    if (sample.at.gpus == 1 || sync > 0)
      found.device.push_back({sample.at.local_batch, sample.step_time - sync});
  }
  const BatchTable table(found.device);
  if (table.empty()) return found;
  const double least = table.rows().front().local_batch;
  const double most = table.rows().back().local_batch;
  for (const DataParallelSample& sample : samples) {
    if (sample.at.gpus < 2) continue;
    const Resources compact = rows::placed(own, {.gpu_type = "", .gpus = sample.at.gpus});
    if (sample.at.nodes > compact.nodes) continue;
    double seconds = told_sync(sample);
    const bool covered = sample.at.local_batch >= least && sample.at.local_batch <= most;
    if (seconds <= 0 && covered)
      seconds = sample.step_time - table.seconds(sample.at.local_batch).value_or(sample.step_time);
    if (seconds > 0) found.links.push_back({bytes, sample.at.gpus, seconds});
  }
  return found;
}

double bytes_of(const ModelShape& shape) {
  return kBytesOfParameter * static_cast<double>(shape.params);
}

/// A ring that is as fast as the measured all-reduces.
RingModel ring_of(const std::vector<CommunicationTime>& links) {
  RingModel ring;
  std::vector<double> bandwidths;
  for (const CommunicationTime& link : links) {
    const double others = link.devices - 1;
    // At most half of the time is latency.
    const double moving = std::max(link.seconds - others * ring.latency, link.seconds / 2);
    bandwidths.push_back(2 * others / link.devices * link.bytes / moving);
  }
  std::ranges::sort(bandwidths);
  ring.bandwidth = bandwidths[bandwidths.size() / 2];
  return ring;
}

}  // namespace

BatchScaling batch_scaling(Rows own, Rows all, const Batch& range, int max_gpus,
                           const std::optional<ModelShape>& shape,
                           const std::map<std::string, ModelShape>& shapes) {
  BatchScaling out;
  if (own.empty()) {
    out.missing.emplace_back("nothing was measured");
    return out;
  }
  if (shape && shape->params > 0) out.gradient_bytes = bytes_of(*shape);
  const double bytes = out.gradient_bytes > 0 ? out.gradient_bytes : 1;
  Measured found = measured_of(own, bytes);
  for (auto at = all.begin(); out.gradient_bytes > 0 && at != all.end();) {
    const Rows others = rows::rows_of(all, at->profile, at->gpu_type);
    at += static_cast<std::ptrdiff_t>(others.size());
    const MeasuredRow& first = others.front();
    const auto other = shapes.find(first.profile.job_type);
    const bool counts = first.gpu_type == own.front().gpu_type &&
                        first.profile != own.front().profile && other != shapes.end();
    if (!counts) continue;
    const Measured theirs = measured_of(others, bytes_of(other->second));
    found.links.insert(found.links.end(), theirs.links.begin(), theirs.links.end());
  }
  const BatchTable table(found.device);
  out.batches = table.rows().size();
  out.links = found.links.size();
  if (table.empty()) {
    out.missing.emplace_back("a report from one GPU, or one with the synchronisation time");
    return out;
  }
  if (out.batches < 2) out.missing.emplace_back("a report from one GPU at another batch");
  out.max_gpus = 1;
  for (const CommunicationTime& link : found.links)
    out.max_gpus = std::max(out.max_gpus, 2 * link.devices);
  out.max_gpus = std::min(out.max_gpus, max_gpus);
  if (found.links.empty())
    out.missing.emplace_back("a report from several GPUs at a batch per GPU that one GPU measured");
  const CommunicationTable links(found.links,
                                 found.links.empty() ? RingModel{} : ring_of(found.links));
  BatchRange batches;
  batches.least = std::max<std::int64_t>(range.min, 1);
  batches.most = std::max<std::int64_t>(range.max, batches.least);
  batches.max_local = kBatchReach * std::max<std::int64_t>(1, rows::max_local_seen(own));
  out.analysed.emplace(table, links, bytes, batches, out.max_gpus);
  return out;
}

BatchScaling Predictor::scaling(const JobSpec& job, const std::string& gpu_type, int max_gpus,
                                const std::map<std::string, ModelShape>& shapes) const {
  if (!step_time_models_) return {.missing = {"nothing was measured"}};
  const Rows all = step_time_models_->rows();
  const Rows own = rows::rows_of(all, job.profile, gpu_type);
  const std::int64_t usual = own.empty() ? 1 : rows::usual(own).batch;
  return batch_scaling(own, all, job.batch.value_or(Batch{usual, usual}), max_gpus, job.shape,
                       shapes);
}

}  // namespace rubato
