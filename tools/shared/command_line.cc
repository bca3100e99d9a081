// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/shared/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

namespace rubato::tools {

namespace {

// As CLI::Range, whose words differ from release to release.
CLI::Validator within(int least, int most) {
  const auto check = [least, most](const std::string& text) {
    int value = 0;
    const char* const end = text.data() + text.size();
    const auto [at, rc] = std::from_chars(text.data(), end, value);
    if (rc == std::errc() && at == end && value >= least && value <= most) return std::string();
    return fmt::format("Value {} not in range {} to {}", text, least, most);
  };
  return {check, fmt::format("INT in [{} - {}]", least, most), ""};
}

}  // namespace

struct CommandLine::Parser {
  CLI::App app;
};

CommandLine::CommandLine() : parser_(std::make_unique<Parser>()) {
  parser_->app.set_help_flag();
  parser_->app.allow_extras();
}

CommandLine::~CommandLine() = default;

void CommandLine::flag(const std::string& names, bool& to, const std::string& help) {
  parser_->app.add_flag(names, to, help);
}

void CommandLine::text(const std::string& names, std::string& to, const char* value,
                       const std::string& help, const Check& check) {
  CLI::Option* option = parser_->app.add_option(names, to, help)->type_name(value)->take_last();
  if (check) option->check(check);
}

void CommandLine::text(const std::string& names, std::string& to, bool& given, const char* value,
                       const std::string& help) {
  parser_->app
      .add_option_function<std::string>(
          names,
          [&to, &given](const std::string& text) {
            to = text;
            given = true;
          },
          help)
      ->type_name(value)
      ->take_last();
}

void CommandLine::number(const std::string& names, int& to, const char* value,
                         const std::string& help) {
  parser_->app.add_option(names, to, help)->type_name(value)->take_last();
}

void CommandLine::number(const std::string& names, int& to, int least, int most, const char* value,
                         const std::string& help) {
  parser_->app.add_option(names, to, help)
      ->check(within(least, most))
      ->type_name(value)
      ->take_last();
}

void CommandLine::list(const std::string& names, std::vector<std::string>& to, const char* value,
                       const std::string& help) {
  parser_->app.add_option(names, to, help)->type_name(value)->delimiter(',')->take_all();
}

void CommandLine::optional_text(const std::string& names, std::vector<std::string>& to, bool& given,
                                const char* value, const std::string& help) {
  parser_->app
      .add_option_function<std::vector<std::string>>(
          names,
          [&to, &given](const std::vector<std::string>& words) {
            to = words;
            given = true;
          },
          help)
      ->type_name(value)
      ->expected(0, 1);
}

void CommandLine::argument(const char* name, std::string& to, const std::string& help) {
  parser_->app.add_option(name, to, help);
}

void CommandLine::arguments(const char* name, std::vector<std::string>& to,
                            const std::string& help) {
  parser_->app.add_option(name, to, help);
}

bool CommandLine::has(const std::string& name) const {
  return parser_->app.get_option_no_throw(name) != nullptr;
}

std::vector<CommandLine::Shown> CommandLine::shown() const {
  std::vector<Shown> shown;
  for (const CLI::Option* option : std::as_const(parser_->app).get_options()) {
    const bool positional = option->get_positional();
    std::string name = option->get_name(positional, !positional);
    if (const auto comma = name.find(",-"); comma != std::string::npos) name.insert(comma + 1, " ");
    if (!option->get_type_name().empty() && !positional) name += " " + option->get_type_name();
    shown.push_back({std::move(name), option->get_description()});
  }
  return shown;
}

std::vector<std::string> CommandLine::names() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : std::as_const(parser_->app).get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::optional<std::string> CommandLine::parse(int argc, char** argv) {
  try {
    parser_->app.parse(argc, argv);
  } catch (const CLI::ArgumentMismatch& error) {
    // CLI11 says "--user: 1 required USER missing".
    const std::string text = error.what();
    return fmt::format("{} needs a value", text.substr(0, text.find(':')));
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return std::nullopt;
}

std::vector<std::string> CommandLine::extra() const {
  std::vector<std::string> extra = parser_->app.remaining();
  std::erase(extra, "--");
  return extra;
}

}  // namespace rubato::tools
