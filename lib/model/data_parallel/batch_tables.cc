// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/data_parallel/batch_tables.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "lib/base/statistics.h"

namespace rubato {
namespace {

// Larger bytes, samples or seconds are impossible for a training job.
constexpr double kMax = 1e15;
constexpr double kMaxSeconds = 1e9;
constexpr int kMaxDevices = 1'000'000;
constexpr double kMaxLatency = 1e3;

bool sensible(double value, double most) { return value > 0 && value <= most; }

/// One row per key, sorted by key; times that decrease are raised to the previous one.
std::vector<BatchTime> rising(const std::map<double, std::vector<double>>& by_key, bool& repaired) {
  std::vector<BatchTime> rows;
  for (const auto& [key, seconds] : by_key) {
    const double middle = median(seconds);
    const double lifted = rows.empty() ? middle : std::max(middle, rows.back().seconds);
    repaired = repaired || lifted > middle;
    rows.push_back({key, lifted});
  }
  return rows;
}

double line(const BatchTime& a, const BatchTime& b, double at) {
  const double share = (at - a.local_batch) / (b.local_batch - a.local_batch);
  return a.seconds + share * (b.seconds - a.seconds);
}

/// Interpolates between rows.
double between(const std::vector<BatchTime>& rows, double at) {
  const auto above = std::ranges::lower_bound(rows, at, {}, &BatchTime::local_batch);
  return above->local_batch == at ? above->seconds : line(*(above - 1), *above, at);
}

}  // namespace

BatchTable::BatchTable(std::span<const BatchTime> rows) {
  std::map<double, std::vector<double>> by_batch;
  for (const BatchTime& row : rows) {
    if (sensible(row.local_batch, kMax) && sensible(row.seconds, kMaxSeconds)) {
      by_batch[row.local_batch].push_back(row.seconds);
    } else {
      repaired_ = true;
    }
  }
  rows_ = rising(by_batch, repaired_);
}

std::optional<double> BatchTable::seconds(double local_batch) const {
  if (empty() || !sensible(local_batch, kMax)) return std::nullopt;
  const BatchTime& first = rows_.front();
  const BatchTime& last = rows_.back();
  if (local_batch > last.local_batch) {
    return last.seconds * (local_batch / last.local_batch);
  }
  if (local_batch >= first.local_batch) return between(rows_, local_batch);
  const double share = local_batch / first.local_batch;
  if (rows_.size() == 1) return first.seconds * (1 + share) / 2;
  return std::max(line(first, rows_[1], local_batch), first.seconds * share);
}

double RingModel::seconds(double bytes, int devices) const {
  if (devices <= 1) return 0;
  const double others = devices - 1;
  return 2 * others / devices * bytes / bandwidth + others * latency;
}

CommunicationTable::CommunicationTable(std::span<const CommunicationTime> rows, RingModel ring)
    : ring_(ring) {
  const RingModel usual;
  if (!sensible(ring_.bandwidth, kMax)) {
    ring_.bandwidth = usual.bandwidth;
    repaired_ = true;
  }
  if (!(ring_.latency >= 0 && ring_.latency <= kMaxLatency)) {
    ring_.latency = usual.latency;
    repaired_ = true;
  }
  std::map<int, std::map<double, std::vector<double>>> by_devices;
  for (const CommunicationTime& row : rows) {
    if (sensible(row.bytes, kMax) && sensible(row.seconds, kMaxSeconds) && row.devices >= 2 &&
        row.devices <= kMaxDevices) {
      by_devices[row.devices][row.bytes].push_back(row.seconds);
    } else {
      repaired_ = true;
    }
  }
  for (const auto& [devices, by_bytes] : by_devices) {
    rows_.push_back({devices, rising(by_bytes, repaired_)});
  }
}

double CommunicationTable::at(const Row& row, double bytes) const {
  const BatchTime& first = row.times.front();
  const BatchTime& last = row.times.back();
  if (bytes < first.local_batch) return first.seconds * (bytes / first.local_batch);
  if (bytes > last.local_batch) {
    return last.seconds + ring_.seconds(bytes, row.devices) -
           ring_.seconds(last.local_batch, row.devices);
  }
  return between(row.times, bytes);
}

std::optional<double> CommunicationTable::seconds(double bytes, int devices) const {
  if (!(bytes >= 0 && bytes <= kMax) || devices < 1 || devices > kMaxDevices) return std::nullopt;
  if (devices == 1 || bytes == 0) return 0;
  if (rows_.empty()) return ring_.seconds(bytes, devices);
  const auto above = std::ranges::lower_bound(rows_, devices, {}, &Row::devices);
  if (above == rows_.end()) {
    const Row& last = rows_.back();
    return at(last, bytes) + ring_.seconds(bytes, devices) - ring_.seconds(bytes, last.devices);
  }
  if (above->devices == devices) return at(*above, bytes);
  if (above == rows_.begin()) {
    // The share of bytes that passes each device is (k - 1) / k.
    const double share = (devices - 1.0) / devices;
    const double measured = (above->devices - 1.0) / above->devices;
    return at(*above, bytes) * share / measured;
  }
  const Row& below = *(above - 1);
  const double share =
      static_cast<double>(devices - below.devices) / (above->devices - below.devices);
  return at(below, bytes) * (1 - share) + at(*above, bytes) * share;
}

}  // namespace rubato
