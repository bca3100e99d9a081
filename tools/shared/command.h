// SPDX-License-Identifier: GPL-2.0-or-later
// Interface of a subcommand of `rubato`. Each subcommand has its own file, cmd_NAME.cc.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace rubato::tools {

class CommandLine;

/// Exit codes of every subcommand.
enum Exit : int {
  kOk = 0,
  kFailed = 1,       ///< an error, or a check that failed
  kUsage = 2,        ///< the command line is wrong
  kNoMatch = 3,      ///< no such job
  kUnreachable = 4,  ///< nothing published, not readable, or stale
};

enum class ColorChoice { kAuto, kAlways, kNever };

/// Options that every subcommand takes.
struct Globals {
  bool json = false;
  ColorChoice color = ColorChoice::kAuto;
  std::string publish_dir;         ///< --publish-dir; "" if it was not given
  std::vector<std::string> words;  ///< the command line behind the program's name
};

struct Command {
  const char* name;
  const char* summary;    ///< one line of `rubato --help`
  const char* arguments;  ///< arguments in the usage line
  /// Adds the options of the subcommand to `line` and returns what runs it after they are parsed.
  /// `globals` lives as long as the program.
  std::function<int()> (*setup)(CommandLine& line, const Globals& globals);
  /// Set instead of `setup` for a command that another program carries out: gets the whole argv and
  /// returns only if that program cannot be run, with the exit code.
  int (*run)(char** argv) = nullptr;
};

Command doctor_command();
Command explain_command();
Command hints_command();
Command hold_size_command();
Command metrics_command();
Command models_command();
Command page_command();
Command pause_command();
Command rehearse_command();
Command report_command();
Command resize_command();
Command simulate_command();
Command snapshot_command();
Command stats_command();
Command validate_command();
Command wait_resize_command();
Command whatif_command();

}  // namespace rubato::tools
