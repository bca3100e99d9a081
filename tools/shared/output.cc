// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/shared/output.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <system_error>

#include "lib/base/json_reader.h"
#include "lib/base/version.h"

namespace rubato::tools {
namespace {

const char* program_name = "rubato";
int lost_reason = 0;  // errno of the first flush that failed; a second one may not tell it again

void print_lines(const char* head, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    fmt::print(stderr, "{}: {}: {}\n", program_name, head, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void say_lost(int reason) {
  print_lines("error", fmt::format("standard output: {}",
                                   reason != 0 ? std::strerror(reason) : "output was lost"));
}

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

int positive_number(const char* text) {
  if (text == nullptr || *text == '\0') return 0;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return *end == '\0' && value > 0 && value < 10000 ? static_cast<int>(value) : 0;
}

}  // namespace

void flush_output() {
  errno = 0;
  if (std::fflush(stdout) != 0 && lost_reason == 0) lost_reason = errno;
}

void set_program(const char* name) { program_name = name; }

void print_error(std::string_view text) {
  flush_output();
  print_lines("error", text);
}

void print_warning(std::string_view text) {
  flush_output();
  print_lines("warning", text);
}

int report_failure(const Globals& globals, const char* schema, Exit exit, const std::string& text) {
  if (globals.json) print_json(document(schema, "", {}, {text}));
  print_error(text);
  return exit;
}

int finish_output(int exit) {
  flush_output();
  if (lost_reason == 0 && std::ferror(stdout) == 0) return exit;
  say_lost(lost_reason);
  return exit == 0 ? static_cast<int>(kFailed) : exit;
}

int finish_failed(const std::exception& error) {
  // fmt throws where stdout takes no more.
  const auto* reason = dynamic_cast<const std::system_error*>(&error);
  if (reason != nullptr && std::ferror(stdout) != 0) {
    say_lost(reason->code().value());
    return kFailed;
  }
  print_error(error.what());
  return finish_output(kFailed);
}

bool use_color(const Globals& globals) {
  if (globals.color != ColorChoice::kAuto) return globals.color == ColorChoice::kAlways;
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* term = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && (term == nullptr || std::string_view(term) != "dumb");
}

std::string paint(std::string_view text, Color color, bool enabled) {
  if (!enabled || color == Color::kPlain) return std::string(text);
  const char* code = color == Color::kGreen    ? "32"
                     : color == Color::kYellow ? "33"
                     : color == Color::kRed    ? "31"
                                               : "1";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::optional<int> terminal_width() {
  if (const int columns = positive_number(std::getenv("COLUMNS")); columns > 0) return columns;
  winsize size{};
  if (isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
      size.ws_col > 0) {
    return size.ws_col;
  }
  return std::nullopt;
}

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

std::string cut(std::string_view text, std::size_t width) {
  if (columns(text) <= width) return std::string(text);
  if (width == 0) return "";
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    if (!continues_character(text[end]) && ++seen == width) break;
  }
  return std::string(text.substr(0, end)) + "+";
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && columns(line) + 1 + columns(word) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

bool testing() {
  const char* value = std::getenv("RUBATO_TESTING");
  return value != nullptr && std::string_view(value) == "1";
}

bool test_off(ToolMechanism mechanism) {
  const char* value = std::getenv("RUBATO_TEST_OFF");
  if (!testing() || value == nullptr) return false;
  return fmt::format(",{},", value).find(fmt::format(",{},", to_string(mechanism))) !=
         std::string::npos;
}

Seconds now() {
  const char* fixed = std::getenv("RUBATO_NOW");
  if (testing() && fixed != nullptr) return std::strtoll(fixed, nullptr, 10);
  return std::time(nullptr);
}

std::string format_time(Seconds time) {
  if (time >= kForever) return "never";
  const std::time_t value = time;
  std::tm parts{};
  if (localtime_r(&value, &parts) == nullptr) return std::to_string(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}", parts);
}

std::string format_duration(Seconds length) {
  if (length >= kForever) return "UNLIMITED";
  if (length < 0) return "-" + format_duration(-length);
  const Seconds days = length / 86400;
  const Seconds hours = length / 3600 % 24;
  const Seconds minutes = length / 60 % 60;
  const Seconds seconds = length % 60;
  if (days > 0) return fmt::format("{}-{:02}:{:02}:{:02}", days, hours, minutes, seconds);
  if (hours > 0) return fmt::format("{:02}:{:02}:{:02}", hours, minutes, seconds);
  return fmt::format("{:02}:{:02}", minutes, seconds);
}

Json document(const char* schema, const std::string& slurm_version,
              const std::vector<std::string>& warnings, const std::vector<std::string>& errors) {
  Json meta{{"schema", schema}, {"version", std::string(version())}};
  if (!slurm_version.empty()) meta["slurm_version"] = slurm_version;
  meta["generated"] = now();
  return Json{{"meta", meta}, {"warnings", warnings}, {"errors", errors}};
}

void print_json(const Json& document) { fmt::print("{}\n", json_text(document, 2)); }

}  // namespace rubato::tools
