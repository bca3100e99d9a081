// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/solver/solve_protocol.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iterator>

namespace rubato::sim {
namespace {

/// The words of a line, from left to right.
class Words {
 public:
  explicit Words(std::string_view text) : left_(text) {}

  [[nodiscard]] bool done() const { return left_.empty(); }
  std::string_view next() {
    const std::size_t end = left_.find(' ');
    const std::string_view word = left_.substr(0, end);
    left_.remove_prefix(end == std::string_view::npos ? left_.size() : end + 1);
    return word;
  }
  [[nodiscard]] bool is(std::string_view word) { return next() == word; }
  /// False: no finite number.
  bool number(double& value) {
    const std::string_view word = next();
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && end == word.data() + word.size() && std::isfinite(value);
  }
  /// False: no whole number from 0 to `most`.
  bool whole(int& value, int most) {
    const std::string_view word = next();
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && end == word.data() + word.size() && value >= 0 && value <= most;
  }

 private:
  std::string_view left_;
};

void put(std::string& text, double value) {
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  text += ' ';
  text.append(std::begin(digits), end);
}

std::string shortened(std::string_view text) {
  constexpr std::size_t kMax = 60;
  std::string out;
  for (const char c : text.substr(0, kMax)) out += c >= ' ' && c <= '~' ? c : '?';
  if (text.size() > kMax) out += "...";
  return out;
}

}  // namespace

Result<bool> SolveRequestReader::line(std::string_view text) {
  switch (part_) {
    case Part::kHead:
      return head(text);
    case Part::kObjective:
      return objective(text);
    case Part::kRows:
      return row(text);
    case Part::kEnd:
      if (text != "end") return fail(fmt::format("'{}' where end was expected", shortened(text)));
      part_ = Part::kHead;
      return true;
  }
  return fail("no such part of a request");
}

Result<bool> SolveRequestReader::head(std::string_view text) {
  Words words(text);
  int variables = 0;
  int rows = 0;
  request_ = {};
  bool good = words.is("programme");
  const std::string_view kind = words.next();
  good = good && (kind == "centre" || kind == "binary");
  good = good && words.whole(variables, kMaxSolveSize) && words.whole(rows, kMaxSolveSize) &&
         words.done();
  if (!good) {
    return fail(
        fmt::format("'{}' where 'programme centre|binary VARIABLES ROWS' was "
                    "expected",
                    shortened(text)));
  }
  request_.kind = kind == "centre" ? ProgramKind::kCentre : ProgramKind::kBinary;
  variables_ = static_cast<std::size_t>(variables);
  rows_ = static_cast<std::size_t>(rows);
  part_ = Part::kObjective;
  return false;
}

Result<bool> SolveRequestReader::objective(std::string_view text) {
  Words words(text);
  bool good = words.is("maximise");
  auto& objective = request_.linear_program.objective;
  while (good && !words.done()) {
    double value = 0;
    good = objective.size() < variables_ && words.number(value);
    objective.push_back(value);
  }
  if (!good || objective.size() != variables_) {
    return fail(fmt::format("'{}' where 'maximise' and {} numbers were expected", shortened(text),
                            variables_));
  }
  part_ = rows_ == 0 ? Part::kEnd : Part::kRows;
  return false;
}

Result<bool> SolveRequestReader::row(std::string_view text) {
  Words words(text);
  LinearProgram::Row row;
  bool good = words.is("row") && words.number(row.bound);
  while (good && !words.done()) {
    int variable = 0;
    double factor = 0;
    good = words.whole(variable, static_cast<int>(variables_) - 1) && words.number(factor);
    row.terms.emplace_back(variable, factor);
  }
  if (!good) {
    return fail(
        fmt::format("'{}' where 'row', a bound, and pairs of a variable (0 to {}) and a "
                    "factor were expected",
                    shortened(text), static_cast<long>(variables_) - 1));
  }
  request_.linear_program.rows.push_back(std::move(row));
  if (request_.linear_program.rows.size() == rows_) part_ = Part::kEnd;
  return false;
}

SolveRequest SolveRequestReader::take() { return std::move(request_); }

std::string request_text(const SolveRequest& request) {
  const LinearProgram& linear_program = request.linear_program;
  std::string text = fmt::format("programme {} {} {}\nmaximise",
                                 request.kind == ProgramKind::kCentre ? "centre" : "binary",
                                 linear_program.objective.size(), linear_program.rows.size());
  for (const double factor : linear_program.objective) put(text, factor);
  for (const LinearProgram::Row& row : linear_program.rows) {
    text += "\nrow";
    put(text, row.bound);
    for (const auto& [variable, factor] : row.terms) {
      fmt::format_to(std::back_inserter(text), " {}", variable);
      put(text, factor);
    }
  }
  return text + "\nend\n";
}

std::string greeting_text(std::string_view solver) {
  return fmt::format("rubato-solve {} {}\n", kSolveProtocol, solver);
}

Result<std::string> parse_greeting(std::string_view line) {
  const std::string head = fmt::format("rubato-solve {} ", kSolveProtocol);
  if (line.starts_with(head) && line.size() > head.size()) {
    return std::string(line.substr(head.size()));
  }
  return fail(fmt::format("greets with '{}', expected '{}' and the name of a solver",
                          shortened(line), head));
}

std::string answer_text(const Result<std::vector<double>>& answer) {
  if (!answer) return fmt::format("failed {}\n", answer.error().text);
  std::string text = "answer";
  for (const double value : *answer) put(text, value);
  return text + "\n";
}

Result<std::vector<double>> parse_answer(std::string_view line, std::size_t variables,
                                         bool& understood) {
  understood = true;
  constexpr std::string_view kFailed = "failed ";
  if (line.starts_with(kFailed)) return fail(shortened(line.substr(kFailed.size())));
  Words words(line);
  std::vector<double> answer;
  bool good = words.is("answer");
  while (good && !words.done()) {
    double value = 0;
    good = answer.size() < variables && words.number(value);
    answer.push_back(value);
  }
  if (good && answer.size() == variables) return answer;
  understood = false;
  return fail(fmt::format("answers '{}', expected 'answer' and {} numbers, or 'failed'",
                          shortened(line), variables));
}

}  // namespace rubato::sim
