// SPDX-License-Identifier: GPL-2.0-or-later
// Any bytes as the comment of a job, as options, as environment and as a message: hints that their
// own text gives again, or errors. What is good is checked against a request of the first bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "lib/hints/comment.h"
#include "lib/hints/message.h"
#include "lib/hints/read.h"
#include "lib/hints/request.h"
#include "lib/hints/table.h"

namespace {

void require(bool good) {
  if (!good) std::abort();
}

rubato::HintRequest request_of(const std::string& text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  rubato::HintRequest request;
  request.gpus = byte(0) % 9;
  request.gpus_per_node = byte(1) % 5;
  request.max_nodes = byte(2) % 3;
  request.tasks = byte(3) % 9;
  request.batch = byte(4) % 2 == 0;
  if (byte(5) % 2 == 1) request.gpu_types = {"a100"};
  request.time_limit = byte(6);
  return request;
}

void check(const rubato::Result<rubato::Hints>& hints, const std::string& text) {
  if (!hints) return require(!hints.error().text.empty());
  const auto again = rubato::parse_comment("rubato:" + rubato::render_hints(*hints));
  require(again && *again == *hints);
  require(!rubato::hints_json(*hints).empty());
  const auto resolved = rubato::resolve_hints(*hints, {}, request_of(text));
  require(resolved.has_value() || !resolved.error().text.empty());
  require(rubato::resolve_hints({}, *hints, request_of(text)).has_value());
}

void check_comment(const std::string& text) {
  const rubato::CommentParts parts = rubato::split_comment(text);
  require(parts.hints ? rubato::join_comment(parts.site, *parts.hints) == text
                      : parts.site == text);
  check(rubato::parse_comment(text), text);
  check(rubato::parse_comment("rubato:" + text), text);
}

void check_message(const std::string& text) {
  const auto message = rubato::parse_message(text);
  if (!message) return require(!message.error().text.empty());
  const auto again = rubato::parse_message(rubato::render_message(*message));
  require(again && *again == *message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_comment(text);
  const auto& table = rubato::hint_table();
  const std::size_t row = size > 0 ? data[0] % table.size() : 0;
  const std::string value = text.substr(size > 0 ? 1 : 0);
  const std::vector<rubato::OptionPair> options{{table[row].option, value}, {value, text}};
  check(rubato::parse_options({options.data(), 1}), text);
  check(rubato::parse_options(options), text);
  const std::vector<std::string> environment{table[row].variable + "=" + value, text};
  check(rubato::parse_environment(environment), text);
  check_message(text);
  check_message("rubato!report " + text);
  check_message("rubato!" + text);
  return 0;
}
