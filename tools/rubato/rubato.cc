// SPDX-License-Identifier: GPL-2.0-or-later
// The program `rubato`: a table of subcommands, and what is alike in all of them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <csignal>
#include <optional>

#include "lib/base/nearest.h"
#include "lib/base/version.h"
#include "tools/shared/command.h"
#include "tools/shared/command_line.h"
#include "tools/shared/output.h"

namespace rubato::tools {
namespace {

const std::array<Command, 17>& commands() {
  static const std::array<Command, 17> table{
      doctor_command(),   explain_command(), hints_command(),    hold_size_command(),
      metrics_command(),  models_command(),  page_command(),     pause_command(),
      rehearse_command(), report_command(),  resize_command(),   simulate_command(),
      snapshot_command(), stats_command(),   validate_command(), wait_resize_command(),
      whatif_command()};
  return table;
}

const Command* find_command(const std::string& name) {
  for (const Command& command : commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

int usage_error(const std::string& text) {
  print_error(text);
  return kUsage;
}

std::string usage_of(const Command& command) {
  const bool none = *command.arguments == '\0';
  return fmt::format("rubato {} [OPTIONS]{}{}", command.name, none ? "" : " ", command.arguments);
}

void print_usage(const Command* command) {
  if (command == nullptr) {
    fmt::print("Usage: rubato COMMAND [OPTIONS]\n       rubato --help | --usage | --version\n");
  } else {
    fmt::print("Usage: {}\n", usage_of(*command));
  }
}

void print_help() {
  print_usage(nullptr);
  fmt::print("\nCommands:\n");
  for (const Command& command : commands()) {
    fmt::print("  {:<12}{}\n", command.name, command.summary);
  }
  fmt::print(
      "\nOptions of every command:\n"
      "  --json      Print a JSON document\n"
      "  --color WHEN\n"
      "              Colour the output: auto (default: on a terminal without NO_COLOR),\n"
      "              always or never\n"
      "  --publish-dir DIR\n"
      "              Read Rubato's published files from DIR\n"
      "  --help      Print the options of the command\n"
      "  --usage     Print one line of usage\n"
      "  --version   Print the version\n"
      "\nExit codes: 0 ok, 1 error or failed check, 2 wrong usage, 3 no such job,\n"
      "4 nothing published, not readable, or out of date.\n");
}

void print_command_help(const Command& command, const CommandLine& line) {
  print_usage(&command);
  fmt::print("\n{}.\n\nOptions:\n", command.summary);
  constexpr std::size_t kIndent = 24;
  constexpr std::size_t kWidth = 78;
  for (const CommandLine::Shown& option : line.shown()) {
    bool first = true;
    if (option.name.size() + 4 > kIndent) {
      fmt::print("  {}\n", option.name);
      first = false;
    }
    for (const std::string& part : wrap(option.help, kWidth - kIndent)) {
      fmt::print("{:<{}}{}\n", first ? "  " + option.name : "", kIndent, part);
      first = false;
    }
  }
}

/// What is wrong with a word that no option took.
std::string complaint(const Command& command, const CommandLine& line, const std::string& word) {
  const std::vector<std::string> names = line.names();
  // An option behind "--" is an argument.
  const bool known = std::find(names.begin(), names.end(), word) != names.end();
  if (word.starts_with('-') && !known) {
    const std::string name = word.substr(0, word.find('='));
    // What was typed short of its end ("--anon") comes before what is spelt alike ("--json").
    const auto whole = std::find_if(names.begin(), names.end(), [&](const std::string& choice) {
      return name.size() > 2 && choice.starts_with(name);
    });
    const auto near = whole != names.end() ? std::optional(*whole) : nearest(name, names);
    const std::string advice = near ? fmt::format("did you mean {}?", *near)
                                    : fmt::format("see: rubato {} --help", command.name);
    return fmt::format("{}: unknown option '{}'; {}", command.name, word, advice);
  }
  return fmt::format("{}: unexpected argument '{}'; usage: {}", command.name, word,
                     usage_of(command));
}

struct Common {
  std::string color;
  bool help = false;
  bool usage = false;
  bool version = false;
};

std::optional<ColorChoice> color_choice(const std::string& when) {
  if (when == "auto") return ColorChoice::kAuto;
  if (when == "always") return ColorChoice::kAlways;
  if (when == "never") return ColorChoice::kNever;
  return std::nullopt;
}

void add_common_options(CommandLine& line, Globals& globals, Common& common) {
  if (!line.has("--json")) line.flag("--json", globals.json, "Print a JSON document");
  line.text("--color", common.color, "WHEN",
            "Colour the output: auto (on a terminal without NO_COLOR), always or never",
            [](const std::string& when) {
              return color_choice(when) ? std::string()
                                        : fmt::format("'{}': must be auto, always or never", when);
            });
  line.text("--publish-dir", globals.publish_dir, "DIR", "Read Rubato's published files from DIR");
  line.flag("--help", common.help, "Print this help");
  line.flag("--usage", common.usage, "Print one line of usage");
  line.flag("--version", common.version, "Print the version");
}

int print_version() {
  fmt::print("rubato {}\n", version());
  return kOk;
}

int run_command(const Command& command, int argc, char** argv) {
  Globals globals;
  globals.words.assign(argv, argv + argc);
  Common common;
  CommandLine line;
  const std::function<int()> action = command.setup(line, globals);
  add_common_options(line, globals, common);
  if (const auto wrong = line.parse(argc, argv)) {
    return usage_error(fmt::format("{}: {}", command.name, *wrong));
  }
  globals.color = color_choice(common.color).value_or(ColorChoice::kAuto);
  if (common.help) return print_command_help(command, line), kOk;
  if (common.usage) return print_usage(&command), kOk;
  if (common.version) return print_version();
  if (const auto extra = line.extra(); !extra.empty()) {
    return usage_error(complaint(command, line, extra.front()));
  }
  return action();
}

int run_without_command(const std::string& word) {
  if (word == "--help" || word == "help") return print_help(), kOk;
  if (word == "--usage") return print_usage(nullptr), kOk;
  if (word == "--version" || word == "-V") return print_version();
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  if (word.starts_with('-')) {
    const std::vector<std::string> options{"--help", "--usage", "--version"};
    return usage_error(fmt::format("unknown option '{}'{}; options follow the command", word,
                                   did_you_mean(word, options)));
  }
  const std::string mean = did_you_mean(word, names);
  return usage_error(
      fmt::format("unknown command '{}'{}", word, mean.empty() ? "; see: rubato --help" : mean));
}

int run(int argc, char** argv) {
  if (argc < 2) return usage_error("missing command; see: rubato --help");
  const Command* command = find_command(argv[1]);
  if (command == nullptr) return run_without_command(argv[1]);
  if (command->run != nullptr) return command->run(argv);
  return run_command(*command, argc - 1, argv + 1);
}

}  // namespace
}  // namespace rubato::tools

int main(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "");
  try {
    return rubato::tools::finish_output(rubato::tools::run(argc, argv));
  } catch (const std::exception& error) {
    return rubato::tools::finish_failed(error);
  }
}
