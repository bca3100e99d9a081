// SPDX-License-Identifier: GPL-2.0-or-later
// What an expected failure carries.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace rubato {

/// An expected failure: one sentence for a person that names the word, the place and, where there
/// is one, the nearest valid choice.
struct Error {
  std::string text;
};

template <typename T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(std::string text) {
  return tl::unexpected<Error>(Error{std::move(text)});
}

}  // namespace rubato
