// SPDX-License-Identifier: GPL-2.0-or-later
// Why a suite cannot be made: a wrong word from the user, or a bad file.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "lib/base/error.h"

namespace rubato::sim {

struct SuiteError : Error {
  /// An error about a file, as readers report it.
  SuiteError(Error error) : Error(std::move(error)) {}  // NOLINT(google-explicit-constructor)
  SuiteError(std::string why, bool of_word) : Error{std::move(why)}, word(of_word) {}

  bool word = false;  ///< the suite's name or argument is wrong, not a file
};

template <typename T>
using SuiteResult = tl::expected<T, SuiteError>;

/// Makes an error about a word of the suite's name.
[[nodiscard]] inline tl::unexpected<SuiteError> wrong_suite(std::string text) {
  return tl::unexpected<SuiteError>(SuiteError(std::move(text), true));
}

/// The first error among `results`; null: none.
template <typename... Results>
[[nodiscard]] const SuiteError* first_wrong(const Results&... results) {
  const SuiteError* wrong = nullptr;
  ((wrong = wrong == nullptr && !results ? &results.error() : wrong), ...);
  return wrong;
}

}  // namespace rubato::sim
