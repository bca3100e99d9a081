// SPDX-License-Identifier: GPL-2.0-or-later
// Sums up reports as rows of the step-time models.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "lib/model/measured_row.h"
#include "lib/model/throughput/report_filter.h"

namespace rubato {

/// What a job measured of its iterations, beside its throughput; empty: not measured.
struct MeasuredParts {
  std::optional<double> forward{};    ///< seconds, as the following ones
  std::optional<double> sync{};       ///< communication that does not overlap
  std::optional<double> optimise{};   ///< update of the parameters
  std::optional<double> iteration{};  ///< total
  std::optional<double> noise{};      ///< gradient noise scale, samples

  bool operator==(const MeasuredParts&) const = default;
};

/// A report with all that the models use of it.
struct MeasuredReport {
  ThroughputReport throughput;
  MeasuredParts parts{};
  int cores = 0;  ///< of the whole allocation; 0: unknown, as in the following ones
  int workers = 0;
  int servers = 0;
  int server_cores = 0;  ///< of one server

  bool operator==(const MeasuredReport&) const = default;
};

/// Means over the reports of one configuration. Sums in the order of the calls.
class MeasuredMeans {
 public:
  void add(double throughput, const MeasuredParts& parts);
  [[nodiscard]] std::int64_t reports() const { return reports_; }
  /// samples/s; 0 without a report.
  [[nodiscard]] double throughput() const;
  /// Each over the reports that contain it.
  [[nodiscard]] MeasuredParts parts() const;

 private:
  struct Sum {
    double total = 0;
    std::int64_t count = 0;

    void add(const std::optional<double>& value);
    [[nodiscard]] std::optional<double> mean() const;
  };

  double total_ = 0;
  std::int64_t reports_ = 0;
  std::array<Sum, 5> parts_{};  ///< in the order of MeasuredParts
};

/// Sets the means of a row.
void put_means(const MeasuredMeans& means, MeasuredRow& row);

/// Rows of reports, as the store keeps them.
class MeasuredRows {
 public:
  /// Flagged reports and those of jobs without a job type do not count.
  void add(const MeasuredReport& report);
  /// Sorted by row_before().
  [[nodiscard]] std::vector<MeasuredRow> rows() const;
  /// Number of rows.
  [[nodiscard]] std::size_t size() const { return means_.size(); }
  /// Number of reports in them.
  [[nodiscard]] std::int64_t reports() const { return reports_; }

 private:
  struct Before {
    bool operator()(const MeasuredRow& a, const MeasuredRow& b) const { return row_before(a, b); }
  };

  std::map<MeasuredRow, MeasuredMeans, Before> means_;
  std::int64_t reports_ = 0;
};

}  // namespace rubato
