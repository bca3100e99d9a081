// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato simulate`: simulates a workload under one or more policies.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <sstream>

#include "lib/base/version.h"
#include "lib/sim/engine/config_lines.h"
#include "lib/sim/engine/suite.h"
#include "lib/sim/formats/write_native.h"
#include "tools/rubato/simulate/launched.h"
#include "tools/rubato/simulate/simulate_history.h"
#include "tools/rubato/simulate/simulate_input.h"
#include "tools/rubato/simulate/simulate_outputs.h"
#include "tools/rubato/simulate/simulate_page.h"
#include "tools/rubato/simulate/simulate_records.h"
#include "tools/rubato/simulate/simulate_view.h"
#include "tools/shared/command.h"
#include "tools/shared/command_line.h"
#include "tools/shared/output.h"
#include "tools/shared/table.h"
#include "tools/shared/write_file.h"

namespace rubato::tools {
namespace {

std::atomic<bool> stop_now = false;

/// The first interrupt stops the run, the second ends the program.
void on_interrupt(int signal) {
  stop_now.store(true, std::memory_order_relaxed);
  std::signal(signal, SIG_DFL);
}

/// A progress bar on the last line of a terminal during a run.
class Bar {
 public:
  Bar(std::string suite, std::string policy)
      : label_(fmt::format("{} {}", suite, policy)), on_(::isatty(STDERR_FILENO) != 0) {}
  Bar(const Bar&) = delete;
  Bar& operator=(const Bar&) = delete;
  ~Bar() {
    if (shown_) fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
  }

  void show(double now, std::size_t finished, std::size_t jobs) {
    if (!on_) return;
    const auto time = std::chrono::steady_clock::now();
    if (shown_ && time - last_ < std::chrono::milliseconds(100)) return;
    last_ = time;
    shown_ = true;
    constexpr std::size_t kWidth = 24;
    const std::size_t full = jobs > 0 ? kWidth * finished / jobs : 0;
    fmt::print(stderr, "\r\033[K{} [{:#<{}}{:.<{}}] {}/{} jobs, {:.1f} h", label_, "", full, "",
               kWidth - full, finished, jobs, now / 3600);
    std::fflush(stderr);
  }

