// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato simulate`: a workload played in simulated time under one policy or several.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <sstream>

#include "lib/config/nearest.h"
#include "lib/sim/format_sacct.h"
#include "lib/sim/suite.h"
#include "tools/command.h"
#include "tools/output.h"
#include "tools/simulate_view.h"
#include "tools/table.h"
#include "tools/write_file.h"

namespace rubato::tools {
namespace {

constexpr const char* kSchema = "rubato.simulate/1";

struct Options {
  std::vector<std::string> suites;
  std::vector<std::string> policies;
  std::string data;
  std::string workload;
  bool from_sacct = false;
  std::string format = "native";
  std::string profiles;
  std::string cluster;
  std::uint64_t seed = 0;
  std::size_t jobs = 0;
  double until = 0;
  std::string information = "learned";
  std::vector<std::string> json;
  bool json_said = false;
  std::string csv;
  bool gates = false;
  bool list = false;
};

std::atomic<bool> stop_now = false;

/// The first interrupt cuts the run, the second ends the program.
void on_interrupt(int signal) {
  stop_now.store(true, std::memory_order_relaxed);
  std::signal(signal, SIG_DFL);
}

/// A bar on the last line of a terminal while a run lasts.
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

  void show(double now, int finished, int jobs) {
    if (!on_) return;
    const auto time = std::chrono::steady_clock::now();
    if (shown_ && time - last_ < std::chrono::milliseconds(100)) return;
    last_ = time;
    shown_ = true;
    constexpr int kWidth = 24;
    const int full = jobs > 0 ? kWidth * finished / jobs : 0;
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

template <typename Entries>
std::vector<std::string> names_of(const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(entry.name);
  return names;
}

Result<void> check_policies(const Options& options, const sim::Suite& suite) {
  // Replays may know policies that the engine has not.
  std::vector<std::string> names = names_of(sim::policies());
  for (const sim::Published& one : suite.published) names.push_back(one.policy);
  for (const std::string& policy : options.policies) {
    if (std::find(names.begin(), names.end(), policy) != names.end()) continue;
    const std::string mean = did_you_mean(policy, names);
    return fail(fmt::format("--policy: no policy '{}'{}", policy,
                            mean.empty() ? "; see: rubato simulate --list" : mean));
  }
  return {};
}

Result<sim::Suite> read_workload(const Options& options) {
  const auto all = sim::formats();
  const auto format = std::find_if(all.begin(), all.end(), [&](const sim::FormatEntry& one) {
    return one.name == options.format;
  });
  if (format == all.end()) {
    return fail(fmt::format("--format: '{}' is none of {}{}", options.format,
                            fmt::join(names_of(all), ", "),
                            did_you_mean(options.format, names_of(all))));
  }
  if (options.cluster.empty()) {
    return fail("--workload needs --cluster TYPE:NODESxGPUS,..., as t4:6x4,a100:2x8");
  }
  const auto cluster = sim::parse_cluster_shape(options.cluster);
  if (!cluster) return fail("--" + cluster.error().text);
  return format->read(options.workload, options.profiles, *cluster);
}

/// The suites of the command line, or the workload.
Result<std::vector<sim::Suite>> read_suites(const Options& options) {
  std::vector<sim::Suite> suites;
  if (!options.workload.empty()) {
    auto suite = read_workload(options);
    if (!suite) return tl::unexpected(suite.error());
    suites.push_back(std::move(*suite));
  }
  std::vector<std::string> wanted = options.suites;
  if (options.gates && wanted.empty()) {
    for (const sim::SuiteEntry& entry : sim::suites()) {
      if (entry.separator == 0) wanted.push_back(entry.name);
      for (const std::string& one : entry.arguments) {
        wanted.push_back(entry.name + entry.separator + one);
      }
    }
  }
  for (const std::string& name : wanted) {
    auto suite = sim::make_suite(name, options.data, options.seed);
    if (!suite) return fail("--suite: " + suite.error().text);
    if (!options.gates || !suite->published.empty()) suites.push_back(std::move(*suite));
  }
  for (sim::Suite& suite : suites) {
    if (options.jobs == 0 || options.jobs >= suite.jobs.size()) continue;
    suite.jobs.resize(options.jobs);
    suite.window = {};
    suite.published.clear();  // they are of the whole
  }
  return suites;
}

/// Those of the command line; without any, those with published figures, else first in, first out.
std::vector<std::string> policies_for(const Options& options, const sim::Suite& suite) {
  if (!options.policies.empty()) return options.policies;
  std::vector<std::string> names;
  for (const sim::Published& one : suite.published) {
    if (std::find(names.begin(), names.end(), one.policy) == names.end()) {
      names.push_back(one.policy);
    }
  }
  if (options.from_sacct) return {"backfill", "rubato"};
  if (names.empty()) names.emplace_back("fifo");
  return names;
}

Result<SimulatedRun> simulate_one(const Options& options, const sim::Suite& suite,
                                  const std::string& policy) {
  Bar bar(suite.name, policy);
  sim::RunControl control;
  control.seed = options.seed;
  control.stop = &stop_now;
  if (options.until > 0) control.until = options.until;
  control.progress = [&bar](double now, int finished, int jobs) { bar.show(now, finished, jobs); };
  const auto information =
      options.information == "known" ? sim::Information::kKnown : sim::Information::kLearned;
  auto record = sim::run_suite(suite, policy, information, control);
  if (!record) return fail(fmt::format("{}, {}: {}", suite.name, policy, record.error().text));
  SimulatedRun run;
  run.suite = suite.name;
  run.policy = policy;
  run.seed = options.seed;
  run.record = std::move(*record);
  if (test_off("round-ms")) run.record.round_ms.clear();
  run.metrics = sim::measure(run.record, suite.window, suite.cluster.gpus(), suite.origin);
  for (const sim::Published& one : suite.published) {
    if (one.policy == policy) run.published.push_back(one);
  }
  return run;
}

/// What really happened, beside the runs.
SimulatedRun real_run(const sim::Suite& suite) {
  SimulatedRun run;
  run.suite = suite.name;
  run.policy = "(real)";
  run.record.jobs = sim::history_of(suite)->real;
  for (const sim::JobResult& job : run.record.jobs) {
    run.record.end = std::max(run.record.end, job.finish);
    run.record.busy_gpu_seconds += job.gpu_seconds;
  }
  run.metrics = sim::measure(run.record, suite.window, suite.cluster.gpus(), suite.origin);
  return run;
}

/// How far the replay of stock Slurm is from it, and what could not be played.
std::string history_text(const std::vector<SimulatedRun>& runs, const sim::Suite& suite) {
  const sim::SacctHistory& history = *sim::history_of(suite);
  std::string text =
      fmt::format("\nLeft out: {} jobs without GPUs, {} that have not ended, {} steps.\n",
                  history.without_gpus, history.unfinished, history.steps);
  const double real = runs.front().metrics.avg_jct_s;
  for (const SimulatedRun& run : runs) {
    if (run.policy != "backfill") continue;
    text += fmt::format("The replay of stock Slurm is {:+.1f} % off what really happened (AVG).\n",
                        (run.metrics.avg_jct_s / real - 1) * 100);
  }
  return text;
}

void print_list() {
  Table suites({{"SUITE"}, {"WHAT"}});
  for (const sim::SuiteEntry& entry : sim::suites()) {
    std::string name = entry.name;
    if (entry.separator != 0) {
      name += fmt::format("{}{}", entry.separator, fmt::join(entry.arguments, "|"));
    }
    suites.add({name, entry.summary});
  }
  Table policies({{"POLICY"}, {"WHAT"}});
  for (const sim::PolicyEntry& entry : sim::policies()) policies.add({entry.name, entry.summary});
  Table formats({{"FORMAT"}, {"WHAT"}});
  for (const sim::FormatEntry& entry : sim::formats()) formats.add({entry.name, entry.summary});
  fmt::print("{}\n{}\n{}", suites.text(), policies.text(), formats.text());
}

Result<void> write_results(const Options& options, const std::vector<SimulatedRun>& runs,
                           const std::vector<sim::Suite>& suites, bool color) {
  const std::string json_file = options.json.empty() ? "-" : options.json.front();
  std::string lines;
  for (const SimulatedRun& run : runs) lines += run_json(run) + "\n";
  const bool json_to_stdout = options.json_said && (json_file.empty() || json_file == "-");
  if (json_to_stdout) {
    fmt::print("{}", lines);
  } else {
    fmt::print("{}", runs_text(runs, color));
    if (options.from_sacct) fmt::print("{}", history_text(runs, suites.front()));
    if (options.json_said) {
      if (auto written = write_whole(json_file, lines); !written) return written;
    }
  }
  if (options.csv.empty()) return {};
  return write_whole(options.csv, jobs_csv(runs, suites));
}

std::string complaint(Options& options) {
  if (options.data.empty()) {
    const char* said = std::getenv("RUBATO_DATA");  // NOLINT(concurrency-mt-unsafe)
    if (said != nullptr) options.data = said;
  }
  if (options.suites.empty() && options.workload.empty() && !options.gates) {
    return "say --suite NAME, or --workload FILE; rubato simulate --list shows all";
  }
  if (options.data.empty() && (!options.suites.empty() || options.gates)) {
    return "--data DIR or RUBATO_DATA says where the measured data are";
  }
  const std::vector<std::string> kinds{"known", "learned"};
  if (std::find(kinds.begin(), kinds.end(), options.information) == kinds.end()) {
    return fmt::format("--information: '{}' is none of known, learned{}", options.information,
                       did_you_mean(options.information, kinds));
  }
  return {};
}

int run(const Globals& globals, Options& options) {
  if (options.list) return print_list(), kOk;
  if (const std::string wrong = complaint(options); !wrong.empty()) {
    return report_failure(globals, kSchema, kUsage, "simulate: " + wrong);
  }
  const auto suites = read_suites(options);
  if (!suites) {
    return report_failure(globals, kSchema, kUnreachable, "simulate: " + suites.error().text);
  }
  for (const sim::Suite& suite : *suites) {
    if (const auto known = check_policies(options, suite); !known) {
      return report_failure(globals, kSchema, kUsage, "simulate: " + known.error().text);
    }
  }
  std::signal(SIGINT, &on_interrupt);
  std::signal(SIGTERM, &on_interrupt);
  std::vector<SimulatedRun> runs;
  bool cut = false;
  if (options.from_sacct) runs.push_back(real_run(suites->front()));
  for (const sim::Suite& suite : *suites) {
    for (const std::string& policy : policies_for(options, suite)) {
      if (cut) break;
      auto one = simulate_one(options, suite, policy);
      if (!one) return report_failure(globals, kSchema, kFailed, "simulate: " + one.error().text);
      cut = one->record.cut && stop_now;
      runs.push_back(std::move(*one));
    }
  }
  if (const auto written = write_results(options, runs, *suites, use_color(globals)); !written) {
    return report_failure(globals, kSchema, kFailed, "simulate: " + written.error().text);
  }
  if (cut) {
    print_warning("simulate: interrupted; figures are over what was finished until then");
    return kFailed;
  }
  return options.gates && !all_hold(runs) ? kFailed : kOk;
}

std::function<int()> setup(CLI::App& app, const Globals& globals) {
  auto options = std::make_shared<Options>();
  app.add_option("-s,--suite", options->suites, "Suites of measured workloads")
      ->type_name("NAMES")
      ->delimiter(',')
      ->take_all();
  app.add_option("-p,--policy", options->policies,
                 "Policies; default: those whose figures were published for the suite")
      ->type_name("NAMES")
      ->delimiter(',')
      ->take_all();
  app.add_option("-d,--data", options->data, "Folder of the measured data; default: RUBATO_DATA")
      ->type_name("DIR");
  app.add_option("-w,--workload", options->workload, "A workload of your own")->type_name("FILE");
  app.add_option_function<std::string>(
         "--from-sacct",
         [options](const std::string& file) {
           options->workload = file;
           options->format = "sacct";
           options->from_sacct = true;
         },
         "This site's history, as sacct --parsable2 printed it: what was, and what would have been")
      ->type_name("FILE");
  app.add_option("-f,--format", options->format, "Its format; default: native")->type_name("NAME");
  app.add_option("--profiles", options->profiles, "Measured speeds for it")->type_name("PATH");
  app.add_option("-c,--cluster", options->cluster,
                 "Its cluster, as t4:6x4,a100:2x8: type, nodes, GPUs a node")
      ->type_name("SHAPE");
  app.add_option("--seed", options->seed, "Of random numbers; default: 0")->type_name("N");
  app.add_option("--jobs", options->jobs, "Only the first N jobs")->type_name("N");
  app.add_option("--until", options->until, "Cut at this simulated time")->type_name("SECONDS");
  app.add_option("--information", options->information,
                 "What rubato knows of speeds: learned (default) from reports, or known")
      ->type_name("WORD");
  app.add_option_function<std::vector<std::string>>(
         "--json",
         [options](const std::vector<std::string>& words) {
           options->json = words;
           options->json_said = true;
         },
         "JSON Lines, one a run, to FILE or standard output")
      ->type_name("[FILE]")
      ->expected(0, 1);
  app.add_option("--csv", options->csv, "A line a job to FILE")->type_name("FILE");
  app.add_flag("--gates", options->gates,
               "All runs with published figures; fails where one must be met and is not");
  app.add_flag("--list", options->list, "Print suites, policies and formats");
  return [options, &globals] { return run(globals, *options); };
}

}  // namespace

Command simulate_command() {
  return {"simulate", "A workload in simulated time, policies compared", "", &setup};
}

}  // namespace rubato::tools
