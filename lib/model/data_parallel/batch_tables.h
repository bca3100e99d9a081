// SPDX-License-Identifier: GPL-2.0-or-later
// Tables of batch times on one device and synchronisation times on an interconnect.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace rubato {

/// Forward, backward and update of a local batch on one device, measured.
struct BatchTime {
  double local_batch = 0;  ///< samples, above 0
  double seconds = 0;      ///< above 0
};

/// Piecewise linear in the local batch, and never shorter at a larger one. Beyond the largest
/// measured batch time grows in proportion, as on a device that is full; below the smallest the
/// first line goes on, or half of the time stays where there is only one row. Rows that are not
/// above 0 and finite are left out; of one batch the median counts.
class BatchTable {
 public:
  explicit BatchTable(std::span<const BatchTime> rows);

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Seconds, above 0 and finite; none when empty or the batch makes no sense.
  [[nodiscard]] std::optional<double> seconds(double local_batch) const;
  /// Rows were left out, or times fell with the batch and were lifted.
  [[nodiscard]] bool repaired() const { return repaired_; }
  /// By batch.
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

  /// 0 on one device.
  [[nodiscard]] double seconds(double bytes, int devices) const;
};

/// One interconnect, for all jobs. Linear between measured bytes and between measured devices; what
/// the ring adds beyond the largest of either; in proportion to bytes, and to the ring's share of
/// them, below the smallest. Without rows the ring alone. Never shorter for more bytes.
class CommunicationTable {
 public:
  explicit CommunicationTable(std::span<const CommunicationTime> rows, RingModel ring = {});

  /// Seconds, at least 0 and finite; none when bytes or devices make no sense.
  [[nodiscard]] std::optional<double> seconds(double bytes, int devices) const;
  /// Rows were left out, or times fell with the bytes and were lifted.
  [[nodiscard]] bool repaired() const { return repaired_; }

 private:
  struct Row {
    int devices = 2;
    std::vector<BatchTime> times;  ///< bytes in place of samples, rising
  };
  [[nodiscard]] double at(const Row& row, double bytes) const;

  RingModel ring_;
  std::vector<Row> rows_;  ///< by devices
  bool repaired_ = false;
};

}  // namespace rubato
