// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/hints/comment.h"

#include <fmt/format.h>

#include "lib/base/lex.h"
#include "lib/base/nearest.h"
#include "lib/base/text.h"
#include "lib/hints/read.h"
#include "lib/hints/values.h"

namespace rubato {
namespace {

constexpr std::string_view kMarker = "rubato:";
constexpr std::string_view kOff = "no-";

/// "gpus" for "dl-gpus" and "--dl-gpus", the forms of the option.
std::string without_option_prefix(const std::string& key) {
  const std::size_t start = key.find_first_not_of('-');
  std::string bare = start == std::string::npos ? "" : key.substr(start);
  if (bare.starts_with("dl-")) return bare.substr(3);
  if (bare.starts_with("no-dl-")) return "no-" + bare.substr(6);
  return start > 0 ? bare : "";
}

std::string unknown_key(const std::string& key) {
  const std::string bare = without_option_prefix(key);
  const bool off = bare.starts_with(kOff);
  if (!bare.empty() && find_hint(off ? bare.substr(kOff.size()) : bare) != nullptr) {
    return fmt::format("comment: {}: in a comment write {}", printable(key), bare);
  }
  std::vector<std::string> choices = hint_keys();
  if (key.starts_with(kOff)) {
    for (std::string& choice : choices) choice.insert(0, kOff);
  }
  const std::string near = did_you_mean(key, choices);
  return fmt::format("comment: {}: unknown hint{}", printable(key),
                     near.empty() ? "; see rubato-hints(7)" : near);
}

/// A hint inside `value` that lacks its semicolon: "batch" in "4, batch=256".
const HintDef* hint_inside(std::string_view value) {
  for (std::size_t equals = value.find('='); equals != std::string_view::npos;
       equals = value.find('=', equals + 1)) {
    const std::string_view before = trimmed(value.substr(0, equals));
    const std::size_t start = before.find_last_of(", \t\r\n\v\f");
    if (start == std::string_view::npos) continue;
    if (const HintDef* def = find_hint(before.substr(start + 1))) return def;
  }
  return nullptr;
}

/// One non-empty pair, without surrounding blanks.
void read_pair(std::string_view pair, std::vector<HintStatement>& out, HintErrors& errors) {
  const std::size_t equals = pair.find('=');
  const bool has_value = equals != std::string_view::npos;
  const std::string key = lower(trimmed(pair.substr(0, equals)));
  if (key.empty()) {
    return errors.add(
        fmt::format("comment: {}: no key before =; write KEY=VALUE", in_quotes(pair)));
  }
  const HintDef* def = find_hint(key);
  const bool off = def == nullptr && key.starts_with(kOff);
  if (off) def = find_hint(key.substr(kOff.size()));
  if (def == nullptr) return errors.add(unknown_key(key));
  if (off && has_value) {
    return errors.add(fmt::format("comment: {}: takes no value; write {} alone", key, key));
  }
  if (!off && !has_value && def->type != HintType::kFlag) {
    return errors.add(fmt::format("comment: {}: no value; write {}={}", key, key, def->example));
  }
  const HintDef* inside = has_value ? hint_inside(pair.substr(equals + 1)) : nullptr;
  if (inside != nullptr) {
    return errors.add(
        fmt::format("comment: {}: the value contains {}=; write a semicolon before {}", key,
                    inside->key, inside->key));
  }
  out.push_back(
      {def, has_value ? std::string(pair.substr(equals + 1)) : "", off, "comment: " + key});
}

}  // namespace

CommentParts split_comment(std::string_view comment) {
  for (std::size_t at = comment.find(kMarker); at != std::string_view::npos;
       at = comment.find(kMarker, at + 1)) {
    if (at == 0 || is_blank(comment[at - 1])) {
      return {comment.substr(0, at), comment.substr(at + kMarker.size())};
    }
  }
  return {comment, std::nullopt};
}

std::string join_comment(std::string_view site, std::string_view hints) {
  std::string out(site);
  if (!out.empty() && !is_blank(out.back())) out += ' ';
  out += kMarker;
  out += hints;
  return out;
}

Hints read_comment(std::string_view comment, HintErrors& errors) {
  const CommentParts parts = split_comment(comment);
  if (!parts.hints) return {};
  if (split_comment(*parts.hints).hints) {
    errors.add("comment: rubato: stands twice; write all pairs behind one of them");
    return {};
  }
  std::vector<HintStatement> statements;
  for (const std::string_view part : split_at(*parts.hints, ';')) {
    const std::string_view pair = trimmed(part);
    if (!pair.empty()) read_pair(pair, statements, errors);
  }
  return hints_of(statements, Repeated::kRefused, errors);
}

Result<Hints> parse_comment(std::string_view comment) {
  HintErrors errors;
  Hints hints = read_comment(comment, errors);
  if (!errors.none()) return tl::unexpected(errors.all());
  return hints;
}

std::string render_hints(const Hints& hints) {
  std::vector<std::string> pairs;
  for (const HintDef& def : hint_table()) {
    const std::string value = show_hint(def, hints);
    if (!value.empty()) {
      pairs.push_back(def.key + "=" + value);
    } else if (hints.unset.contains(def.field) && &hint_of(def.field) == &def) {
      pairs.push_back("no-" + def.key);
    }
  }
  return fmt::format("{}", fmt::join(pairs, ";"));
}

std::string with_hints(std::string_view comment, const Hints& hints) {
  const CommentParts parts = split_comment(comment);
  if (!hints.empty()) return join_comment(parts.site, render_hints(hints));
  std::string_view site = parts.site;
  if (parts.hints && !site.empty()) site.remove_suffix(1);
  return std::string(site);
}

}  // namespace rubato
