// SPDX-License-Identifier: GPL-2.0-or-later
// Fields in sacct's output format. nullopt: the field is malformed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rubato::sim {

/// The contents of AllocTRES.
struct SacctTres {
  int gpus = 0;
  std::string type;   ///< GPU type; "" if none or several are named
  int cpus = 0;       ///< 0: not given
  double memory = 0;  ///< MiB; 0: not given
  int nodes = 0;      ///< 0: not given
};

/// "2026-11-21T12:30:00" or seconds since 1970, from 1970 to 2200. Local time without a zone: a
/// clock change appears as an error of one hour.
[[nodiscard]] std::optional<double> sacct_time(std::string_view text);
/// A time as sacct prints it: "2026-11-21T12:30:00".
[[nodiscard]] std::string sacct_time_text(double time);
/// "1-02:03:04", "02:03:04", "03:04"; kNever for UNLIMITED and Partition_Limit.
[[nodiscard]] std::optional<double> sacct_limit(std::string_view text);
/// "billing=8,cpu=8,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1".
[[nodiscard]] std::optional<SacctTres> sacct_tres(std::string_view text);

}  // namespace rubato::sim
