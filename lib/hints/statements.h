// SPDX-License-Identifier: GPL-2.0-or-later
// Converts single statements, from any source, to the Hints of one layer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "lib/hints/table.h"

namespace rubato {

/// One hint as written.
struct HintStatement {
  const HintDef* def = nullptr;
  std::string value;
  bool off = false;   ///< a no- twin: `value` is ""
  std::string place;  ///< its location, for errors: "comment: gpus", "--dl-gpus"
};

/// What to do with a repeated key.
enum class Repeated {
  kRefused,
  kLastCounts,  ///< options: the command line follows the script's #SBATCH lines
};

/// Errors of one text, one line each; at most 20, then their number.
class HintErrors {
 public:
  /// Every line begins with `prefix`.
  explicit HintErrors(std::string prefix = "") : prefix_(std::move(prefix)) {}

  void add(const std::string& line) { lines_.push_back(prefix_ + line); }
  [[nodiscard]] bool none() const { return lines_.empty(); }
  /// All lines. There must be at least one.
  [[nodiscard]] Error all() const;

 private:
  std::string prefix_;
  std::vector<std::string> lines_;
};

/// The Hints of `statements`; adds all errors to `errors`. Order matters only for kLastCounts,
/// among statements of one key.
[[nodiscard]] Hints hints_of(const std::vector<HintStatement>& statements, Repeated repeated,
                             HintErrors& errors);

}  // namespace rubato
