// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato report`: inside a job, reports the training progress; outside, shows Rubato's actions.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "lib/hints/message.h"
#include "lib/json/record_writer.h"
#include "tools/rubato/report/report_records.h"
#include "tools/rubato/stats/counterfactual_view.h"
#include "tools/rubato/stats/stats_view.h"
#include "tools/shared/command.h"
#include "tools/shared/command_line.h"
#include "tools/shared/job_message.h"
#include "tools/shared/output.h"
#include "tools/shared/published.h"
#include "tools/shared/source.h"

namespace rubato::tools {
namespace {

constexpr int kDays = 14;
constexpr int kMaxDays = 10000;
constexpr std::size_t kTextWidth = 80;
constexpr std::size_t kMinWidth = 60;

struct Options {
  /// By key of the message, as given.
  std::array<std::pair<const char*, std::string>, 12> values{{{"samples", ""},
                                                              {"rate", ""},
                                                              {"batch", ""},
                                                              {"loss", ""},
                                                              {"forward", ""},
                                                              {"iteration", ""},
                                                              {"noise", ""},
                                                              {"sync", ""},
                                                              {"optimise", ""},
                                                              {"workers", ""},
                                                              {"servers", ""},
                                                              {"server-cores", ""}}};
  std::string ack;
  bool refuse = false;
  std::string seconds;
  std::string job;
  bool print = false;
  int days = kDays;

