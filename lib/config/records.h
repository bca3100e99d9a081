// SPDX-License-Identifier: GPL-2.0-or-later
// Lines of rubato.conf that describe one thing: GpuType=, JobType=.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lib/config/options.h"

namespace rubato {

/// A record while its line is read; the member that its option names is used.
struct ConfigRecord {
  GpuTypeConfig gpu_type;
  JobTypeConfig job_type;
};

/// Begins a record of `option` (a kName) with its name.
[[nodiscard]] Result<ConfigRecord> begin_record(const Option& option, const std::string& name);
/// Sets one member. The error says what is wrong with the value and what would be right.
[[nodiscard]] Result<void> set_member(const Option& member, const std::string& value,
                                      ConfigRecord& record);
/// Adds the record to `config`.
void add_record(const Option& option, ConfigRecord record, Config& config);
/// By name, as Config has them.
void sort_records(Config& config);

/// The members of a line, with the name first: {"GpuType", "a100"}, {"Speed", "2"}.
using RecordPairs = std::vector<std::pair<std::string, std::string>>;
/// All lines of `option`.
[[nodiscard]] std::vector<RecordPairs> show_records(const Option& option, const Config& config);

}  // namespace rubato
