// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/waiting_messages.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <utility>

#include "lib/base/file_system.h"
#include "lib/base/text.h"
#include "lib/runtime/files.h"

namespace rubato {

namespace {

constexpr std::size_t kMaxSize = 16;  // MiB

/// Reads a number and the blank after it from the front of `line`.
template <typename Number>
bool take_number(std::string_view& line, Number& value) {
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (error != std::errc() || end == line.data() + line.size() || *end != ' ') return false;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
  return true;
}

}  // namespace

std::string text_of_waiting(const std::vector<JobMessage>& messages) {
  std::string text;
  for (const JobMessage& one : messages)
    text += fmt::format("{} {} {} {} {} {}\n", one.job.id, one.job.submit, one.uid, one.time,
                        one.restarts, render_message(one.message));
  return text;
}

std::vector<JobMessage> waiting_messages_from(std::string_view text) {
  std::vector<JobMessage> messages;
  for (std::string_view line : split_at(text, '\n')) {
    JobMessage one;
    if (!take_number(line, one.job.id) || !take_number(line, one.job.submit) ||
        !take_number(line, one.uid) || !take_number(line, one.time) ||
        !take_number(line, one.restarts))
      continue;
    auto message = parse_message(line);
    if (!message) continue;
    one.message = std::move(*message);
    messages.push_back(std::move(one));
  }
  return messages;
}

std::string keep_waiting_messages(const std::string& path,
                                  const std::vector<JobMessage>& messages) {
  if (messages.empty()) return "";
  return replace_file(path, text_of_waiting(messages), FileKind::kPrivate);
}

std::vector<JobMessage> take_waiting_messages(const std::string& path) {
  const auto text = RealFileSystem(kMaxSize).read(path);
  if (!text) return {};
  if (unlink(path.c_str()) != 0) return {};  // else they would come again with each start
  return waiting_messages_from(*text);
}

}  // namespace rubato