  [[nodiscard]] bool says_something() const {
    for (const auto& [key, value] : values) {
      if (!value.empty()) return true;
    }
    return !ack.empty() || refuse || !seconds.empty();
  }
};

std::string with_value(const std::string& pairs, const std::string& key, const std::string& value) {
  return fmt::format("{}{}{}={}", pairs, pairs.empty() ? "" : ";", key, value);
}

/// The message from the options; its parser validates the values.
Result<Message> message_of(const Options& options) {
  std::string pairs;
  for (const auto& [key, value] : options.values) {
    if (value.find_first_of(";\n") != std::string::npos) {
      return fail(fmt::format("report: {}: invalid number '{}'", key, value));
    }
    if (!value.empty()) pairs = with_value(pairs, key, value);
  }
  if (options.ack.empty()) {
    if (options.refuse || !options.seconds.empty())
      return fail("report: --refuse and --seconds require --ack");
    return parse_message("rubato!report " + pairs);
  }
  if (!pairs.empty())
    return fail("report: --ack answers a notice; it excludes the options of a report");
  pairs = with_value("", "notice", options.ack);
  pairs = with_value(pairs, "state", options.refuse ? "refused" : "ready");
  if (!options.seconds.empty()) pairs = with_value(pairs, "seconds", options.seconds);
  return parse_message("rubato!ack " + pairs);
}

int send(const Globals& globals, const Options& options) {
  const auto message = message_of(options);
  if (!message) return report_failure(globals, kReportSchema, kUsage, message.error().text);
  const std::string text = render_message(*message);
  if (options.print) {
    fmt::print("{}\n", text);
    return kOk;
  }
  const char* own = std::getenv("SLURM_JOB_ID");
  const std::string job = !options.job.empty() ? options.job : own == nullptr ? "" : own;
  if (job.empty()) {
    return report_failure(globals, kReportSchema, kUsage,
                          "report: not in a job (SLURM_JOB_ID is not set); name one with --job");
  }
  const auto selector = parse_selector(job);
  if (!selector) return report_failure(globals, kReportSchema, kUsage, selector.error().text);
  const bool mine = own != nullptr && job == own;
  const auto sent = send_message(job, text, mine);
  if (!sent) return report_failure(globals, kReportSchema, kFailed, sent.error().text);
  if (sent->exit != 0) {
    return report_failure(
        globals, kReportSchema, kFailed,
        fmt::format("report of job {} failed: {} ended with code {}", job, sent->way, sent->exit));
  }
  if (globals.json) {
    Json json = document(kReportSchema, "");
    json.update(json::json_of(ReportAnswer{.sent = SentReport{job, text, sent->way}}));
    print_json(json);
  }
  return kOk;
}

std::string no_gain(const Result<CounterfactualEstimate>& estimate) {
  return "No counterfactual estimate: " + estimate.error().text;
}

/// Why no job is in the report; "" where rubato.conf names partitions, or cannot be read.
std::string nothing_managed(const Site& site) {
  const Config& config = site.config;
  if (config.manage_all || !config.managed_partitions.empty() || site.config_error) return "";
  return fmt::format(
      "ManagedPartitions is not set in {}, so no job is managed, and no new one is counted. "
      "Name the partitions, also in mode observe: that changes no job.",
      site.rubato_conf_path);
}

int show(const Globals& globals, const Options& options) {
  const auto site = find_source(globals.publish_dir);
  if (!site) return report_failure(globals, kReportSchema, kFailed, site.error().text);
  const auto stats = read_stats(*site);
  if (!stats) return report_failure(globals, kReportSchema, kUnreachable, stats.error().text);
  const auto stopped = loop_stopped(*stats, site->config, now());
  if (stopped) print_warning(*stopped);
  const Json report = stats->all->value("report", Json::object());
  std::optional<Result<CounterfactualEstimate>> estimate;
  for (const Mode mode : {Mode::kObserve, Mode::kPlace})
    if (stats->mode == to_string(mode)) estimate = read_counterfactual(*site, mode, options.days);
  const std::string unmanaged = nothing_managed(*site);
  if (globals.json) {
    std::vector<std::string> warnings;
    if (stopped) warnings.push_back(*stopped);
    if (!unmanaged.empty()) warnings.push_back(unmanaged);
    if (estimate && !*estimate) warnings.push_back(no_gain(*estimate));
    Json json = document(kReportSchema, stats->slurm_version, warnings);
    ReportAnswer answer{.mode = stats->mode, .days = report.value("days", Json::array())};
    if (estimate && *estimate) answer.gain = **estimate;
    json.update(json::json_of(answer));
    print_json(json);
    return stopped ? kUnreachable : kOk;
  }
  if (stats->mode == "observe") {
    fmt::print(
        "Mode observe: stock Slurm starts the jobs. EARLIER: jobs that Rubato would have\n"
        "started earlier, of all scored jobs. BY: mean time saved per job.\n"
        "Jobs are scored one by one; the estimate for all of them together is below.\n\n");
  }
  if (!unmanaged.empty()) {
    for (const std::string& line : wrap(unmanaged, kTextWidth)) fmt::print("{}\n", line);
    fmt::print("\n");
  }
  fmt::print("{}", days_text(report, options.days));
  if (estimate && *estimate) {
    const auto width = static_cast<std::size_t>(terminal_width().value_or(kTextWidth));
    fmt::print("\n{}", counterfactual_text(**estimate, std::max(width, kMinWidth)));
  } else if (estimate) {
    fmt::print("\n");
    for (const std::string& line : wrap(no_gain(*estimate) + ".", kTextWidth))
      fmt::print("{}\n", line);
  }
  return stopped ? kUnreachable : kOk;
}

int run(const Globals& globals, const Options& options) {
  if (options.days < 1 || options.days > kMaxDays) {
    return report_failure(globals, kReportSchema, kUsage,
                          fmt::format("report: --days: must be 1 to {}", kMaxDays));
  }
  if (options.says_something()) return send(globals, options);
  if (options.print || !options.job.empty()) {
    return report_failure(globals, kReportSchema, kUsage,
                          "report: nothing to send; a report needs --samples, --rate and --batch");
  }
  return show(globals, options);
}

std::function<int()> setup(CommandLine& line, const Globals& globals) {
  auto options = std::make_shared<Options>();
  static constexpr std::array<std::pair<const char*, const char*>, 12> kHelp{
      {{"COUNT", "Send a report: samples done since the job began, including restarts"},
       {"RATE", "Samples/s since the last report"},
       {"COUNT", "Global batch, samples"},
       {"LOSS", "Training loss"},
       {"SECONDS", "Forward pass, time per iteration"},
       {"SECONDS", "Time per iteration"},
       {"NUMBER", "Gradient noise scale, samples"},
       {"SECONDS", "Communication not overlapped with computation, time per iteration"},
       {"SECONDS", "Parameter update, time per iteration"},
       {"COUNT", "Workers, for jobs with parameter servers"},
       {"COUNT", "Parameter servers"},
       {"COUNT", "Cores per parameter server"}}};
  for (std::size_t i = 0; i < kHelp.size(); ++i) {
    line.text(fmt::format("--{}", options->values[i].first), options->values[i].second,
              kHelp[i].first, kHelp[i].second);
  }
  line.text("--ack", options->ack, "NOTICE",
            "Answer the notice with this number (0: the last one): ready");
  line.flag("--refuse", options->refuse, "With --ack: refuse; the job continues unchanged");
  line.text("--seconds", options->seconds, "SECONDS", "With --ack: time the preparation took");
  line.text("--job", options->job, "JOBID", "Job to report for (default: SLURM_JOB_ID)");
  line.flag("--print", options->print, "Print the message and send nothing");
  line.number("--days", options->days, "COUNT",
              "Summary of Rubato's work over the last N days (default: 14)");
  return [options, &globals] { return run(globals, *options); };
}

}  // namespace

Command report_command() {
  return {"report", "In a job: send a report. Elsewhere: daily summary", "", &setup};
}

}  // namespace rubato::tools
