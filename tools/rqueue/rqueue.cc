// SPDX-License-Identifier: GPL-2.0-or-later
// The program `rqueue`: squeue(1) plus Rubato's data on each job.
//
// squeue itself finds, filters, sorts and formats the jobs. rqueue selects its columns and adds its
// own. Filters, PrivateData, clusters and federations thus work as in Slurm.
#include <fmt/format.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "lib/base/version.h"
#include "lib/json/record_writer.h"
#include "tools/rqueue/rqueue_json.h"
#include "tools/rqueue/rqueue_layout.h"
#include "tools/rqueue/rqueue_options.h"
#include "tools/rqueue/rqueue_sort.h"
#include "tools/shared/output.h"
#include "tools/shared/process.h"

namespace rubato::tools {
namespace {

constexpr int kError = 1;  // also for errors in the command line, as squeue
constexpr std::size_t kWidth = 80;

int error(const std::string& text) {
  print_error(text);
  return kError;
}

/// Jobs of one section, with Rubato's data.
struct Section {
  std::string preamble;
  SqueueRow headings;
  std::vector<SqueueRow> rows;
  std::vector<JobFacts> facts;  ///< one per row
};

struct Answer {
  std::vector<Section> sections;
  int exit = 0;
};

/// Runs squeue for jobs with `fields`, sorted by the options.
Result<Answer> ask(const RqueueOptions& options, const std::vector<FormatField>& fields) {
  const auto order = parse_sort(options.sort);
  if (!order) return tl::unexpected(order.error());
  SqueueQuery query;
  query.arguments = options.passed;
  if (!order->squeue.empty()) {
    query.arguments.insert(query.arguments.end(), {"-S", order->squeue});
  }
  query.fields = fields;
  const std::vector<FormatField> more = sort_fields(*order);
  query.fields.insert(query.fields.end(), more.begin(), more.end());
  if (options.json) query.environment.emplace_back("SLURM_TIME_FORMAT", "%s");
  auto found = ask_squeue(query);
  if (!found) return tl::unexpected(found.error());
  Answer answer;
  answer.exit = found->exit;
  for (SqueueSection& section : found->sections) {
    Section next{
        std::move(section.preamble), std::move(section.headings), std::move(section.rows), {}};
    for (const SqueueRow& row : next.rows) next.facts.push_back(facts_of(row.texts, now()));
    sort_rows(*order, fields.size(), next.rows, next.facts);
    answer.sections.push_back(std::move(next));
  }
  return answer;
}

/// A line in the format of -o or -O; without `facts` the headings.
std::string format_line(const Format& format, const SqueueRow& row, const JobFacts* facts) {
  std::string line = format.prefix;
  std::size_t next = 0;
  for (const FormatField& field : format.fields) {
    if (field.own == nullptr) {
      line += row.fields[next++];
    } else {
      const std::string text =
          facts == nullptr ? field.own->heading : text_or_unknown(*field.own, *facts);
      line += fit(text, field.width, field.right);
    }
    line += field.suffix;
  }
  return line + "\n";
}

int print_format(const RqueueOptions& options) {
  std::vector<FormatField> fields;
  for (const FormatField& field : options.format->fields) {
    if (field.own == nullptr) fields.push_back(field);
  }
  const auto answer = ask(options, fields);
  if (!answer) return error(answer.error().text);
  for (const Section& section : answer->sections) {
    if (!options.no_header) {
      fmt::print("{}{}", section.preamble, format_line(*options.format, section.headings, nullptr));
    }
    for (std::size_t i = 0; i < section.rows.size(); ++i) {
      fmt::print("{}", format_line(*options.format, section.rows[i], &section.facts[i]));
    }
  }
  return answer->exit;
}

Layout layout_of(const RqueueOptions& options) {
  Layout layout = options.start       ? start_layout()
                  : options.long_list ? long_layout()
                                      : short_layout();
  // As squeue does: without headings, only this column distinguishes the clusters.
  if (options.several_clusters && options.no_header) {
    layout.insert(layout.begin(), {"cluster", "CLUSTER", 4, 10, false, false});
  }
  return layout;
}

int print_table(const RqueueOptions& options) {
  const Layout layout = layout_of(options);
  const auto answer = ask(options, layout_fields(layout));
  if (!answer) return error(answer.error().text);
  TableOptions table;
  table.headings = !options.no_header;
  table.color = use_color({false, options.color});
  const auto width = terminal_width();
  if (width || !options.long_list) {
    table.width = width ? static_cast<std::size_t>(*width) : kWidth;
  }
  if (options.long_list) table.width.reset();
  for (const Section& section : answer->sections) {
    if (!options.no_header) fmt::print("{}", section.preamble);
    fmt::print("{}", layout_table(layout, section.rows, section.facts, table));
  }
  return answer->exit;
}

int print_document(const RqueueOptions& options) {
  const auto answer = ask(options, json_fields());
  std::vector<std::string> errors;
  if (!answer) {
    errors.push_back(answer.error().text);
  } else if (answer->exit != 0) {
    errors.push_back(fmt::format("squeue ended with code {}", answer->exit));
  }
  Json json = document(kRqueueSchema, "", {}, errors);
  RqueueJobs found;
  if (answer) {
    for (const Section& section : answer->sections) {
      for (std::size_t i = 0; i < section.rows.size(); ++i) {
        found.jobs.push_back(rqueue_job(section.rows[i], section.facts[i]));
      }
    }
  }
  json.update(json::json_of(found));
  print_json(json);
  return answer ? answer->exit : error(errors.front());
}

/// Prints the date, as squeue does before a long list or a repeated list.
void print_date() {
  const std::time_t time = now();
  std::tm parts{};
  char text[64];
  if (localtime_r(&time, &parts) == nullptr) return;
  const std::size_t size = std::strftime(text, sizeof(text), "%a %b %d %H:%M:%S %Y", &parts);
  fmt::print("{}\n", std::string_view(text, size));
}

int list_jobs(const RqueueOptions& options) {
  int exit = 0;
  while (true) {
    // With -v squeue itself prints the date.
    const bool date = (options.long_list || options.iterate > 0) && !options.verbose;
    if (date && !options.no_header && !options.json) print_date();
    const int once = options.json     ? print_document(options)
                     : options.format ? print_format(options)
                                      : print_table(options);
    if (once != 0) exit = once;
    if (options.iterate == 0) return exit;
    fmt::print("\n");
    if (std::fflush(stdout) != 0) return exit;
    sleep(static_cast<unsigned>(options.iterate));
  }
}

/// Replaces this process with squeue, for output without Rubato's columns.
int become_squeue(char** argv) {
  const std::string program = find_program("squeue");
  if (program.empty()) return error("squeue is not in PATH");
  std::string name = "squeue";
  argv[0] = name.data();
  execv(program.c_str(), argv);
  return error(fmt::format("{}: {}", program, std::strerror(errno)));
}

int run(int argc, char** argv) {
  // getopt_long reorders the arguments; squeue must get them in the original order.
  std::vector<char*> words(argv, argv + argc);
  words.push_back(nullptr);
  const auto options = read_rqueue_options(argc, argv);
  if (!options) return error(options.error().text);
  switch (options->action) {
    case RqueueAction::kHelp:
      fmt::print("{}", rqueue_help());
      return 0;
    case RqueueAction::kHelpFormat:
      fmt::print("{}", rqueue_help_format());
      return 0;
    case RqueueAction::kUsage:
      fmt::print("{}", rqueue_usage());
      return 0;
    case RqueueAction::kVersion:
      fmt::print("rqueue {}\n", version());
      return 0;
    case RqueueAction::kSqueue:
      return become_squeue(words.data());
    case RqueueAction::kJobs:
      break;
  }
  return list_jobs(*options);
}

}  // namespace
}  // namespace rubato::tools

int main(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "");
  rubato::tools::set_program("rqueue");
  try {
    return rubato::tools::finish_output(rubato::tools::run(argc, argv));
  } catch (const std::exception& failure) {
    return rubato::tools::finish_failed(failure);
  }
}
