// SPDX-License-Identifier: GPL-2.0-or-later
// Arbitrary bytes as a job's comment, options, environment, message and request texts: hints that
// their own text reproduces, or errors. Valid hints are checked against a request from the first
// bytes, and against one from the texts.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "lib/hints/comment.h"
#include "lib/hints/facts.h"
#include "lib/hints/message.h"
#include "lib/hints/passed.h"
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

/// A request as Slurm's clients might send it: the text is its TRES.
rubato::HintRequest asked_by(const std::string& text) {
  rubato::RequestFacts facts;
  const std::string third = text.substr(0, text.size() / 3);
  facts.per_job = text;
  facts.per_node = third;
  facts.per_task = text.substr(third.size());
  facts.per_socket = third.substr(third.size() / 2);
  facts.min_nodes = static_cast<int>(text.size() % 5);
  facts.max_nodes = static_cast<int>(text.size() % 7);
  facts.tasks = static_cast<int>(text.size() % 11);
  facts.tasks_per_node = static_cast<int>(text.size() % 3);
  return rubato::hint_request(facts);
}

void check_request(const std::string& text) {
  const rubato::TresGpus gpus = rubato::gpus_in(text);
  require(gpus.count >= 0 && gpus.count <= rubato::kMaxGpus);
  for (const char* before : {"", "gres:gpu:", "gpu:a100:", "RUBATO_DL_", "SPANK_RUBATO_DLENV_"}) {
    const std::string whole = before + text;
    const rubato::HintRequest request = asked_by(whole);
    require(request.size_unit() >= 1 && request.total_gpus() >= 0);
    const std::string_view variable = whole;
    const rubato::PassedHints passed = rubato::passed_hints({&variable, 1});
    require(passed.options.size() + passed.environment.size() <= 1);
  }
}

void check(const rubato::Result<rubato::Hints>& hints, const std::string& text) {
  if (!hints) return require(!hints.error().text.empty());
  const auto again = rubato::parse_comment("rubato:" + rubato::render_hints(*hints));
  require(again && *again == *hints);
  require(!rubato::hints_json(*hints).empty());
  const auto resolved = rubato::resolve_hints(*hints, {}, request_of(text));
  require(resolved.has_value() || !resolved.error().text.empty());
  require(rubato::resolve_hints({}, *hints, request_of(text)).has_value());
  const auto as_asked = rubato::resolve_hints(*hints, {}, asked_by(text));
  require(as_asked.has_value() || !as_asked.error().text.empty());
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
  check_request(text);
  return 0;
}
