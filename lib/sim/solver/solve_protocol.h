// SPDX-License-Identifier: GPL-2.0-or-later
// How the simulator talks with `rubato-solve`, a process that answers programmes with a solver
// which nothing else links. Lines of text over its standard input and output, words parted by one
// space, numbers in decimals that read back as the same double.
//
// It greets once, with the version of this protocol and the name of the solver:
//
//     rubato-solve 1 GLPK 5.0
//
// Then any number of programmes, one after the other, each in N variables and M rows:
//
//     programme KIND N M
//     maximise C1 ... CN
//     row BOUND I F I F ...           M lines: sum of F x[I] <= BOUND, I from 0
//     end
//
// KIND is `centre`: x >= 0, an interior point without crossover; or `binary`: each x 0 or 1, an
// optimum to a gap of 1e-4. Each has one line of answer:
//
//     answer X1 ... XN
//     failed REASON                   it has no optimum, or none was found
//
// What it cannot read it answers with `failed` too, and ends with exit code 2, since nobody knows
// where the next programme begins. It ends with 0 when its input does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"
#include "lib/sim/solver/linear_program.h"

namespace rubato::sim {

inline constexpr int kSolveProtocol = 1;
/// More variables or rows than these are refused on both sides.
inline constexpr int kMaxSolveSize = 10'000'000;

enum class ProgramKind { kCentre, kBinary };

struct SolveRequest {
  ProgramKind kind = ProgramKind::kCentre;
  LinearProgram linear_program;
};

/// Reads a request line by line.
class SolveRequestReader {
 public:
  /// True: the request is whole.
  [[nodiscard]] Result<bool> line(std::string_view text);
  [[nodiscard]] SolveRequest take();
  /// Nothing of a request was read yet.
  [[nodiscard]] bool empty() const { return part_ == Part::kHead; }

 private:
  enum class Part { kHead, kObjective, kRows, kEnd };

  [[nodiscard]] Result<bool> head(std::string_view text);
  [[nodiscard]] Result<bool> objective(std::string_view text);
  [[nodiscard]] Result<bool> row(std::string_view text);

  Part part_ = Part::kHead;
  SolveRequest request_;
  std::size_t variables_ = 0;
  std::size_t rows_ = 0;
};

/// All lines of it.
[[nodiscard]] std::string request_text(const SolveRequest& request);

/// With its line's end.
[[nodiscard]] std::string greeting_text(std::string_view solver);
/// The solver's name; an error where `line` is no greeting of this version.
[[nodiscard]] Result<std::string> parse_greeting(std::string_view line);

/// With its line's end.
[[nodiscard]] std::string answer_text(const Result<std::vector<double>>& answer);
/// The answer of `variables` numbers, all finite. What the helper said went wrong, or what of its
/// line was not understood, is the error; `understood` is false for the latter.
[[nodiscard]] Result<std::vector<double>> parse_answer(std::string_view line, std::size_t variables,
                                                       bool& understood);

}  // namespace rubato::sim
