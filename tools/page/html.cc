// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/page/html.h"

#include <fmt/format.h>

#include <algorithm>

namespace rubato::tools {
namespace {

constexpr const char* kNarrowBlank = "\u202f";

std::string heading_row(const HtmlTable& table) {
  std::string html = "<thead role=\"rowgroup\"><tr role=\"row\">";
  for (const HtmlColumn& column : table.columns) {
    html += fmt::format("<th scope=\"col\" role=\"columnheader\"{}>{}</th>",
                        column.text ? " class=\"text\"" : "", html_text(column.heading));
  }
  return html + "</tr></thead>\n";
}

std::string row_html(const HtmlTable& table, const std::vector<std::string>& cells) {
  std::string html = "<tr role=\"row\">";
  for (std::size_t i = 0; i < std::min(cells.size(), table.columns.size()); ++i) {
    const HtmlColumn& column = table.columns[i];
    html += fmt::format(
        "<{0} {1}{2}{3}>{4}</{0}>", i == 0 ? "th" : "td",
        i == 0 ? "scope=\"row\" role=\"rowheader\"" : "role=\"cell\"",
        column.text ? " class=\"text\"" : "",
        table.stacks ? fmt::format(" data-label=\"{}\"", html_text(column.heading)) : "",
        html_text(cells[i]));
  }
  return html + "</tr>\n";
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += byte < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return out;
}

std::string html_head(const std::string& title, const std::vector<std::string_view>& styles) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>\n",
      html_text(title));
  for (const std::string_view style : styles) html += style;
  return html + "</style></head>\n<body>\n";
}

std::string html_end() { return "</body>\n</html>\n"; }

std::string html_verdict(const std::string& sentence) {
  return fmt::format("<p class=\"verdict\">{}</p>\n", html_text(sentence));
}

std::string html_tile(const std::string& figure, const std::string& words) {
  return fmt::format("<div class=\"tile\"><b>{}</b>{}</div>\n", html_text(figure),
                     html_text(words));
}

std::string html_table(const HtmlTable& table) {
  if (table.rows.empty()) return "";
  std::string html = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">"
      "<table{1}{2}><caption class=\"away\">{0}</caption>\n",
      html_text(table.caption), table.stacks ? " class=\"stacks\"" : "", " role=\"table\"");
  html += heading_row(table) + "<tbody role=\"rowgroup\">\n";
  for (const auto& cells : table.rows) html += row_html(table, cells);
  return html + "</tbody></table></div>\n";
}

std::string html_count(long long count) {
  std::string digits = fmt::format("{}", count < 0 ? -count : count);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), kNarrowBlank);
  return count < 0 ? "-" + digits : digits;
}

}  // namespace rubato::tools
