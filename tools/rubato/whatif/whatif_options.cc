// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/whatif/whatif_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>

#include "lib/base/nearest.h"
#include "lib/config/values.h"
#include "lib/hints/table.h"
#include "tools/shared/slurm_conf.h"

namespace rubato::tools {
namespace {

constexpr Seconds kMinute = 60;
// Bounds with which no product of two counts overflows.
constexpr int kMostTasks = 100'000;
constexpr int kMostCpus = 10'000;

// Options of sbatch that change neither where nor when a job runs.
const std::set<std::string>& harmless() {
  static const std::set<std::string> names{"--job-name",
                                           "-J",
                                           "--output",
                                           "-o",
                                           "--error",
                                           "-e",
                                           "--input",
                                           "-i",
                                           "--mail-type",
                                           "--mail-user",
                                           "--chdir",
                                           "-D",
                                           "--export",
                                           "--export-file",
                                           "--open-mode",
                                           "--wckey",
                                           "--parsable",
                                           "--requeue",
                                           "--signal",
                                           "--get-user-env",
                                           "--kill-on-invalid-dep",
                                           "--no-kill",
                                           "-k",
                                           "--propagate",
                                           "--quiet",
                                           "-Q",
                                           "--verbose",
                                           "-v",
                                           "--wait",
                                           "-W",
                                           "--profile"};
  return names;
}

/// The words of a line as sbatch splits it; fails for an open quote.
Result<std::vector<std::string>> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == 0 && (c == ' ' || c == '\t')) {
      if (word) words.push_back(std::move(*word));
      word.reset();
      continue;
    }
    if (quote == 0 && c == '#') break;
    if (!word) word.emplace();
    if (c == '\\' && i + 1 < line.size())
      word->push_back(line[++i]);
    else if (quote != 0 ? c == quote : c == '"' || c == '\'')
      quote = quote != 0 ? '\0' : c;
    else
      word->push_back(c);
  }
  if (quote != 0) return fail("a quote is not closed");
  if (word) words.push_back(std::move(*word));
  return words;
}

/// Names of options among `words` that matter, each once.
std::vector<std::string> that_matter(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const std::string& word : words) {
    if (!word.starts_with('-')) continue;  // the value of one
    const bool is_long = word.starts_with("--");
    const std::string name = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
    if (harmless().contains(name)) continue;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

constexpr std::array kTexts{
    &SubmitOptions::partition,     &SubmitOptions::account,        &SubmitOptions::qos,
    &SubmitOptions::time,          &SubmitOptions::gpus,           &SubmitOptions::gpus_per_node,
    &SubmitOptions::gpus_per_task, &SubmitOptions::gres,           &SubmitOptions::nodes,
    &SubmitOptions::memory,        &SubmitOptions::memory_per_cpu, &SubmitOptions::memory_per_gpu,
    &SubmitOptions::comment};
constexpr std::array kNumbers{&SubmitOptions::tasks, &SubmitOptions::cpus_per_task,
                              &SubmitOptions::cpus_per_gpu};

}  // namespace

SubmitOptions::SubmitOptions()
    : hint_values(hint_options().size()), hint_given(hint_options().size(), false) {}

bool SubmitOptions::given() const {
  return exclusive || no_requeue ||
         std::ranges::any_of(kTexts, [this](auto member) { return !(this->*member).empty(); }) ||
         std::ranges::any_of(kNumbers, [this](auto member) { return this->*member > 0; }) ||
         std::ranges::find(hint_given, true) != hint_given.end();
}

std::vector<OptionPair> SubmitOptions::hints() const {
  std::vector<OptionPair> pairs;
  for (std::size_t i = 0; i < hint_given.size(); ++i) {
    if (hint_given[i]) pairs.emplace_back(hint_options()[i].name, hint_values[i]);
  }
  return pairs;
}

void add_submit_options(CommandLine& line, SubmitOptions& options) {
  line.text("-p,--partition", options.partition, "NAME", "As with sbatch");
  line.text("-A,--account", options.account, "NAME", "As with sbatch");
  line.text("-q,--qos", options.qos, "NAME", "As with sbatch");
  line.text("-t,--time", options.time, "TIME", "As with sbatch");
  line.text("-G,--gpus", options.gpus, "[TYPE:]N", "As with sbatch");
  line.text("--gpus-per-node", options.gpus_per_node, "[TYPE:]N", "As with sbatch");
  line.text("--gpus-per-task", options.gpus_per_task, "[TYPE:]N", "As with sbatch");
  line.text("--gres", options.gres, "gpu:[TYPE:]N", "As with sbatch; GPUs only");
  line.text("-N,--nodes", options.nodes, "MIN[-MAX]", "As with sbatch");
  line.number("-n,--ntasks", options.tasks, 1, kMostTasks, "N", "As with sbatch");
  line.number("-c,--cpus-per-task", options.cpus_per_task, 1, kMostCpus, "N", "As with sbatch");
  line.number("--cpus-per-gpu", options.cpus_per_gpu, 1, kMostCpus, "N", "As with sbatch");
  line.text("--mem", options.memory, "SIZE", "As with sbatch");
  line.text("--mem-per-cpu", options.memory_per_cpu, "SIZE", "As with sbatch");
  line.text("--mem-per-gpu", options.memory_per_gpu, "SIZE", "As with sbatch");
  line.text("--comment", options.comment, "TEXT", "As with sbatch: hints after rubato:");
  line.optional_text("--exclusive", options.exclusive_word, options.exclusive, "WORD",
                     "As with sbatch");
  line.flag("--no-requeue", options.no_requeue, "As with sbatch");
  for (std::size_t i = 0; i < hint_options().size(); ++i) {
    const HintOption& option = hint_options()[i];
    const std::string name = "--" + option.name;
    if (option.argument.empty())
      line.flag(name, options.hint_given[i], option.usage);
    else
      line.text(name, options.hint_values[i], options.hint_given[i], option.argument.c_str(),
                option.usage);
  }
}

