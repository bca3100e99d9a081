// SPDX-License-Identifier: GPL-2.0-or-later
// The argument of generated suites: the text after "@", such as "20/arrivals=bursty/hours=4", or
// "".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lib/sim/engine/suite.h"
#include "lib/sim/engine/suite_error.h"

namespace rubato::sim {

/// A number, then words KEY=VALUE. Errors name the suite, the word and the expected form.
class SuiteSpec {
 public:
  /// `keys`: the keys that the suite knows. Errors: an unknown key, a duplicate key, a key without
  /// a value.
  [[nodiscard]] static SuiteResult<SuiteSpec> parse(std::string suite, std::string_view text,
                                                    const std::vector<std::string>& keys);

  /// The number before the first "/".
  [[nodiscard]] SuiteResult<double> head(std::string_view what, double least, double most) const;
  [[nodiscard]] bool has(const std::string& key) const { return words_.contains(key); }
  /// The number of `key`; `usual` if the key is missing.
  [[nodiscard]] SuiteResult<double> number(const std::string& key, double usual, double least,
                                           double most) const;
  /// The same for an integer that is a multiple of `step`.
  [[nodiscard]] SuiteResult<int> whole(const std::string& key, int usual, int step, int most) const;
  /// The index of the value in `choices`; 0 if the key is missing.
  [[nodiscard]] SuiteResult<std::size_t> choice(const std::string& key,
                                                const std::vector<std::string>& choices) const;
  /// As many weights as `usual` has, separated by ":"; at least 0, some above.
  [[nodiscard]] SuiteResult<std::vector<double>> weights(const std::string& key,
                                                         std::vector<double> usual) const;

 private:
  [[nodiscard]] tl::unexpected<SuiteError> wrong(const std::string& word, std::string_view value,
                                                 std::string_view expected) const;

  std::string suite_;
  std::string head_;
  std::map<std::string, std::string> words_;
};

/// A suite without jobs: nodes of one type, for jobs that describe their iteration time
/// (StepCosts).
[[nodiscard]] Suite step_suite(int nodes, int gpus_per_node, int cores = 0);

}  // namespace rubato::sim
