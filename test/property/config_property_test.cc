// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "lib/base/lex.h"
#include "lib/base/nearest.h"
#include "lib/config/config.h"
#include "lib/config/options.h"
#include "lib/config/test_options.h"
#include "lib/config/values.h"
#include "lib/hints/values.h"

namespace rubato {
namespace {

/// Valid names of partitions and GPU types, including bytes above ASCII.
rc::Gen<std::string> name() {
  const auto byte = rc::gen::suchThat(
      rc::gen::arbitrary<char>(), [](char c) { return check_name(std::string(1, c)).has_value(); });
  return rc::gen::nonEmpty(rc::gen::container<std::string>(byte));
}

/// A number in the range of the option, sometimes one of its ends.
double real_in(const char* option_name, const char* record = "") {
  const Option* option = find_option(option_name, record);
  const int step = *rc::gen::inRange(0, 1001);
  return option->min + (option->max - option->min) * step / 1000;
}

template <typename T>
T whole_in(const char* option_name) {
  const Option* option = find_option(option_name);
  return static_cast<T>(*rc::gen::inRange<std::int64_t>(
      static_cast<std::int64_t>(option->min), static_cast<std::int64_t>(option->max) + 1));
}

void choose_test_words(Config& config) {
  for (const MechanismWord& row : kMechanisms) {
    if (*rc::gen::arbitrary<bool>()) config.test_off.insert(row.mechanism);
  }
  for (const FaultWord& row : kFaults) {
    if (!*rc::gen::arbitrary<bool>()) continue;
    const double argument = row.argument.empty() ? 0 : *rc::gen::inRange(0, 1000001);
    config.test_inject.emplace(row.fault, argument);
  }
}

/// JobType= lines with some hints, each with the table's example value.
std::vector<JobTypeConfig> any_job_types() {
  std::vector<JobTypeConfig> out;
  for (const std::string& name : *rc::gen::container<std::set<std::string>>(rc::gen::nonEmpty(
           rc::gen::resize(20, rc::gen::container<std::string>(rc::gen::inRange('a', 'z')))))) {
    JobTypeConfig type{.name = name, .shared = *rc::gen::arbitrary<bool>()};
    for (const Option& option : options()) {
      if (option.type != OptionType::kHint || !*rc::gen::arbitrary<bool>()) continue;
      RC_ASSERT(set_hint(*find_hint(option.hint), option.example, type.hints).has_value());
    }
    out.push_back(std::move(type));
  }
  return out;
}

/// Any configuration that parse_config accepts.
Config any_config() {
  Config config;
  config.manage_all = *rc::gen::arbitrary<bool>();
  if (!config.manage_all) {
    config.managed_partitions = *rc::gen::container<std::set<std::string>>(
        rc::gen::suchThat(name(), [](const std::string& n) { return lower(n) != "all"; }));
  }
  const bool may_place = config.manage_all || !config.managed_partitions.empty();
  if (may_place && *rc::gen::arbitrary<bool>())
    config.mode = *rc::gen::element(Mode::kPlace, Mode::kElastic);
  config.heartbeat_timeout = whole_in<Seconds>("HeartbeatTimeout");
  const double below = static_cast<double>(config.heartbeat_timeout);
  config.round_interval = real_in("RoundInterval");
  config.round_deadline = std::min(real_in("RoundDeadline"), below * 0.999);
  config.min_run_time = whole_in<Seconds>("MinRunTime");
  config.restart_cost = whole_in<Seconds>("RestartCost");
  config.resize_cost = whole_in<Seconds>("ResizeCost");
  config.restarts_per_job = whole_in<int>("RestartsPerJob");
  config.restarts_per_job_day = whole_in<int>("RestartsPerJobDay");
  config.restarts_per_user_day = whole_in<int>("RestartsPerUserDay");
  if (*rc::gen::arbitrary<bool>()) {
    config.growth_caps = {{"", whole_in<int>("GrowthCap")}};
  } else {
    for (const char* qos : {"high", "normal"})
      if (*rc::gen::arbitrary<bool>()) config.growth_caps[qos] = whole_in<int>("GrowthCap");
  }
  config.reserve_depth = whole_in<int>("ReserveDepth");
  config.reserve_after = whole_in<Seconds>("ReserveAfter");
  config.starvation_bound = whole_in<Seconds>("StarvationBound");
  config.priority_band = *rc::gen::element(kAutoBand, std::numeric_limits<double>::infinity(),
                                           real_in("PriorityBand"));
  config.lock_slice_ms = whole_in<int>("LockSlice");
  config.publish_interval = real_in("PublishInterval");
  config.log_level = *rc::gen::elementOf(word_names(*find_option("LogLevel")));
  if (*rc::gen::arbitrary<bool>()) {
    config.publish_dir = "/" + *rc::gen::container<std::string>(
                                   rc::gen::suchThat(rc::gen::arbitrary<char>(), [](char c) {
                                     const auto byte = static_cast<unsigned char>(c);
                                     return byte >= 0x20 && byte != 0x7F && c != '"';
                                   }));
  }
  for (const std::string& type : *rc::gen::container<std::set<std::string>>(name())) {
    config.gpu_types.push_back({type, real_in("Speed", "GpuType")});
  }
  config.message_interval = whole_in<Seconds>("MessageInterval");
  config.job_types = any_job_types();
  choose_test_words(config);
  return config;
}

RC_GTEST_PROP(ConfigProperty, ParseOfDumpGivesTheSameConfig, ()) {
  const Config config = any_config();
  const std::string text = dump_config(config);
  const auto again = parse_config(text, "dump", true);
  if (!again) RC_LOG() << text << again.error().text;
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == config);
}

RC_GTEST_PROP(ConfigProperty, KeysAreReadInAnyCase, ()) {
  const Config config = any_config();
  std::string text = dump_config(config);
  bool in_key = true;  // keys are at the start of a line, Speed is after a blank
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' || text.compare(i, 7, " Speed=") == 0) in_key = true;
    if (text[i] == '=') in_key = false;
    const auto byte = static_cast<unsigned char>(text[i]);
    if (in_key && byte < 0x80 && *rc::gen::arbitrary<bool>()) {
      text[i] =
          static_cast<char>(std::isupper(byte) != 0 ? std::tolower(byte) : std::toupper(byte));
    }
  }
  const auto again = parse_config(text, "dump", true);
  if (!again) RC_LOG() << text << again.error().text;
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == config);
}

