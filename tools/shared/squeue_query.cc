// SPDX-License-Identifier: GPL-2.0-or-later
// squeue -O prints any text behind a field, so each field ends with a mark that no value can hold:
// it is drawn anew for each run. Values may hold blanks, commas, control bytes and line ends.
#include "tools/shared/squeue_query.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "tools/shared/output.h"
#include "tools/shared/process.h"
#include "tools/shared/squeue_fields.h"

namespace rubato::tools {
namespace {

/// Beyond what squeue itself waits for a slurmctld that does not answer.
constexpr int kTimeout = 60000;
constexpr std::size_t kMaxOutput = 512U << 20U;

/// Fields that stand before those of the query, uncut.
constexpr const char* kHidden[] = {"jobid",        "system_comment", "comment",  "tres-alloc",
                                   "tres-per-job", "tres-per-node",  "numnodes", "state"};
constexpr std::size_t kHiddenCount = std::size(kHidden);

std::string draw_mark() {
  std::uint64_t number = 0;
  if (testing() || getrandom(&number, sizeof(number), 0) != sizeof(number)) {
    number = 0x5275'6261'746f'2121;
  }
  return fmt::format("\x1e{:016x}\x1f", number);
}

int timeout() {
  const char* chosen = std::getenv("RUBATO_TIMEOUT_MS");
  return testing() && chosen != nullptr ? static_cast<int>(std::strtol(chosen, nullptr, 10))
                                        : kTimeout;
}

Result<ProcessResult> run_squeue(const SqueueQuery& query, const std::vector<std::string>& format) {
  const std::string program = find_program("squeue");
  if (program.empty()) return fail("squeue is not in PATH; rqueue needs it to list jobs");
  std::vector<std::string> command{program};
  command.insert(command.end(), query.arguments.begin(), query.arguments.end());
  command.insert(command.end(), format.begin(), format.end());
  RunOptions options;
  options.milliseconds = timeout();
  options.max_output = kMaxOutput;
  options.show_errors = !query.quiet;
  options.own_group = false;
  options.environment = query.environment;
  return run_for_outcome(command, options);
}

std::string machine_field(const FormatField& field, const std::string& mark) {
  const int width = test_off(ToolMechanism::kWidth) ? 0 : field.width;
  return fmt::format("{}:{}{}{}", field.name, field.right ? "." : "", width, mark);
}

/// %x has no name of -O: squeue is asked again, by -o, and the answers are put together by job id.
Result<void> add_short_only(const SqueueQuery& query, const std::string& mark,
                            std::vector<SqueueSection>& sections) {
  std::vector<std::size_t> places;
  std::string format = fmt::format("%A{}", mark);
  for (std::size_t i = 0; i < query.fields.size(); ++i) {
    const FormatField& field = query.fields[i];
    if (field.name != kShortOnly) continue;
    places.push_back(i);
    format += fmt::format("%{}{}x{}", field.right ? "." : "", std::max(field.width, 0), mark);
  }
  if (places.empty()) return {};
  const auto outcome = run_squeue(query, {"-o", format});
  if (!outcome) return tl::unexpected(outcome.error());
  const auto answer = read_squeue(outcome->out, mark, places.size() + 1);
  if (!answer) return tl::unexpected(answer.error());
  for (std::size_t s = 0; s < sections.size() && s < answer->size(); ++s) {
    std::map<std::string, const SqueueRow*> rows;
    for (const SqueueRow& row : (*answer)[s].rows) rows[row.job_id] = &row;
    rows[sections[s].headings.job_id] = &(*answer)[s].headings;
    const auto fill = [&](SqueueRow& row) {
      const auto it = rows.find(row.job_id);
      for (std::size_t k = 0; k < places.size(); ++k) {
        if (it != rows.end()) row.fields[places[k]] = it->second->fields[k];
      }
    };
    fill(sections[s].headings);
    for (SqueueRow& row : sections[s].rows) fill(row);
  }
  return {};
}

/// Moves the hidden fields of a row to their members.
void take_hidden(SqueueRow& row) {
  JobTexts& texts = row.texts;
  std::string* const places[] = {&texts.system_comment, &texts.comment,       &texts.tres_alloc,
                                 &texts.tres_per_job,   &texts.tres_per_node, &texts.nodes,
                                 &texts.state};
  for (std::size_t i = 0; i < std::size(places); ++i) *places[i] = std::move(row.fields[i]);
  row.fields.erase(row.fields.begin(), row.fields.begin() + std::size(places));
}

}  // namespace

Result<std::vector<SqueueSection>> read_squeue(std::string_view text, std::string_view mark,
                                               std::size_t count) {
  std::vector<SqueueSection> sections;
  while (text.find(mark) != std::string_view::npos) {
    std::vector<std::string> fields;
    while (fields.size() < count) {
      const std::size_t end = text.find(mark);
      if (end == std::string_view::npos) return fail("squeue printed an incomplete line");
      fields.emplace_back(text.substr(0, end));
      text.remove_prefix(end + mark.size());
    }
    if (!text.starts_with('\n')) return fail("squeue printed more fields than requested");
    text.remove_prefix(1);
    // The first field is the job id, which holds no line end: all before it was printed between.
    SqueueRow row;
    std::string& first = fields.front();
    const std::size_t line = first.rfind('\n') + 1;
    const std::string preamble = first.substr(0, line);
    row.job_id = first.substr(line);
    row.fields.assign(std::make_move_iterator(fields.begin() + 1),
                      std::make_move_iterator(fields.end()));
    const bool heading = row.job_id.empty() || row.job_id.front() < '0' || row.job_id.front() > '9';
    if (heading) {
      sections.push_back({preamble, std::move(row), {}});
    } else if (sections.empty()) {
      return fail("squeue printed no headings");
    } else {
      sections.back().rows.push_back(std::move(row));
    }
  }
  return sections;
}

Result<SqueueAnswer> ask_squeue(const SqueueQuery& query) {
  const std::string mark = draw_mark();
  std::string format;
  for (const char* name : kHidden) format += fmt::format("{}:0{},", name, mark);
  for (const FormatField& field : query.fields) {
    // A place for what the second run brings.
    const bool later = field.name == kShortOnly;
    format += later ? fmt::format("jobid:1{},", mark) : machine_field(field, mark) + ",";
  }
  format.pop_back();
  const auto outcome = run_squeue(query, {"-O", format});
  if (!outcome) return tl::unexpected(outcome.error());
  auto sections = read_squeue(outcome->out, mark, kHiddenCount + query.fields.size());
  if (!sections) return tl::unexpected(sections.error());
  if (sections->empty() && outcome->exit == 0) {
    return fail("squeue printed unexpected output");
  }
  for (SqueueSection& section : *sections) {
    take_hidden(section.headings);
    for (SqueueRow& row : section.rows) take_hidden(row);
  }
  if (auto done = add_short_only(query, mark, *sections); !done) {
    return tl::unexpected(done.error());
  }
  return SqueueAnswer{std::move(*sections), outcome->exit};
}

}  // namespace rubato::tools
