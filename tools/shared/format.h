// SPDX-License-Identifier: GPL-2.0-or-later
// The grammar of squeue's -o and -O, with Rubato's own fields in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"
#include "tools/shared/own_fields.h"

namespace rubato::tools {

/// One field of a format.
struct FormatField {
  std::string name;               ///< that of -O, in lower case
  const OwnField* own = nullptr;  ///< null: squeue prints it
  int width = 0;                  ///< bytes; 0: as long as it is; below 0 (-O): that and a blank
  bool right = false;             ///< justified to the right
  std::string suffix;             ///< printed behind it

  bool operator==(const FormatField&) const = default;
};

struct Format {
  std::string prefix;  ///< printed before the first field
  std::vector<FormatField> fields;

  bool operator==(const Format&) const = default;
};

/// Largest width.
inline constexpr int kMaxWidth = 4096;

/// -o: text, then "%[[.]WIDTH]LETTER" or "%[[.]WIDTH]{NAME}" with text behind each. NAME is a field
/// of Rubato, with or without `dl`. "%all" stands for all letters with | between. An error names
/// what is wrong and the nearest field.
[[nodiscard]] Result<Format> parse_short_format(std::string_view text);
/// -O: "NAME[:[.]WIDTH[SUFFIX]]" with commas between; a field without colon is 20 wide.
[[nodiscard]] Result<Format> parse_long_format(std::string_view text);

/// The text that reads back to an equal format. For what parse_short_format returned.
[[nodiscard]] std::string render_short_format(const Format& format);
/// For what parse_long_format returned.
[[nodiscard]] std::string render_long_format(const Format& format);

/// `text` cut and padded to a width as squeue does it (_print_str of src/squeue/print.c).
[[nodiscard]] std::string fit(std::string_view text, int width, bool right);

}  // namespace rubato::tools
