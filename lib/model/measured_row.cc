// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/measured_row.h"

#include <cmath>
#include <tuple>

namespace rubato {
namespace {

// No job is faster than this.
constexpr double kMaxThroughput = 1e15;

auto key_of(const MeasuredRow& row) {
  return std::tie(row.profile, row.gpu_type, row.gpus, row.nodes, row.plan, row.batch, row.cores,
                  row.workers, row.servers, row.server_cores);
}

bool usable(const std::optional<double>& told) {
  return !told || (std::isfinite(*told) && *told >= 0);
}

}  // namespace

double MeasuredRow::seconds() const {
  if (iteration && std::isfinite(*iteration) && *iteration > 0) return *iteration;
  return batch > 0 && throughput > 0 ? static_cast<double>(batch) / throughput : 0;
}

bool row_before(const MeasuredRow& a, const MeasuredRow& b) { return key_of(a) < key_of(b); }

bool usable(const MeasuredRow& row) {
  return row.gpus >= 0 && row.nodes >= 0 && row.batch >= 0 && row.cores >= 0 && row.workers >= 0 &&
         row.servers >= 0 && row.server_cores >= 0 && row.samples > 0 &&
         std::isfinite(row.throughput) && row.throughput > 0 && row.throughput <= kMaxThroughput &&
         usable(row.forward) && usable(row.sync) && usable(row.optimise) && usable(row.iteration) &&
         usable(row.noise);
}

}  // namespace rubato
