// SPDX-License-Identifier: GPL-2.0-or-later
// Combines the lines of rubato.conf and of included files into a Config.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "lib/base/lex.h"
#include "lib/base/nearest.h"
#include "lib/config/config.h"
#include "lib/config/options.h"
#include "lib/config/records.h"
#include "lib/config/test_options.h"
#include "lib/config/values.h"

namespace rubato {
namespace {

constexpr std::size_t kMaxErrors = 100;
constexpr std::size_t kDeepestInclude = 10;
constexpr int kMaxFiles =
    100;  // files that include each other several times would double at each level

/// A line of a file, for errors.
struct SourcePosition {
  std::string path;
  int line = 0;

  [[nodiscard]] std::string text() const { return fmt::format("{}:{}", path, line); }
};

class Parser {
 public:
  Parser(bool testing, const FileSystem* files) : testing_(testing), files_(files) {}

  Result<Config> parse(const std::string& text, const std::string& path) {
    read_file(text, path);
    check_whole();
    if (errors_.empty()) {
      sort_records(config_);
      return std::move(config_);
    }
    if (errors_.size() > kMaxErrors) {
      const std::size_t more = errors_.size() - kMaxErrors;
      errors_.resize(kMaxErrors);
      errors_.push_back(fmt::format("{}: {} more errors", path, more));
    }
    return fail(fmt::format("{}", fmt::join(errors_, "\n")));
  }

 private:
  void error(const SourcePosition& position, const std::string& text) {
    errors_.push_back(position.text() + ": " + text);
  }

  void read_file(const std::string& text, const std::string& path) {
    stack_.push_back(std::filesystem::path(path).lexically_normal().string());
    for (const ConfigLine& line : lex_config(text)) {
      read_pairs(path, line.pairs);
      if (line.include) read_include({path, line.include_line}, *line.include);
      if (line.error) error({path, line.error_line}, *line.error);
    }
    stack_.pop_back();
  }

  void read_pairs(const std::string& path, std::span<const ConfigPair> pairs) {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const Option* option = find_option(pairs[i].key);
      if (option != nullptr && option->type == OptionType::kName) {
        read_record(path, *option, pairs.subspan(i));
        return;
      }
      read_pair({path, pairs[i].line}, option, pairs[i]);
    }
  }

  void read_pair(const SourcePosition& position, const Option* option, const ConfigPair& pair) {
    const TestOption* for_tests = option == nullptr ? find_test_option(pair.key) : nullptr;
    if (option == nullptr && for_tests == nullptr) return unknown(position, pair.key);
    const std::string& name = option != nullptr ? option->name : for_tests->name;
    if (for_tests != nullptr && !testing_) {
      return error(position, fmt::format("{}: only for tests; remove it (it is accepted with "
                                         "RUBATO_TESTING=1 in the environment)",
                                         name));
    }
    const auto [first, fresh] = seen_.emplace(name, position);
    if (!fresh)
      error(position, fmt::format("{}: set twice; first at {}", name, first->second.text()));
    Config scratch;  // for errors in the value of a repeated option
    Config& config = fresh ? config_ : scratch;
    const auto good = option != nullptr ? set_option(*option, pair.value, config)
                                        : set_test_option(*for_tests, pair.value, config);
    if (good) return;
    error(position, fmt::format("{}: {}", name, good.error().text));
    if (fresh) bad_.insert(name);
  }

  void unknown(const SourcePosition& position, const std::string& key) {
    std::vector<std::string> names;
    for (const Option& option : options()) {
      if (option.record.empty()) names.push_back(option.name);
      if (!option.record.empty() && lower(option.name) == lower(key)) {
        return error(position,
                     fmt::format("{}: belongs on a {} line, as in {}=NAME {}={}", option.name,
                                 option.record, option.record, option.name, option.example));
      }
    }
    names.emplace_back("Include");
    if (testing_)
      for (const TestOption& option : test_options()) names.push_back(option.name);
    const std::string hint = did_you_mean(key, names);
    error(position, fmt::format("{}: unknown option{}", printable(key),
                                hint.empty() ? "; see rubato.conf(5)" : hint));
  }

  /// Reads a record from its first key to the end of the line.
  void read_record(const std::string& path, const Option& record,
                   std::span<const ConfigPair> pairs) {
    const SourcePosition position{path, pairs[0].line};
    const std::string& name = pairs[0].value;
    auto begun = begin_record(record, name);
    if (!begun) error(position, fmt::format("{}: {}", record.name, begun.error().text));
    ConfigRecord scratch;
    ConfigRecord& read = begun ? *begun : scratch;
    std::set<const Option*> given;
    for (const ConfigPair& pair : pairs.subspan(1)) {
      const SourcePosition here{path, pair.line};
      const Option* option = find_option(pair.key, record.name);
      if (option == nullptr) {
        foreign(here, record, pair.key);
      } else if (!given.insert(option).second) {
        error(here, fmt::format("{}: set twice on one line", option->name));
      } else if (const auto good = set_member(*option, pair.value, read); !good) {
        error(here, fmt::format("{}: {}", option->name, good.error().text));
      }
    }
    const auto [first, fresh] = records_seen_.emplace(std::pair(record.name, name), position);
    if (!fresh) {
      return error(position, fmt::format("{}: {} is set twice; first at {}", record.name,
                                         in_quotes(name), first->second.text()));
    }
    add_record(record, std::move(read), config_);
  }