 private:
  std::string label_;
  bool on_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_;
};

/// Runs the other seeds of --seeds; figures become means. After an interrupt they are those of the
/// complete seeds.
Result<void> add_seeds(const SimulateOptions& options, const sim::Suite& suite,
                       sim::RunControl control, SimulatedRun& run) {
  std::vector<sim::Metrics> all{run.metrics};
  control.intervals = false;
  for (int i = 1; i < options.seeds && !stop_now; ++i) {
    control.seed = options.seed + static_cast<std::uint64_t>(i);
    auto other = with_seed(options, suite, control.seed);
    if (!other) return fail(other.error().text);
    auto record = sim::run_suite(*other, run.policy, options.information, control);
    if (!record) return tl::unexpected(record.error());
    if (stop_now) break;
    if (test_off(ToolMechanism::kRoundMs)) record->round_ms.clear();
    all.push_back(sim::measure(*record, other->window, other->cluster.gpus(), other->origin));
    if (!options.csv.empty())
      run.others.push_back({control.seed, std::move(other->jobs), std::move(record->jobs)});
  }
  run.record.cut = run.record.cut || stop_now;
  if (all.size() == 1) return {};
  run.seeds = static_cast<int>(all.size());
  run.metrics = sim::mean_of(all);
  run.spread = sim::spread_of(all);
  return {};
}

Result<SimulatedRun> simulate_one(const SimulateOptions& options, const sim::Suite& suite,
                                  const std::string& policy, const Config* config) {
  Bar bar(suite.name, policy);
  sim::RunControl control;
  control.seed = options.seed;
  control.stop = &stop_now;
  control.intervals = !options.report.empty();
  control.config = config;
  if (options.until > 0) control.until = options.until;
  control.progress = [&bar](double now, std::size_t finished, std::size_t jobs) {
    bar.show(now, finished, jobs);
  };
  auto record = sim::run_suite(suite, policy, options.information, control);
  if (!record) return fail(fmt::format("{}, {}: {}", suite.name, policy, record.error().text));
  SimulatedRun run;
  run.suite = suite.name;
  run.policy = policy;
  run.seed = options.seed;
  run.record = std::move(*record);
  if (test_off(ToolMechanism::kRoundMs)) run.record.round_ms.clear();
  run.metrics = sim::measure(run.record, suite.window, suite.cluster.gpus(), suite.origin);
  if (options.seeds > 1 && !stop_now) {
    if (const auto made = add_seeds(options, suite, control, run); !made) {
      return fail(fmt::format("{}, {}: {}", suite.name, policy, made.error().text));
    }
    return run;  // published figures are of one seed, or of those that --gates runs
  }
  if (run.record.cut) return run;  // published figures are of a complete run
  // Figures over several seeds are compared only if all seeds are run.
  if (suite.published_seeds > 1 && !options.gates) return run;
  const auto [name, rules] = sim::ruled_policy(policy);
  for (const sim::PublishedFigure& one : suite.published) {
    if (one.policy == name && rules != sim::kByEngine) run.published.push_back(one);
  }
  if (run.published.empty() || suite.published_seeds == 1) return run;
  auto mean = sim::mean_metrics(suite, options.data, policy, options.information, control);
  if (!mean) return fail(fmt::format("{}, {}: {}", suite.name, policy, mean.error().text));
  if (stop_now) {  // stopped in a later seed: the first seed is complete, the mean is not
    run.published.clear();
    run.record.cut = true;
    return run;
  }
  run.metrics = *mean;
  run.seeds = suite.published_seeds;
  return run;
}

void print_list() {
  Table suites({{"SUITE"}, {"DESCRIPTION"}});
  for (const sim::SuiteEntry& entry : sim::suites()) {
    std::string name = entry.name;
    if (entry.separator != 0) {
      name += fmt::format("{}{}", entry.separator, fmt::join(entry.arguments, "|"));
    }
    suites.add({name, entry.summary});
  }
  Table policies({{"POLICY"}, {"DESCRIPTION"}, {"KNOWS"}, {"SUITES AND FORMATS"}});
  for (const sim::PolicyEntry& entry : sim::policies()) {
    const std::string knows = entry.knows.empty() ? "--information" : entry.knows;
    policies.add({entry.name, entry.summary, knows, entry.where});
  }
  Table formats({{"FORMAT"}, {"DESCRIPTION"}});
  for (const sim::FormatEntry& entry : sim::formats()) formats.add({entry.name, entry.summary});
  fmt::print("{}\n{}\n{}", suites.text(), policies.text(), formats.text());
}

/// The command line in shell syntax.
std::string typed(const std::vector<std::string>& words) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  std::string line = "rubato";
  for (const std::string& word : words) {
    line += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

/// Writes the jobs of the single suite, and prints how to simulate them.
int write_workload(const Globals& globals, const SimulateOptions& options,
                   const std::vector<sim::Suite>& suites) {
  if (suites.size() != 1) {
    return report_failure(globals, kSimulateSchema, kUsage,
                          "simulate: --write-workload takes exactly one suite");
  }
  const sim::Suite& suite = suites.front();
  const auto text = sim::native_text(suite);
  if (!text) {
    return report_failure(globals, kSimulateSchema, kUsage,
                          "simulate: --write-workload: " + text.error().text);
  }
  if (const auto written = write_whole(options.write_workload, *text); !written) {
    return report_failure(globals, kSimulateSchema, kFailed, "simulate: " + written.error().text);
  }
  std::vector<std::string> words{
      "simulate",           "--workload", options.write_workload,         "--cluster",
      suite.cluster.text(), "--seed",     fmt::format("{}", options.seed)};
  if (suite.horizon < sim::kNoHorizon) {
    words.emplace_back("--until");
    words.push_back(fmt::format("{}", suite.horizon));
  }
  fmt::print("Wrote {} jobs. To simulate them: {}\n", suite.jobs.size(), typed(words));
  return kOk;
}

Result<void> write_results(const Globals& globals, const SimulateOptions& options,
                           const std::vector<SimulatedRun>& runs, const SimulateInput& input) {
  std::vector<std::string> notes = input.notes;
  if (options.from_sacct) {
    const auto more = history_notes(runs, input.suites.front());
    notes.insert(notes.end(), more.begin(), more.end());
  }
  const std::string json_file = options.json.empty() ? "-" : options.json.front();
  std::string lines;
  for (const SimulatedRun& run : runs) lines += run_json(run) + "\n";
  const bool json_to_stdout = options.json_said && (json_file.empty() || json_file == "-");
  if (json_to_stdout) {
    fmt::print("{}", lines);
  } else {
    if (options.from_sacct) fmt::print("{}", waits_text(runs, input.suites.front()));
    fmt::print("{}", runs_text(runs, use_color(globals)));
    if (!notes.empty()) fmt::print("\n{}\n", fmt::join(notes, "\n"));
    if (options.json_said) {
      if (auto written = write_whole(json_file, lines); !written) return written;
    }
  }
  if (!options.csv.empty()) {
    if (auto written = write_whole(options.csv, jobs_csv(runs, input.suites)); !written) {
      return written;
    }
  }
  if (options.report.empty()) return {};
  const PageFacts facts{
      typed(globals.words), kSimulateSchema, std::string(version()), notes,
      options.from_sacct ? waits_html(runs, input.suites.front()) : std::string{}};
  return write_whole(options.report, simulate_page(runs, input.suites, facts));
}

/// Prints the figures after a run if no bar is shown, as in a log.
void show_verdict(const SimulatedRun& run) {
  for (const sim::PublishedFigure& one : run.published) {
    fmt::print(stderr, "{} {} {}: {:+.2f} %, {}\n", run.suite, run.policy, one.metric,
               100 * difference(run, one), holds(run, one) ? "ok" : "FAIL");
  }
  std::fflush(stderr);
}

/// True if --gates has any published figure to compare with.
bool has_figures(const SimulateOptions& options, const std::vector<sim::Suite>& suites) {
  for (const sim::Suite& suite : suites) {
    const auto policies = policies_for(options, suite);
    for (const sim::PublishedFigure& one : suite.published) {
      if (std::find(policies.begin(), policies.end(), one.policy) != policies.end()) return true;
    }
  }
  return false;
}

int run(const Globals& globals, SimulateOptions& options) {
  if (const std::string wrong = complaint(options); !wrong.empty()) {
    return report_failure(globals, kSimulateSchema, kUsage, "simulate: " + wrong);
  }
  if (options.list) return print_list(), kOk;
  if (const int bad = check_outputs(globals, kSimulateSchema, options); bad != kOk) return bad;
  auto input = read_input(options, globals.publish_dir);
  if (!input) {
    return report_failure(globals, kSimulateSchema, input.error().usage ? kUsage : kUnreachable,
                          "simulate: " + input.error().text);
  }
  if (!options.write_workload.empty()) return write_workload(globals, options, input->suites);
  for (const sim::Suite& suite : input->suites) {
    if (const auto known = check_policies(options, suite); !known) {
      return report_failure(globals, kSimulateSchema, kUsage, "simulate: " + known.error().text);
    }
  }
  if (options.gates && !has_figures(options, input->suites)) {
    return report_failure(globals, kSimulateSchema, kFailed,
                          "simulate: --gates: no published figures for these suites and policies, "
                          "so nothing was checked");
  }
  const auto config = read_rubato_conf(options, input->suites, input->notes);
  if (!config) {
    return report_failure(globals, kSimulateSchema, config.error().usage ? kUsage : kUnreachable,
                          "simulate: " + config.error().text);
  }
  for (sim::Suite& suite : input->suites) {
    if (*config) suite.report_s = sim::report_interval(**config);
  }
  std::signal(SIGINT, &on_interrupt);
  std::signal(SIGTERM, &on_interrupt);
  std::vector<SimulatedRun> runs;
  bool cut = false;
  std::string broken;
  if (options.from_sacct) runs.push_back(real_run(input->suites.front()));
  for (const sim::Suite& suite : input->suites) {
    for (const std::string& policy : policies_for(options, suite)) {
      if (cut || !broken.empty()) break;
      auto one = simulate_one(options, suite, policy, *config ? &**config : nullptr);
      if (!one) {
        broken = one.error().text;
        break;
      }
      cut = one->record.cut && stop_now;
      if (options.gates) show_verdict(*one);
      runs.push_back(std::move(*one));
    }
  }
  // Keeps the finished runs: they may have taken hours.
  const bool some = runs.size() > (options.from_sacct ? 1U : 0U);
  if (options.from_sacct) add_waits(runs, input->suites.front());
  if (some || broken.empty()) {
    if (const auto written = write_results(globals, options, runs, *input); !written) {
      if (!broken.empty()) print_error("simulate: " + broken);
      return report_failure(globals, kSimulateSchema, kFailed, "simulate: " + written.error().text);
    }
    flush_output();
  }
  if (!broken.empty())
    return report_failure(globals, kSimulateSchema, kFailed, "simulate: " + broken);
  if (cut) {
    print_warning("simulate: interrupted; figures cover the jobs that finished before");
    return kFailed;
  }
  return options.gates && !all_hold(runs) ? kFailed : kOk;
}

std::function<int()> setup(CommandLine& line, const Globals& globals) {
  auto options = std::make_shared<SimulateOptions>();
  line.list("-s,--suite", options->suites, "NAMES", "Suites of measured workloads");
  line.list("-p,--policy", options->policies, "NAMES",
            "Policies, or POLICY@engine, POLICY@peer (default: those with published figures)");
  line.text("-d,--data", options->data, "DIR",
            "Directory of the measured data (default: RUBATO_DATA)");
  line.text("-w,--workload", options->workload, "FILE", "Your own workload");
  line.text("--from-sacct", options->history, options->from_sacct, "FILE",
            "Replay this site's history, as printed by sacct --parsable2");
  line.text("-f,--format", options->format, "NAME", "Format of --workload (default: native)");
  line.text("--profiles", options->profiles, "PATH", "Measured throughputs for --workload");
  line.text(
      "-c,--cluster", options->cluster, "SHAPE",
      "Cluster, for example t4:6x4,a100:2x8: type, nodes, GPUs per node; @FILE: from a snapshot");
  line.text("--seed", options->seed_said, "N", "Random seed (default: 0)");
  line.text("--seeds", options->seeds_said, "N",
            "Means over N seeds, with the spread (default: 1)");
  line.text("--jobs", options->jobs_said, "N", "Only the first N jobs");
  line.text("--until", options->until_said, "SECONDS", "Stop at this simulated time");
  line.text("--config", options->config, "FILE",
            "rubato.conf for policies rubato and rubato-place (default: an empty file)");
  line.text("--information", options->information_said, "WORD",
            "What these policies know of jobs: known, rates, learned (default) or blind");
  line.text("--limits", options->limits_said, "WORD",
            "Time limits of jobs without one: users (default) or exact");
  line.optional_text("--json", options->json, options->json_said, "[FILE]",
                     "Write JSON Lines, one line per run, to FILE or standard output");
  line.text("--csv", options->csv, "FILE", "Write CSV, one line per job, to FILE");
  line.text("--report", options->report, "FILE", "Write an HTML page with charts to FILE");
  line.text("--write-workload", options->write_workload, options->write_said, "FILE",
            "Write the jobs of a generated suite to FILE in the native format; simulate nothing");
  line.flag(
      "--gates", options->gates,
      "Run all suites and policies with published figures; fail if a required figure is missed");
  line.flag("--list", options->list, "List suites, policies and formats");
  return [options, &globals] { return run(globals, *options); };
}

}  // namespace

Command simulate_command() { return {kSimulateName, kSimulateSummary, "", &setup}; }

}  // namespace rubato::tools
