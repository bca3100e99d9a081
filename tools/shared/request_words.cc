// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/shared/request_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "lib/hints/types.h"
#include "tools/shared/slurm_conf.h"

namespace rubato::tools {
namespace {

Result<int> number(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    return fail(fmt::format("invalid number '{}'", text));
  return value;
}

}  // namespace

Result<GpuWords> read_gpus(const char* option, const std::string& text) {
  GpuWords words;
  if (text.empty()) return words;
  for (const std::string& part : split(text, ',')) {
    const std::size_t colon = part.rfind(':');
    if (colon != std::string::npos) words.types.push_back(part.substr(0, colon));
    const auto count = number(colon == std::string::npos ? part : part.substr(colon + 1));
    if (!count) return fail(fmt::format("{}: {}", option, count.error().text));
    words.gpus = std::min(kMaxGpus, words.gpus + std::min(kMaxGpus, *count));
  }
  return words;
}

Result<NodeWords> read_nodes(const std::string& text) {
  if (text.empty()) return NodeWords{};
  const std::size_t dash = text.find('-');
  const auto from = number(text.substr(0, dash));
  const auto to = dash == std::string::npos ? from : number(text.substr(dash + 1));
  if (!from || !to) return fail(fmt::format("--nodes: '{}': expected N or MIN-MAX", text));
  return NodeWords{*from, *to};
}

}  // namespace rubato::tools
