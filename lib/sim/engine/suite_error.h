// SPDX-License-Identifier: GPL-2.0-or-later
// Why there is no suite: a word that somebody wrote, or a file.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "lib/base/error.h"

namespace rubato::sim {

struct SuiteError : Error {
  /// Of a file, as all that readers say.
  SuiteError(Error error) : Error(std::move(error)) {}  // NOLINT(google-explicit-constructor)
  SuiteError(std::string why, bool of_word) : Error{std::move(why)}, word(of_word) {}

  bool word = false;  ///< the name of the suite is wrong, or a word behind it; no file
};

template <typename T>
using SuiteResult = tl::expected<T, SuiteError>;

/// For a word of its name.
[[nodiscard]] inline tl::unexpected<SuiteError> wrong_suite(std::string text) {
  return tl::unexpected<SuiteError>(SuiteError(std::move(text), true));
}

/// The first of `results` that went wrong; null: none did.
template <typename... Results>
[[nodiscard]] const SuiteError* first_wrong(const Results&... results) {
  const SuiteError* wrong = nullptr;
  ((wrong = wrong == nullptr && !results ? &results.error() : wrong), ...);
  return wrong;
}

}  // namespace rubato::sim
