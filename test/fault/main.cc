// SPDX-License-Identifier: GPL-2.0-or-later
// rubato-fault: plays random clusters through the round with faults at events.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/log.h"
#include "test/fault/play.h"

namespace rubato::test {
namespace {

constexpr const char* kHelp =
    "Usage: rubato-fault list\n"
    "       rubato-fault run [--seeds N] [--first S] [--only POINT] [--mode place|elastic]\n"
    "                        [--break WORD]\n"
    "\n"
    "Plays small random clusters through snapshot, round, plan and actions, and injects\n"
    "faults. Safety is checked at each event, and after the faults every job must end.\n"
    "\n"
    "  list            prints each injection point\n"
    "  --seeds N       number of seeds (default: 200)\n"
    "  --first S       first seed (default: 1)\n"
    "  --only POINT    injects this fault alone, twice as often\n"
    "  --mode MODE     default: place for even seeds, elastic for odd ones\n"
    "  --break WORD    negative control, with which the checks must fail:\n";

struct RunOptions {
  std::uint64_t seeds = 200;
  std::uint64_t first = 1;
  std::string only;
  std::string mode;
  std::string broken;
  std::optional<FaultPoint> point;
  Broken breaks = Broken::kNone;
};

int usage_error(const std::string& text) {
  fmt::print(stderr, "rubato-fault: {}; see rubato-fault --help\n", text);
  return 2;
}

int help() {
  fmt::print("{}", kHelp);
  for (const BrokenWord& row : kBroken)
    fmt::print("                    {:<9}{}\n", row.word, row.help);
  return 0;
}

int list() {
  for (const FaultPointWord& row : kFaultPoints)
    fmt::print("{:<16}{}{}\n", row.word, row.help, row.elastic_only ? " (mode elastic)" : "");
  return 0;
}

std::string parse(const std::vector<std::string>& words, RunOptions& options) {
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const std::string& word = words[i];
    if (i + 1 == words.size()) return word + " needs a value";
    const std::string& value = words[i + 1];
    char* end = nullptr;
    if (word == "--seeds" || word == "--first") {
      (word == "--seeds" ? options.seeds : options.first) = std::strtoull(value.c_str(), &end, 10);
      if (value.empty() || *end != '\0') return "invalid number '" + value + "'";
    } else if (word == "--only") {
      options.only = value;
      for (const FaultPointWord& row : kFaultPoints)
        if (row.word == value) options.point = row.point;
      if (!options.point) return "no injection point '" + value + "'";
    } else if (word == "--mode") {
      options.mode = value;
      if (value != "place" && value != "elastic") return "--mode must be place or elastic";
    } else if (word == "--break") {
      options.broken = value;
      for (const BrokenWord& row : kBroken)
        if (row.word == value) options.breaks = row.broken;
      if (options.breaks == Broken::kNone) return "nothing to break is named '" + value + "'";
    } else {
      return "unknown option '" + word + "'";
    }
  }
  return "";
}

Mode mode_of(const RunOptions& options, std::uint64_t seed) {
  if (options.mode.empty()) return seed % 2 == 0 ? Mode::kPlace : Mode::kElastic;
  return options.mode == "place" ? Mode::kPlace : Mode::kElastic;
}

void print_failure(const RunOptions& options, std::uint64_t seed, int event,
                   const std::string& what) {
  const char* mode = mode_of(options, seed) == Mode::kPlace ? "place" : "elastic";
  fmt::print("seed {}, event {}: {}\nreplay: rubato-fault run --seeds 1 --first {} --mode {}{}{}\n",
             seed, event, what, seed, mode, options.only.empty() ? "" : " --only " + options.only,
             options.broken.empty() ? "" : " --break " + options.broken);
}

// Points that could be hit and were not.
int count_missed(const RunOptions& options, const HitCounts& hits) {
  int missed = 0;
  for (const FaultPointWord& row : kFaultPoints) {
    const std::int64_t count = hits.at(static_cast<std::size_t>(row.point));
    if (options.point && *options.point != row.point) continue;
    fmt::print("{:<16}{:>8}\n", row.word, count);
    const bool possible = !row.elastic_only || options.mode != "place";
    if (possible && count == 0) ++missed;
  }
  return missed;
}

int run(const RunOptions& options) {
  std::string folder = std::filesystem::temp_directory_path() / "rubato-fault-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return usage_error("cannot make a temporary folder");
  HitCounts hits{};
  std::uint64_t failed = 0;
  std::int64_t events = 0;
  const std::uint64_t part = std::max<std::uint64_t>(1, options.seeds / 10);
  for (std::uint64_t done = 0; done < options.seeds; ++done) {
    const std::uint64_t seed = options.first + done;
    Play play({seed, mode_of(options, seed), options.point, options.breaks, folder});
    const std::string what = play.run(hits);
    events += play.events();
    if (!what.empty()) ++failed, print_failure(options, seed, play.events(), what);
    if ((done + 1) % part == 0)
      fmt::print("{} of {} seeds, {} failed\n", done + 1, options.seeds, failed);
    std::fflush(stdout);
  }
  std::filesystem::remove_all(folder);
  const int missed = options.seeds >= RunOptions{}.seeds ? count_missed(options, hits) : 0;
  fmt::print("{} seeds, {} rounds, {} failed, {} points never hit\n", options.seeds, events, failed,
             missed);
  return failed > 0 || missed > 0 ? 1 : 0;
}

int run_words(const std::vector<std::string>& words) {
  if (words.empty()) return usage_error("expected list or run");
  for (const std::string& word : words)
    if (word == "--help") return help();
  if (words.front() == "list" && words.size() == 1) return list();
  if (words.front() != "run") return usage_error("unknown command '" + words.front() + "'");
  RunOptions options;
  const std::string wrong = parse({words.begin() + 1, words.end()}, options);
  return wrong.empty() ? run(options) : usage_error(wrong);
}

}  // namespace
}  // namespace rubato::test

int main(int argc, char** argv) {
  return rubato::test::run_words(std::vector<std::string>(argv + 1, argv + argc));
}