Result<ScriptOptions> read_script(std::string_view text, const std::string& path) {
  if (!text.starts_with("#!")) return fail(path + ": not a job script: its first line has no #!");
  std::vector<std::string> words{"#SBATCH"};
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.empty() && !line.starts_with('#')) break;
    if (!line.starts_with("#SBATCH")) continue;
    const auto more = words_of(line.substr(std::string_view("#SBATCH").size()));
    if (!more) return fail(fmt::format("{}:{}: {}", path, number, more.error().text));
    if (std::ranges::find(*more, "hetjob") != more->end())
      return fail(fmt::format("{}:{}: stock Slurm starts heterogeneous jobs", path, number));
    words.insert(words.end(), more->begin(), more->end());
  }
  ScriptOptions script;
  CommandLine line;
  add_submit_options(line, script.options);
  std::vector<char*> argv;
  argv.reserve(words.size());
  for (std::string& word : words) argv.push_back(word.data());
  if (const auto wrong = line.parse(static_cast<int>(argv.size()), argv.data()))
    return fail(fmt::format("{}: {}", path, *wrong));
  script.ignored = that_matter(line.extra());
  return script;
}

SubmitOptions merged(const SubmitOptions& strong, SubmitOptions weak) {
  for (const auto member : kTexts)
    if (!(strong.*member).empty()) weak.*member = strong.*member;
  for (const auto member : kNumbers)
    if (strong.*member > 0) weak.*member = strong.*member;
  if (!(strong.memory + strong.memory_per_cpu + strong.memory_per_gpu).empty()) {
    weak.memory = strong.memory;
    weak.memory_per_cpu = strong.memory_per_cpu;
    weak.memory_per_gpu = strong.memory_per_gpu;
  }
  weak.exclusive |= strong.exclusive;
  weak.no_requeue |= strong.no_requeue;
  for (std::size_t i = 0; i < hint_options().size(); ++i) {
    if (!strong.hint_given[i]) continue;
    // The option and its no- option: the command line follows the script.
    for (std::size_t other = 0; other < hint_options().size(); ++other)
      if (hint_options()[other].def == hint_options()[i].def) weak.hint_given[other] = false;
    weak.hint_given[i] = true;
    weak.hint_values[i] = strong.hint_values[i];
  }
  return weak;
}

SubmitOptions options_of_environment() {
  SubmitOptions options;
  const std::pair<const char*, std::string&> variables[] = {
      {"SBATCH_PARTITION", options.partition},
      {"SBATCH_ACCOUNT", options.account},
      {"SBATCH_QOS", options.qos},
      {"SBATCH_TIMELIMIT", options.time},
      {"SBATCH_GPUS", options.gpus},
      {"SBATCH_GPUS_PER_NODE", options.gpus_per_node},
      {"SBATCH_GPUS_PER_TASK", options.gpus_per_task},
      {"SBATCH_GRES", options.gres},
      {"SBATCH_MEM_PER_NODE", options.memory},
      {"SBATCH_MEM_PER_CPU", options.memory_per_cpu},
      {"SBATCH_MEM_PER_GPU", options.memory_per_gpu}};
  for (const auto& [name, to] : variables)
    if (const char* value = std::getenv(name)) to = value;
  return options;
}

Result<Seconds> time_limit_from(const std::string& text) {
  const std::string word = lower(text);
  if (word == "unlimited" || word == "infinite" || word == "0") return kForever;
  const bool minutes = text.find_first_not_of("0123456789") == std::string::npos;
  const auto value = minutes ? parse_number(text) : parse_duration(text);
  constexpr double kMost = 1e9;  // minutes
  const bool point = text.find('.') != std::string::npos;
  if (!value || !(*value > 0) || *value > kMost || point)
    return fail(fmt::format("--time: '{}': expected minutes, HH:MM:SS or DAYS-HH:MM:SS", text));
  const double seconds = *value * (minutes ? kMinute : 1);
  // Slurm counts limits in minutes and rounds up (src/common/parse_time.c, time_str2mins()).
  return static_cast<Seconds>(std::ceil(seconds / kMinute)) * kMinute;
}

}  // namespace rubato::tools
