// SPDX-License-Identifier: GPL-2.0-or-later
// The table follows parse_command_line of src/squeue/opts.c (Slurm 22.05).
#include "tools/rqueue/rqueue_options.h"

#include <fmt/format.h>
#include <getopt.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "lib/base/nearest.h"

namespace rubato::tools {
namespace {

enum LongOnly : int {
  kOptHelp = 0x100,
  kOptHelpFormat,
  kOptUsage,
  kOptStart,
  kOptJson,
  kOptYaml,
  kOptColor,
  kOptPass,  ///< passed on unchanged
};

constexpr const char* kShort = ":A:ahi:j::lL:n:M:O:o:p:Pq:R:rs::S:t:u:U:vVw:";

const option kLong[] = {
    {"account", required_argument, nullptr, 'A'},
    {"accounts", required_argument, nullptr, 'A'},
    {"all", no_argument, nullptr, 'a'},
    {"array", no_argument, nullptr, 'r'},
    {"array-unique", no_argument, nullptr, kOptPass},
    {"cluster", required_argument, nullptr, 'M'},
    {"clusters", required_argument, nullptr, 'M'},
    {"color", required_argument, nullptr, kOptColor},
    {"federation", no_argument, nullptr, kOptPass},
    {"Format", required_argument, nullptr, 'O'},
    {"format", required_argument, nullptr, 'o'},
    {"help", no_argument, nullptr, kOptHelp},
    {"helpformat", no_argument, nullptr, kOptHelpFormat},
    {"hide", no_argument, nullptr, kOptPass},
    {"iterate", required_argument, nullptr, 'i'},
    {"jobs", optional_argument, nullptr, 'j'},
    {"json", no_argument, nullptr, kOptJson},
    {"licenses", required_argument, nullptr, 'L'},
    {"local", no_argument, nullptr, kOptPass},
    {"long", no_argument, nullptr, 'l'},
    {"me", no_argument, nullptr, kOptPass},
    {"name", required_argument, nullptr, 'n'},
    {"noconvert", no_argument, nullptr, kOptPass},
    {"node", required_argument, nullptr, 'w'},
    {"nodelist", required_argument, nullptr, 'w'},
    {"nodes", required_argument, nullptr, 'w'},
    {"noheader", no_argument, nullptr, 'h'},
    {"notme", no_argument, nullptr, kOptPass},
    {"partition", required_argument, nullptr, 'p'},
    {"partitions", required_argument, nullptr, 'p'},
    {"priority", no_argument, nullptr, 'P'},
    {"qos", required_argument, nullptr, 'q'},
    {"reservation", required_argument, nullptr, 'R'},
    {"sib", no_argument, nullptr, kOptPass},
    {"sibling", no_argument, nullptr, kOptPass},
    {"sort", required_argument, nullptr, 'S'},
    {"start", no_argument, nullptr, kOptStart},
    {"states", required_argument, nullptr, 't'},
    {"steps", optional_argument, nullptr, 's'},
    {"usage", no_argument, nullptr, kOptUsage},
    {"user", required_argument, nullptr, 'u'},
    {"users", required_argument, nullptr, 'u'},
    {"verbose", no_argument, nullptr, 'v'},
    {"version", no_argument, nullptr, 'V'},
    {"yaml", no_argument, nullptr, kOptYaml},
    {nullptr, 0, nullptr, 0},
};

/// Options as read, before their combinations are checked.
struct Read {
  RqueueOptions options;
  std::optional<std::string> short_format;
  std::optional<std::string> long_format;
  bool jobs = false;        ///< -j
  bool jobs_named = false;  ///< with a list
  bool steps = false;       ///< -s
  bool states = false;      ///< -t
  std::string clusters;
};

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

std::string unknown_option(char** argv) {
  // getopt points after the argument, except for -x in the middle of "-ax".
  const std::string word = argv[optind - 1];
  if (!word.starts_with("--")) {
    return fmt::format("unknown option '-{}'; see: rqueue --help", static_cast<char>(optopt));
  }
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> choices;
  for (const std::string& choice : rqueue_long_options()) choices.push_back("--" + choice);
  const auto begins = std::count_if(choices.begin(), choices.end(),
                                    [&](const std::string& c) { return c.starts_with(name); });
  if (begins > 1) return fmt::format("option '{}' is ambiguous", name);
  if (begins == 1) return fmt::format("option '{}' takes no value", name);
  const std::string mean = did_you_mean(name, choices);
  return fmt::format("unknown option '{}'{}", name, mean.empty() ? "; see: rqueue --help" : mean);
}

std::string lacks_value(char** argv) {
  const std::string word = argv[optind - 1];
  return fmt::format("option '{}' needs a value",
                     word.starts_with("--") ? word : fmt::format("-{}", static_cast<char>(optopt)));
}

Result<ColorChoice> color_of(const std::string& word) {
  if (word == "auto") return ColorChoice::kAuto;
  if (word == "always") return ColorChoice::kAlways;
  if (word == "never") return ColorChoice::kNever;
  return fail(fmt::format("--color: '{}': must be auto, always or never", word));
}

Result<void> take(int option, int index, Read& read) {
  RqueueOptions& o = read.options;
  const std::string value = optarg == nullptr ? "" : optarg;
  switch (option) {
    case kOptHelp:
      o.action = RqueueAction::kHelp;
      break;
    case kOptHelpFormat:
      o.action = RqueueAction::kHelpFormat;
      break;
    case kOptUsage:
      o.action = RqueueAction::kUsage;
      break;
    case 'V':
      o.action = RqueueAction::kVersion;
      break;
    case kOptYaml:
      o.action = RqueueAction::kSqueue;
      break;
    case kOptJson:
      o.json = true;
      break;
    case kOptStart:
      o.start = true;
      break;
    case 'l':
      o.long_list = true;
      break;
    case 'h':
      o.no_header = true;
      break;
    case 'o':
      read.short_format = value;
      break;
    case 'O':
      read.long_format = value;
      break;
    case 'S':
      o.sort = value;
      break;
    case kOptPass:
      o.passed.push_back(fmt::format("--{}", kLong[index].name));
      break;
    case 's':
      read.steps = true;
      break;
    case 'i':
      if (const auto [end, failed] =
              std::from_chars(value.data(), value.data() + value.size(), o.iterate);
          failed != std::errc() || end != value.data() + value.size() || o.iterate <= 0)
        return fail(fmt::format("--iterate: invalid number of seconds '{}'", value));
      break;
    case 'j':
      read.jobs = true;
      if (optarg == nullptr) break;
      read.jobs_named = true;
      o.passed.push_back("-j" + value);
      break;
    case kOptColor: {
      const auto color = color_of(value);
      if (!color) return tl::unexpected(color.error());
      o.color = *color;
      break;
    }
    default:
      if (option == 'v') o.verbose = true;
      if (option == 't') read.states = true;
      if (option == 'M') read.clusters = value;
      o.passed.push_back(fmt::format("-{}", static_cast<char>(option)));
      if (optarg != nullptr) o.passed.push_back(value);
  }
  return {};
}

Result<Read> read_words(int argc, char** argv) {
  Read read;
  opterr = 0;
  optind = 0;  // restart
  int index = 0;
  for (int option; (option = getopt_long(argc, argv, kShort, kLong, &index)) != -1;) {
    if (option == '?') return fail(unknown_option(argv));
    if (option == ':') return fail(lacks_value(argv));
    if (auto done = take(option, index, read); !done) return tl::unexpected(done.error());
  }
  if (optind < argc && read.jobs) {
    read.jobs_named = true;
    read.options.passed.push_back(std::string("-j") + argv[optind++]);
  } else if (optind < argc && read.steps) {
    ++optind;  // squeue parses it
  }
  if (optind < argc) {
    return fail(fmt::format("unexpected argument '{}'; see: rqueue --help", argv[optind]));
  }
  if (read.jobs && !read.jobs_named) read.options.passed.push_back("-j");
  return read;
}

/// -o and -O, else the environment; -l and --start override the latter, as in squeue.
Result<void> choose_format(Read& read) {
  RqueueOptions& o = read.options;
  if (read.short_format && read.long_format) {
    return fail("-o (--format) and -O (--Format) exclude each other");
  }
  if (read.short_format && o.long_list) {
    return fail("-o (--format) and -l (--long) exclude each other");
  }
  if (o.json && (read.short_format || read.long_format)) {
    return fail("--json prints all fields; it excludes -o and -O");
  }
  std::string from;
  if (!read.short_format && !read.long_format && !o.long_list && !o.start && !o.json) {
    read.short_format = variable("RQUEUE_FORMAT");
    if (read.short_format) from = "RQUEUE_FORMAT: ";
    if (!read.short_format) read.long_format = variable("RQUEUE_FORMAT2");
    if (from.empty() && read.long_format) from = "RQUEUE_FORMAT2: ";
  }
  if (!read.short_format && !read.long_format) return {};
  auto format = read.short_format ? parse_short_format(*read.short_format)
                                  : parse_long_format(*read.long_format);
  if (!format) return fail(from + format.error().text);
  o.format = std::move(*format);
  return {};
}

/// squeue ignores -O with --start, so pass equivalent options instead of --start.
void say_start(Read& read) {
  RqueueOptions& o = read.options;
  if (!o.start) return;
  if (o.sort.empty() && !variable("SQUEUE_SORT")) o.sort = "S";
  if (!read.states && !variable("SQUEUE_STATES")) {
    o.passed.insert(o.passed.end(), {"-t", "PD"});
  }
}

}  // namespace

std::vector<std::string> rqueue_long_options() {
  std::vector<std::string> names;
  for (const option& entry : kLong) {
    if (entry.name != nullptr) names.emplace_back(entry.name);
  }
  return names;
}

Result<RqueueOptions> read_rqueue_options(int argc, char** argv) {
  auto read = read_words(argc, argv);
  if (!read) return tl::unexpected(read.error());
  RqueueOptions& o = read->options;
  if (o.action != RqueueAction::kJobs && o.action != RqueueAction::kSqueue) return o;
  if (read->steps) {
    if (o.json) return fail("--json lists jobs; it excludes --steps");
    o.action = RqueueAction::kSqueue;
    return o;
  }
  if (o.action == RqueueAction::kSqueue) return o;
  if (o.sort.empty()) o.sort = variable("RQUEUE_SORT").value_or("");
  if (auto done = choose_format(*read); !done) return tl::unexpected(done.error());
  say_start(*read);
  const std::string clusters =
      read->clusters.empty() ? variable("SLURM_CLUSTERS").value_or("") : read->clusters;
  o.several_clusters = clusters == "all" || clusters.find(',') != std::string::npos;
  return o;
}

}  // namespace rubato::tools
