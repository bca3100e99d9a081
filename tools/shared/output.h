// SPDX-License-Identifier: GPL-2.0-or-later
// Output shared by all subcommands: errors, colours, times, tables, the head of a JSON document.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/json_value.h"
#include "lib/base/units.h"
#include "tools/shared/command.h"
#include "tools/shared/tool_mechanism.h"

namespace rubato::tools {

using Json = JsonValue;

/// Prefix of messages; "rubato" unless it is set.
void set_program(const char* name);

/// Writes "rubato: error: text" to stderr. Each line of `text` gets the head.
void print_error(std::string_view text);
void print_warning(std::string_view text);

/// Prints what went wrong: to stderr, and with `globals.json` also as a JSON document on stdout
/// with the text in "errors". Returns `exit`.
int report_failure(const Globals& globals, const char* schema, Exit exit, const std::string& text);

enum class Color { kPlain, kGreen, kYellow, kRed, kBold };

/// Flushes stdout, and keeps why it failed for finish_output().
void flush_output();

/// Flushes stdout. Where output was lost that is said on stderr, and 0 becomes 1; else `exit`.
int finish_output(int exit);
/// The same after `error` ended the program, which is said first; returns kFailed.
int finish_failed(const std::exception& error);

/// True if colours go to stdout: always or never as chosen; else on a terminal without NO_COLOR.
bool use_color(const Globals& globals);
std::string paint(std::string_view text, Color color, bool enabled);

/// Columns of the terminal, from COLUMNS or the terminal itself; nothing if stdout is not one.
std::optional<int> terminal_width();

/// The first `width` columns of `text` (UTF-8), the last one "+" if something was cut.
std::string cut(std::string_view text, std::size_t width);
/// Columns that `text` takes.
std::size_t columns(std::string_view text);
/// `text` in lines of at most `width` columns, broken at spaces.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// Whether the environment has RUBATO_TESTING=1.
bool testing();

/// Whether RUBATO_TEST_OFF, a list of words with commas between, switches the mechanism off. It is
/// read with RUBATO_TESTING=1 only.
[[nodiscard]] bool test_off(ToolMechanism mechanism);

/// Unix seconds. With RUBATO_TESTING=1, RUBATO_NOW stands for the clock.
Seconds now();
/// "2026-11-21T12:30:00" in local time, as Slurm's commands print it.
std::string format_time(Seconds time);
/// "1-02:03:04", "02:03:04" or "03:04", as Slurm's commands print it; "UNLIMITED" for kForever.
std::string format_duration(Seconds length);

/// {"meta":{schema,version,slurm_version,generated},"warnings":[],"errors":[]}; `slurm_version` is
/// left out where it is not known.
Json document(const char* schema, const std::string& slurm_version,
              const std::vector<std::string>& warnings = {},
              const std::vector<std::string>& errors = {});
/// Writes `document` to stdout, indented by 2, and a newline. Bytes that are not UTF-8 are
/// replaced.
void print_json(const Json& document);

}  // namespace rubato::tools
