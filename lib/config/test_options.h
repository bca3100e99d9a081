// SPDX-License-Identifier: GPL-2.0-or-later
// Options of rubato.conf that only tests use. They are read with RUBATO_TESTING=1 only, and
// test/cluster/README.md describes them.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"
#include "lib/config/config.h"

namespace rubato {

/// A word that a test option takes.
struct TestWord {
  std::string name;
  std::string argument;  ///< what follows as WORD:ARGUMENT; "" when it takes none
  std::string help;      ///< one line, no full stop
};

/// One line of the table. The value is a list of words with commas between.
struct TestOption {
  std::string name;
  std::vector<TestWord> words;
  /// Sets a word of the table in `config`. False if it was set before.
  bool (*set)(std::string_view word, double argument, Config& config);
  /// The words that `config` has, with their arguments.
  std::vector<std::string> (*show)(const Config& config);
};

/// TestOff and TestInject.
[[nodiscard]] const std::array<TestOption, 2>& test_options();

/// By name, in any case; null when there is none.
[[nodiscard]] const TestOption* find_test_option(std::string_view name);

/// Sets `option` of `config` from the text of its value. The error says what is wrong with the
/// value and what is valid, without the name of the option.
[[nodiscard]] Result<void> set_test_option(const TestOption& option, const std::string& value,
                                           Config& config);

/// The value that set_test_option takes to get what `config` has; "" when it is not set.
[[nodiscard]] std::string show_test_option(const TestOption& option, const Config& config);

/// The words of both options as two Markdown tables, for test/cluster/README.md.
[[nodiscard]] std::string test_options_markdown();

}  // namespace rubato
