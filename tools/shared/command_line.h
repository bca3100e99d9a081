// SPDX-License-Identifier: GPL-2.0-or-later
// Options of one subcommand. Only command_line.cc includes CLI11, whose headers cost 5 s in each
// source.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rubato::tools {

/// Parses the words behind a subcommand. Names are comma-separated with their dashes:
/// "-o,--output". Of an option that is given twice the last value counts. `value` is the name of
/// the value in --help. What an option writes to must live until parse() returns.
class CommandLine {
 public:
  /// One option as --help shows it.
  struct Shown {
    std::string name;  ///< "-o, --output FILE"; "JOBID" for an argument
    std::string help;
  };
  /// Why a value is wrong, or "".
  using Check = std::function<std::string(const std::string&)>;

  CommandLine();
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  void flag(const std::string& names, bool& to, const std::string& help);
  void text(const std::string& names, std::string& to, const char* value, const std::string& help,
            const Check& check = {});
  /// `given` tells an empty value from no option.
  void text(const std::string& names, std::string& to, bool& given, const char* value,
            const std::string& help);
  void number(const std::string& names, int& to, const char* value, const std::string& help);
  /// Refuses a number outside [least, most].
  void number(const std::string& names, int& to, int least, int most, const char* value,
              const std::string& help);
  /// Values with commas between; the option may repeat.
  void list(const std::string& names, std::vector<std::string>& to, const char* value,
            const std::string& help);
  /// An option whose value may be missing: then `to` is empty and `given` is true.
  void optional_text(const std::string& names, std::vector<std::string>& to, bool& given,
                     const char* value, const std::string& help);
  /// One argument without dashes, and all such arguments.
  void argument(const char* name, std::string& to, const std::string& help);
  void arguments(const char* name, std::vector<std::string>& to, const std::string& help);

  [[nodiscard]] bool has(const std::string& name) const;
  /// All options, in the order in which they were added.
  [[nodiscard]] std::vector<Shown> shown() const;
  /// All names with dashes, the long ones of each option first.
  [[nodiscard]] std::vector<std::string> names() const;

  /// What is wrong with the command line, or nothing. `argv[0]` is the name of the subcommand.
  [[nodiscard]] std::optional<std::string> parse(int argc, char** argv);
  /// Words that no option took, without "--".
  [[nodiscard]] std::vector<std::string> extra() const;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace rubato::tools
