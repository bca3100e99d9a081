// SPDX-License-Identifier: GPL-2.0-or-later
// Tables of batch times on one device and of synchronisation times on an interconnect.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace rubato {

/// Measured time of forward, backward and update for a local batch on one device.
struct BatchTime {
  double local_batch = 0;  ///< samples, above 0
  double seconds = 0;      ///< above 0
};

/// Piecewise linear in the local batch; time never decreases with the batch. Above the largest
/// measured batch, time grows in proportion, as on a saturated device. Below the smallest, the
/// first line continues; with only one row, half of the time is fixed. Rows that are not above 0
/// and finite are ignored; equal batches use their median.
class BatchTable {
 public:
  explicit BatchTable(std::span<const BatchTime> rows);

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Seconds, above 0 and finite; nullopt if the table is empty or the batch invalid.
  [[nodiscard]] std::optional<double> seconds(double local_batch) const;
  /// True if rows were ignored, or times that decreased were raised.
  [[nodiscard]] bool repaired() const { return repaired_; }
  /// Sorted by batch.
  [[nodiscard]] const std::vector<BatchTime>& rows() const { return rows_; }

 private:
  std::vector<BatchTime> rows_;
  bool repaired_ = false;
};

/// A measured all-reduce: bytes, devices, seconds.
struct CommunicationTime {
  double bytes = 0;  ///< above 0
  int devices = 2;   ///< at least 2
  double seconds = 0;
};

/// A ring all-reduce takes 2 (k - 1) / k * bytes / bandwidth + (k - 1) * latency on k devices
/// (Patarasuk and Yuan 2009).
struct RingModel {
  double bandwidth = 10e9;  ///< bytes/s, above 0
  double latency = 20e-6;   ///< seconds, at least 0

  /// 0 for one device.
  [[nodiscard]] double seconds(double bytes, int devices) const;
};

/// Synchronisation times of one interconnect, for all jobs. Linear between measured bytes and
/// between measured devices. Above the largest of either, the ring model adds its increase. Below
/// the smallest, time is proportional to bytes and to the ring's share of them. Without rows, only
/// the ring model. Time never decreases with bytes.
class CommunicationTable {
 public:
  explicit CommunicationTable(std::span<const CommunicationTime> rows, RingModel ring = {});

  /// Seconds, at least 0 and finite; nullopt if bytes or devices are invalid.
  [[nodiscard]] std::optional<double> seconds(double bytes, int devices) const;
  /// True if rows were ignored, or times that decreased were raised.
  [[nodiscard]] bool repaired() const { return repaired_; }

 private:
  struct Row {
    int devices = 2;
    std::vector<BatchTime> times;  ///< bytes instead of samples, ascending
  };
  [[nodiscard]] double at(const Row& row, double bytes) const;

  RingModel ring_;
  std::vector<Row> rows_;  ///< sorted by devices
  bool repaired_ = false;
};

}  // namespace rubato
