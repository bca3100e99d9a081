// SPDX-License-Identifier: GPL-2.0-or-later
// What `rubato whatif` takes of sbatch: options of the command line and #SBATCH lines of a script.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/units.h"
#include "lib/hints/read.h"
#include "tools/shared/command_line.h"

namespace rubato::tools {

/// As written. "" and 0: not given.
struct SubmitOptions {
  std::string partition;
  std::string account;
  std::string qos;
  std::string time;
  std::string gpus;
  std::string gpus_per_node;
  std::string gpus_per_task;
  std::string gres;
  std::string nodes;
  std::string memory;
  std::string memory_per_cpu;
  std::string memory_per_gpu;
  std::string comment;
  int tasks = 0;
  int cpus_per_task = 0;
  int cpus_per_gpu = 0;
  std::vector<std::string> exclusive_word;
  bool exclusive = false;
  bool no_requeue = false;
  /// One for each of hint_options().
  std::deque<std::string> hint_values;
  std::deque<bool> hint_given;

  SubmitOptions();
  /// Some option is there.
  [[nodiscard]] bool given() const;
  /// Options as parse_options() takes them.
  [[nodiscard]] std::vector<OptionPair> hints() const;
};

/// Adds the options to a command line, which writes to `options`.
void add_submit_options(CommandLine& line, SubmitOptions& options);

/// The options of a job script.
struct ScriptOptions {
  SubmitOptions options;
  std::vector<std::string> ignored;  ///< options that may change where or when the job runs
};

/// The #SBATCH lines in front of the first command of the script, as sbatch reads them: words are
/// separated by blanks, quotes and backslashes keep them, # begins a comment. Fails for a text
/// without #! and for a value that is missing; `path` is for its error.
[[nodiscard]] Result<ScriptOptions> read_script(std::string_view text, const std::string& path);

/// The variables of sbatch that are options too. They go before those of a script.
[[nodiscard]] SubmitOptions options_of_environment();

/// `strong` where it says something, else `weak`. A memory option replaces all three, as with
/// sbatch.
[[nodiscard]] SubmitOptions merged(const SubmitOptions& strong, SubmitOptions weak);

/// Seconds of an sbatch time: minutes, minutes:seconds, hours:minutes:seconds, days-hours,
/// days-hours:minutes, days-hours:minutes:seconds; 0, "unlimited" and "infinite" are kForever.
[[nodiscard]] Result<Seconds> time_limit_from(const std::string& text);

}  // namespace rubato::tools
