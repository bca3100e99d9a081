// SPDX-License-Identifier: GPL-2.0-or-later
// What stands behind the "@" of a generated suite: "20/arrivals=bursty/hours=4".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lib/core/error.h"

namespace rubato::sim {

/// A number, then words KEY=VALUE. Errors name suite, word and what was expected.
class SuiteSpec {
 public:
  /// `keys`: those that the suite knows. Refused: another key, one twice, one without a value.
  [[nodiscard]] static Result<SuiteSpec> parse(std::string suite, std::string_view text,
                                               const std::vector<std::string>& keys);

  /// The number before the first "/".
  [[nodiscard]] Result<double> head(std::string_view what, double least, double most) const;
  [[nodiscard]] bool has(const std::string& key) const { return words_.contains(key); }
  /// The number behind `key`; `usual` where it is not said.
  [[nodiscard]] Result<double> number(const std::string& key, double usual, double least,
                                      double most) const;
  /// The same, whole and a multiple of `step`.
  [[nodiscard]] Result<int> whole(const std::string& key, int usual, int step, int most) const;
  /// One of `choices`, as its number; the first where it is not said.
  [[nodiscard]] Result<std::size_t> choice(const std::string& key,
                                           const std::vector<std::string>& choices) const;
  /// As many weights as `usual` has, with ":" between; at least 0, some above.
  [[nodiscard]] Result<std::vector<double>> weights(const std::string& key,
                                                    std::vector<double> usual) const;

 private:
  [[nodiscard]] tl::unexpected<Error> wrong(const std::string& word, std::string_view value,
                                            std::string_view expected) const;

  std::string suite_;
  std::string head_;
  std::map<std::string, std::string> words_;
};

}  // namespace rubato::sim
