// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/braced_text.h"

#include <utility>

namespace rubato {
namespace {

std::string replaced_once(std::string_view text, std::string_view open, std::string_view braced) {
  std::string out;
  bool placed = braced.empty();
  std::size_t at = 0;
  while (true) {
    const std::string_view old = find_braced(text, open, at);
    if (old.empty()) break;
    const auto begin = static_cast<std::size_t>(old.data() - text.data());
    out += text.substr(at, begin - at);
    at = begin + old.size();
    if (!placed) {
      out += braced;
      placed = true;
    } else if (!out.empty() && out.back() == ' ') {
      out.pop_back();  // the blank that was added with it
    } else if (out.empty() && at < text.size() && text[at] == ' ') {
      ++at;
    }
  }
  out += text.substr(at);
  if (placed) return out;
  if (!out.empty()) out += ' ';
  return out.append(braced);
}

}  // namespace

std::string_view find_braced(std::string_view text, std::string_view open, std::size_t from) {
  while (true) {
    const std::size_t begin = text.find(open, from);
    if (begin == std::string_view::npos) return {};
    const std::size_t brace = text.find_first_of("{}", begin + 1);
    if (brace == std::string_view::npos) return {};
    if (text[brace] == '}') return text.substr(begin, brace + 1 - begin);
    from = brace;
  }
}

std::string with_braced(std::string_view text, std::string_view open, std::string_view braced) {
  std::string out = replaced_once(text, open, braced);
  while (true) {  // the text around what was removed may become one
    std::string next = replaced_once(out, open, braced);
    if (next == out) return out;
    out = std::move(next);
  }
}

}  // namespace rubato