RC_GTEST_PROP(ConfigProperty, AnyBytesGiveAConfigOrErrorsWithAPlace, (const std::string& text)) {
  const auto config = parse_config(text, "rubato.conf", true);
  if (config) return;
  RC_ASSERT(config.error().text.starts_with("rubato.conf:"));
  RC_ASSERT(std::none_of(config.error().text.begin(), config.error().text.end(), [](char c) {
    return c != '\n' && (static_cast<unsigned char>(c) < 0x20 || c == 0x7F);
  }));
}

/// Random sequences of real pieces reach more code than random bytes.
RC_GTEST_PROP(ConfigProperty, AnyMixOfPiecesGivesAConfigOrErrorsWithAPlace, ()) {
  std::vector<std::string> pieces{
      "=", "\"",  "\\",  "#",         "\n",           " ",          ",",       ":",
      "-", "all", "0.5", "Include x", "Include self", "1-00:00:00", "elastic", "\xFF"};
  for (const Option& option : options()) {
    pieces.push_back(option.name + "=");
    pieces.push_back("\n" + option.name + "=" +
                     (option.default_text.empty() ? option.example : option.default_text));
    for (const OptionWord& word : option.words) pieces.push_back(word.name);
  }
  for (const TestOption& option : test_options()) {
    pieces.push_back(option.name + "=");
    for (const TestWord& word : option.words) pieces.push_back(word.name);
  }
  const auto chosen = *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces));
  std::string text;
  for (const std::string& piece : chosen) text += piece;
  const MemoryFileSystem files(MemoryFileSystem::Files{{"self", text}, {"x", "ReserveDepth=2"}});
  const auto config = parse_config(text, "self", true, &files);
  if (config) {
    const auto again = parse_config(dump_config(*config), "dump", true);
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == *config);
  } else {
    RC_ASSERT(config.error().text.find(":") != std::string::npos);
  }
}

RC_GTEST_PROP(ConfigProperty, EditDistanceIsAMetric, ()) {
  const auto word = rc::gen::container<std::string>(rc::gen::elementOf(std::string("abc")));
  const std::string a = *word;
  const std::string b = *word;
  const std::string c = *word;
  RC_ASSERT(edit_distance(a, b) == edit_distance(b, a));
  RC_ASSERT((edit_distance(a, b) == 0) == (a == b));
  RC_ASSERT(edit_distance(a, c) <= edit_distance(a, b) + edit_distance(b, c));
  RC_ASSERT(edit_distance(a, b) <= static_cast<int>(std::max(a.size(), b.size())));
}

RC_GTEST_PROP(ConfigProperty, OneTypingErrorFindsTheOption, ()) {
  std::vector<std::string> names;
  for (const Option& option : options()) {
    if (option.name.size() >= 6) names.push_back(option.name);
  }
  const std::string meant = *rc::gen::elementOf(names);
  std::string typed = meant;
  const auto at =
      static_cast<std::size_t>(*rc::gen::inRange<int>(0, static_cast<int>(meant.size()) - 1));
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      std::swap(typed[at], typed[at + 1]);
      break;
    case 1:
      typed.erase(at, 1);
      break;
    case 2:
      typed.insert(at, 1, 'q');
      break;
    default:
      typed[at] = 'q';
      break;
  }
  // "GpuTyps" is equally near to GpuType and GpuTypes.
  const auto found = nearest(typed, names);
  RC_ASSERT(found.has_value());
  RC_ASSERT(edit_distance(typed, *found) <= edit_distance(typed, meant));
}

}  // namespace
}  // namespace rubato
