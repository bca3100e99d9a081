// SPDX-License-Identifier: GPL-2.0-or-later
// Options of rubato.conf for tests only. They are read only with RUBATO_TESTING=1;
// test/cluster/README.md describes them.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"
#include "lib/config/config.h"

namespace rubato {

/// A word in the value of a test option.
struct TestWord {
  std::string name;
  std::string argument;  ///< the part after WORD:; "" if it takes none
  std::string help;      ///< one line, no full stop
};

/// One row of the table. The value is a comma-separated list of words.
struct TestOption {
  std::string name;
  std::vector<TestWord> words;
  /// Sets a word of the table in `config`. False if it was already set.
  bool (*set)(std::string_view word, double argument, Config& config);
  /// The words set in `config`, with their arguments.
  std::vector<std::string> (*show)(const Config& config);
};

/// TestOff and TestInject.
[[nodiscard]] const std::array<TestOption, 2>& test_options();

/// By name, in any case; null if unknown.
[[nodiscard]] const TestOption* find_test_option(std::string_view name);

/// Sets `option` of `config` from the text of its value. The error says what is wrong and what is
/// valid, without the option's name.
[[nodiscard]] Result<void> set_test_option(const TestOption& option, const std::string& value,
                                           Config& config);

/// The text from which set_test_option sets the value in `config`; "" if it is not set.
[[nodiscard]] std::string show_test_option(const TestOption& option, const Config& config);

/// The words of both options as two Markdown tables, for test/cluster/README.md.
[[nodiscard]] std::string test_options_markdown();

}  // namespace rubato
