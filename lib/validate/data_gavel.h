// SPDX-License-Identifier: GPL-2.0-or-later
// Gavel's measured throughputs (Narayanan et al., OSDI 2020): simulation_throughputs.json.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/error.h"

namespace rubato {

/// A kind of job as named in the file: "APP (batch size B)", or a name without a batch.
struct GavelModel {
  std::string name;        ///< the whole name
  std::string app;         ///< the part before the batch
  std::int64_t batch = 0;  ///< samples per worker and step; 0: unknown

  bool operator==(const GavelModel&) const = default;
};

/// One measurement.
struct GavelObservation {
  GavelModel model;
  std::string gpu_type;      ///< without the suffix of spread placements
  bool consolidated = true;  ///< on the fewest servers
  int scale = 1;             ///< workers, one GPU each
  double steps = 0;          ///< steps/s of all workers together; 0: does not fit
  /// Jobs that shared its GPUs: (model, scale), and their steps/s.
  struct Partner {
    GavelModel model;
    int scale = 1;
    double own_steps = 0;
    double other_steps = 0;
  };
  std::vector<Partner> shared;  ///< sorted by name and scale

  /// samples/s; without a batch, steps/s.
  [[nodiscard]] double throughput() const {
    return steps * static_cast<double>(model.batch > 0 ? model.batch : 1);
  }
};

struct GavelData {
  std::vector<GavelObservation>
      observations;  ///< sorted by GPU type, placement (consolidated first), model, scale
};

/// The kind of job for a name.
[[nodiscard]] GavelModel gavel_model(const std::string& name);

/// These are errors: numbers below 0, not finite or malformed; scales that are not integers above
/// 0; malformed keys; duplicate keys. Form: "NAME:LINE:COLUMN: what was expected". A 0 is kept.
[[nodiscard]] Result<GavelData> parse_gavel(std::string_view text, const std::string& name);
/// Reads DIR/gavel/simulation_throughputs.json, at most 64 MiB.
[[nodiscard]] Result<GavelData> read_gavel(const std::string& data_dir);

}  // namespace rubato