  /// Reports a key that does not belong to the record.
  void foreign(const SourcePosition& position, const Option& record, const std::string& key) {
    if (lower(key) == lower(record.name)) {
      return error(
          position,
          fmt::format("{}: only one per line; write the next one on its own line", record.name));
    }
    if (const Option* option = find_option(key)) {
      return error(position, fmt::format("{}: not allowed on a {} line; write it on its own line",
                                         option->name, record.name));
    }
    std::vector<std::string> names;
    for (const Option& option : options()) {
      if (option.record == record.name) names.push_back(option.name);
    }
    error(position, fmt::format("{}: unknown on a {} line, which accepts {}{}", printable(key),
                                record.name, fmt::join(names, ", "), did_you_mean(key, names)));
  }

  void read_include(const SourcePosition& position, const std::string& file) {
    if (files_ == nullptr) {
      return error(position,
                   fmt::format("Include: {}: included files cannot be read here", in_quotes(file)));
    }
    const auto path =
        (std::filesystem::path(position.path).parent_path() / file).lexically_normal().string();
    if (std::find(stack_.begin(), stack_.end(), path) != stack_.end()) {
      return error(position, fmt::format("Include: {} includes itself", printable(path)));
    }
    if (stack_.size() > kDeepestInclude) {
      return error(position, fmt::format("Include: {} is nested deeper than {} files",
                                         in_quotes(file), kDeepestInclude));
    }
    if (++files_read_ > kMaxFiles) {
      return error(position, fmt::format("Include: {}: more than {} included files",
                                         in_quotes(file), kMaxFiles));
    }
    const auto text = files_->read(path);
    if (!text) {
      return error(position, fmt::format("Include: {}: {}", printable(path), text.error().text));
    }
    read_file(*text, path);
  }

  /// Checks between options.
  void check_whole() {
    if (config_.mode != Mode::kObserve && !seen_.contains("ManagedPartitions")) {
      error(seen_.at("Mode"),
            fmt::format("Mode: {} requires managed partitions; add a line such as "
                        "ManagedPartitions=gpu or ManagedPartitions=all",
                        to_string(config_.mode)));
    }
    check_heartbeat();
  }

  /// The heartbeat is sent before and after a round, so a round in time must not open the gate.
  void check_heartbeat() {
    if (bad_.contains("HeartbeatTimeout") || bad_.contains("RoundDeadline")) return;
    if (config_.round_deadline < static_cast<double>(config_.heartbeat_timeout)) return;
    const std::string deadline = show_number(config_.round_deadline);
    const auto timeout = seen_.find("HeartbeatTimeout");
    if (timeout != seen_.end()) {
      return error(timeout->second,
                   fmt::format("HeartbeatTimeout: {} seconds is not longer than RoundDeadline ({})",
                               config_.heartbeat_timeout, deadline));
    }
    // The default of HeartbeatTimeout is above that of RoundDeadline, so RoundDeadline was set.
    error(seen_.at("RoundDeadline"),
          fmt::format("RoundDeadline: {} seconds is not shorter than HeartbeatTimeout ({})",
                      deadline, config_.heartbeat_timeout));
  }

  bool testing_;
  const FileSystem* files_;
  Config config_;
  std::map<std::string, SourcePosition> seen_;  // options that were set
  std::set<std::string> bad_;                   // options in seen_ with an invalid value
  std::map<std::pair<std::string, std::string>, SourcePosition> records_seen_;
  std::vector<std::string> stack_;  // files being read, outermost first
  int files_read_ = 0;
  std::vector<std::string> errors_;
};

}  // namespace

Result<Config> parse_config(const std::string& text, const std::string& path, bool testing,
                            const FileSystem* files) {
  return Parser(testing, files).parse(text, path);
}

Result<LoadedConfig> load_config_file(const std::string& path, const FileSystem& files,
                                      bool testing) {
  const auto text = files.read(path);
  if (!text && text.error().missing) {
    return LoadedConfig{{}, false, fmt::format("{} does not exist: mode is observe", path), {}};
  }
  if (!text) return fail(fmt::format("{}: cannot be read: {}", path, text.error().text));
  auto config = parse_config(*text, path, testing, &files);
  if (!config) return tl::unexpected(config.error());
  std::string note = fmt::format("{} read: mode is {}", path, to_string(config->mode));
  return LoadedConfig{std::move(*config), true, std::move(note), *text};
}

}  // namespace rubato
