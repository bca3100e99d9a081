// SPDX-License-Identifier: GPL-2.0-or-later
// The parts that all HTML pages of Rubato share: head, tables, tiles.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rubato::tools {

/// Escapes `text` for HTML, also for quoted attributes.
[[nodiscard]] std::string html_text(std::string_view text);

/// Everything before the first element of the body. `styles` are texts of CSS.
[[nodiscard]] std::string html_head(const std::string& title,
                                    const std::vector<std::string_view>& styles);
/// Closes the page.
[[nodiscard]] std::string html_end();

/// A sentence at the top of a page that says what came out.
[[nodiscard]] std::string html_verdict(const std::string& sentence);

/// A figure with words below it. `figure` and `words` are plain text.
[[nodiscard]] std::string html_tile(const std::string& figure, const std::string& words);

/// A column of a table. The heading has the unit, so that cells have none.
struct HtmlColumn {
  std::string heading;
  bool text = false;  ///< words, at the left; else a number, at the right
};

struct HtmlTable {
  std::string caption;  ///< what the table shows, for screen readers
  std::vector<HtmlColumn> columns;
  std::vector<std::vector<std::string>> rows;  ///< a plain text for each column
  bool stacks = false;  ///< on a phone each row becomes a block of lines "heading: value"
};

/// The table; "" without rows. The first column is the heading of its row.
[[nodiscard]] std::string html_table(const HtmlTable& table);

/// 1234567 is "1 234 567", with narrow blanks that do not break.
[[nodiscard]] std::string html_count(long long count);

}  // namespace rubato::tools
