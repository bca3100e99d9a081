// SPDX-License-Identifier: GPL-2.0-or-later
// From single statements, wherever they were written, to the Hints of one layer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "lib/hints/table.h"

namespace rubato {

/// One hint as it was written.
struct HintStatement {
  const HintDef* def = nullptr;
  std::string value;
  bool off = false;   ///< a no- twin: `value` is ""
  std::string place;  ///< where it stands, for errors: "comment: gpus", "--dl-gpus"
};

/// What counts when one key is said several times.
enum class Repeated {
  kRefused,
  kLastCounts,  ///< options: a command line comes after the #SBATCH lines of its script
};

/// Errors of one text, each one line; at most 20, then their number.
class HintErrors {
 public:
  /// Every line begins with `prefix`.
  explicit HintErrors(std::string prefix = "") : prefix_(std::move(prefix)) {}

  void add(const std::string& line) { lines_.push_back(prefix_ + line); }
  [[nodiscard]] bool none() const { return lines_.empty(); }
  /// All lines. Only if there is one.
  [[nodiscard]] Error all() const;

 private:
  std::string prefix_;
  std::vector<std::string> lines_;
};

/// The Hints that `statements` make; all errors go to `errors`. The order matters only for
/// kLastCounts, and there only among statements of one key.
[[nodiscard]] Hints hints_of(const std::vector<HintStatement>& statements, Repeated repeated,
                             HintErrors& errors);

}  // namespace rubato
