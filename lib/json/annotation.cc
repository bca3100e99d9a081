// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/annotation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "lib/base/text.h"
#include "lib/hints/numbers.h"
#include "lib/hints/values.h"
#include "lib/json/braced_text.h"

namespace rubato {
namespace {

constexpr std::string_view kOpen = "{rubato ";
constexpr std::int64_t kMaxLevel = 1000;

bool is_word(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._+:@/,-").find(c) != std::string_view::npos;
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), plain);
}

using Pair = std::pair<const char*, std::string>;

std::vector<Pair> pairs_of(const JobAnnotation& annotation) {
  std::vector<Pair> pairs;
  const auto word = [&](const char* key, const std::string& text) {
    if (is_word(text)) pairs.emplace_back(key, text);
  };
  // What a reader would not take is not known either.
  const auto number = [&](const char* key, std::int64_t value, std::int64_t least,
                          std::int64_t most = kMaxWork) {
    if (value >= least && value <= most) pairs.emplace_back(key, fmt::format("{}", value));
  };
  word("job-type", annotation.job_type);
  number("level", annotation.level, 0, kMaxLevel);
  word("gpu-type", annotation.gpu_type);
  number("gpus", annotation.gpus, 1, kMaxGpus);
  if (!annotation.sizes.empty()) word("sizes", to_text(annotation.sizes));
  word("plan", annotation.plan);
  if (std::isfinite(annotation.throughput) && annotation.throughput >= 0)
    pairs.emplace_back("rate", fmt::format("{:.4g}", annotation.throughput));
  number("samples", annotation.samples, 1);
  number("remaining", annotation.remaining, 0);
  number("left-low", annotation.left_low, 0);
  number("left-high", annotation.left_high, 0);
  word("class", annotation.predictable);
  number("start", annotation.start, 1);
  word("wait", annotation.wait);
  if (annotation.held) word("held", "yes");
  if (annotation.remaining >= 0 && annotation.remaining <= kMaxWork) number("at", annotation.at, 1);
  return pairs;
}

std::string joined(const std::vector<Pair>& pairs) {
  std::string text = "{rubato";
  for (const auto& [key, value] : pairs) text += fmt::format(" {}={}", key, value);
  if (pairs.empty()) text += ' ';  // kOpen ends in a blank
  return text + '}';
}

/// False for a value that no segment has.
class Values {
 public:
  explicit Values(std::string_view value) : value_(value) {}

  bool word(std::string& to) const {
    to = value_;
    return is_word(value_);
  }
  bool yes(bool& to) const {
    to = value_ == "yes";
    return to;
  }
  template <typename Number>
  bool number(Number& to, std::int64_t most) const {
    const auto read = parse_count(value_, 0, most);
    if (read) to = static_cast<Number>(*read);
    return read.has_value();
  }
  bool real(double& to) const {
    const auto read = parse_real(value_);
    if (read) to = *read;
    return read && *read >= 0;
  }
  bool sizes(GpuSizes& to) const {
    std::vector<GpuSizes::Range> ranges;
    for (const std::string_view part : split_at(value_, ',')) {
      const std::size_t dash = part.find('-');
      const auto from = parse_count(part.substr(0, dash), 1, kMaxGpus);
      const auto end =
          dash == std::string_view::npos ? from : parse_count(part.substr(dash + 1), 1, kMaxGpus);
      if (!from || !end || *from > *end) return false;
      ranges.emplace_back(static_cast<int>(*from), static_cast<int>(*end));
    }
    to = GpuSizes(std::move(ranges));
    return true;
  }

 private:
  std::string_view value_;
};

bool set(std::string_view key, const Values& value, JobAnnotation& annotation) {
  if (key == "job-type") return value.word(annotation.job_type);
  if (key == "level") return value.number(annotation.level, kMaxLevel);
  if (key == "gpu-type") return value.word(annotation.gpu_type);
  if (key == "gpus") return value.number(annotation.gpus, kMaxGpus);
  if (key == "sizes") return value.sizes(annotation.sizes);
  if (key == "plan") return value.word(annotation.plan);
  if (key == "rate") return value.real(annotation.throughput);
  if (key == "samples") return value.number(annotation.samples, kMaxWork);
  if (key == "remaining") return value.number(annotation.remaining, kMaxWork);
  if (key == "left-low") return value.number(annotation.left_low, kMaxWork);
  if (key == "left-high") return value.number(annotation.left_high, kMaxWork);
  if (key == "at") return value.number(annotation.at, kMaxWork);
  if (key == "class") return value.word(annotation.predictable);
  if (key == "start") return value.number(annotation.start, kMaxWork);
  if (key == "wait") return value.word(annotation.wait);
  if (key == "held") return value.yes(annotation.held);
  return true;
}

}  // namespace

std::string render_annotation(const JobAnnotation& annotation) {
  std::vector<Pair> pairs = pairs_of(annotation);
  std::string text = joined(pairs);
  for (const std::string_view key : {"sizes", "plan", "job-type", "gpu-type"}) {
    if (text.size() <= kMaxAnnotationLength) break;
    std::erase_if(pairs, [&](const Pair& pair) { return pair.first == key; });
    text = joined(pairs);
  }
  // Only `wait` can be this long still, and no code is.
  if (text.size() > kMaxAnnotationLength) {
    std::erase_if(pairs, [](const Pair& pair) { return std::string_view(pair.first) == "wait"; });
    text = joined(pairs);
  }
  return text;
}

std::string_view segment_text(std::string_view system_comment) {
  return find_braced(system_comment, kOpen);
}

std::optional<JobAnnotation> find_annotation(std::string_view system_comment) {
  std::string_view text = segment_text(system_comment);
  if (text.empty()) return std::nullopt;
  text = text.substr(kOpen.size(), text.size() - kOpen.size() - 1);
  JobAnnotation annotation;
  for (const std::string_view pair : split_at(text, ' ')) {
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    if (!set(pair.substr(0, equals), Values(pair.substr(equals + 1)), annotation))
      return std::nullopt;
  }
  return annotation;
}

std::string with_annotation_text(std::string_view system_comment, std::string_view annotation) {
  return with_braced(system_comment, kOpen, annotation);
}

std::string with_annotation(std::string_view system_comment, const JobAnnotation* annotation) {
  return with_annotation_text(
      system_comment, annotation != nullptr ? render_annotation(*annotation) : std::string());
}

}  // namespace rubato
