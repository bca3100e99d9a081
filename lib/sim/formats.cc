// SPDX-License-Identifier: GPL-2.0-or-later
// The table of workload formats. To add one, declare its reader and add a line.
#include "lib/sim/peers/formats.h"
#include "lib/sim/engine/suite.h"
#include "lib/sim/formats/format_native.h"
#include "lib/sim/formats/format_sacct.h"
#include "lib/sim/peers/format_gavel.h"

namespace rubato::sim {

std::span<const FormatEntry> formats() {
  static const std::vector<FormatEntry> table{
      {"gavel", "traces of Gavel; --profiles: simulation_throughputs.json or its folder",
       &read_gavel_suite, true},
      {"muri", "CSV of Muri, times in ms; without --profiles", &read_muri_suite},
      {"native", "CSV with one job per line; --profiles: CSV of throughputs", &read_native_suite},
      {"pollux", "CSV of Pollux; --profiles: its folder traces", &read_pollux_suite, true},
      {"rubick", "CSV of Rubick; --profiles: the folder with profiles and perf_model_validation",
       &read_rubick_suite, true},
      {"sacct", "output of sacct --parsable2", &read_sacct_suite},
      {"sia", "CSV of Sia; --profiles: its folder traces", &read_sia_suite, true},
      {"tiresias", "CSV of Tiresias; without --profiles", &read_tiresias_suite},
  };
  return table;
}

}  // namespace rubato::sim
