// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/hints/passed.h"

#include <algorithm>

#include "lib/base/nearest.h"

namespace rubato {
namespace {

constexpr std::string_view kSpank = "SPANK_";
constexpr std::string_view kOption = "RUBATO_DL_";
constexpr std::string_view kEnvironment = "RUBATO_DLENV_";
constexpr std::string_view kUnset = "_UNSET";

/// "dl-gpu-types" for GPU_TYPES; reading the options later rejects unknown names.
std::string option_of(std::string_view name) {
  std::string option = "dl-" + lower(name);
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

}  // namespace

PassedHints passed_hints(std::span<const std::string_view> variables) {
  PassedHints out;
  for (std::string_view variable : variables) {
    if (variable.starts_with(kSpank)) variable.remove_prefix(kSpank.size());
    const std::size_t equals = variable.find('=');
    if (equals == std::string_view::npos) continue;
    std::string_view name = variable.substr(0, equals);
    const std::string value(variable.substr(equals + 1));
    if (name.starts_with(kEnvironment)) {
      name.remove_prefix(kEnvironment.size());
      out.environment.push_back(std::string(kOption).append(name) + "=" + value);
    } else if (name.starts_with(kOption) && name.ends_with(kUnset)) {
      name = name.substr(kOption.size(), name.size() - kOption.size() - kUnset.size());
      out.options.emplace_back("no-" + option_of(name), "");
    } else if (name.starts_with(kOption)) {
      out.options.emplace_back(option_of(name.substr(kOption.size())), value);
    }
  }
  return out;
}

}  // namespace rubato
