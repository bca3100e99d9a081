// SPDX-License-Identifier: GPL-2.0-or-later
// Fields as sacct prints them. nullopt: it is no such field.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rubato::sim {

/// What AllocTRES says.
struct SacctTres {
  int gpus = 0;
  std::string type;   ///< of the GPUs; "" where none or several are named
  int cpus = 0;       ///< 0: not said
  double memory = 0;  ///< MiB; 0: not said
};

/// "2026-11-21T12:30:00" or seconds since 1970, from 1970 to 2200. Local time without its zone: a
/// change between summer and winter time shows as an hour.
[[nodiscard]] std::optional<double> sacct_time(std::string_view text);
/// "1-02:03:04", "02:03:04", "03:04"; kNever for UNLIMITED and Partition_Limit.
[[nodiscard]] std::optional<double> sacct_limit(std::string_view text);
/// "billing=8,cpu=8,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1".
[[nodiscard]] std::optional<SacctTres> sacct_tres(std::string_view text);

}  // namespace rubato::sim
