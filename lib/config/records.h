// SPDX-License-Identifier: GPL-2.0-or-later
// Record lines of rubato.conf: GpuType= and JobType=.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lib/config/options.h"

namespace rubato {

/// A record while its line is parsed. Only the member for its own option is used.
struct ConfigRecord {
  GpuTypeConfig gpu_type;
  JobTypeConfig job_type;
};

/// Starts a record of `option` (a kName) with its name.
[[nodiscard]] Result<ConfigRecord> begin_record(const Option& option, const std::string& name);
/// Sets one member. The error names the value and what is valid.
[[nodiscard]] Result<void> set_member(const Option& member, const std::string& value,
                                      ConfigRecord& record);
/// Adds the record to `config`.
void add_record(const Option& option, ConfigRecord record, Config& config);
/// Sorts the records by name, as Config requires.
void sort_records(Config& config);

/// The members of a line, with the name first: {"GpuType", "a100"}, {"Speed", "2"}.
using RecordPairs = std::vector<std::pair<std::string, std::string>>;
/// All record lines of `option` in `config`.
[[nodiscard]] std::vector<RecordPairs> show_records(const Option& option, const Config& config);

}  // namespace rubato
