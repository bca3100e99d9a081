// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/notice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "lib/base/text.h"
#include "lib/hints/message.h"
#include "lib/hints/numbers.h"
#include "lib/hints/types.h"
#include "lib/json/braced_text.h"

namespace rubato {
namespace {

constexpr std::string_view kOpen = "{rubato-notice ";
// In the order of the enumerators.
constexpr std::array kSteps{"coming", "done", "failed"};
constexpr std::int64_t kMaxTime = 1'000'000'000'000;

/// A value of a notice, such as the hostlist n[1-4,7] or the plan dp=4.
bool is_value(std::string_view text) {
  return !text.empty() && std::ranges::none_of(text, [](char c) {
    return c <= ' ' || c == '{' || c == '}' || c > '~';
  });
}

std::string joined(const Notice& notice, bool with_nodes) {
  std::string text = fmt::format("{}n={} step={} how={} from={} gpus={}", kOpen, notice.number,
                                 to_string(notice.step), notice.live ? "live" : "restart",
                                 notice.from, notice.gpus);
  if (notice.batch > 0) text += fmt::format(" batch={}", notice.batch);
  if (is_value(notice.plan)) text += " plan=" + notice.plan;
  if (notice.due > 0) text += fmt::format(" due={}", notice.due);
  if (with_nodes && is_value(notice.leave)) text += " leave=" + notice.leave;
  if (with_nodes && is_value(notice.come)) text += " come=" + notice.come;
  return text + '}';
}

template <typename Number>
bool read(std::string_view value, std::int64_t most, Number& to) {
  const auto number = parse_count(value, 0, most);
  if (number) to = static_cast<Number>(*number);
  return number.has_value();
}

bool set(std::string_view key, std::string_view value, Notice& notice) {
  if (key == "n") return read(value, kMaxNotice, notice.number);
  if (key == "step") {
    const auto step = notice_step_from(std::string(value));
    notice.step = step.value_or(NoticeStep::kComing);
    return step.has_value();
  }
  if (key == "how") {
    notice.live = value == "live";
    return notice.live || value == "restart";
  }
  if (key == "from") return read(value, kMaxGpus, notice.from);
  if (key == "gpus") return read(value, kMaxGpus, notice.gpus);
  if (key == "batch") return read(value, kMaxBatch, notice.batch);
  if (key == "plan") notice.plan = value;
  if (key == "due") return read(value, kMaxTime, notice.due);
  if (key == "leave") notice.leave = value;
  if (key == "come") notice.come = value;
  return true;
}

}  // namespace

std::string render_notice(const Notice& notice) {
  std::string text = joined(notice, true);
  return text.size() <= kMaxNoticeLength ? text : joined(notice, false);
}

std::optional<Notice> find_notice(std::string_view system_comment) {
  std::string_view text = find_braced(system_comment, kOpen);
  if (text.empty()) return std::nullopt;
  text = text.substr(kOpen.size(), text.size() - kOpen.size() - 1);
  Notice notice;
  for (const std::string_view pair : split_at(text, ' ')) {
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    if (!set(pair.substr(0, equals), pair.substr(equals + 1), notice)) return std::nullopt;
  }
  if (notice.number == 0) return std::nullopt;
  return notice;
}

std::string with_notice(std::string_view system_comment, const Notice* notice) {
  return with_braced(system_comment, kOpen, notice != nullptr ? render_notice(*notice) : "");
}

const char* to_string(NoticeStep step) {
  const auto at = static_cast<std::size_t>(step);
  return at < kSteps.size() ? kSteps[at] : "";
}

std::optional<NoticeStep> notice_step_from(const std::string& word) {
  const auto at = std::ranges::find(kSteps, word);
  if (at == kSteps.end()) return std::nullopt;
  return static_cast<NoticeStep>(at - kSteps.begin());
}

}  // namespace rubato
